//! The coverage of transitions.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::Serialize;

use super::event::Plain;
use super::requirement::{UnmetRequirement, WantedEdge};
use super::rules::{RuleEdge, Rules};

/// The number of times that each transition was taken, by lifecycle. The coverages of several traces can be added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Coverage {
    pub(crate) lifecycles: Vec<LifecycleCoverage>,
}

/// The coverage of one lifecycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LifecycleCoverage {
    /// The lifecycle.
    pub lifecycle: String,
    /// The number of instances.
    pub instances: u64,
    /// The number of unfinished instances.
    pub unfinished: u64,
    /// The number of violating events, listed or not.
    #[serde(skip)]
    pub violations: u64,
    /// The states in source order, followed by the composite states.
    pub states: Vec<StateCount>,
    /// The transitions in source order, as a diagram draws them: between states, composite states and choices.
    pub edges: Vec<EdgeCount>,
    /// The transitions between states alone, where they differ from the drawn ones.
    #[serde(skip)]
    pub(crate) plain: Vec<EdgeCount>,
}

/// The count of a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StateCount {
    /// The state.
    pub state: String,
    /// The number of entries into the state.
    pub entered: u64,
    /// The number of creations in the state.
    #[serde(skip)]
    pub created: u64,
    /// The number of instances in the state at the end.
    pub current: u64,
    /// The direct members of a composite state. Their instances count for it too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<String>,
}

/// The count of a transition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EdgeCount {
    /// The source state.
    pub from: String,
    /// The event, or the label in the diagram; empty for none.
    pub event: String,
    /// The target state.
    pub to: String,
    /// Whether only the event of that name takes the transition.
    pub held: bool,
    /// The number of times that the transition was taken.
    pub taken: u64,
}

