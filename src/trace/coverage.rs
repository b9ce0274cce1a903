//! Which edges were taken.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::event::Plain;
use super::rules::Rules;

/// Which edges were taken and how often, by lifecycle. Those of several traces add up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Coverage {
    pub(crate) lifecycles: Vec<LifecycleCoverage>,
}

/// Which edges of one lifecycle were taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LifecycleCoverage {
    /// The lifecycle.
    pub lifecycle: String,
    /// How many instances there were.
    pub instances: u64,
    /// How many of them have not ended.
    pub unfinished: u64,
    /// The states, in source order.
    pub states: Vec<StateCount>,
    /// The edges, in source order.
    pub edges: Vec<EdgeCount>,
}

/// How often a state was entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StateCount {
    /// The state.
    pub state: String,
    /// How often it was entered.
    pub entered: u64,
    /// How many instances are in it at the end.
    pub current: u64,
}

/// How often an edge was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EdgeCount {
    /// The state that is left.
    pub from: String,
    /// The event, or the label in the diagram; empty for none.
    pub event: String,
    /// The state that is entered.
    pub to: String,
    /// How often it was taken.
    pub taken: u64,
}

impl fmt::Display for EdgeCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} --> {}", Plain(&self.from), Plain(&self.to))?;
        if self.event.is_empty() { Ok(()) } else { write!(f, " : {}", Plain(&self.event)) }
    }
}

impl LifecycleCoverage {
    pub(super) fn none_of(rules: &Rules) -> Self {
        let state = |state: &str| StateCount { state: state.to_owned(), entered: 0, current: 0 };
        LifecycleCoverage {
            lifecycle: rules.name().to_owned(),
            instances: 0,
            unfinished: 0,
            states: rules.states().map(state).collect(),
            edges: rules
                .edges()
                .map(|edge| EdgeCount {
                    from: edge.from.to_owned(),
                    event: edge.event.to_owned(),
                    to: edge.to.to_owned(),
                    taken: 0,
                })
                .collect(),
        }
    }

    /// How many edges were taken at least once.
    pub fn taken(&self) -> usize {
        self.edges.iter().filter(|edge| edge.taken > 0).count()
    }

    /// The edges that were never taken, in source order.
    pub fn never(&self) -> impl Iterator<Item = &EdgeCount> {
        self.edges.iter().filter(|edge| edge.taken == 0)
    }

    /// How many per cent of the edges were taken; 100 where there are none.
    pub fn percent(&self) -> f64 {
        percent(self.taken(), self.edges.len())
    }

    pub(super) fn taken_of(&self, from: &str, event: &str, to: &str) -> u64 {
        let same = |edge: &&EdgeCount| (&*edge.from, &*edge.event, &*edge.to) == (from, event, to);
        self.edges.iter().find(same).map_or(0, |edge| edge.taken)
    }

    fn add(&mut self, other: &LifecycleCoverage) {
        self.instances += other.instances;
        self.unfinished += other.unfinished;
        for theirs in &other.states {
            match self.states.iter_mut().find(|ours| ours.state == theirs.state) {
                Some(ours) => {
                    ours.entered += theirs.entered;
                    ours.current += theirs.current;
                }
                None => self.states.push(theirs.clone()),
            }
        }
        for theirs in &other.edges {
            let same = |ours: &&mut EdgeCount| {
                (&ours.from, &ours.event, &ours.to) == (&theirs.from, &theirs.event, &theirs.to)
            };
            match self.edges.iter_mut().find(same) {
                Some(ours) => ours.taken += theirs.taken,
                None => self.edges.push(theirs.clone()),
            }
        }
    }
}

impl Coverage {
    /// Of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what another trace covered.
    pub fn merge(&mut self, other: &Coverage) {
        for theirs in &other.lifecycles {
            match self.lifecycles.iter_mut().find(|ours| ours.lifecycle == theirs.lifecycle) {
                Some(ours) => ours.add(theirs),
                None => self.lifecycles.push(theirs.clone()),
            }
        }
    }

    /// The lifecycles that occurred, and the one that was asked for, in the order of the rules.
    pub fn iter(&self) -> impl Iterator<Item = &LifecycleCoverage> {
        self.lifecycles.iter()
    }

    /// The coverage of one lifecycle.
    pub fn lifecycle(&self, name: &str) -> Option<&LifecycleCoverage> {
        self.lifecycles.iter().find(|lifecycle| lifecycle.lifecycle == name)
    }

