//! The diagram as the fuzzer uses it: states, events and transitions by index.

use std::collections::{BTreeMap, BTreeSet};

use proptest::arbitrary::any;
use proptest::strategy::{BoxedStrategy, Strategy};
use runstate::diagram::{EventLabel, StateGraph};
use runstate::kernel::Graph;
use runstate::testing::{minimal_diagram_cover, minimal_transition_cover};
use serde_json::json;

use crate::config::{Config, did_you_mean};
use crate::payload::{Draft, Generator};

/// A state diagram with the events of its labels.
///
/// ```
/// use runstate::diagram::{StateGraph, parse};
/// use runstate_fuzz::{Config, Map};
///
/// let source = "stateDiagram-v2\n[*] --> Created\nCreated --> Paid : pay [enough]\nPaid --> [*]";
/// let graph = StateGraph::from_diagram(&parse(source).unwrap(), "order").unwrap();
/// let map = Map::new(&graph, &Config::default()).unwrap();
/// assert_eq!(map.events().collect::<Vec<_>>(), ["pay"]);
///
/// // A label that names no event needs a mapping.
/// let source = "stateDiagram-v2\n[*] --> A\nA --> B : it is paid";
/// let graph = StateGraph::from_diagram(&parse(source).unwrap(), "order").unwrap();
/// let error = Map::new(&graph, &Config::default()).unwrap_err();
/// assert!(error.to_string().contains("line 3: \"it is paid\""));
/// ```
#[derive(Debug, Clone)]
pub struct Map {
    pub(crate) name: String,
    pub(crate) states: Vec<String>,
    pub(crate) events: Vec<String>,
    /// The payloads of each event.
    pub(crate) payloads: Vec<BoxedStrategy<Draft>>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) initial: Vec<usize>,
    pub(crate) fingerprint: String,
    /// Paths of edges that cover each transition, the fewest.
    pub(crate) cover: Vec<Vec<usize>>,
    /// The states that each state may become without a request, itself included.
    pub(crate) drifts: Vec<Vec<usize>>,
}

/// A transition.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The event; none for a transition of the program's own.
    pub(crate) event: Option<usize>,
    /// Whether the event may be refused: by its guard, or by the configuration.
    pub(crate) may_refuse: bool,
    /// The transition in the notation of the diagram, with its line.
    pub(crate) text: String,
}

impl Map {
    /// Makes the map of a diagram under a configuration.
    ///
    /// # Errors
    /// [`MapError`]: the diagram has no initial state or no event, a label names no event, or the configuration names
    /// something that the diagram lacks.
    pub fn new(graph: &StateGraph, config: &Config) -> Result<Self, MapError> {
        let states: Vec<String> = graph.states.iter().map(|state| state.name.clone()).collect();
        let at: BTreeMap<&str, usize> = states.iter().enumerate().map(|(i, name)| (&**name, i)).collect();
        let position = |name: &str| at.get(name).copied();
        let initial: Vec<usize> = graph.initial.iter().filter_map(|mark| position(&mark.state)).collect();
        if initial.is_empty() {
            return Err(MapError(format!("the diagram {:?} has no initial state `[*] --> …`", graph.name)));
        }
        let labels = Labels::of(graph, config)?;
        let events: BTreeSet<&str> = labels.0.iter().flatten().map(|(event, _)| &**event).collect();
        let events: Vec<String> = events.into_iter().map(str::to_owned).collect();
        if events.is_empty() {
            return Err(MapError(format!("the diagram {:?} has no transition with an event", graph.name)));
        }
        let has = |state: &str, event: &str| {
            graph.edges.iter().zip(&labels.0).any(|(edge, label)| {
                edge.from == state && label.as_ref().is_some_and(|(name, _)| name == event)
            })
        };
        config.check(&states, &events, has)?;
        let payload = |event: &String| {
            let strategy = match config.payloads.get(event) {
                Some(generator) => generator.strategy(),
                None => Generator::EMPTY.strategy(),
            };
            strategy.map_err(|why| MapError(format!("the payload of `{event}`: {why}")))
        };
        let payloads = events.iter().map(payload).collect::<Result<_, _>>()?;
        let mut edges = Vec::new();
        for (edge, label) in graph.edges.iter().zip(&labels.0) {
            let (Some(from), Some(to)) = (position(&edge.from), position(&edge.to)) else { continue };
            let event = label.as_ref().and_then(|(event, _)| events.iter().position(|name| name == event));
            let is_guarded = label.as_ref().is_some_and(|(_, is_guarded)| *is_guarded);
            let is_configured = label.as_ref().is_some_and(|(event, _)| config.may_refuse(&edge.from, event));
            let line = edge.line.map(|line| format!(" (line {line})")).unwrap_or_default();
            let text = format!("{edge}{line}");
            edges.push(Edge { from, to, event, may_refuse: is_guarded || is_configured, text });
        }
        let drifts = drifts(states.len(), &edges);
        Ok(Map {
            name: graph.name.clone(),
            cover: minimal_diagram_cover(graph),
            fingerprint: graph.fingerprint().to_string(),
            states,
            events,
            payloads,
            edges,
            initial,
            drifts,
        })
    }