impl StateCount {
    fn none_of(state: &str) -> Self {
        StateCount { state: state.to_owned(), entered: 0, created: 0, current: 0, inside: Vec::new() }
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

    /// Sets the counts, given by the indices of transitions and states in the rules.
    pub(super) fn count(&mut self, rules: &Rules, taken: &[u64], entered: &[u64]) {
        self.states.iter_mut().zip(entered).for_each(|(state, count)| {
            (state.entered, state.created) = (*count, *count);
        });
        for (edge, taken) in rules.edges.iter().zip(taken) {
            self.states[edge.to as usize].created -= taken;
        }
        let Some(drawn) = &rules.drawn else {
            self.edges.iter_mut().zip(taken).for_each(|(edge, taken)| edge.taken = *taken);
            return;
        };
        self.plain.iter_mut().zip(taken).for_each(|(edge, taken)| edge.taken = *taken);
        for (arrows, taken) in drawn.of_edges.iter().zip(taken) {
            arrows.iter().for_each(|arrow| self.edges[*arrow as usize].taken += taken);
        }
    }

    /// Adds the composite states. A step from outside enters a composite state, and so does a step that is drawn to
    /// lead to it. The instances of all states inside count for it.
    pub(super) fn count_composites(&mut self, rules: &Rules, taken: &[u64]) {
        let Some(drawn) = &rules.drawn else { return };
        let mut counts: Vec<StateCount> =
            drawn.composites.iter().map(|it| StateCount::none_of(&it.name)).collect();
        for ((place, edge), taken) in
            rules.edges.iter().enumerate().zip(taken).filter(|(_, taken)| **taken > 0)
        {
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
        for (state, StateCount { state: name, current, created, .. }) in (0..).zip(&self.states) {
            if let Some(at) = drawn.around(state).next().filter(|at| counts[*at as usize].state != *name) {
                counts[at as usize].inside.push(name.clone());
            }
            if *created > 0 || *current > 0 {
                for at in drawn.around(state) {
                    counts[at as usize].entered += created;
                    counts[at as usize].created += created;
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

    /// The number of transitions that were taken at least once.
    pub fn taken(&self) -> usize {
        self.edges.iter().filter(|edge| edge.taken > 0).count()
    }

    /// The transitions that were never taken, in source order.
    pub fn never(&self) -> impl Iterator<Item = &EdgeCount> {
        self.edges.iter().filter(|edge| edge.taken == 0)
    }

    /// The percentage of the transitions that were taken; 100 without transitions.
    pub fn percent(&self) -> f64 {
        percent(self.taken(), self.edges.len())
    }

    /// The percentage of the transitions that were taken, rounded down to one decimal place, as all outputs show it: 100 means
    /// all.
    pub fn shown_percent(&self) -> f64 {
        shown(self.percent())
    }

    /// The number of creations in a state.
    pub(super) fn created_in(&self, state: &str) -> u64 {
        self.states.iter().find(|it| it.state == state).map_or(0, |it| it.created)
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
                    ours.created += theirs.created;
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
    /// Makes an empty coverage.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the coverage of another trace.
    pub fn merge(&mut self, other: &Coverage) {
        for theirs in &other.lifecycles {
            match self.lifecycles.iter_mut().find(|ours| ours.lifecycle == theirs.lifecycle) {
                Some(ours) => ours.add(theirs),
                None => self.lifecycles.push(theirs.clone()),
            }
        }
    }

    /// The lifecycles in the trace, and the requested one, in the order of the rules.
    pub fn iter(&self) -> impl Iterator<Item = &LifecycleCoverage> {
        self.lifecycles.iter()
    }

    /// The coverage of one lifecycle.
    pub fn lifecycle(&self, name: &str) -> Option<&LifecycleCoverage> {
        self.lifecycles.iter().find(|lifecycle| lifecycle.lifecycle == name)
    }

    /// The percentage of all transitions that were taken; 100 without transitions.
    pub fn percent(&self) -> f64 {
        let taken = self.iter().map(LifecycleCoverage::taken).sum();
        percent(taken, self.iter().map(|lifecycle| lifecycle.edges.len()).sum())
    }

    /// Requires a minimum percentage.
    ///
    /// # Errors
    /// When the percentage is lower, or when no lifecycle is covered.
    pub fn require_percent(&self, least: f64) -> Result<(), UnmetRequirement> {
        if self.lifecycles.is_empty() {
            return Err(UnmetRequirement::Nothing { least });
        }
        let got = self.percent();
        // The comparison fails for a limit that is not a number.
        if got >= least { Ok(()) } else { Err(UnmetRequirement::Percent { got, least }) }
    }

    /// Requires a transition, and returns the number of times that it was taken.
    ///
    /// # Errors
    /// When the transition was never taken, or when no covered lifecycle has it.
    pub fn require_edge(&self, wanted: &WantedEdge) -> Result<u64, UnmetRequirement> {
        let (mut found, mut taken) = (false, 0);
        let is_wanted = |edge: &&EdgeCount| edge.from == wanted.from && edge.to == wanted.to;
        for covered in self.iter() {
            if wanted.lifecycle.as_ref().is_some_and(|name| *name != covered.lifecycle) {
                continue;
            }
            // A drawn transition takes precedence over a transition that results from composite states and choices.
            let drawn = covered.edges.iter().any(|edge| is_wanted(&edge));
            let edges = if drawn { &covered.edges } else { &covered.plain };
            for edge in edges.iter().filter(is_wanted) {
                found = true;
                taken += edge.taken;
            }
        }
        match (found, taken) {
            (false, _) => Err(UnmetRequirement::NoSuchEdge(wanted.clone())),
            (true, 0) => Err(UnmetRequirement::NeverTaken(wanted.clone())),
            (true, taken) => Ok(taken),
        }
    }
}

/// Rounds down to one decimal place, so that the displayed percentage was really reached.
pub(super) fn shown(percent: f64) -> f64 {
    (percent * 10.0).floor() / 10.0
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { part as f64 * 100.0 / whole as f64 }
}