    /// How many per cent of all edges were taken; 100 where there are none.
    pub fn percent(&self) -> f64 {
        let taken = self.iter().map(LifecycleCoverage::taken).sum();
        percent(taken, self.iter().map(|lifecycle| lifecycle.edges.len()).sum())
    }

    /// Asks for so many per cent.
    ///
    /// # Errors
    /// When it is less.
    pub fn require_percent(&self, least: f64) -> Result<(), Unmet> {
        let got = self.percent();
        // Written so that a limit that is no number is missed, not met.
        if got >= least { Ok(()) } else { Err(Unmet::Percent { got, least }) }
    }

    /// Asks for an edge; gives how often it was taken.
    ///
    /// # Errors
    /// When it was never taken, or when there is no such edge in what was covered.
    pub fn require_edge(&self, wanted: &WantedEdge) -> Result<u64, Unmet> {
        let edges = self
            .iter()
            .filter(|covered| wanted.lifecycle.as_ref().is_none_or(|name| *name == covered.lifecycle))
            .flat_map(|covered| &covered.edges)
            .filter(|edge| edge.from == wanted.from && edge.to == wanted.to);
        let (mut found, mut taken) = (false, 0);
        for edge in edges {
            found = true;
            taken += edge.taken;
        }
        match (found, taken) {
            (false, _) => Err(Unmet::NoSuchEdge(wanted.clone())),
            (true, 0) => Err(Unmet::NeverTaken(wanted.clone())),
            (true, taken) => Ok(taken),
        }
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// An edge that a trace has to take, written `FROM:TO` or `LIFECYCLE/FROM:TO`.
///
/// # Example
/// ```
/// use runstate::trace::WantedEdge;
///
/// let wanted: WantedEdge = "tool_call/New:Running".parse().unwrap();
/// assert_eq!(wanted.to, "Running");
/// assert_eq!(wanted.to_string(), "tool_call/New:Running");
///
/// let error = "New->Running".parse::<WantedEdge>().unwrap_err();
/// assert_eq!(error.to_string(), "expected FROM:TO or LIFECYCLE/FROM:TO, got \"New->Running\"");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WantedEdge {
    /// The lifecycle, or any that has the edge.
    pub lifecycle: Option<String>,
    /// The state that is left.
    pub from: String,
    /// The state that is entered.
    pub to: String,
}

impl fmt::Display for WantedEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(lifecycle) = &self.lifecycle {
            write!(f, "{lifecycle}/")?;
        }
        write!(f, "{}:{}", self.from, self.to)
    }
}

impl FromStr for WantedEdge {
    type Err = NoWantedEdge;

    fn from_str(text: &str) -> Result<Self, NoWantedEdge> {
        let (lifecycle, edge) = match text.split_once('/') {
            Some((lifecycle, edge)) => (Some(lifecycle.trim().to_owned()), edge),
            None => (None, text),
        };
        match edge.split_once(':').map(|(from, to)| (from.trim(), to.trim())) {
            Some((from, to)) if !from.is_empty() && !to.is_empty() && !to.contains(':') => {
                Ok(WantedEdge { lifecycle, from: from.to_owned(), to: to.to_owned() })
            }
            _ => Err(NoWantedEdge { got: text.to_owned() }),
        }
    }
}

/// A text that names no edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoWantedEdge {
    got: String,
}

impl fmt::Display for NoWantedEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected FROM:TO or LIFECYCLE/FROM:TO, got {:?}", self.got)
    }
}

impl Error for NoWantedEdge {}

/// What was asked of a coverage and is not there.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Unmet {
    /// Too few edges were taken.
    Percent {
        /// How many per cent were.
        got: f64,
        /// How many were asked for.
        least: f64,
    },
    /// The edge was never taken.
    NeverTaken(WantedEdge),
    /// No lifecycle that occurred has the edge.
    NoSuchEdge(WantedEdge),
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmet::Percent { got, least } => {
                write!(f, "expected {least} % of the edges taken, got {got:.1} %")
            }
            Unmet::NeverTaken(edge) => write!(f, "expected the edge {edge} taken, got it never"),
            Unmet::NoSuchEdge(edge) => {
                write!(f, "expected the edge {edge} taken, but no lifecycle in the trace has that edge")
            }
        }
    }
}

impl Error for Unmet {}
