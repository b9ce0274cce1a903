//! A place for a dynamic machine in a struct that outlives an await.

use core::error::Error;
use core::fmt;
use core::mem;

use super::machine::Machine;
use super::refused::Refused;

/// Holds a dynamic machine in a field, from which it can be moved on and put back.
///
/// A transition takes the machine by value, and a field behind `&mut` cannot give it away. A slot can: it takes the
/// machine out, moves it on and puts it back in one call, with no await between. Await on a borrow from
/// [`get`](Slot::get), then move synchronously: a future that is dropped half way leaves the slot as it was.
///
/// A guard is asked before the machine is taken out, and once more by the transition: it gives the same answer to the same
/// question. Its panic leaves the machine in the slot. A panic in an [`Enter`](super::Enter), in a hook of the record, in an
/// observer or in a closure of [`step`](Slot::step) loses it: the code that panicked owned it.
/// [`try_get`](Slot::try_get) then gives [`Lost`].
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
/// // An event that the state does not accept changes nothing and comes back.
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

/// A machine that a panic took out of its [`Slot`].
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
    /// A slot with this machine in it.
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
    /// When an earlier transition panicked; [`try_get`](Slot::try_get) does not.
    pub fn get(&self) -> &M {
        self.try_get().unwrap_or_else(|lost| panic!("{lost}"))
    }

    /// The machine, to change its record in place.
    ///
    /// # Panics
    /// As [`get`](Slot::get).
    pub fn get_mut(&mut self) -> &mut M {
        match &mut self.0 {
            Held::Here(machine) => machine,
            Held::Lost(status) => panic!("{}", lost::<M>(*status)),
        }
    }

    /// Takes the machine out for good.
    ///
    /// # Panics
    /// As [`get`](Slot::get).
    pub fn into_inner(self) -> M {
        match self.0 {
            Held::Here(machine) => machine,
            Held::Lost(status) => panic!("{}", lost::<M>(status)),
        }
    }

    /// Moves the machine on with typed code: takes it, runs `step` and puts back what that gives.
    ///
    /// # Panics
    /// As [`get`](Slot::get). A panic in `step` passes through, and the machine it held is [`Lost`].
    pub fn step<T>(&mut self, step: impl FnOnce(M) -> (M, T)) -> T {
        let status = self.get().status();
        let Held::Here(machine) = mem::replace(&mut self.0, Held::Lost(status)) else {
            unreachable!("`get` found the machine")
        };
        let (machine, out) = step(machine);
        self.0 = Held::Here(machine);
        out
    }

    /// Applies an event; the slot keeps the machine either way.
    ///
    /// # Errors
    /// The event and the reason, when the machine refuses it.
    ///
    /// # Panics
    /// As [`get`](Slot::get). A panic of the guard passes through and changes nothing; a panic of the transition itself
    /// passes through, and the machine is [`Lost`].
    pub fn apply(&mut self, event: M::Event) -> Result<(), (M::Event, String)> {
        // The guard looks before anything is taken out, so that its panic costs nothing.
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
