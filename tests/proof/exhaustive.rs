//! Every state x every event: executed = declared = documented, and whatever is not documented is refused.

use std::collections::BTreeSet;

use runstate::diagram::{StateGraph, parse};
use runstate::kernel::{Event, Graph, Machine, Stateful};
use runstate::testing::{Matrix, Subject, minimal_transition_cover};

use super::model::{Documented, Table};
use super::{for_each_lifecycle, snapshot};

fn proves<D: Documented>(subject: D) {
    let (table, graph) = (D::TABLE, D::Machine::GRAPH);
    assert_is_declared(&table, graph);
    let matrices = subject.exhaustive();
    assert_are_executed(&matrices, graph);

    // Executed = documented.
    let taken: BTreeSet<_> = matrices.iter().flat_map(Matrix::taken).collect();
    assert_eq!(taken, set(table.edges()), "{}: edges taken", table.name);
    // The refusals are all the rest, each of them seen.
    let all = || table.states.iter().flat_map(|state| table.events.iter().map(move |event| (*state, *event)));
    let refused = all().filter(|(state, event)| table.to(state, event).is_none());
    let seen: BTreeSet<_> = matrices.iter().flat_map(Matrix::refused).collect();
    assert_eq!(seen, set(refused), "{}: refused state/event pairs", table.name);
    assert_eq!(seen.len(), table.illegal());
    // A guard is where the documents have a condition, and it was seen to pass and to refuse.
    let guarded: BTreeSet<_> = matrices.iter().flat_map(Matrix::refused_by_guard).collect();
    let by_payload = table.guarded.iter().filter(|cell| !D::REFUSED_BY_ASIDES.contains(cell));
    assert_eq!(guarded, set(by_payload.copied()), "{}: guards", table.name);

    let text: Vec<String> = matrices.iter().map(Matrix::to_string).collect();
    snapshot(&format!("proof__matrix_{}", table.name), &text.join("\n"));
    snapshot(&format!("graph__{}", table.name), &drawn(graph));
}

/// Executed = declared, and no refusal changed anything.
fn assert_are_executed(matrices: &[Matrix], graph: &Graph) {
    let lines = |matrix: &Matrix| match matrix.check(graph) {
        Ok(()) => Vec::new(),
        Err(mismatch) => mismatch.lines().to_vec(),
    };
    // What one subject cannot reach another does; what all of them miss is amiss.
    let mut amiss = lines(&matrices[0]);
    amiss.retain(|line| matrices.iter().all(|matrix| lines(matrix).contains(line)));
    amiss.extend(matrices.iter().flat_map(Matrix::faults).map(|fault| fault.to_string()));
    assert!(amiss.is_empty(), "{}: {}", graph.name, amiss.join("\n"));
}

fn assert_is_declared(table: &Table, graph: &Graph) {
    assert_eq!(table.name, graph.name);
    assert_eq!(table.initial, graph.initial().name);
    assert_eq!(set(table.events.iter().copied()), set(graph.events.iter().copied()));
    assert_eq!(set(table.states.iter().copied()), set(graph.states.iter().map(|state| state.name)));
    let ends = graph.states.iter().filter(|state| state.terminal).map(|state| state.name);
    assert_eq!(set(table.terminal.iter().copied()), set(ends));
    let edges = graph.edges.iter().map(|edge| (edge.from, edge.event, edge.to));
    assert_eq!(set(table.edges()), set(edges), "{}: declared and documented edges", table.name);
}

/// All of them; none twice.
fn set<T: Ord + std::fmt::Debug>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let items: Vec<T> = items.into_iter().collect();
    let count = items.len();
    let set: BTreeSet<T> = items.into_iter().collect();
    assert_eq!(set.len(), count, "something is there twice: {set:?}");
    set
}

/// The graph as the code declares it, in Mermaid, with its fingerprint: what a stored run depends on.
fn drawn(graph: &Graph) -> String {
    let mut text =
        format!("%% version {}, fingerprint {}\nstateDiagram-v2\n", graph.version, graph.fingerprint());
    text.push_str(&format!("    [*] --> {}\n", graph.initial().name));
    for edge in graph.edges {
        text.push_str(&format!("    {edge}\n"));
    }
    for state in graph.states.iter().filter(|state| state.terminal) {
        text.push_str(&format!("    {} --> [*]\n", state.name));
    }
    // It is a diagram that a reader of Mermaid takes, and the same graph again.
    let read = StateGraph::from_diagram(&parse(&text).unwrap(), graph.name).unwrap();
    let edges: Vec<String> = read.edges.iter().map(|edge| edge.to_string()).collect();
    assert_eq!(edges, graph.edges.iter().map(|edge| edge.to_string()).collect::<Vec<_>>());
    text
}

for_each_lifecycle!(proves);

/// The counts of all lifecycles in one place: a number that changes is a decision. The drawn edges and those from prose are
/// the ones that a person counts in the documents.
#[test]
fn counts_of_all_lifecycles_are_pinned() {
    fn row<D: Documented>(_: D) -> [usize; 8] {
        let (graph, events) = (D::Machine::GRAPH, <<D as Subject>::Machine as Machine>::Event::NAMES.len());
        let (states, edges) = (graph.states.len(), graph.edges.len());
        let (drawn, prose, guarded) = (D::TABLE.drawn.len(), D::TABLE.prose.len(), D::TABLE.guarded.len());
        let paths = minimal_transition_cover(graph).len();
        [states, events, edges, drawn, prose, states * events - edges, guarded, paths]
    }
    let rows = [
        ("run", row(super::run::Runs)),
        ("tool_call", row(super::tool_call::Calls)),
        ("run_flow", row(super::run_flow::Flows)),
        ("resume_tool_call", row(super::resume_tool_call::Passes)),
        ("tool_execution", row(super::tool_execution::Executions)),
        ("stream_session", row(super::stream_session::Sessions)),
        ("governed_run", row(super::governed_run::GovernedRuns)),
        ("approval", row(super::approval::Approvals)),
        ("service_run", row(super::service_run::ServiceRuns)),
        ("service_pass", row(super::service_pass::Passes)),
    ];
    // No lifecycle is left out.
    let names: Vec<_> = rows.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, runstate::lifecycles().iter().map(|graph| graph.name).collect::<Vec<_>>());
    let mut text =
        format!("{:16} states  events  taken  drawn  prose  refused  guarded  fewest paths\n", "lifecycle");
    for (name, [states, events, taken, drawn, prose, refused, guarded, paths]) in rows {
        text.push_str(&format!(
            "{name:16} {states:6}  {events:6}  {taken:5}  {drawn:5}  {prose:5}  {refused:7}  {guarded:7}  {paths:12}\n"
        ));
    }
    snapshot("proof__counts", &text);
}
