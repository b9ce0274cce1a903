//! A test of every state/event pair, through `apply`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use proptest::prelude::RngExt;
use proptest::test_runner::TestRunner;

use super::matrix::Matrix;
use super::step::{Fault, Step, Verdict, fixed_runner, give, payload};
use super::subject::Subject;
use crate::kernel::{Edge, Event, Graph, Machine, Observe, Observer, Stateful, Status};

/// The number of payloads for each state/event pair.
const PAYLOADS: usize = 16;
/// The maximum number of payloads for one step of a path, where its guard refuses.
const PATIENCE: usize = 256;
/// The number of random paths after the shortest paths, and their length.
const WALKS: usize = 512;
const WALK_STEPS: usize = 32;

/// Drives a machine from every state with every event and records the results.
///
/// The function reaches states by legal steps only, from a new machine, along the transitions that `apply` itself
/// allows. It does not read the declared graph. It tries each state/event pair with 16 payloads, which are
/// deterministic. Where a guard refused all of them, or a declared state was not reached, 512 random paths of up to
/// 32 steps search further.
///
/// On each step it checks that a refusal returns machine and event unchanged, that an event always leads to one
/// state, and that the observer, if the record has one, receives exactly the transition that was taken.
/// [`Matrix::faults`] lists the violations. Only the subject can panic.
///
/// ```
/// use runstate::kernel::Stateful;
/// use runstate::testing::example::{AnyDoor, Doors};
/// use runstate::testing::exhaustive;
///
/// let matrix = exhaustive(&Doors);
/// // Executed equals declared; every undeclared pair is refused and changes nothing.
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
    /// Tries each pair on a machine that took the shortest path to its state.
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

    /// Searches for results beyond the shortest paths, such as a guard that only a third attempt passes.
    fn random_walks(&mut self) {
        for _ in 0..WALKS {
            if !self.matrix.has_gaps() {
                return;
            }
            let mut machine = self.create();
            for _ in 0..WALK_STEPS {
                let names = <S::Machine as Machine>::Event::NAMES;
                let state = machine.status().name();
                // A pair without a result takes precedence.
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

    /// A machine that took these events and is in `state`; none when its guards now refuse.
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

    /// Applies one event and records its result; none after a fault.
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

    /// A record need not have an observer. A record with one must report every transition to it.
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
            self.matrix.fault(Fault::ReportedOtherwise { step, told });
        }
    }
}

/// The transitions that the observer received since the last `take`.
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
