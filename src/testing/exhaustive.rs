//! Every state x every event, through `apply`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use proptest::prelude::RngExt;
use proptest::test_runner::TestRunner;

use super::matrix::Matrix;
use super::step::{Fault, Step, Verdict, fixed_runner, give, payload};
use super::subject::Subject;
use crate::kernel::{Edge, Event, Graph, Machine, Observe, Observer, Persist, Status};

/// How many payloads each cell of the matrix is tried with.
const PAYLOADS: usize = 16;
/// How many payloads are tried for one step on the way to a state whose guard refuses.
const PATIENCE: usize = 256;
/// How many random walks look for what the shortest ways do not show, and how long they are.
const WALKS: usize = 512;
const WALK_STEPS: usize = 32;

/// Drives a machine from every state with every event and writes down what happened.
///
/// States are reached by legal steps only, from a new machine, along what `apply` itself allows: the declared graph is
/// not asked. Each pair of a state and an event is tried with 16 payloads, the same each time this runs. Where a guard
/// refused them all, or a declared state was not reached, 512 random walks of up to 32 steps look further.
///
/// On each step it is seen to that a refusal gives machine and event back as they were, that an event always leads to
/// the same state, and that an observer, if the record keeps one, is told of exactly the edge that was taken. What is
/// amiss is in [`Matrix::faults`]; nothing panics but the subject.
///
/// ```
/// use runstate::kernel::Persist;
/// use runstate::testing::example::{AnyDoor, Doors};
/// use runstate::testing::exhaustive;
///
/// let matrix = exhaustive(&Doors);
/// // Executed = declared, and whatever is not declared is refused and changes nothing.
/// matrix.check(AnyDoor::GRAPH)?;
/// assert_eq!(matrix.taken().len(), 5);
/// assert_eq!(matrix.refused().len(), 4 * 5 - 5);
/// assert_eq!(matrix.refused_by_guard(), [("Locked", "unlock")]);
/// # Ok::<(), runstate::testing::Mismatch>(())
/// ```
pub fn exhaustive<S: Subject>(subject: &S) -> Matrix {
    let mut search = Search {
        subject,
        runner: fixed_runner(),
        told: Arc::new(Told::default()),
        is_observed: false,
        matrix: Matrix::new::<S::Machine>(),
    };
    search.shortest_ways();
    search.random_walks();
    search.matrix
}

struct Search<'a, S: Subject> {
    subject: &'a S,
    runner: TestRunner,
    told: Arc<Told>,
    is_observed: bool,
    matrix: Matrix,
}

impl<S: Subject> Search<'_, S> {
    /// Tries each cell from a machine that took the shortest way to its state.
    fn shortest_ways(&mut self) {
        let start = self.create().status().name();
        self.matrix.starts_in(start);
        let mut ways: VecDeque<(&'static str, Vec<&'static str>)> = VecDeque::from([(start, Vec::new())]);
        while let Some((state, way)) = ways.pop_front() {
            for &event in <S::Machine as Machine>::Event::NAMES {
                for _ in 0..PAYLOADS {
                    let Some(machine) = self.follow(&way, state) else { continue };
                    let Some((_, step)) = self.step(machine, event) else { continue };
                    let Verdict::Taken(to) = step.verdict else { continue };
                    if self.matrix.reach(to) {
                        ways.push_back((to, way.iter().copied().chain([event]).collect()));
                    }
                }
            }
        }
    }

    /// Looks for what the shortest ways do not show, such as a guard that only a third attempt passes.
    fn random_walks(&mut self) {
        for _ in 0..WALKS {
            if !self.matrix.has_gaps() {
                return;
            }
            let mut machine = self.create();
            for _ in 0..WALK_STEPS {
                let names = <S::Machine as Machine>::Event::NAMES;
                let state = machine.status().name();
                // A cell without an answer goes first.
                let event = match names.iter().find(|name| !self.matrix.was_tried(state, name)) {
                    Some(event) => event,
                    None => names[self.runner.rng().random_range(0..names.len())],
                };
                let Some((next, step)) = self.step(machine, event) else { break };
                if let Verdict::Taken(to) = step.verdict {
                    self.matrix.reach(to);
                }
                machine = next;
            }
        }
    }

    fn create(&mut self) -> S::Machine {
        let mut machine = S::Machine::create(self.subject.record());
        machine.observe(Observer::new(self.told.clone(), 0));
        machine
    }

    /// A machine that took these events and is in `state`; none when its guards let it there no more.
    fn follow(&mut self, way: &[&'static str], state: &'static str) -> Option<S::Machine> {
        let mut machine = self.create();
        for event in way {
            let mut left = PATIENCE;
            loop {
                let (next, step) = self.step(machine, event)?;
                machine = next;
                left -= 1;
                if step.is_taken() {
                    break;
                } else if left == 0 {
                    return None;
                }
            }
        }
        (machine.status().name() == state).then_some(machine)
    }

    /// Gives one event and writes down what came of it; none when that was a fault.
    fn step(&mut self, machine: S::Machine, event: &'static str) -> Option<(S::Machine, Step)> {
        let result = payload(self.subject, &machine, event, &mut self.runner)
            .and_then(|payload| give(machine, payload.current()));
        let told = self.told.take();
        match result {
            Ok((machine, step)) => {
                self.matrix.record(step);
                self.compare_with_told(step, &told);
                Some((machine, step))
            }
            Err(fault) => {
                self.matrix.tried(&fault);
                self.matrix.fault(*fault);
                None
            }
        }
    }

    /// A record need not keep an observer; one that does tells it everything.
    fn compare_with_told(&mut self, step: Step, told: &[&'static Edge]) {
        self.is_observed |= !told.is_empty();
        let is_right = match (step.verdict, told) {
            (Verdict::Taken(to), [edge]) => (edge.from, edge.event, edge.to) == (step.from, step.event, to),
            (Verdict::Taken(_), []) => !self.is_observed,
            (Verdict::Taken(_), _) => false,
            (Verdict::NoEdge | Verdict::ByGuard, told) => told.is_empty(),
        };
        if !is_right {
            let told = told.iter().map(|edge| edge.to_string()).collect();
            self.matrix.fault(Fault::ToldOtherwise { step, told });
        }
    }
}

/// The edges that an observer was told of since it was last asked.
#[derive(Default)]
struct Told(Mutex<Vec<&'static Edge>>);

impl Told {
    fn take(&self) -> Vec<&'static Edge> {
        core::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observe for Told {
    fn created(&self, _: u32, _: &'static Graph) {}

    fn moved(&self, _: u32, _: &'static Graph, edge: &'static Edge) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(edge);
    }
}
