//! The effect of a change of a graph on existing runs.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::graph::{GraphEdge, Mark, StateGraph};
use super::label::event_name;

/// The effect of a [`Change`] on persisted runs, in order of increasing severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// No effect on runs.
    Informational,
    /// Persisted runs stay valid, and may take new transitions.
    Review,
    /// A persisted run, or its recorded trace, may become illegal.
    Breaking,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Informational => "informational",
            Self::Review => "review",
            Self::Breaking => "breaking",
        })
    }
}

/// The kind of a difference between two graphs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// A state was removed. Breaking: a persisted run may be in it.
    StateRemoved {
        /// The name of the state.
        state: String,
    },
    /// A state was added. Review: only new transitions lead to it.
    StateAdded {
        /// The name of the state.
        state: String,
    },
    /// A transition was removed. Breaking: a run may need exactly this transition, and a recorded trace may contain
    /// it.
    EdgeRemoved {
        /// The transition.
        edge: GraphEdge,
    },
    /// A transition was added. Review: a persisted run may now take it.
    EdgeAdded {
        /// The transition.
        edge: GraphEdge,
    },
    /// Runs may no longer start here. Review: persisted runs have already started; only new runs and the replay of
    /// old traces are affected.
    InitialLost {
        /// The name of the state.
        state: String,
    },
    /// Runs may now start here. Review, as for [`ChangeKind::InitialLost`].
    InitialGained {
        /// The name of the state.
        state: String,
    },
    /// A run may no longer end here. Breaking: finished persisted runs count as unfinished again.
    TerminalLost {
        /// The name of the state.
        state: String,
    },
    /// A run may now end here. Breaking: a run that waits here counts as finished, so it is never resumed.
    TerminalGained {
        /// The name of the state.
        state: String,
    },
    /// A transition has another label. Review, if the name of its event changed: recorded traces and queued events do
    /// not have the new name. Otherwise informational.
    LabelChanged {
        /// The old transition.
        old: GraphEdge,
        /// The new transition.
        new: GraphEdge,
    },
    /// A state has another description. Informational.
    DescriptionChanged {
        /// The name of the state.
        state: String,
    },
    /// The states are equal but in another order. Informational.
    StateOrder,
    /// The transitions are equal but in another order. Informational.
    EdgeOrder,
    /// The graph has another name. Informational.
    Renamed {
        /// The old name.
        old: String,
        /// The new name.
        new: String,
    },
}

/// One difference between two graphs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The kind of the difference.
    pub kind: ChangeKind,
    /// The line in the new graph, or the line in the old graph for a removal.
    pub line: Option<usize>,
}

