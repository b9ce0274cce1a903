//! Transitions that no machine took.

use runstate::kernel::{Accepts, Graph, Mark, Observer, Persist, Record, Witness, accepted_edge, build};
use runstate::tool_call::{AnyToolCall, CallRecord, New, Running, Start, ToolCall};
use runstate::trace::{Event, Recorder};
use serde_json::json;

use super::twin;

fn lines(recorder: &Recorder) -> Vec<String> {
    let line =
        |event: Event<'_>| format!("{} {}: {} to {}", event.lifecycle, event.instance, event.event, event.to);
    recorder.take().into_iter().map(line).collect()
}

fn watched(recorder: &Recorder) -> CallRecord {
    CallRecord::new("pay_1", "pay", json!({})).observed(recorder.observer("pay_1"))
}

#[test]
fn a_hook_that_is_called_by_hand_is_no_transition() {
    let recorder = Recorder::new("r1");
    let mut record = watched(&recorder);
    record.created(AnyToolCall::GRAPH);
    for edge in AnyToolCall::GRAPH.edges {
        record.moved(edge);
    }
    assert_eq!(lines(&recorder), [""; 0]);

    drop(ToolCall::new(record).start(Start));
    assert_eq!(lines(&recorder), ["tool_call pay_1: create to New", "tool_call pay_1: start to Running"]);
}

/// A graph by hand, with the edges of another one: those of `tool_call`, to be told as its.
static OWN: Witness = Witness::at("here");

static BORROWED: Graph = build::graph(
    &OWN,
    &build::Names { name: "tool_call", package: Some("runstate"), identity: &[] },
    "",
    1,
    AnyToolCall::GRAPH.states,
    AnyToolCall::GRAPH.events,
    AnyToolCall::GRAPH.edges,
);

/// One of an edge that no lifecycle has.
static TELEPORT: Graph = build::graph(
    &OWN,
    &build::Names { name: "tool_call", package: Some("runstate"), identity: &[] },
    "",
    1,
    AnyToolCall::GRAPH.states,
    &["teleport"],
    &[build::edge(&OWN, "tool_call", ("New", 0), "teleport", ("Succeeded", 4))],
);

#[test]
fn the_edges_of_another_graph_are_not_told() {
    let recorder = Recorder::new("r1");
    let mut record = watched(&recorder);
    // The true transition is known to the recorder already.
    drop(ToolCall::new(watched(&recorder)).start(Start));
    lines(&recorder);
    for graph in [&BORROWED, AnyToolCall::GRAPH] {
        for edge in graph.edges {
            build::moved(&mut record, &OWN, graph, edge);
        }
    }
    build::created(&mut record, &OWN, AnyToolCall::GRAPH);
    assert_eq!(lines(&recorder), [""; 0]);
}

#[test]
fn a_graph_by_hand_does_not_speak_under_the_name_of_a_documented_lifecycle() {
    let recorder = Recorder::new("r1");
    let mut record = watched(&recorder);
    build::created(&mut record, &OWN, &TELEPORT);
    build::moved(&mut record, &OWN, &TELEPORT, &TELEPORT.edges[0]);
    assert_eq!(
        lines(&recorder),
        ["runstate/tool_call! pay_1: create to New", "runstate/tool_call! pay_1: teleport to Succeeded"]
    );
}

/// A record that keeps the observer of another machine.
#[derive(Debug)]
struct Spy(Observer);

impl Record for Spy {
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.0)
    }
}

#[test]
fn the_observer_of_another_machine_tells_of_no_transition_of_that_one() {
    let recorder = Recorder::new("r1");
    let mut call = watched(&recorder);
    let observer = call.observer().cloned().unwrap();
    build::moved(&mut Spy(observer), &OWN, AnyToolCall::GRAPH, &AnyToolCall::GRAPH.edges[0]);
    assert_eq!(lines(&recorder), [""; 0]);
}

static OTHER: Witness = Witness::at("here");

#[derive(Debug)]
struct Teleport;

impl Accepts<Teleport> for ToolCall<New> {
    type Next = Running;
    const MARK: Mark<Self, Teleport> = Mark::new(&OWN, 0);
}

impl Accepts<Teleport> for twin::Door<twin::Open> {
    type Next = twin::Shut;
    // As far as a foreign mark can go: that of a transition of the same machine, for another event.
    const MARK: Mark<Self, Teleport> = Mark::new(&OTHER, 0);
}

#[test]
fn a_mark_by_hand_is_told_apart() {
    assert_eq!(accepted_edge::<ToolCall<New>, Teleport>(), None);
    assert_eq!(accepted_edge::<twin::Door<twin::Open>, Teleport>(), None);
    let edge = accepted_edge::<ToolCall<New>, Start>().unwrap();
    assert_eq!(edge.to_string(), "New --> Running : start");
}
