//! A field type for a dynamic machine in a struct that outlives an await.

use core::error::Error;
use core::fmt;
use core::mem;

use super::machine::Machine;
use super::refused::Refused;

/// A field that holds a dynamic machine and applies transitions to it in place.
///
/// A transition takes the machine by value, and a field behind `&mut` cannot give it away. A slot takes the machine
/// out, applies the transition and puts the machine back in one call, with no await between. Await on a borrow from
/// [`get`](Slot::get), then apply synchronously: a future that is dropped at an await leaves the slot unchanged.
///
/// The slot runs a guard before it takes the machine out; the transition runs the guard again, with the same
/// arguments. A panic of the first run leaves the machine in the slot. A panic in an [`Enter`](super::Enter), in a
/// hook of the record, in an observer or in a closure of [`step`](Slot::step) loses the machine: the code that
/// panicked owned it. After that, [`try_get`](Slot::try_get) returns [`Lost`].
///
/// ```
/// use runstate::kernel::Slot;
/// use runstate::tool_call::{AnyToolCall, CallRecord, Cancel, Start};
///
/// struct Worker {
///     call: Slot<AnyToolCall>,
/// }
///
/// impl Worker {
///     async fn work(&mut self) {
///         let tool = self.call.get().record().tool().to_owned();
///         let _answer = std::future::ready(tool).await; // dropped here, the call is still New
///         self.call.apply(Start.into()).expect("a new call can start");
///     }
/// }
///
/// let call = AnyToolCall::new(CallRecord::new("call_1", "read_file", Default::default()));
/// let mut worker = Worker { call: Slot::new(call) };
/// // A refused event changes nothing and comes back.
/// let (event, why) = worker.call.apply(Cancel::new("no").into()).unwrap_err();
/// assert!(why.contains("refuses 'cancel'"), "{event:?}");
/// assert_eq!(worker.call.get().status().name(), "New");
/// ```
#[derive(Debug)]
pub struct Slot<M: Machine>(Held<M>);

#[derive(Debug)]
enum Held<M: Machine> {
    Here(M),
    Lost(M::Status),
}

/// The error for a machine that a panic took out of its [`Slot`].
///
/// ```
/// use std::panic::{AssertUnwindSafe, catch_unwind};
///
/// use runstate::kernel::Slot;
/// use runstate::tool_call::{AnyToolCall, CallRecord};
///
/// let mut slot = Slot::new(AnyToolCall::new(CallRecord::new("call_1", "read_file", Default::default())));
/// # std::panic::set_hook(Box::new(|_| ()));
/// let _ = catch_unwind(AssertUnwindSafe(|| slot.step(|_call| -> (AnyToolCall, ()) { panic!("a bug") })));
/// assert_eq!(
///     slot.try_get().unwrap_err().to_string(),
///     "the tool_call that was in state New is lost: a transition from there panicked; restore it from its last snapshot",
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    lifecycle: &'static str,
    status: &'static str,
}

impl Lost {
    /// The name of the machine's lifecycle.
    pub fn lifecycle(&self) -> &'static str {
        self.lifecycle
    }

    /// The state of the machine before the panic.
    pub fn status(&self) -> &'static str {
        self.status
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lost { lifecycle, status } = self;
        write!(
            f,
            "the {lifecycle} that was in state {status} is lost: a transition from there panicked; restore it from its last \
             snapshot"
        )
    }
}

impl Error for Lost {}

impl<M: Machine> Slot<M> {
    /// Makes a slot that holds this machine.
    pub fn new(machine: M) -> Self {
        Slot(Held::Here(machine))
    }

    /// The machine.
    ///
    /// # Errors
    /// [`Lost`] after a panic in an earlier transition.
    pub fn try_get(&self) -> Result<&M, Lost> {
        match &self.0 {
            Held::Here(machine) => Ok(machine),
            Held::Lost(status) => Err(lost::<M>(*status)),
        }
    }

    /// The machine.
    ///
    /// # Panics
    /// When an earlier transition panicked. [`try_get`](Slot::try_get) returns an error instead.
    pub fn get(&self) -> &M {
        self.try_get().unwrap_or_else(|lost| panic!("{lost}"))
    }

    /// The machine, mutable, to change its record in place.
    ///
    /// # Panics
    /// As [`get`](Slot::get).
    pub fn get_mut(&mut self) -> &mut M {
        match &mut self.0 {
            Held::Here(machine) => machine,
            Held::Lost(status) => panic!("{}", lost::<M>(*status)),
        }
    }

    /// Takes the machine out and consumes the slot.
    ///
    /// # Panics
    /// As [`get`](Slot::get).
    pub fn into_inner(self) -> M {
        match self.0 {
            Held::Here(machine) => machine,
            Held::Lost(status) => panic!("{}", lost::<M>(status)),
        }
    }

    /// Runs typed code on the machine: takes it out, calls `step` and puts the returned machine back.
    ///
    /// # Panics
    /// As [`get`](Slot::get). A panic in `step` propagates, and its machine is [`Lost`].
    pub fn step<T>(&mut self, step: impl FnOnce(M) -> (M, T)) -> T {
        let status = self.get().status();
        let Held::Here(machine) = mem::replace(&mut self.0, Held::Lost(status)) else {
            unreachable!("`get` found the machine")
        };
        let (machine, out) = step(machine);
        self.0 = Held::Here(machine);
        out
    }

    /// Applies an event. The slot keeps the machine in both cases.
    ///
    /// # Errors
    /// The event and the reason, when the machine refuses the event.
    ///
    /// # Panics
    /// As [`get`](Slot::get). A panic of the guard propagates and changes nothing. A panic of the transition itself
    /// propagates, and the machine is [`Lost`].
    pub fn apply(&mut self, event: M::Event) -> Result<(), (M::Event, String)> {
        // The guard runs before the machine is taken out, so that its panic loses nothing.
        if let Err(refusal) = self.get().check(&event) {
            let why = refusal.to_string();
            return Err((event, why));
        }
        self.step(|machine| match machine.apply(event) {
            Ok(machine) => (machine, Ok(())),
            Err(refused) => {
                let why = refused.to_string();
                let (machine, event): (M, M::Event) = Refused::into_parts(refused);
                (machine, Err((event, why)))
            }
        })
    }
}

fn lost<M: Machine>(status: M::Status) -> Lost {
    use super::machine::Status;
    Lost { lifecycle: M::GRAPH.name, status: status.name() }
}
