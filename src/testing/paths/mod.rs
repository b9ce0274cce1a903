//! Random paths through a lifecycle, as proptest strategies.

mod aim;
mod along;
mod shrink;
mod strategy;

use core::fmt;

use super::step::{Step, give};
use super::subject::Subject;
use crate::kernel::{Event, Machine, Observer, Record};
pub use along::path_along;
pub use strategy::EventPaths;

/// A strategy for paths of up to `most` legal steps from a new machine, with payloads.
///
/// Each path first goes to a random target transition and then continues at random, so that transitions far from the
/// start are covered as often as those near it. It ends early in a terminal state, and where every guard refuses.
///
/// A failing path shrinks to a shorter legal path and to simpler payloads. One seed always gives one path, so that
/// proptest can repeat its regressions.
///
/// ```
/// use proptest::prelude::*;
/// use runstate::testing::{example::Doors, legal_paths};
///
/// proptest!(|(path in legal_paths(Doors, 20))| {
///     path.drive(|_, step| assert!(step.is_taken(), "{step}"));
/// });
/// ```
pub fn legal_paths<S: Subject>(subject: S, most: usize) -> EventPaths<S> {
    EventPaths::new(subject, most, false)
}

/// A strategy for paths of up to `most` steps from a new machine. Each step has an even chance to be a legal one or a
/// random event, legal or not.
///
/// The paths continue after a refusal, and after the end: a terminal state must refuse every event. Shrinking may
/// turn a step from legal to illegal or back.
///
/// ```
/// use proptest::prelude::*;
/// use runstate::testing::{example::Doors, mixed_paths};
///
/// proptest!(|(path in mixed_paths(Doors, 20))| {
///     let mut is_gone = false;
///     path.drive(|_, step| {
///         assert!(!(is_gone && step.is_taken()), "a door that is gone: {step}");
///         is_gone |= step.event == "remove" && step.is_taken();
///     });
/// });
/// ```
pub fn mixed_paths<S: Subject>(subject: S, most: usize) -> EventPaths<S> {
    EventPaths::new(subject, most, true)
}

/// A new machine, and the events to apply to it.
///
/// [`drive`](EventPath::drive) applies them. A test with work of its own between two events takes the path apart:
///
/// ```
/// use proptest::prelude::*;
/// use runstate::snapshot::Snapshot;
/// use runstate::testing::example::{AnyDoor, Doors};
/// use runstate::testing::mixed_paths;
///
/// // A door that is stored and restored after each event takes an equal path.
/// proptest!(|(path in mixed_paths(Doors, 10))| {
///     let (mut door, events) = path.into_parts();
///     for event in events {
///         door = door.apply(event).unwrap_or_else(|refused| refused.into_parts().0);
///         let before = door.status();
///         door = Snapshot::of(&door).unwrap().restore::<AnyDoor>().unwrap();
///         prop_assert_eq!(door.status(), before);
///     }
/// });
/// ```
pub struct EventPath<M: Machine> {
    record: M::Record,
    events: Vec<M::Event>,
}

impl<M: Machine> EventPath<M> {
    /// The events.
    pub fn events(&self) -> &[M::Event] {
        &self.events
    }

    /// Reports the creation and all transitions to `observer`, if the record has a field for an observer.
    pub fn observe(&mut self, observer: Observer) {
        if let Some(place) = self.record.observer() {
            *place = observer;
        }
    }

    /// Returns the new machine and the events, for a test that applies them itself.
    pub fn into_parts(self) -> (M, Vec<M::Event>) {
        (M::create(self.record), self.events)
    }

    /// Applies the events one by one, and after each calls `seen` with the machine and the step.
    ///
    /// # Panics
    /// When a refusal does not return machine and event unchanged.
    #[track_caller]
    pub fn drive(self, mut seen: impl FnMut(&M, &Step))
    where
        M: fmt::Debug,
    {
        let (mut machine, events) = self.into_parts();
        for event in events {
            let (next, step) = match give(machine, event) {
                Ok(given) => given,
                Err(fault) => panic!("{}: {fault}", M::GRAPH.name),
            };
            seen(&next, &step);
            machine = next;
        }
    }
}

/// The state and the events: a developer needs both to understand a failing case.
impl<M: Machine> fmt::Debug for EventPath<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.events.iter().map(|event| event.name()).collect();
        write!(f, "{} from {}: {}", M::GRAPH.name, M::GRAPH.initial().name, names.join(", "))?;
        write!(f, " = {:?}", self.events)
    }
}
