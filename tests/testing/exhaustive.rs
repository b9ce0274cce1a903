//! Every state x every event.
use runstate::kernel::Stateful;
use runstate::testing::example::{AnyDoor, Doors};
use runstate::testing::exhaustive;
use runstate::tool_call::AnyToolCall;

use super::liar::{Liars, Lie};
use super::snapshot;
use crate::proof::{Calls, transcribed};

#[test]
fn a_tool_call_takes_the_documented_edges_and_refuses_all_else() {
    let matrix = exhaustive(&Calls);
    matrix.check(AnyToolCall::GRAPH).unwrap();
    let documented = transcribed("tool_call");
    let mut taken = matrix.taken();
    let mut edges: Vec<_> = documented.edges().collect();
    taken.sort_unstable();
    edges.sort_unstable();
    assert_eq!(taken, edges);
    assert_eq!(matrix.refused().len(), documented.illegal());
    assert_eq!(matrix.refused_by_guard(), documented.guarded);
    snapshot("matrix_of_tool_call", &matrix.to_string());
}

#[test]
fn refused_is_exactly_the_complement_of_taken() {
    for matrix in [exhaustive(&Doors), exhaustive(&Calls)] {
        let taken: Vec<_> = matrix.taken().iter().map(|(from, event, _)| (*from, *event)).collect();
        assert!(matrix.refused().iter().all(|cell| !taken.contains(cell)));
        assert!(matrix.refused_by_guard().iter().all(|cell| taken.contains(cell)));
        assert_eq!(matrix.unreached(), [""; 0]);
    }
}

#[test]
fn a_graph_that_declares_other_edges_is_told_of_each() {
    let matrix = exhaustive(&Doors);
    let error = matrix.check(super::liar::wrong_graph()).unwrap_err();
    snapshot("mismatch_of_a_wrong_graph", &error.to_string());
    matrix.check(AnyDoor::GRAPH).unwrap();
}

#[test]
fn a_machine_that_misbehaves_is_found_out() {
    let report = |lie| {
        let matrix = exhaustive(&Liars(lie));
        let error = matrix.check(AnyDoor::GRAPH).unwrap_err();
        format!("{error}\n\n{matrix}")
    };
    snapshot("fault_refusal_changes_machine", &report(Lie::RefusalChangesMachine));
    snapshot("fault_refusal_changes_event", &report(Lie::RefusalChangesEvent));
    snapshot("fault_takes_an_undeclared_edge", &report(Lie::TakesUndeclaredEdge));
    snapshot("fault_refuses_a_declared_edge", &report(Lie::RefusesDeclaredEdge));
    snapshot("fault_tells_another_edge", &report(Lie::TellsAnotherEdge));
    snapshot("fault_leads_elsewhere_at_times", &report(Lie::LeadsElsewhereAtTimes));
    snapshot("fault_guard_never_passes", &report(Lie::GuardNeverPasses));
    snapshot("fault_subject_gives_another_event", &report(Lie::SubjectGivesAnotherEvent));
    exhaustive(&Liars(Lie::None)).check(AnyDoor::GRAPH).unwrap();
}
