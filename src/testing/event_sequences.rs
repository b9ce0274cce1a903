//! All event sequences up to a length.

use core::fmt;

use proptest::test_runner::TestRunner;

use super::step::{Step, Verdict, apply, fixed_runner, give, payload};
use super::subject::Subject;
use crate::kernel::{Event, Graph, Machine, Stateful, Status};

/// The maximum number of payloads that a guard may refuse.
const PATIENCE: usize = 32;

/// All sequences of up to `longest` events, the shortest first, each applied to a new machine.
///
/// The iterator is lazy and keeps one sequence at a time. There are `1 + n + n² + … + n^longest` sequences for `n`
/// events. A sequence continues after a refusal. Payloads are deterministic. A guard gets up to 32 payloads, so it
/// refuses an event only if it refuses all of them.
///
/// This tool compares a lifecycle with an independently written model:
///
/// ```
/// use runstate::testing::{example::Doors, event_sequences};
///
/// // The author of this model has not read the code: a removed door stays removed.
/// for sequence in event_sequences(&Doors, 4) {
///     let removed = sequence.steps().iter().position(|step| step.event == "remove" && step.is_taken());
///     if let Some(i) = removed {
///         assert!(sequence.steps()[i + 1..].iter().all(|step| !step.is_taken()), "{sequence}");
///     }
/// }
/// assert_eq!(event_sequences(&Doors, 4).count(), 1 + 5 + 25 + 125 + 625);
/// assert_eq!(event_sequences(&Doors, 4).filter(|sequence| sequence.is_complete()).count(), 2);
/// ```
pub fn event_sequences<S: Subject>(subject: &S, longest: usize) -> EventSequences<'_, S> {
    EventSequences { subject, longest, next: Some(Vec::new()) }
}

/// The iterator of [`event_sequences`].
///
/// # Panics
/// [`next`](Iterator::next) does, when a refusal does not return machine and event unchanged, and when the
/// subject has no payload for the requested name.
pub struct EventSequences<'a, S> {
    subject: &'a S,
    longest: usize,
    /// The events of the next sequence, by their indices.
    next: Option<Vec<usize>>,
}

impl<S> fmt::Debug for EventSequences<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSequences")
            .field("longest", &self.longest)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl<S: Subject> Iterator for EventSequences<'_, S> {
    type Item = EventSequence;

    fn next(&mut self) -> Option<EventSequence> {
        let letters = self.next.take()?;
        let names = <S::Machine as Machine>::Event::NAMES;
        let sequence = spell(self.subject, letters.iter().map(|letter| names[*letter]));
        self.next = successor(letters, names.len(), self.longest);
        Some(sequence)
    }
}

/// Returns the next sequence, ordered by length and then by event index.
fn successor(mut letters: Vec<usize>, alphabet: usize, longest: usize) -> Option<Vec<usize>> {
    for letter in letters.iter_mut().rev() {
        *letter += 1;
        if *letter < alphabet {
            return Some(letters);
        }
        *letter = 0;
    }
    letters.push(0);
    (letters.len() <= longest && alphabet > 0).then_some(letters)
}

fn spell<S: Subject>(subject: &S, names: impl ExactSizeIterator<Item = &'static str>) -> EventSequence {
    let mut runner: TestRunner = fixed_runner();
    let mut machine = S::Machine::create(subject.record());
    let mut steps = Vec::with_capacity(names.len());
    let graph = S::Machine::GRAPH;
    let length = names.len();
    for (i, name) in names.enumerate() {
        // The sequence without its last event was checked before this one.
        let is_new = i + 1 == length;
        let mut left = PATIENCE;
        let step = loop {
            let given = payload(subject, &machine, name, &mut runner).and_then(|payload| {
                if is_new {
                    return give(machine, payload.current());
                }
                let (machine, _, step) = apply(machine, payload.current());
                Ok((machine, step))
            });
            let (next, step) = given.unwrap_or_else(|fault| panic!("{}: {fault}", graph.name));
            machine = next;
            left -= 1;
            if step.verdict != Verdict::ByGuard || left == 0 {
                break step;
            }
        };
        steps.push(step);
    }
    EventSequence { end: machine.status().name(), graph, steps }
}

/// An event sequence, with its results on a new machine.
#[derive(Debug, Clone)]
pub struct EventSequence {
    graph: &'static Graph,
    steps: Vec<Step>,
    end: &'static str,
}

impl EventSequence {
    /// The result of each event.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The names of the events.
    pub fn events(&self) -> impl Iterator<Item = &'static str> {
        self.steps.iter().map(|step| step.event)
    }

    /// The final state.
    pub fn end(&self) -> &'static str {
        self.end
    }

    /// Returns whether every event was accepted.
    pub fn is_legal(&self) -> bool {
        self.steps.iter().all(Step::is_taken)
    }

    /// Returns whether every event was accepted and the final state is terminal.
    pub fn is_complete(&self) -> bool {
        self.is_legal() && self.graph.state(self.end).is_some_and(|state| state.terminal)
    }
}

/// One line: the steps and the final state.
impl fmt::Display for EventSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| write!(f, "{step}; "))?;
        write!(f, "ends in {}", self.end)
    }
}