impl Change {
    /// The effect on persisted runs; [`ChangeKind`] explains it.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match &self.kind {
            ChangeKind::LabelChanged { .. } if self.renames_event() => Severity::Review,
            ChangeKind::StateRemoved { .. }
            | ChangeKind::EdgeRemoved { .. }
            | ChangeKind::TerminalLost { .. }
            | ChangeKind::TerminalGained { .. } => Severity::Breaking,
            ChangeKind::StateAdded { .. }
            | ChangeKind::EdgeAdded { .. }
            | ChangeKind::InitialLost { .. }
            | ChangeKind::InitialGained { .. } => Severity::Review,
            ChangeKind::LabelChanged { .. }
            | ChangeKind::DescriptionChanged { .. }
            | ChangeKind::StateOrder
            | ChangeKind::EdgeOrder
            | ChangeKind::Renamed { .. } => Severity::Informational,
        }
    }

    /// Returns whether the event of a transition was renamed, or got its first name. Events with the old name, in
    /// traces and in queues, then no longer take the transition.
    ///
    /// ```
    /// use runstate::diagram::{StateGraph, diff, parse};
    ///
    /// let graph = |source| StateGraph::from_diagram(&parse(source).unwrap(), "x").unwrap();
    /// let old = graph("stateDiagram-v2\nA --> B : ship [paid]");
    /// assert!(diff(&old, &graph("stateDiagram-v2\nA --> B : send [paid]"))[0].renames_event());
    /// assert!(!diff(&old, &graph("stateDiagram-v2\nA --> B : ship [in stock]"))[0].renames_event());
    /// ```
    #[must_use]
    pub fn renames_event(&self) -> bool {
        match &self.kind {
            // Every event takes a transition without an event name.
            ChangeKind::LabelChanged { old, new } => named(new).is_some_and(|name| named(old) != Some(name)),
            _ => false,
        }
    }

    /// Returns whether the new graph refuses a run that was persisted under the old graph, until a migration from it
    /// is registered.
    ///
    /// Every change of the [fingerprint](crate::kernel::Graph::fingerprint) has this effect, even if it is legal for
    /// the run: only the author of the graph knows the meaning of an added state for a persisted run.
    ///
    /// ```
    /// use runstate::diagram::{Severity, StateGraph, diff, parse};
    ///
    /// let graph = |source| StateGraph::from_diagram(&parse(source).unwrap(), "run").unwrap();
    /// let old = graph("stateDiagram-v2\n[*] --> A\nA --> B : go\nB --> [*]");
    ///
    /// let added = graph("stateDiagram-v2\n[*] --> A\nA --> B : go\nA --> C\nB --> [*]\nC --> [*]");
    /// assert!(diff(&old, &added).iter().all(|change| change.severity() < Severity::Breaking));
    /// assert!(diff(&old, &added).iter().any(|change| change.needs_migration()));
    ///
    /// let relabelled = graph("stateDiagram-v2\n[*] --> A\nA --> B : run\nB --> [*]");
    /// assert!(!diff(&old, &relabelled).iter().any(|change| change.needs_migration()));
    /// ```
    #[must_use]
    pub fn needs_migration(&self) -> bool {
        match self.kind {
            ChangeKind::StateRemoved { .. }
            | ChangeKind::StateAdded { .. }
            | ChangeKind::EdgeRemoved { .. }
            | ChangeKind::EdgeAdded { .. }
            | ChangeKind::InitialLost { .. }
            | ChangeKind::InitialGained { .. }
            | ChangeKind::TerminalLost { .. }
            | ChangeKind::TerminalGained { .. }
            | ChangeKind::Renamed { .. } => true,
            ChangeKind::LabelChanged { .. }
            | ChangeKind::DescriptionChanged { .. }
            | ChangeKind::StateOrder
            | ChangeKind::EdgeOrder => false,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.severity())?;
        match &self.kind {
            ChangeKind::StateRemoved { state } => write!(f, "state removed: {state}"),
            ChangeKind::StateAdded { state } => write!(f, "state added: {state}"),
            ChangeKind::EdgeRemoved { edge } => write!(f, "transition removed: {edge}"),
            ChangeKind::EdgeAdded { edge } => write!(f, "transition added: {edge}"),
            ChangeKind::InitialLost { state } => write!(f, "runs no longer start in {state}"),
            ChangeKind::InitialGained { state } => write!(f, "runs may start in {state}"),
            ChangeKind::TerminalLost { state } => write!(f, "runs no longer end in {state}"),
            ChangeKind::TerminalGained { state } => write!(f, "runs may end in {state}"),
            ChangeKind::LabelChanged { old, new } => {
                let label = new.label.as_deref().unwrap_or("no label");
                write!(f, "label changed: {old} is now {label}")
            }
            ChangeKind::DescriptionChanged { state } => write!(f, "description changed: {state}"),
            ChangeKind::StateOrder => f.write_str("the states stand in another order"),
            ChangeKind::EdgeOrder => f.write_str("the transitions stand in another order"),
            ChangeKind::Renamed { old, new } => write!(f, "name changed: {old} is now {new}"),
        }?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

/// Lists the differences in `new`, the most severe first. Within a severity the order is removals, additions, others,
/// each in source order.
///
/// Two transitions between equal states with different labels count as one transition with a changed label.
///
/// # Example
///
/// ```
/// use runstate::diagram::{Severity, StateGraph, diff, parse};
///
/// let graph = |source| StateGraph::from_diagram(&parse(source).unwrap(), "run").unwrap();
/// let old = graph("stateDiagram-v2\n[*] --> A\nA --> B : go\nB --> [*]");
/// let new = graph("stateDiagram-v2\n[*] --> A\nA --> B : run\nA --> C\nB --> [*]");
/// let changes = diff(&old, &new);
/// assert!(changes.iter().all(|change| change.severity() < Severity::Breaking));
/// let lines: Vec<String> = changes.iter().map(ToString::to_string).collect();
/// assert_eq!(lines, [
///     "review: state added: C (line 4)",
///     "review: transition added: A --> C (line 4)",
///     "review: label changed: A --> B : go is now run (line 3)",
/// ]);
/// // The removed way back breaks runs in C.
/// assert_eq!(diff(&new, &old)[0].severity(), Severity::Breaking);
/// ```
#[must_use]
pub fn diff(old: &StateGraph, new: &StateGraph) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut add = |kind, line| changes.push(Change { kind, line });
    let (before, after) = (old.positions(), new.positions());
    for state in old.states.iter().filter(|state| !after.contains_key(state.name.as_str())) {
        add(ChangeKind::StateRemoved { state: state.name.clone() }, state.line);
    }
    for state in new.states.iter().filter(|state| !before.contains_key(state.name.as_str())) {
        add(ChangeKind::StateAdded { state: state.name.clone() }, state.line);
    }
    let edges = Edges::compare(old, new);
    for edge in edges.removed {
        add(ChangeKind::EdgeRemoved { edge: edge.clone() }, edge.line);
    }
    for edge in edges.added {
        add(ChangeKind::EdgeAdded { edge: edge.clone() }, edge.line);
    }
    for mark in only(&old.initial, &new.initial) {
        add(ChangeKind::InitialLost { state: mark.state.clone() }, mark.line);
    }
    for mark in only(&new.initial, &old.initial) {
        add(ChangeKind::InitialGained { state: mark.state.clone() }, mark.line);
    }
    // The removal or addition of the state already implies the mark.
    for mark in only(&old.terminal, &new.terminal).filter(|mark| after.contains_key(mark.state.as_str())) {
        add(ChangeKind::TerminalLost { state: mark.state.clone() }, mark.line);
    }
    for mark in only(&new.terminal, &old.terminal).filter(|mark| before.contains_key(mark.state.as_str())) {
        add(ChangeKind::TerminalGained { state: mark.state.clone() }, mark.line);
    }
    for (from, to) in edges.relabelled {
        add(ChangeKind::LabelChanged { old: from.clone(), new: to.clone() }, to.line);
    }
    for (old, new) in restarted(old, new) {
        let line = new.line;
        add(ChangeKind::LabelChanged { old, new }, line);
    }
    let mut places = Vec::new();
    for state in &new.states {
        let Some(place) = before.get(state.name.as_str()) else { continue };
        places.push(*place);
        if old.states[*place].description != state.description {
            add(ChangeKind::DescriptionChanged { state: state.name.clone() }, state.line);
        }
    }
    if !places.is_sorted() {
        add(ChangeKind::StateOrder, None);
    }
    if !edges.places.is_sorted() {
        add(ChangeKind::EdgeOrder, None);
    }
    if old.name != new.name {
        add(ChangeKind::Renamed { old: old.name.clone(), new: new.name.clone() }, None);
    }
    changes.sort_by_key(|change| std::cmp::Reverse(change.severity()));
    changes
}

