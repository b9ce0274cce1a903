//! Counting edges, and asserting on counts and traces.
use std::thread;

use runstate::kernel::Stateful;
use runstate::testing::example::{AnyDoor, Close, Doors, Frame, Lock, Remove, Unlock};
use runstate::testing::{
    EdgeCounter, assert_conforms, assert_covers, conforms, coverage_diagram, covers,
    minimal_transition_cover, path_along,
};
use runstate::tool_call::AnyToolCall;
use runstate::trace::Recorder;

use super::snapshot;
use crate::proof::{Calls, transcribed};

/// Counts the given ones of the fewest walks of a tool call.
fn count(which: impl Iterator<Item = usize>) -> EdgeCounter {
    let counter = EdgeCounter::of([AnyToolCall::GRAPH]);
    let paths = minimal_transition_cover(AnyToolCall::GRAPH);
    for i in which {
        let mut path = path_along(&Calls, &paths[i]).unwrap();
        path.observe(counter.observer());
        path.drive(|_, step| assert!(step.is_taken(), "{step}"));
    }
    counter
}

#[test]
fn minimal_cover_of_a_tool_call_has_no_spare_path() {
    let paths = minimal_transition_cover(AnyToolCall::GRAPH).len();
    assert_covers!(count(0..paths).coverage(), AnyToolCall::GRAPH);
    for left_out in 0..paths {
        let coverage = count((0..paths).filter(|i| *i != left_out)).coverage();
        let error = covers(&coverage, AnyToolCall::GRAPH, &[]).unwrap_err();
        assert_eq!(error.lifecycle, "tool_call");
        assert!(!error.never.is_empty());
    }
}

#[test]
fn edge_counts_are_shown_as_text_and_as_a_diagram() {
    let counter = count([0, 1].into_iter());
    snapshot("counts", &counter.to_string());
    snapshot("counts_as_mermaid", &coverage_diagram(&counter.coverage(), AnyToolCall::GRAPH));
    let unused = EdgeCounter::of([AnyDoor::GRAPH]).coverage();
    snapshot("no_counts_as_mermaid", &coverage_diagram(&unused, AnyDoor::GRAPH));
}

#[test]
fn a_missed_edge_and_each_wrong_exception_is_named() {
    let coverage = count([0, 1].into_iter()).coverage();
    let error = covers(
        &coverage,
        AnyToolCall::GRAPH,
        &["New --> Suspended : suspend", "New --> Running : start", "New --> Cancelled : cancel"],
    )
    .unwrap_err();
    snapshot("uncovered", &error.to_string());
    assert_eq!(covers(&coverage, AnyDoor::GRAPH, &[]).unwrap_err().never.len(), 5);
}

#[test]
#[should_panic(expected = "1 of 5 edges were never taken\n  Open --> Gone : remove")]
fn the_assertion_on_coverage_fails_with_the_edges() {
    let counter = EdgeCounter::of([AnyDoor::GRAPH]);
    let edges: Vec<_> = ["close", "lock", "unlock", "reopen"]
        .into_iter()
        .map(|event| AnyDoor::GRAPH.edges.iter().find(|edge| edge.event == event).unwrap())
        .collect();
    let mut path = path_along(&Doors, &edges).unwrap();
    path.observe(counter.observer());
    path.drive(|_, _| ());
    assert_covers!(counter.coverage(), AnyDoor::GRAPH);
}

#[test]
fn counts_add_up_over_threads_and_over_counters() {
    let counter = EdgeCounter::of([AnyDoor::GRAPH]);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1_000 {
                    let door = AnyDoor::new(Frame::observed(counter.observer()));
                    drop(door.apply(Close.into()).unwrap());
                }
            });
        }
    });
    let mut coverage = counter.coverage();
    coverage.merge(&counter.coverage());
    let door = coverage.lifecycle("door").unwrap();
    assert_eq!((door.instances, door.unfinished, door.edges[0].taken), (8_000, 8_000, 8_000));
    assert_eq!(door.states[0].current, 0);
    assert_eq!(door.states[1].current, 8_000);
}

#[test]
fn refusals_and_other_lifecycles_are_not_counted() {
    let counter = EdgeCounter::of([AnyToolCall::GRAPH]);
    let door = AnyDoor::new(Frame::observed(counter.observer()));
    drop(door.apply(Close.into()).unwrap().apply(Remove.into()).unwrap_err());
    let edges = transcribed("tool_call").edges().count();
    let expected = format!("tool_call: 0 of {edges} edges taken (0.0 %), 0 instances\n");
    assert!(counter.to_string().starts_with(&expected), "{counter}");
}

#[test]
fn a_recorded_trace_covers_what_a_counter_counts() {
    let (counter, recorder) = (EdgeCounter::of([AnyToolCall::GRAPH]), Recorder::new("r1"));
    for (i, edges) in minimal_transition_cover(AnyToolCall::GRAPH).iter().enumerate() {
        for observer in [counter.observer(), recorder.observer(&format!("call_{i}"))] {
            let mut path = path_along(&Calls, edges).unwrap();
            path.observe(observer);
            path.drive(|_, _| ());
        }
    }
    let report = conforms(&recorder.events(), AnyToolCall::GRAPH, false).unwrap();
    let (traced, counted) = (report.coverage, counter.coverage());
    let edges = |coverage: &runstate::trace::Coverage| coverage.lifecycle("tool_call").unwrap().edges.clone();
    assert_eq!(edges(&traced), edges(&counted));
    assert_covers!(traced, AnyToolCall::GRAPH);
}

#[test]
fn assert_conforms_accepts_and_refuses_traces() {
    let recorder = Recorder::new("r1");
    let door = AnyDoor::new(Frame::observed(recorder.observer("front")));
    let door = door.apply(Close.into()).unwrap().apply(Lock { key: 1 }.into()).unwrap();
    let door = door.apply(Unlock { key: 2 }.into()).unwrap_err().into_parts().0;
    drop(door.apply(Unlock { key: 1 }.into()).unwrap());
    assert_conforms!(&recorder.events(), AnyDoor::GRAPH);
    assert_conforms!(&recorder.events(), [AnyDoor::GRAPH, AnyToolCall::GRAPH]);

    let incomplete = conforms(&recorder.events(), AnyDoor::GRAPH, true).unwrap_err();
    let mut forged = recorder.events();
    forged[2].to = "Gone".into();
    let violates = conforms(&forged, AnyDoor::GRAPH, false).unwrap_err();
    let foreign = conforms(&recorder.events(), AnyToolCall::GRAPH, false).unwrap_err();
    snapshot("not_conforming", &format!("{incomplete}\n\n{violates}\n\n{foreign}"));
}

#[test]
#[should_panic(expected = "no edge leads from Open to Locked")]
fn the_assertion_on_a_trace_fails_with_the_first_violation() {
    let recorder = Recorder::new("r1");
    let door = AnyDoor::new(Frame::observed(recorder.observer("front")));
    drop(door.apply(Close.into()).unwrap());
    let mut events = recorder.events();
    events[1].to = "Locked".into();
    assert_conforms!(&events, AnyDoor::GRAPH);
}
