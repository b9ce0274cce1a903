//! The fewest walks, against a search that knows nothing of flows.
use std::collections::{HashSet, VecDeque};

use proptest::prelude::*;
use runstate::kernel::{Edge, Graph, StateInfo, Stateful, Witness, build};
use runstate::testing::example::AnyDoor;
use runstate::testing::minimal_transition_cover;
use runstate::tool_call::AnyToolCall;

use super::snapshot;

/// The least number of walks, and among those the least number of steps: uniform-cost search over the state and the set
/// of edges taken so far, where a new walk may begin at each end.
fn least_by_search(graph: &Graph) -> (usize, usize) {
    const NEW_WALK: usize = 1_000;
    let mut reaches: Vec<bool> = graph.states.iter().map(|s| s.terminal).collect();
    for _ in graph.states {
        for edge in graph.edges {
            reaches[edge.from_index] |= reaches[edge.to_index];
        }
    }
    let is_end = |state: usize| graph.states[state].terminal || !reaches[state];
    let all = (1_usize << graph.edges.len()) - 1;
    let initial = graph.states.iter().position(|s| s.initial).unwrap();
    let mut done = HashSet::new();
    let mut costs: std::collections::BTreeMap<usize, VecDeque<(usize, usize)>> = Default::default();
    costs.entry(NEW_WALK).or_default().push_back((initial, 0));
    while let Some((cost, mut nodes)) = costs.pop_first() {
        while let Some((state, taken)) = nodes.pop_front() {
            if !done.insert((state, taken)) {
                continue;
            }
            if taken == all && is_end(state) {
                return (cost / NEW_WALK, cost % NEW_WALK);
            }
            if is_end(state) {
                costs.entry(cost + NEW_WALK).or_default().push_back((initial, taken));
            }
            for (i, edge) in graph.edges.iter().enumerate().filter(|(_, e)| e.from_index == state) {
                costs.entry(cost + 1).or_default().push_back((edge.to_index, taken | 1 << i));
            }
        }
    }
    unreachable!("every edge is within reach of the initial state")
}

fn assert_is_cover(graph: &Graph, paths: &[Vec<&'static Edge>]) {
    let mut taken = HashSet::new();
    for path in paths {
        let mut at = graph.initial().name;
        for edge in path {
            assert_eq!(edge.from, at, "a path continues in its last state");
            at = edge.to;
            taken.insert((edge.from, edge.event));
        }
        let can_end = |name: &'static str| {
            let ends_here = graph.state(name).unwrap().terminal;
            ends_here || !reaches_terminal(graph, name, &mut HashSet::new())
        };
        assert!(can_end(at), "a path ends in a terminal state, not in {at}");
    }
    assert_eq!(taken.len(), graph.edges.len(), "every edge is taken");
}

fn reaches_terminal(graph: &Graph, state: &'static str, seen: &mut HashSet<&'static str>) -> bool {
    graph.state(state).unwrap().terminal
        || seen.insert(state) && graph.ways_out(state).any(|edge| reaches_terminal(graph, edge.to, seen))
}

fn steps(paths: &[Vec<&'static Edge>]) -> usize {
    paths.iter().map(Vec::len).sum()
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const EVENTS: [&str; 8] = ["0", "1", "2", "3", "4", "5", "6", "7"];

/// A graph in which every state is within reach; states without a way out may be terminal or not.
fn graph(pairs: &[(usize, usize)], terminal: &[bool]) -> &'static Graph {
    let mut edges: Vec<(usize, usize)> = Vec::new();
    let mut within_reach = vec![0];
    // Those edges that leave what is within reach, until no more do.
    loop {
        let next = pairs.iter().find(|pair| !edges.contains(pair) && within_reach.contains(&pair.0));
        let Some(&(from, to)) = next else { break };
        edges.push((from, to));
        if !within_reach.contains(&to) {
            within_reach.push(to);
        }
    }
    static OWN: Witness = Witness::at("here");
    let place = |state: usize| within_reach.iter().position(|s| *s == state).unwrap();
    let ends: Vec<usize> = (0..within_reach.len())
        .filter(|i| terminal[within_reach[*i]] && edges.iter().all(|(from, _)| *from != within_reach[*i]))
        .collect();
    let states: Vec<StateInfo> =
        (0..within_reach.len()).map(|i| build::state(NAMES[i], "", i, 0, &ends)).collect();
    let edges: Vec<Edge> = edges
        .iter()
        .enumerate()
        .map(|(i, (from, to))| {
            let (from, to) = (place(*from), place(*to));
            build::edge(&OWN, "random", (NAMES[from], from), EVENTS[i], (NAMES[to], to))
        })
        .collect();
    Box::leak(Box::new(build::graph(
        &OWN,
        &build::Names { name: "random", package: None, identity: &[] },
        "",
        1,
        states.leak(),
        &EVENTS,
        edges.leak(),
    )))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn minimal_cover_has_the_fewest_paths_and_steps(
        pairs in proptest::collection::vec((0..6_usize, 0..6_usize), 1..=8),
        terminal in proptest::collection::vec(prop::bool::weighted(0.8), 6),
    ) {
        // The first one leaves the initial state.
        let mut pairs = pairs;
        pairs[0].0 = 0;
        let graph = graph(&pairs, &terminal);
        let paths = minimal_transition_cover(graph);
        assert_is_cover(graph, &paths);
        prop_assert_eq!((paths.len(), steps(&paths)), least_by_search(graph), "{:?}", graph.edges);
    }
}

#[test]
fn the_paths_that_cover_a_tool_call_are_the_fewest() {
    let paths = minimal_transition_cover(AnyToolCall::GRAPH);
    assert_is_cover(AnyToolCall::GRAPH, &paths);
    assert_eq!((paths.len(), steps(&paths)), least_by_search(AnyToolCall::GRAPH));
    let lines: Vec<String> =
        paths.iter().map(|path| path.iter().map(|edge| edge.event).collect::<Vec<_>>().join(", ")).collect();
    snapshot("paths_that_cover_a_tool_call", &lines.join("\n"));
}

#[test]
fn graph_without_an_end_is_covered_by_one_path() {
    let paths = minimal_transition_cover(graph(&[(0, 1), (1, 0), (1, 2), (2, 1)], &[false; 6]));
    assert_eq!(paths.len(), 1);
    assert_eq!(paths[0].len(), 4);
}

#[test]
fn graph_without_edges_needs_no_path() {
    assert!(minimal_transition_cover(graph(&[], &[true; 6])).is_empty());
    assert_is_cover(AnyDoor::GRAPH, &minimal_transition_cover(AnyDoor::GRAPH));
}
