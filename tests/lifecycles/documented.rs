//! The transcriptions of the documents, held against the graphs that the code declares.

use std::collections::BTreeSet;

use runstate::kernel::Graph;

use crate::proof::{TRANSCRIPTIONS, Table};

/// The pairs of all edges.
fn pairs(table: &Table) -> BTreeSet<(&'static str, &'static str)> {
    table.edges().map(|(from, _, to)| (from, to)).collect()
}

fn declared(name: &str) -> &'static Graph {
    runstate::lifecycles().iter().find(|graph| graph.name == name).unwrap()
}

#[test]
fn the_transcription_has_no_edge_twice_and_none_to_itself() {
    for graph in TRANSCRIPTIONS {
        let pairs = pairs(graph);
        assert_eq!(pairs.len(), graph.edges().count(), "{}", graph.name);
        assert!(pairs.iter().all(|(from, to)| from != to), "{}", graph.name);
    }
}

#[test]
fn every_declared_graph_is_transcribed() {
    let declared: Vec<_> = runstate::lifecycles().iter().map(|graph| graph.name).collect();
    let transcribed: Vec<_> = TRANSCRIPTIONS.iter().map(|graph| graph.name).collect();
    assert_eq!(declared, transcribed);
}

#[test]
fn declared_edges_are_the_documented_ones() {
    for documented in TRANSCRIPTIONS {
        let graph = declared(documented.name);
        let expected: BTreeSet<_> = documented.edges().collect();
        let got: BTreeSet<_> = graph.edges.iter().map(|edge| (edge.from, edge.event, edge.to)).collect();
        let missing: Vec<_> = expected.difference(&got).collect();
        let extra: Vec<_> = got.difference(&expected).collect();
        assert!(
            missing.is_empty() && extra.is_empty(),
            "{}: the code lacks {missing:?} and adds {extra:?}",
            graph.name
        );
        // One edge a pair: counts of edges are counts of pairs.
        assert_eq!(graph.edges.len(), expected.len(), "{}", graph.name);
    }
}

#[test]
fn declared_states_and_marks_are_the_documented_ones() {
    for documented in TRANSCRIPTIONS {
        let graph = declared(documented.name);
        assert_eq!(graph.initial().name, documented.initial);
        let expected: BTreeSet<_> = documented.terminal.iter().copied().collect();
        let got: BTreeSet<_> =
            graph.states.iter().filter(|state| state.terminal).map(|state| state.name).collect();
        assert_eq!(got, expected, "{}", graph.name);
        let expected: BTreeSet<_> = pairs(documented).into_iter().flat_map(|(from, to)| [from, to]).collect();
        let got: BTreeSet<_> = graph.states.iter().map(|state| state.name).collect();
        assert_eq!(got, expected, "{}", graph.name);
    }
}
