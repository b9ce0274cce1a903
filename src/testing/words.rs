//! All strings of events up to a length.

use core::fmt;

use proptest::test_runner::TestRunner;

use super::step::{Step, Verdict, apply, fixed_runner, give, payload};
use super::subject::Subject;
use crate::kernel::{Event, Graph, Machine, Persist, Status};

/// How many payloads a guard is offered.
const PATIENCE: usize = 32;

/// All strings of up to `longest` events, the shortest first, each driven through a new machine.
///
/// It is lazy and keeps one string at a time, of which there are `1 + n + n² + … + n^longest` for `n` events. A string
/// goes on after a refusal. Payloads are the same each time; a guard is offered up to 32, so it refuses an event only if
/// it lets none of them pass.
///
/// This is the tool to compare a lifecycle with a model that was written independently of it:
///
/// ```
/// use runstate::testing::{example::Doors, words};
///
/// // Whoever wrote this has not read the code: a door that is gone stays gone.
/// for word in words(&Doors, 4) {
///     let removed = word.steps().iter().position(|step| step.event == "remove" && step.is_taken());
///     if let Some(i) = removed {
///         assert!(word.steps()[i + 1..].iter().all(|step| !step.is_taken()), "{word}");
///     }
/// }
/// assert_eq!(words(&Doors, 4).count(), 1 + 5 + 25 + 125 + 625);
/// assert_eq!(words(&Doors, 4).filter(|word| word.is_complete()).count(), 2);
/// ```
pub fn words<S: Subject>(subject: &S, longest: usize) -> Words<'_, S> {
    Words { subject, longest, next: Some(Vec::new()) }
}

/// The iterator that [`words`] gives.
///
/// # Panics
/// [`next`](Iterator::next) does, when a refusal does not give back the machine and the event as they were, and when the
/// subject gives no payload of the name it is asked for.
pub struct Words<'a, S> {
    subject: &'a S,
    longest: usize,
    /// The events of the next string, by their places.
    next: Option<Vec<usize>>,
}

impl<S> fmt::Debug for Words<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Words")
            .field("longest", &self.longest)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl<S: Subject> Iterator for Words<'_, S> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        let letters = self.next.take()?;
        let names = <S::Machine as Machine>::Event::NAMES;
        let word = spell(self.subject, letters.iter().map(|letter| names[*letter]));
        self.next = successor(letters, names.len(), self.longest);
        Some(word)
    }
}

/// The next string in the order of length, then of letters.
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

fn spell<S: Subject>(subject: &S, names: impl ExactSizeIterator<Item = &'static str>) -> Word {
    let mut runner: TestRunner = fixed_runner();
    let mut machine = S::Machine::create(subject.record());
    let mut steps = Vec::with_capacity(names.len());
    let graph = S::Machine::GRAPH;
    let length = names.len();
    for (i, name) in names.enumerate() {
        // The string without its last event was looked at before this one.
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
    Word { end: machine.status().name(), graph, steps }
}

/// A string of events, with what a new machine made of it.
#[derive(Debug, Clone)]
pub struct Word {
    graph: &'static Graph,
    steps: Vec<Step>,
    end: &'static str,
}

impl Word {
    /// What came of each event.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The names of the events.
    pub fn events(&self) -> impl Iterator<Item = &'static str> {
        self.steps.iter().map(|step| step.event)
    }

    /// The state at the end.
    pub fn end(&self) -> &'static str {
        self.end
    }

    /// Was every event taken?
    pub fn is_legal(&self) -> bool {
        self.steps.iter().all(Step::is_taken)
    }

    /// Was every event taken, and is the end a terminal state?
    pub fn is_complete(&self) -> bool {
        self.is_legal() && self.graph.state(self.end).is_some_and(|state| state.terminal)
    }
}

/// One line: the steps and the end.
impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| write!(f, "{step}; "))?;
        write!(f, "ends in {}", self.end)
    }
}
