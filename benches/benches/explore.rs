//! Exploring a run beside its calls, against stateright on the same model.
//!
//! `cargo bench --bench explore -- CALLS`: both with so many calls, 6 by default (353 thousand combinations). The whole space is
//! explored once per turn, three turns each, in turns; the figure is the median.

use std::time::Instant;

use runstate::kernel::Stateful;
use runstate::run::AnyRun;
use runstate::testing::{run_and_calls, run_invariant, run_rule};
use runstate::tool_call::AnyToolCall;
use stateright::{Checker, Model, Property};

/// The product as a stateright model: statuses by machine, the same rule and the same invariant.
#[derive(Clone)]
struct RunAndCalls(usize);

impl Model for RunAndCalls {
    type State = Vec<u8>;
    type Action = (usize, usize);

    fn init_states(&self) -> Vec<Vec<u8>> {
        vec![vec![0; self.0 + 1]]
    }

    fn actions(&self, state: &Vec<u8>, actions: &mut Vec<(usize, usize)>) {
        for machine in 0..state.len() {
            for (place, edge) in edges(machine).iter().enumerate() {
                if edge.from_index == usize::from(state[machine]) && run_rule(state, machine, edge) {
                    actions.push((machine, place));
                }
            }
        }
    }

    fn next_state(&self, state: &Vec<u8>, (machine, place): (usize, usize)) -> Option<Vec<u8>> {
        let mut next = state.clone();
        next[machine] = edges(machine)[place].to_index as u8;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("a done run has no open call", |_, state: &Vec<u8>| run_invariant(state))]
    }
}

fn edges(machine: usize) -> &'static [runstate::kernel::Edge] {
    if machine == 0 { <AnyRun as Stateful>::GRAPH.edges } else { <AnyToolCall as Stateful>::GRAPH.edges }
}

fn main() {
    let calls = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(6);
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for _ in 0..3 {
        let start = Instant::now();
        let explored = run_and_calls(calls).explore(run_rule, run_invariant).expect("the invariant holds");
        ours.push(explored.states as f64 / start.elapsed().as_secs_f64());

        let start = Instant::now();
        let checker = RunAndCalls(calls).checker().spawn_bfs().join();
        assert_eq!(checker.unique_state_count() as u64, explored.states as u64, "both see the same states");
        checker.assert_properties();
        theirs.push(explored.states as f64 / start.elapsed().as_secs_f64());
    }
    let median = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    println!(
        "run x {calls} calls: runstate {:.2} M states/s, stateright {:.2} M states/s, {:.1}x",
        ours / 1e6,
        theirs / 1e6,
        ours / theirs
    );
}
