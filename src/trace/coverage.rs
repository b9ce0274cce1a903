//! Which edges were taken.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::event::Plain;
use super::rules::{RuleEdge, Rules};

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
    /// How many events violate, listed or not.
    #[serde(skip)]
    pub(crate) violations: u64,
    /// The states, in source order, and then the composite states.
    pub states: Vec<StateCount>,
    /// The edges, in source order: as a diagram draws them, between states, composite states and choices.
    pub edges: Vec<EdgeCount>,
    /// The same between states alone, where that is not the same.
    #[serde(skip)]
    pub(crate) plain: Vec<EdgeCount>,
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
    /// What is directly inside of a composite state, whose instances it has too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<String>,
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
    /// Only the event of that name takes it.
    pub held: bool,
    /// How often it was taken.
    pub taken: u64,
}

impl StateCount {
    fn none_of(state: &str) -> Self {
        StateCount { state: state.to_owned(), entered: 0, current: 0, inside: Vec::new() }
    }
}

impl fmt::Display for EdgeCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} --> {}", Plain(&self.from), Plain(&self.to))?;
        if self.event.is_empty() { Ok(()) } else { write!(f, " : {}", Plain(&self.event)) }
    }
}

impl LifecycleCoverage {
    pub(super) fn none_of(rules: &Rules) -> Self {
        let edge = |edge: RuleEdge<'_>| EdgeCount {
            from: edge.from.to_owned(),
            event: edge.event.to_owned(),
            to: edge.to.to_owned(),
            held: edge.held,
            taken: 0,
        };
        LifecycleCoverage {
            lifecycle: rules.name().to_owned(),
            instances: 0,
            unfinished: 0,
            violations: 0,
            states: rules.states().map(StateCount::none_of).collect(),
            edges: rules.arrows().map(edge).collect(),
            plain: if rules.drawn.is_some() { rules.edges().map(edge).collect() } else { Vec::new() },
        }
    }

    /// What was taken and entered, by the places of edges and states in the rules.
    pub(super) fn count(&mut self, rules: &Rules, taken: &[u64], entered: &[u64]) {
        self.states.iter_mut().zip(entered).for_each(|(state, count)| state.entered = *count);
        let Some(drawn) = &rules.drawn else {
            self.edges.iter_mut().zip(taken).for_each(|(edge, taken)| edge.taken = *taken);
            return;
        };
        self.plain.iter_mut().zip(taken).for_each(|(edge, taken)| edge.taken = *taken);
        for (arrows, taken) in drawn.of_edges.iter().zip(taken) {
            arrows.iter().for_each(|arrow| self.edges[*arrow as usize].taken += taken);
        }
    }

    /// Adds the composite states. One is entered by a step from outside, or by one that is drawn to lead to it, and has the instances
    /// of all states inside.
    pub(super) fn count_composites(&mut self, rules: &Rules, taken: &[u64]) {
        let Some(drawn) = &rules.drawn else { return };
        let mut counts: Vec<StateCount> =
            drawn.composites.iter().map(|it| StateCount::none_of(&it.name)).collect();
        let mut created: Vec<u64> = self.states.iter().map(|state| state.entered).collect();
        for ((place, edge), taken) in
            rules.edges.iter().enumerate().zip(taken).filter(|(_, taken)| **taken > 0)
        {
            created[edge.to as usize] -= taken;
            let left: HashSet<u32> = drawn.around(edge.from).collect();
            for at in drawn.around(edge.to) {
                let name = &drawn.composites[at as usize].name;
                let mut arrows = drawn.of_edges[place].iter().map(|arrow| &drawn.arrows[*arrow as usize]);
                let is_it = *name == rules.states[edge.to as usize].name;
                if is_it || !left.contains(&at) || arrows.any(|arrow| arrow.to == *name) {
                    counts[at as usize].entered += taken;
                }
            }
        }
        for (state, created) in (0..).zip(created) {
            let StateCount { state: name, current, .. } = &self.states[state as usize];
            if let Some(at) = drawn.around(state).next().filter(|at| counts[*at as usize].state != *name) {
                counts[at as usize].inside.push(name.clone());
            }
            if created > 0 || *current > 0 {
                for at in drawn.around(state) {
                    counts[at as usize].entered += created;
                    counts[at as usize].current += current;
                }
            }
        }
        for composite in &drawn.composites {
            if let Some(around) = composite.around {
                counts[around as usize].inside.push(composite.name.to_string());
            }
        }
        let names = self.states.iter().map(|state| state.state.clone()).zip(0..);
        let places: HashMap<String, usize> = names.collect();
        for count in counts {
            match places.get(&count.state) {
                Some(own) => self.states[*own] = count,
                None => self.states.push(count),
            }
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
        let edges = if self.plain.is_empty() { &self.edges } else { &self.plain };
        edges.iter().find(same).map_or(0, |edge| edge.taken)
    }

    fn add(&mut self, other: &LifecycleCoverage) {
        self.instances += other.instances;
        self.unfinished += other.unfinished;
        self.violations += other.violations;
        for theirs in &other.states {
            match self.states.iter_mut().find(|ours| ours.state == theirs.state) {
                Some(ours) => {
                    ours.entered += theirs.entered;
                    ours.current += theirs.current;
                }
                None => self.states.push(theirs.clone()),
            }
        }
        add_edges(&mut self.edges, &other.edges);
        add_edges(&mut self.plain, &other.plain);
    }
}

