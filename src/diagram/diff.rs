//! What a change of a graph means for the runs that are already on their way.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::graph::{GraphEdge, Mark, StateGraph};
use super::label::event_name;

/// What a [`Change`] means for persisted runs. The order is from harmless to grave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// No run can tell.
    Informational,
    /// Runs at rest stay valid, and may now do what they could not do before.
    Review,
    /// A run at rest, or its recorded trace, may no longer be legal.
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

/// What is different in the new graph.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// A state is gone. Breaking: a run may be at rest in it.
    StateRemoved {
        /// Its name.
        state: String,
    },
    /// A state is new. Review: only new transitions lead to it.
    StateAdded {
        /// Its name.
        state: String,
    },
    /// A transition is gone. Breaking: a run may wait for exactly this one, and a recorded trace may hold it.
    EdgeRemoved {
        /// The transition.
        edge: GraphEdge,
    },
    /// A transition is new. Review: a run at rest may now take it.
    EdgeAdded {
        /// The transition.
        edge: GraphEdge,
    },
    /// Runs may no longer start here. Review: a run at rest has started already; only new runs and the replay of old
    /// traces can tell.
    InitialLost {
        /// The name of the state.
        state: String,
    },
    /// Runs may start here now. Review, as above.
    InitialGained {
        /// The name of the state.
        state: String,
    },
    /// A run may no longer end here. Breaking: finished runs at rest count as unfinished again.
    TerminalLost {
        /// The name of the state.
        state: String,
    },
    /// A run may end here now. Breaking: a run that waits here counts as finished, and nobody resumes it.
    TerminalGained {
        /// The name of the state.
        state: String,
    },
    /// A transition has another label. Review where its event has another name, which no trace that was recorded has and no event that
    /// is on its way; else informational.
    LabelChanged {
        /// The transition as it was.
        old: GraphEdge,
        /// The transition as it is.
        new: GraphEdge,
    },
    /// A state has another description. Informational.
    DescriptionChanged {
        /// Its name.
        state: String,
    },
    /// The same states stand in another order. Informational.
    StateOrder,
    /// The same transitions stand in another order. Informational.
    EdgeOrder,
    /// The graph has another name. Informational.
    Renamed {
        /// The name it had.
        old: String,
        /// The name it has.
        new: String,
    },
}

/// One difference between two graphs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// What is different.
    pub kind: ChangeKind,
    /// The line it has, or had if it is gone.
    pub line: Option<usize>,
}

impl Change {
    /// What the change means for persisted runs; [`ChangeKind`] says why.
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

    /// Has the event of a transition another name, or its first one? The events of the old name, in traces and in queues, do not take the
    /// transition any more.
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
            // Any event takes a transition without the name of one.
            ChangeKind::LabelChanged { old, new } => named(new).is_some_and(|name| named(old) != Some(name)),
            _ => false,
        }
    }

    /// Is a run that was parked under the old graph refused under the new one, until a migration from it is registered?
    ///
    /// So is every change of the [fingerprint](crate::kernel::Graph::fingerprint), legal for the run or not: what an added
    /// state means for a parked run, the author of the graph alone can say.
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

/// What is different in `new`, the gravest first; within a severity removals, additions, the rest, in source order.
///
/// Two transitions between the same states that differ in their label are one transition whose label changed.
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
/// // The way back breaks runs that are in C.
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
    // A mark on a state that is gone or new says nothing more.
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

/// The marks on states that the other graph does not mark.
fn only<'g>(these: &'g [Mark], those: &[Mark]) -> impl Iterator<Item = &'g Mark> {
    let known: HashSet<String> = those.iter().map(|mark| mark.state.clone()).collect();
    these.iter().filter(move |mark| !known.contains(&mark.state))
}

/// The starts whose labels are others than before, as transitions from `[*]`.
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

/// The name of the event in the label of a transition.
fn named(edge: &GraphEdge) -> Option<&str> {
    edge.label.as_deref().and_then(event_name)
}

#[derive(Default)]
struct Edges<'g> {
    removed: Vec<&'g GraphEdge>,
    added: Vec<&'g GraphEdge>,
    relabelled: Vec<(&'g GraphEdge, &'g GraphEdge)>,
    /// For each new edge that there was before, in order: where it stood.
    places: Vec<usize>,
}

impl<'g> Edges<'g> {
    fn compare(old: &'g StateGraph, new: &'g StateGraph) -> Self {
        let mut this = Self::default();
        let mut taken = vec![false; old.edges.len()];
        let mut partner: Vec<Option<usize>> = vec![None; new.edges.len()];
        // By ends and label, then by ends and the event's name, then by ends alone.
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
