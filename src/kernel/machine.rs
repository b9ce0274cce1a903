//! The traits that a `lifecycle!` definition implements and the few that its author does.

use core::error::Error;
use core::fmt;
use core::hash::Hash;

use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize, Serializer};

use super::graph::{Edge, Graph};
use super::observer::Observer;
use super::proof::{Mark, Proof, Rehydration};
use super::refused::{Refusal, Refused};

/// What all states of a machine share: an id, counters, whatever outlives a transition.
///
/// A record may keep an [`Observer`], which the kernel tells of each transition, typed or dynamic. With the default bodies
/// and no observer this costs nothing.
///
/// ```
/// use runstate::kernel::{Edge, Record};
///
/// #[derive(Debug, Default)]
/// struct Job {
///     steps: u32,
/// }
/// impl Record for Job {
///     fn moved(&mut self, _: &'static Edge) {
///         self.steps += 1;
///     }
/// }
/// ```
pub trait Record {
    /// The place where this record keeps its [`Observer`], if it has one.
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        None
    }

    /// Runs when a machine is created in the initial state of `graph`.
    ///
    /// It is a hook for the record alone. A call by hand tells no observer anything.
    #[inline]
    fn created(&mut self, _graph: &'static Graph) {}

    /// Runs when a machine takes `edge`. Like [`created`](Record::created) it is a hook for the record alone.
    #[inline]
    fn moved(&mut self, _edge: &'static Edge) {}

    /// Checks that a machine with this record can be in the state `status`, for records that come from storage.
    ///
    /// # Errors
    /// The contradiction, such as a call that succeeded and was never started.
    fn check_stored(&self, _status: &'static str) -> Result<(), String> {
        Ok(())
    }
}

/// A record that can be read back from storage.
///
/// Each record that implements `Deserialize` has it. A record without `Deserialize` can be read by a
/// snapshot and by nothing else: the records of the documented lifecycles are of that kind, so that
/// no record begins in the middle of a life.
#[diagnostic::on_unimplemented(
    message = "the record `{Self}` cannot be read back from storage",
    label = "this machine does not come back",
    note = "derive `Deserialize` for the record"
)]
pub trait ReadRecord: Record + Sized {
    /// Reads the record; only readers of stored machines have the permit.
    ///
    /// # Errors
    /// Those of the deserializer.
    #[doc(hidden)]
    fn read_record<'de, D: Deserializer<'de>>(
        permit: Rehydration<Self>,
        deserializer: D,
    ) -> Result<Self, D::Error>;
}

impl<R: Record + DeserializeOwned> ReadRecord for R {
    fn read_record<'de, D: Deserializer<'de>>(
        _: Rehydration<Self>,
        deserializer: D,
    ) -> Result<Self, D::Error> {
        R::deserialize(deserializer)
    }
}

/// A state: a type that owns what is true in it. `lifecycle!` implements it.
pub trait State: Sized {
    /// The record of the lifecycle.
    type Record: Record;
    /// The status enum of the lifecycle.
    type Status: Status;
    /// The status that stands for this state.
    const STATUS: Self::Status;
}

/// How a state is entered from `From` by the event `Event`.
///
/// This is where a lifecycle's author writes what a transition does. A state without data needs no entry of its own.
#[diagnostic::on_unimplemented(
    message = "no way into state `{Self}` from `{From}` by event `{Event}`",
    label = "this edge has no entry",
    note = "write `impl Enter<{From}, {Event}> for {Self}`, or take the edge out of the lifecycle"
)]
pub trait Enter<From, Event>: State {
    /// Makes the state from the one that is left and the event.
    fn enter(from: From, event: Event, record: &mut Self::Record) -> Self;
}

/// A condition on an edge into a state, for edges that are written with `else`.
///
/// It looks and does not touch: when it fails, the machine and the event go back to the caller as they were.
#[diagnostic::on_unimplemented(
    message = "no guard on the way into state `{Self}` from `{From}` by event `{Event}`",
    label = "this edge is written with `else` and has no guard",
    note = "write `impl Guard<{From}, {Event}> for {Self}`, or drop the `else`"
)]
pub trait Guard<From, Event>: State {
    /// Why the edge cannot be taken.
    type Error: Error + Send + Sync + 'static;