    /// The map of a lifecycle. Its payloads are seeds, and each of its events may be refused by a guard.
    pub(crate) fn of_graph(graph: &'static Graph) -> Self {
        let edges = graph.edges.iter().map(|edge| Edge {
            from: edge.from_index,
            to: edge.to_index,
            event: graph.events.iter().position(|event| *event == edge.event),
            may_refuse: true,
            text: edge.to_string(),
        });
        let edges: Vec<Edge> = edges.collect();
        let position = |wanted: &'static runstate::kernel::Edge| {
            graph.edges.iter().position(|edge| std::ptr::eq(edge, wanted)).unwrap_or_default()
        };
        let cover = minimal_transition_cover(graph);
        let seeds = any::<u64>().prop_map(|seed| Draft::Value(json!({ "seed": seed }))).boxed();
        Map {
            name: graph.name.to_owned(),
            states: graph.states.iter().map(|state| state.name.to_owned()).collect(),
            events: graph.events.iter().map(|event| (*event).to_owned()).collect(),
            payloads: vec![seeds; graph.events.len()],
            initial: (0..graph.states.len()).filter(|at| graph.states[*at].initial).collect(),
            fingerprint: graph.fingerprint().to_string(),
            cover: cover.into_iter().map(|path| path.into_iter().map(position).collect()).collect(),
            drifts: drifts(graph.states.len(), &edges),
            edges,
        }
    }

    /// The name of the diagram.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the events, in alphabetical order.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        self.events.iter().map(String::as_str)
    }

    /// The number of transitions.
    #[must_use]
    pub fn transitions(&self) -> usize {
        self.edges.len()
    }

    pub(crate) fn state(&self, name: &str) -> Option<usize> {
        self.states.iter().position(|state| state == name)
    }

    /// The transitions of an event from a state, or from a state that it may have become meanwhile.
    pub(crate) fn of(&self, state: usize, event: usize) -> impl Iterator<Item = usize> + '_ {
        let is_origin = move |edge: &Edge| self.drifts[state].contains(&edge.from);
        let edges = self.edges.iter().enumerate();
        edges.filter(move |(_, edge)| edge.event == Some(event) && is_origin(edge)).map(|(at, _)| at)
    }

    /// The events with a transition from a state.
    pub(crate) fn legal(&self, state: usize) -> Vec<usize> {
        (0..self.events.len()).filter(|event| self.of(state, *event).next().is_some()).collect()
    }

    /// Whether the program may leave the state without a request.
    pub(crate) fn is_restless(&self, state: usize) -> bool {
        self.drifts[state].len() > 1
            || self.edges.iter().any(|edge| edge.from == state && edge.event.is_none())
    }

    /// The shortest path of transitions from a state to the start of `goal`, over transitions that are not `closed`.
    pub(crate) fn path(
        &self,
        from: usize,
        goal: usize,
        closed: &dyn Fn(usize) -> bool,
    ) -> Option<Vec<usize>> {
        self.path_to(from, self.edges[goal].from, closed)
    }

    /// The shortest path of transitions from a state to another, over transitions that are not `closed`.
    pub(crate) fn path_to(
        &self,
        from: usize,
        goal: usize,
        closed: &dyn Fn(usize) -> bool,
    ) -> Option<Vec<usize>> {
        let mut came: Vec<Option<usize>> = vec![None; self.states.len()];
        let mut seen = vec![false; self.states.len()];
        let mut queue = std::collections::VecDeque::from([from]);
        seen[from] = true;
        while let Some(state) = queue.pop_front() {
            if state == goal {
                let mut path = Vec::new();
                let mut here = state;
                while here != from {
                    let Some(edge) = came[here] else { break };
                    path.push(edge);
                    here = self.edges[edge].from;
                }
                path.reverse();
                return Some(path);
            }
            for (at, edge) in self.edges.iter().enumerate() {
                if edge.from == state && !seen[edge.to] && !closed(at) {
                    seen[edge.to] = true;
                    came[edge.to] = Some(at);
                    queue.push_back(edge.to);
                }
            }
        }
        None
    }
}