fn add_edges(ours: &mut Vec<EdgeCount>, theirs: &[EdgeCount]) {
    for theirs in theirs {
        let same = |ours: &&mut EdgeCount| {
            (&ours.from, &ours.event, &ours.to) == (&theirs.from, &theirs.event, &theirs.to)
        };
        match ours.iter_mut().find(same) {
            Some(ours) => ours.taken += theirs.taken,
            None => ours.push(theirs.clone()),
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
    /// When it is less, or no lifecycle is covered at all.
    pub fn require_percent(&self, least: f64) -> Result<(), Unmet> {
        if self.lifecycles.is_empty() {
            return Err(Unmet::Nothing { least });
        }
        let got = self.percent();
        // Written so that a limit that is no number is missed, not met.
        if got >= least { Ok(()) } else { Err(Unmet::Percent { got, least }) }
    }

    /// Asks for an edge; gives how often it was taken.
    ///
    /// # Errors
    /// When it was never taken, or when there is no such edge in what was covered.
    pub fn require_edge(&self, wanted: &WantedEdge) -> Result<u64, Unmet> {
        let (mut found, mut taken) = (false, 0);
        let is_wanted = |edge: &&EdgeCount| edge.from == wanted.from && edge.to == wanted.to;
        for covered in self.iter() {
            if wanted.lifecycle.as_ref().is_some_and(|name| *name != covered.lifecycle) {
                continue;
            }
            // An edge that is drawn as such, or else one that composite states and choices make.
            let drawn = covered.edges.iter().any(|edge| is_wanted(&edge));
            let edges = if drawn { &covered.edges } else { &covered.plain };
            for edge in edges.iter().filter(is_wanted) {
                found = true;
                taken += edge.taken;
            }
        }
        match (found, taken) {
            (false, _) => Err(Unmet::NoSuchEdge(wanted.clone())),
            (true, 0) => Err(Unmet::NeverTaken(wanted.clone())),
            (true, taken) => Ok(taken),
        }
    }
}

/// With one digit behind the point, never more than it is: what is shown is reached.
pub(super) fn shown(percent: f64) -> f64 {
    (percent * 10.0).floor() / 10.0
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
/// assert_eq!(error.to_string(), "expected FROM:TO or LIFECYCLE/FROM:TO, got \"New->Running\"; write New:Running");
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
        write!(f, "expected FROM:TO or LIFECYCLE/FROM:TO, got {:?}", self.got)?;
        let arrow = ["-->", "->", "→"].iter().find_map(|arrow| self.got.split_once(arrow));
        match arrow.map(|(from, to)| (from.trim(), to.trim())) {
            Some((from, to)) if !from.is_empty() && !to.is_empty() => write!(f, "; write {from}:{to}"),
            _ => Ok(()),
        }
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
    /// No lifecycle is covered.
    Nothing {
        /// How many per cent were asked for.
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
                write!(f, "expected {least} % of the edges taken, got {:.1} %", shown(*got))
            }
            Unmet::Nothing { least } => {
                write!(f, "expected {least} % of the edges taken, but no lifecycle with edges is covered")
            }
            Unmet::NeverTaken(edge) => write!(f, "expected the edge {edge} taken, got it never"),
            Unmet::NoSuchEdge(edge) => {
                write!(f, "expected the edge {edge} taken, but no lifecycle in the trace has that edge")
            }
        }
    }
}

impl Error for Unmet {}
