//! What the tools must know of a lifecycle that its types do not say.

use core::fmt::Debug;

use proptest::strategy::BoxedStrategy;
use serde::Serialize;

use crate::kernel::{Machine, Persist};

/// The record of a subject's machine.
pub type RecordOf<S> = <<S as Subject>::Machine as Persist>::Record;

/// The event enum of a subject's machine.
pub type EventOf<S> = <<S as Subject>::Machine as Machine>::Event;

/// A lifecycle under test: how its machines are made, and with what payloads its events come.
///
/// This is all that a lifecycle's author writes; the tools of [`testing`](super) do the rest.
///
/// ```
/// use proptest::prelude::*;
/// use proptest::strategy::LazyJust;
/// use runstate::testing::example::{AnyDoor, Close, DoorEvent, Frame, Lock, Remove, Reopen, Unlock};
/// use runstate::testing::{Subject, exhaustive};
///
/// struct OneKey;
///
/// impl Subject for OneKey {
///     type Machine = AnyDoor;
///
///     fn record(&self) -> Frame {
///         Frame::default()
///     }
///
///     fn event(&self, _: &AnyDoor, name: &'static str) -> BoxedStrategy<DoorEvent> {
///         match name {
///             "close" => LazyJust::new(|| Close.into()).boxed(),
///             "reopen" => LazyJust::new(|| Reopen.into()).boxed(),
///             "remove" => LazyJust::new(|| Remove.into()).boxed(),
///             "lock" => LazyJust::new(|| Lock { key: 7 }.into()).boxed(),
///             "unlock" => LazyJust::new(|| Unlock { key: 7 }.into()).boxed(),
///             other => unreachable!("a door has no event '{other}'"),
///         }
///     }
/// }
///
/// assert_eq!(exhaustive(&OneKey).taken().len(), 5);
/// ```
pub trait Subject {
    /// The dynamic machine. Its record is serialized to see that a refusal changed nothing.
    type Machine: Machine<Record: Serialize> + Debug;

    /// The record of a new machine.
    fn record(&self) -> RecordOf<Self>;

    /// The payloads with which the event of that name comes, legal in the machine's state or not.
    ///
    /// The machine is the one that is about to be given the event, so that a payload can fit it: the key of this very
    /// lock. Of an edge with a guard, some payloads should pass the guard (one in four is plenty), and some should not.
    ///
    /// `name` is one of [`Event::NAMES`](crate::kernel::Event::NAMES); for another, panic.
    fn event(&self, machine: &Self::Machine, name: &'static str) -> BoxedStrategy<EventOf<Self>>;
}
