//! The traits that a `lifecycle!` definition implements, and the few that its author implements.

use core::error::Error;
use core::fmt;
use core::hash::Hash;

use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize, Serializer};

use super::graph::{Edge, Graph};
use super::observer::Observer;
use super::proof::{Mark, Proof, Rehydration};
use super::refused::{Refusal, Refused};

/// The data that all states of a machine share: an id, counters, all data that outlives a transition.
///
/// A record may keep an [`Observer`]. The kernel reports each transition to it, typed or dynamic. With the default
/// bodies and no observer this costs nothing.
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the record of a lifecycle",
    label = "this type is no record",
    note = "write `impl Record for {Self} {{}}`, with `use runstate::kernel::Record;`"
)]
pub trait Record {
    /// The field of this record for its [`Observer`], if it has one.
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        None
    }

    /// Runs when a machine is created in the initial state of `graph`.
    ///
    /// This is a hook for the record alone. A manual call notifies no observer.
    #[inline]
    fn created(&mut self, _graph: &'static Graph) {}

    /// Runs when a machine takes `edge`. Like [`created`](Record::created) it is a hook for the record alone.
    #[inline]
    fn moved(&mut self, _edge: &'static Edge) {}

    /// Checks that a machine with this record can be in the state `status`, for records that come from storage.
    ///
    /// # Errors
    /// The inconsistency, such as a call that succeeded and was never started.
    fn check_stored(&self, _status: &'static str) -> Result<(), String> {
        Ok(())
    }
}

/// A record that can be read back from storage.
///
/// Each record that implements `Deserialize` implements it. Only a snapshot can read a record without
/// `Deserialize`. The records of the documented lifecycles are of that kind, so that no record begins
/// in the middle of a life.
#[diagnostic::on_unimplemented(
    message = "the record `{Self}` cannot be read back from storage",
    label = "this machine does not come back",
    note = "derive `Deserialize` for the record"
)]
pub trait ReadRecord: Record + Sized {
    /// Reads the record. Only readers of stored machines have the permit.
    ///
    /// # Errors
    /// The errors of the deserializer.
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

/// A state: a type that owns the data of the state. `lifecycle!` implements it.
pub trait State: Sized {
    /// The record of the lifecycle.
    type Record: Record;
    /// The status enum of the lifecycle.
    type Status: Status;
    /// The status of this state.
    const STATUS: Self::Status;
}

/// The entry into a state from `From` by the event `Event`.
///
/// A lifecycle's author writes the effect of a transition here. A state without data needs no entry of its own.
#[diagnostic::on_unimplemented(
    message = "no way into state `{Self}` from `{From}` by event `{Event}`",
    label = "this edge has no entry",
    note = "write `impl Enter<{From}, {Event}> for {Self}`, or take the edge out of the lifecycle"
)]
pub trait Enter<From, Event>: State {
    /// Makes the state from the source state and the event.
    fn enter(from: From, event: Event, record: &mut Self::Record) -> Self;
}

/// A condition on a transition into a state, for transitions that are written with `else`.
///
/// A guard reads its arguments and changes nothing. When it fails, the caller gets machine and event back unchanged.
#[diagnostic::on_unimplemented(
    message = "no guard on the way into state `{Self}` from `{From}` by event `{Event}`",
    label = "this edge is written with `else` and has no guard",
    note = "write `impl Guard<{From}, {Event}> for {Self}`, or drop the `else`"
)]
pub trait Guard<From, Event>: State {
    /// The reason why the transition is refused.
    type Error: Error + Send + Sync + 'static;

    /// Checks whether a machine in `from` with this record may take the transition.
    ///
    /// # Errors
    /// The reason why it may not.
    fn check(from: &From, event: &Event, record: &Self::Record) -> Result<(), Self::Error>;
}

/// The constructor of the initial state of a new machine. A state without data needs no such impl.
#[diagnostic::on_unimplemented(
    message = "the initial state `{Self}` cannot be made",
    label = "this lifecycle has no beginning",
    note = "it has data: write `impl Begin for {Self}`"
)]
pub trait Begin: State {
    /// Makes the initial state.
    fn begin(record: &mut Self::Record) -> Self;
}

