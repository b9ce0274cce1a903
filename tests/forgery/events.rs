//! Transitions that no machine took.

use std::sync::Arc;

use runstate::kernel::{
    Accepts, Edge, Graph, Mark, Observe, Observer, Record, Stateful, Witness, accepted_edge, build,
};
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
fn handmade_graph_does_not_emit_as_a_documented_lifecycle() {
    let recorder = Recorder::new("r1");
    let mut record = watched(&recorder);
    build::created(&mut record, &OWN, &TELEPORT);
    build::moved(&mut record, &OWN, &TELEPORT, &TELEPORT.edges[0]);
    assert_eq!(
        lines(&recorder),
        ["runstate/tool_call! pay_1: create to New", "runstate/tool_call! pay_1: teleport to Succeeded"]
    );
}

#[test]
fn a_lifecycle_that_owns_its_name_keeps_it_from_a_twin() {
    use crate::kernel::door::{AnyDoor, Close, House};
    let true_one = |recorder: &Recorder| {
        drop(AnyDoor::new(House::observed(7, recorder.observer("d"))).apply(Close.into()));
    };
    let recorder = Recorder::builder("r1").owns(AnyDoor::GRAPH).build();
    let mut spy = Spy(recorder.observer("d"));
    build::created(&mut spy, &OWN, &TWIN);
    build::moved(&mut spy, &OWN, &TWIN, &TWIN.edges[0]);
    true_one(&recorder);
    let told = lines(&recorder);
    assert_eq!(told[2..], ["door d: create to Open", "door d: close to Shut"]);
    assert!(told[..2].iter().all(|line| line.starts_with("shop/door! d: ")), "{told:?}");

    // Without an owner the first comer has the name.
    let recorder = Recorder::new("r1");
    build::created(&mut Spy(recorder.observer("d")), &OWN, &TWIN);
    true_one(&recorder);
    assert_eq!(lines(&recorder)[0], "door d: create to New");
}

/// An observer that records, and moves machines of its own while it is told.
struct Reenters(Recorder);

impl Observe for Reenters {
    fn created(&self, _: u32, _: &'static Graph) {
        self.again();
    }

    fn moved(&self, _: u32, graph: &'static Graph, edge: &'static Edge) {
        self.again();
        // What it was told of is no witness: it cannot tell another observer.
        build::moved(&mut Spy(self.0.observer("forged")), &OWN, graph, edge);
    }
}

impl Reenters {
    fn again(&self) {
        drop(
            ToolCall::new(CallRecord::new("in", "t", json!({})).observed(self.0.observer("in"))).start(Start),
        );
    }
}

#[test]
fn an_observer_that_reenters_records_its_own_machines_alone() {
    let recorder = Recorder::new("r1");
    let observer = Observer::new(Arc::new(Reenters(recorder.clone())), 0);
    drop(ToolCall::new(CallRecord::new("out", "t", json!({})).observed(observer)).start(Start));
    let of_in = ["tool_call in: create to New", "tool_call in: start to Running"];
    assert_eq!(lines(&recorder), [of_in, of_in].concat());
}

/// A graph by hand with the name of `kernel::door`.
static TWIN: Graph = build::graph(
    &OWN,
    &build::Names { name: "door", package: Some("shop"), identity: &[] },
    "",
    3,
    AnyToolCall::GRAPH.states,
    &["force"],
    &[build::edge(&OWN, "door", ("New", 0), "force", ("Succeeded", 4))],
);

/// A record that keeps the observer of another machine.
#[derive(Debug)]
struct Spy(Observer);

impl Record for Spy {
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.0)
    }
}

#[test]
fn observer_of_another_machine_emits_no_foreign_transition() {
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