    /// May a machine in `from` with this record take the edge?
    ///
    /// # Errors
    /// Why it may not.
    fn check(from: &From, event: &Event, record: &Self::Record) -> Result<(), Self::Error>;
}

/// How the initial state of a new machine is made. A state without data needs no such impl.
#[diagnostic::on_unimplemented(
    message = "the initial state `{Self}` cannot be made",
    label = "this lifecycle has no beginning",
    note = "it has data: write `impl Begin for {Self}`"
)]
pub trait Begin: State {
    /// Makes the initial state.
    fn begin(record: &mut Self::Record) -> Self;
}

/// A typed machine that has a way out by `Event`; made beside the method, from the same line of the definition.
///
/// It marks, for tests, which cells of the matrix of states and events are legal; the move itself is the method. The bound
/// alone proves nothing, since a foreign crate can implement this trait for an event of its own:
/// [`accepted_edge`](super::accepted_edge) evaluates the mark.
pub trait Accepts<Event>: Sized {
    /// The state that the event leads to.
    type Next: State;

    /// Proof that the mark was made with its transition.
    #[doc(hidden)]
    const MARK: Mark<Self, Event>;
}

/// The fieldless enum of a lifecycle's states.
pub trait Status:
    Copy + Eq + Ord + Hash + fmt::Debug + fmt::Display + Send + Sync + Serialize + 'static
{
    /// All of them, in source order.
    const ALL: &'static [Self];

    /// The graph whose states these are.
    fn graph() -> &'static Graph;

    /// The place in [`Status::ALL`] and in [`Graph::states`].
    fn index(self) -> usize;

    /// The name in diagrams, traces and storage.
    fn name(self) -> &'static str {
        Self::graph().states[self.index()].name
    }

    /// Does a machine end here?
    fn is_terminal(self) -> bool {
        Self::graph().states[self.index()].terminal
    }
}

/// The enum of a lifecycle's events.
pub trait Event: fmt::Debug {
    /// The names of all events, in source order.
    const NAMES: &'static [&'static str];

    /// The name of this one.
    fn name(&self) -> &'static str;
}

/// A machine, typed or dynamic, that can be written down: by reference, while it goes on.
///
/// `lifecycle!` implements it. An implementation by hand may name any graph; it has no [`Proof`] for the graph of another
/// lifecycle, and no snapshot is taken of it.
pub trait Persist: Sized {
    /// The record of the lifecycle.
    type Record: Record;
    /// The status enum of the lifecycle.
    type Status: Status;

    /// The graph of the lifecycle.
    const GRAPH: &'static Graph;

    /// Proof that this is a machine of that graph.
    const PROOF: Proof<Self>;

    /// The state the machine is in.
    fn status(&self) -> Self::Status;

    /// What all states share.
    fn record(&self) -> &Self::Record;

    /// Writes the data of the state: `null` for a state without.
    ///
    /// # Errors
    /// Those of the serializer.
    fn serialize_state<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
}

/// A dynamic machine: the enum of the typed states of one lifecycle.
pub trait Machine: Persist {
    /// The enum of the events.
    type Event: Event;

    /// A new machine in the initial state.
    fn create(record: Self::Record) -> Self;

    /// Takes the edge that the state has for the event.
    ///
    /// # Errors
    /// [`Refused`], with machine and event as they were, when the state has no such edge or its guard fails.
    fn apply(self, event: Self::Event) -> Result<Self, Refused<Self>>;

    /// Checks whether the machine takes the event. It asks the guard and changes nothing.
    ///
    /// # Errors
    /// [`Refusal`], when the state has no edge for the event or its guard fails.
    fn check<'a>(&'a self, event: &'a Self::Event) -> Result<(), Refusal<'a, Self>>;

    /// Tells `observer` of all transitions from now on, if the record keeps one.
    fn observe(&mut self, observer: Observer);

    /// Brings a stored machine back; only readers of stored machines have the permit.
    ///
    /// # Errors
    /// Those of the deserializer, when the data is not that of the state.
    #[doc(hidden)]
    fn rehydrate<'de, D: Deserializer<'de>>(
        permit: Rehydration<Self>,
        status: Self::Status,
        record: Self::Record,
        state: D,
    ) -> Result<Self, D::Error>;
}