/// A typed machine that has a transition by `Event`. The macro makes the mark and the method from one line of the
/// definition.
///
/// The mark tells tests which state/event pairs are legal; the transition itself is the method. The bound alone
/// proves nothing, since a foreign crate can implement this trait for an event of its own:
/// [`accepted_edge`](super::accepted_edge) evaluates the mark.
pub trait Accepts<Event>: Sized {
    /// The target state of the event.
    type Next: State;

    /// Proof that one definition made the mark and its transition.
    #[doc(hidden)]
    const MARK: Mark<Self, Event>;
}

/// The fieldless enum of a lifecycle's states.
pub trait Status:
    Copy + Eq + Ord + Hash + fmt::Debug + fmt::Display + Send + Sync + Serialize + 'static
{
    /// All states, in source order.
    const ALL: &'static [Self];

    /// The graph of these states.
    fn graph() -> &'static Graph;

    /// The index in [`Status::ALL`] and in [`Graph::states`].
    fn index(self) -> usize;

    /// The name in diagrams, traces and storage.
    fn name(self) -> &'static str {
        Self::graph().states[self.index()].name
    }

    /// Returns whether the state is terminal.
    fn is_terminal(self) -> bool {
        Self::graph().states[self.index()].terminal
    }
}

/// The enum of a lifecycle's events.
pub trait Event: fmt::Debug {
    /// The names of all events, in source order.
    const NAMES: &'static [&'static str];

    /// The name of this event.
    fn name(&self) -> &'static str;
}

/// A machine of a lifecycle, typed or dynamic.
///
/// `lifecycle!` implements it. A manual implementation may name any graph. It has no [`Proof`] for the graph of
/// another lifecycle, so no snapshot can be taken of it.
pub trait Stateful: Sized {
    /// The record of the lifecycle.
    type Record: Record;
    /// The status enum of the lifecycle.
    type Status: Status;

    /// The graph of the lifecycle.
    const GRAPH: &'static Graph;

    /// Proof that this type is a machine of that graph.
    const PROOF: Proof<Self>;

    /// The current state of the machine.
    fn status(&self) -> Self::Status;

    /// The record: the data that all states share.
    fn record(&self) -> &Self::Record;
}

/// A machine that can be serialized by reference, while it is in use.
///
/// `lifecycle!` implements it for a lifecycle with a `version`. Its states then implement `Serialize` and
/// `Deserialize`. Without a `version` a state may own anything, such as a socket.
#[diagnostic::on_unimplemented(
    message = "the machine `{Self}` cannot be stored",
    label = "this machine has no stored form",
    note = "its lifecycle needs the line `version 1;`, and each of its states `Serialize` and `Deserialize`"
)]
pub trait Persist: Stateful {
    /// Serializes the data of the state: `null` for a state without data.
    ///
    /// # Errors
    /// The errors of the serializer.
    fn serialize_state<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
}

/// A dynamic machine: the enum of the typed states of one lifecycle.
pub trait Machine: Stateful {
    /// The enum of the events.
    type Event: Event;

    /// Creates a machine in the initial state.
    fn create(record: Self::Record) -> Self;

    /// Takes the transition that the state has for the event.
    ///
    /// # Errors
    /// [`Refused`], with machine and event unchanged, when the state has no such transition or its guard fails.
    fn apply(self, event: Self::Event) -> Result<Self, Refused<Self>>;

    /// Checks whether the machine takes the event. The check calls the guard and changes nothing.
    ///
    /// # Errors
    /// [`Refusal`], when the state has no transition for the event or its guard fails.
    fn check<'a>(&'a self, event: &'a Self::Event) -> Result<(), Refusal<'a, Self>>;

    /// Reports all later transitions to `observer`, if the record has a field for an observer.
    fn observe(&mut self, observer: Observer);
}

/// A dynamic machine that can be restored from storage. `lifecycle!` implements it for a lifecycle with a `version`.
#[diagnostic::on_unimplemented(
    message = "the machine `{Self}` cannot be restored from storage",
    label = "this machine has no stored form",
    note = "its lifecycle needs the line `version 1;`, and each of its states `Serialize` and `Deserialize`"
)]
pub trait Restore: Machine + Persist {
    /// Restores a stored machine. Only readers of stored machines have the permit.
    ///
    /// # Errors
    /// The errors of the deserializer, when the data does not fit the state.
    #[doc(hidden)]
    fn rehydrate<'de, D: Deserializer<'de>>(
        permit: Rehydration<Self>,
        status: Self::Status,
        record: Self::Record,
        state: D,
    ) -> Result<Self, D::Error>;
}