/// The event of each label, and whether the label has a guard; none for a transition without a label.
struct Labels(Vec<Option<(String, bool)>>);

impl Labels {
    fn of(graph: &StateGraph, config: &Config) -> Result<Self, MapError> {
        let mut unmapped = BTreeSet::new();
        let mut used = BTreeSet::new();
        let mut labels = Vec::new();
        for edge in &graph.edges {
            let Some(label) = edge.label.as_deref().map(str::trim).filter(|label| !label.is_empty()) else {
                labels.push(None);
                continue;
            };
            let parsed = EventLabel::parse(label);
            if let Some(event) = config.events.get(label) {
                used.insert(label);
                labels.push(Some((event.clone(), parsed.is_some_and(|parsed| parsed.is_guarded))));
            } else if let Some(parsed) = parsed {
                labels.push(Some((parsed.event.to_owned(), parsed.is_guarded)));
            } else {
                unmapped.insert((edge.line, label));
                labels.push(None);
            }
        }
        if !unmapped.is_empty() {
            let lines = unmapped.iter().map(|(line, label)| match line {
                Some(line) => format!("\n  line {line}: {label:?}"),
                None => format!("\n  {label:?}"),
            });
            return Err(MapError(format!(
                "labels name an event, as `event [guard] / action`; the mapping `events` of the configuration lacks:{}",
                lines.collect::<String>()
            )));
        }
        if let Some(label) = config.events.keys().find(|label| !used.contains(label.as_str())) {
            let labels = graph.edges.iter().filter_map(|edge| edge.label.as_deref()).map(str::trim);
            let meant = did_you_mean(label, &labels.collect::<Vec<_>>());
            return Err(MapError(format!(
                "`events` maps the label {label:?}, which the diagram lacks{meant}"
            )));
        }
        Ok(Labels(labels))
    }
}

/// The states that each state may become over transitions without an event.
fn drifts(states: usize, edges: &[Edge]) -> Vec<Vec<usize>> {
    (0..states)
        .map(|state| {
            let mut reached = vec![state];
            let mut at = 0;
            while at < reached.len() {
                let silent = edges.iter().filter(|edge| edge.event.is_none() && edge.from == reached[at]);
                for edge in silent.map(|edge| edge.to).collect::<Vec<_>>() {
                    if !reached.contains(&edge) {
                        reached.push(edge);
                    }
                }
                at += 1;
            }
            reached
        })
        .collect()
}

/// A diagram that cannot be fuzzed, or a configuration that does not fit it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MapError(pub(crate) String);
