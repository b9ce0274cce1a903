//! The shrinking of a failing path.

use core::fmt;
use std::sync::Arc;

use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::EventPath;
use crate::kernel::{Event, Machine};
use crate::testing::step::{Payload, Verdict, apply, fixed_runner, payload};
use crate::testing::subject::Subject;

/// The number of new payloads for a guard that, after a simplification, refuses its earlier payload.
const PATIENCE: usize = 8;

/// The shrinker tries every length of cut up to this many steps; above, it halves the length.
const SHORT: usize = 12;

/// A path, with the data for its simplification.
///
/// First the shrinker removes runs of steps, long ones before short ones and late ones before early ones, until no
/// run can be removed. Then it simplifies each payload in turn. For a legal path it tries only changes that keep the
/// path legal. Where a later payload no longer fits the machine (another key locked it), a fitting payload replaces
/// it.
pub struct EventPathTree<S: Subject> {
    subject: Arc<S>,
    is_mixed: bool,
    steps: Vec<Payload<S>>,
    next: Next,
    /// The number of steps at the beginning of the current round of short cuts.
    before_round: usize,
    last: Option<Change<S>>,
}

/// The next simplification.
#[derive(Debug, Clone, Copy)]
enum Next {
    /// Cut `length` steps that end before the step `end`.
    Cut { length: usize, end: usize },
    /// Simplify the payload of this step.
    Payload(usize),
}

/// The last simplification, to undo it.
struct Change<S: Subject> {
    what: What<S>,
    /// Payloads that were replaced to keep the path legal, by their indices after the cut.
    refitted: Vec<(usize, Payload<S>)>,
}

enum What<S: Subject> {
    /// These steps were removed before the step that is now at this index.
    Cut(usize, Vec<Payload<S>>),
    /// The payload of this step was simplified.
    Payload(usize),
}

impl<S: Subject> EventPathTree<S> {
    pub(super) fn new(subject: Arc<S>, is_mixed: bool, steps: Vec<Payload<S>>) -> Self {
        let length = steps.len();
        let next = Next::Cut { length, end: length };
        EventPathTree { subject, is_mixed, steps, next, before_round: length, last: None }
    }

    /// Removes the next removable run of steps.
    fn cut(&mut self) -> bool {
        while let Next::Cut { length, end } = self.next {
            let end = end.min(self.steps.len());
            if length == 0 && self.steps.len() < self.before_round {
                // The removed steps may have made other steps removable.
                self.before_round = self.steps.len();
                self.next = Next::Cut { length: SHORT.min(self.before_round), end: self.before_round };
            } else if length == 0 {
                self.next = Next::Payload(0);
            } else if end < length {
                // A removable cycle may have any length, but only short lengths are worth a try each.
                let length = if length > SHORT { (length / 2).max(SHORT) } else { length - 1 };
                self.next = Next::Cut { length, end: self.steps.len() };
            } else {
                // The next run starts one step earlier. If this cut stays, other steps are in its place.
                self.next = Next::Cut { length, end: end - 1 };
                let steps: Vec<_> = self.steps.drain(end - length..end).collect();
                if self.try_change(What::Cut(end - length, steps)) {
                    return true;
                }
            }
        }
        false
    }

    /// Simplifies the next payload that allows it.
    fn simplify_payload(&mut self) -> bool {
        while let Next::Payload(place) = self.next {
            let Some(step) = self.steps.get_mut(place) else { return false };
            let mut is_changed = step.simplify();
            while is_changed {
                if self.try_change(What::Payload(place)) {
                    return true;
                }
                is_changed = self.steps[place].complicate();
            }
            self.next = Next::Payload(place + 1);
        }
        false
    }

    /// Keeps a change if the path still meets its contract; otherwise undoes the cut and the replaced payloads.
    fn try_change(&mut self, what: What<S>) -> bool {
        let (fits, refitted) = if self.is_mixed { (true, Vec::new()) } else { self.refit() };
        let change = Change { what, refitted };
        if fits {
            self.last = Some(change);
        } else {
            self.undo(change);
        }
        fits
    }

    /// Runs the path, replaces payloads that no longer pass their guards, and returns whether the path is legal.
    fn refit(&mut self) -> (bool, Vec<(usize, Payload<S>)>) {
        let mut runner = fixed_runner();
        let mut refitted = Vec::new();
        let mut machine = S::Machine::create(self.subject.record());
        for place in 0..self.steps.len() {
            let (next, _, step) = apply(machine, self.steps[place].current());
            let (next, verdict) = match step.verdict {
                Verdict::ByGuard => match self.other_payload(next, step.event, &mut runner) {
                    (next, Some(fitting)) => {
                        refitted.push((place, core::mem::replace(&mut self.steps[place], fitting)));
                        (next, Verdict::Taken(step.from))
                    }
                    (next, None) => (next, Verdict::ByGuard),
                },
                verdict => (next, verdict),
            };
            if !matches!(verdict, Verdict::Taken(_)) {
                return (false, refitted);
            }
            machine = next;
        }
        (true, refitted)
    }

    /// Applies another payload to the machine, if its guard accepts one.
    fn other_payload(
        &self,
        mut machine: S::Machine,
        name: &'static str,
        runner: &mut TestRunner,
    ) -> (S::Machine, Option<Payload<S>>) {
        for _ in 0..PATIENCE {
            let Ok(fitting) = payload(&*self.subject, &machine, name, runner) else { break };
            let (next, _, step) = apply(machine, fitting.current());
            machine = next;
            if step.is_taken() {
                return (machine, Some(fitting));
            }
        }
        (machine, None)
    }

    fn undo(&mut self, change: Change<S>) {
        for (place, payload) in change.refitted {
            self.steps[place] = payload;
        }
        if let What::Cut(place, steps) = change.what {
            self.steps.splice(place..place, steps);
        }
    }
}

impl<S: Subject> ValueTree for EventPathTree<S> {
    type Value = EventPath<S::Machine>;

    fn current(&self) -> EventPath<S::Machine> {
        EventPath {
            record: self.subject.record(),
            events: self.steps.iter().map(|step| step.current()).collect(),
        }
    }

    fn simplify(&mut self) -> bool {
        self.last = None;
        self.cut() || self.simplify_payload()
    }

    fn complicate(&mut self) -> bool {
        let Some(change) = self.last.take() else { return false };
        let place = match change.what {
            What::Cut(..) => {
                self.undo(change);
                return true;
            }
            What::Payload(place) => place,
        };
        self.undo(change);
        while self.steps[place].complicate() {
            if self.try_change(What::Payload(place)) {
                return true;
            }
        }
        // This payload cannot be simplified further. The path fails again, and other payloads may be simplified.
        self.next = Next::Payload(place + 1);
        true
    }
}

impl<S: Subject> fmt::Debug for EventPathTree<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.steps.iter().map(|step| step.current().name()).collect();
        f.debug_struct("EventPathTree")
            .field("steps", &names)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
