//! A place for a dynamic machine in a struct that outlives an await.

use super::machine::Machine;
use super::refused::Refused;

/// Holds a dynamic machine in a field, from which it can be moved on and put back.
///
/// A transition takes the machine by value, and a field behind `&mut` cannot give it away. A slot can: it takes the
/// machine out, moves it on and puts it back in one call, with no await between. Await on a borrow from
/// [`get`](Slot::get), then move synchronously: a future that is dropped half way leaves the slot as it was.
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
pub struct Slot<M>(Option<M>);

/// Why a slot has nothing in it: only a panic inside `step` leaves it so.
const EMPTY: &str = "the slot lost its machine in an earlier panic";

impl<M> Slot<M> {
    /// A slot with this machine in it.
    pub fn new(machine: M) -> Self {
        Slot(Some(machine))
    }

    /// The machine.
    ///
    /// # Panics
    /// When a closure given to [`step`](Slot::step) panicked earlier.
    pub fn get(&self) -> &M {
        self.0.as_ref().expect(EMPTY)
    }

    /// The machine, to change its record in place.
    ///
    /// # Panics
    /// As [`get`](Slot::get).
    pub fn get_mut(&mut self) -> &mut M {
        self.0.as_mut().expect(EMPTY)
    }

    /// Takes the machine out for good.
    ///
    /// # Panics
    /// As [`get`](Slot::get).
    pub fn into_inner(self) -> M {
        self.0.expect(EMPTY)
    }

    /// Moves the machine on with typed code: takes it, runs `step` and puts back what that gives.
    ///
    /// # Panics
    /// As [`get`](Slot::get). A panic in `step` passes through, and the machine it held is lost.
    pub fn step<T>(&mut self, step: impl FnOnce(M) -> (M, T)) -> T {
        let (machine, out) = step(self.0.take().expect(EMPTY));
        self.0 = Some(machine);
        out
    }
}

impl<M: Machine> Slot<M> {
    /// Applies an event; the slot keeps the machine either way.
    ///
    /// # Errors
    /// The event and the reason, when the machine refuses it.
    ///
    /// # Panics
    /// As [`get`](Slot::get).
    pub fn apply(&mut self, event: M::Event) -> Result<(), (M::Event, String)> {
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