/// The marks on states that are unmarked in the other graph.
fn only<'g>(these: &'g [Mark], those: &[Mark]) -> impl Iterator<Item = &'g Mark> {
    let known: HashSet<String> = those.iter().map(|mark| mark.state.clone()).collect();
    these.iter().filter(move |mark| !known.contains(&mark.state))
}

/// The initial marks with changed labels, as transitions from `[*]`.
fn restarted(old: &StateGraph, new: &StateGraph) -> Vec<(GraphEdge, GraphEdge)> {
    let start = |mark: &Mark| GraphEdge {
        from: "[*]".to_owned(),
        to: mark.state.clone(),
        label: mark.label.clone(),
        line: mark.line,
    };
    let has = |marks: &[Mark], one: &Mark| {
        marks.iter().any(|mark| (&mark.state, &mark.label) == (&one.state, &one.label))
    };
    let mut before: Vec<&Mark> = old.initial.iter().filter(|mark| !has(&new.initial, mark)).collect();
    let after = new.initial.iter().filter(|mark| !has(&old.initial, mark));
    after
        .filter_map(|mark| {
            let at = before.iter().position(|it| it.state == mark.state)?;
            Some((start(before.remove(at)), start(mark)))
        })
        .collect()
}

/// The event name in the label of a transition.
fn named(edge: &GraphEdge) -> Option<&str> {
    edge.label.as_deref().and_then(event_name)
}

#[derive(Default)]
struct Edges<'g> {
    removed: Vec<&'g GraphEdge>,
    added: Vec<&'g GraphEdge>,
    relabelled: Vec<(&'g GraphEdge, &'g GraphEdge)>,
    /// The old index of each new transition that existed before, in order.
    places: Vec<usize>,
}

impl<'g> Edges<'g> {
    fn compare(old: &'g StateGraph, new: &'g StateGraph) -> Self {
        let mut this = Self::default();
        let mut taken = vec![false; old.edges.len()];
        let mut partner: Vec<Option<usize>> = vec![None; new.edges.len()];
        // Transitions are matched by ends and label, then by ends and event name, then by ends alone.
        let keys: [fn(&GraphEdge) -> Option<&str>; 3] = [|edge| edge.label.as_deref(), named, |_| None];
        for key in keys {
            let mut left: HashMap<(&str, &str, Option<&str>), Vec<usize>> = HashMap::new();
            for (at, edge) in old.edges.iter().enumerate().rev().filter(|(at, _)| !taken[*at]) {
                left.entry((&edge.from, &edge.to, key(edge))).or_default().push(at);
            }
            for (edge, partner) in new.edges.iter().zip(&mut partner).filter(|(_, partner)| partner.is_none())
            {
                *partner = left.get_mut(&(&*edge.from, &*edge.to, key(edge))).and_then(Vec::pop);
                if let Some(at) = *partner {
                    taken[at] = true;
                }
            }
        }
        for (edge, partner) in new.edges.iter().zip(partner) {
            match partner {
                Some(at) => {
                    this.places.push(at);
                    if old.edges[at].label != edge.label {
                        this.relabelled.push((&old.edges[at], edge));
                    }
                }
                None => this.added.push(edge),
            }
        }
        this.removed =
            old.edges.iter().zip(taken).filter(|(_, taken)| !taken).map(|(edge, _)| edge).collect();
        this
    }
}
