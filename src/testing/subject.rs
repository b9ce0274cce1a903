//! The interface between a lifecycle under test and the tools.

use core::fmt::Debug;

use proptest::strategy::BoxedStrategy;

use crate::kernel::{Machine, Stateful};

/// The record of a subject's machine.
pub type RecordOf<S> = <<S as Subject>::Machine as Stateful>::Record;

/// The event enum of a subject's machine.
pub type EventOf<S> = <<S as Subject>::Machine as Machine>::Event;

/// A lifecycle under test: the constructor of its machines, and the payloads of its events.
///
/// A lifecycle's author implements only this trait; the tools of [`testing`](super) use it.
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
    /// The dynamic machine. The tools compare its `Debug` text to check that a refusal changed nothing.
    type Machine: Machine + Debug;

    /// Makes the record of a new machine.
    fn record(&self) -> RecordOf<Self>;

    /// The strategy for payloads of the event with that name, legal in the machine's state or not.
    ///
    /// The machine is the one about to receive the event, so that a payload can fit it, such as the key of its own
    /// lock. For a transition with a guard, some payloads should pass the guard (one in four is enough), and some
    /// should not.
    ///
    /// `name` is one of [`Event::NAMES`](crate::kernel::Event::NAMES); for any other name, panic.
    fn event(&self, machine: &Self::Machine, name: &'static str) -> BoxedStrategy<EventOf<Self>>;
}
