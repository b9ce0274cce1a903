//! Machines side by side.
use runstate::kernel::{Stateful, Status};
use runstate::run::RunStatus;
use runstate::testing::example::AnyDoor;
use runstate::testing::{Composition, Unproven, explore, run_and_calls, run_invariant, run_rule};
use runstate::tool_call::{AnyToolCall, ToolCallStatus};

use super::snapshot;

#[test]
fn a_done_run_has_no_open_call() {
    let explored = run_and_calls(3).explore(run_rule, run_invariant).unwrap();
    snapshot("run_and_three_calls", &explored.to_string());
}

#[test]
fn a_run_that_is_done_too_soon_is_caught_by_the_shortest_way() {
    // The rule without the part that holds the run back.
    let hasty = |at: &[u8], machine: usize, edge| {
        machine == 0 && edge_leads_to_done(edge) || run_rule(at, machine, edge)
    };
    let error = run_and_calls(3).explore(hasty, run_invariant).unwrap_err();
    assert_eq!(error.counterexample().unwrap().steps.len(), 2);
    snapshot("run_done_too_soon", &error.to_string());
}

fn edge_leads_to_done(edge: &runstate::kernel::Edge) -> bool {
    edge.to_index == RunStatus::Done.index()
}

#[test]
fn without_a_rule_all_combinations_are_reached() {
    for calls in 0..5 {
        let explored = run_and_calls(calls).explore(|_, _, _| true, |_| true).unwrap();
        assert_eq!(explored.states, 3 * 7_u64.pow(u32::try_from(calls).unwrap()));
        // The longest shortest way of a run is 1 (either way), of a call 3 (a resumed one).
        let deepest_call = 2;
        assert_eq!(explored.depth, 1 + deepest_call * calls);
    }
}

/// The same product over plain tuples, for the search that knows no graphs.
#[test]
fn composition_search_agrees_with_a_plain_search() {
    let calls = 3;
    let successors = |state: [u8; 4]| {
        let mut steps = Vec::new();
        for machine in 0..=calls {
            let graph = if machine == 0 { runstate::run::AnyRun::GRAPH } else { AnyToolCall::GRAPH };
            for edge in graph.edges.iter().filter(|edge| edge.from_index == usize::from(state[machine])) {
                if run_rule(&state, machine, edge) {
                    let mut next = state;
                    next[machine] = u8::try_from(edge.to_index).unwrap();
                    steps.push((edge, next));
                }
            }
        }
        steps
    };
    let plain = explore([0; 4], successors, |state| run_invariant(&state), 10_000).unwrap();
    assert_eq!(plain, run_and_calls(calls).explore(run_rule, run_invariant).unwrap());

    // And the same way into a state that is far away.
    let far = |state: &[u8]| {
        let resuming = u8::try_from(ToolCallStatus::Resuming.index()).unwrap();
        state[1..] != [resuming; 3]
    };
    let plain = explore([0; 4], successors, |state| far(&state), 10_000).unwrap_err();
    let packed = run_and_calls(calls).explore(run_rule, far).unwrap_err();
    let (plain, packed) = (plain.counterexample().unwrap(), packed.counterexample().unwrap());
    assert_eq!(plain.steps.len(), 6);
    let plain: Vec<_> = plain.steps.iter().map(|(edge, _)| edge.to_string()).collect();
    let packed: Vec<_> = packed.steps.iter().map(|(step, _)| step.edge.to_string()).collect();
    assert_eq!(plain, packed);
}

#[test]
fn start_breaking_the_invariant_is_a_zero_step_counterexample() {
    let error =
        Composition::new().with("door", AnyDoor::GRAPH).explore(|_, _, _| true, |_| false).unwrap_err();
    assert_eq!(error.to_string(), "the invariant breaks after 0 steps:\n     door Open\n");
    assert_eq!(error.counterexample().unwrap().end().to_string(), "door Open");
}

#[test]
fn too_large_a_space_is_refused() {
    // 7^12 > 2^32.
    let error = run_and_calls(12).explore(|_, _, _| false, |_| true).unwrap_err();
    assert_eq!(error, Unproven::TooMany { most: 1 << 32 });
    let error = explore(0_u64, |n| [("up", n + 1)], |_| true, 1_000).unwrap_err();
    assert_eq!(error.to_string(), "more than 1000 states: allow more, or put less into a state");
    assert_eq!(
        explore(0_u64, |n| (n < 999).then_some(("up", n + 1)), |_| true, 1_000).unwrap().states,
        1_000
    );
}

#[test]
#[should_panic(expected = "got the statuses [9], expected one of each of 1 machines")]
fn a_start_outside_the_space_is_refused() {
    drop(Composition::new().with("door", AnyDoor::GRAPH).start(&[9]));
}

#[test]
fn composition_of_no_machines_has_one_state() {
    assert_eq!(Composition::new().explore(|_, _, _| true, |_| true).unwrap().states, 1);
}
