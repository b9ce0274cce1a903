//! The interleaving composition of lifecycles, at the level of their statuses.

use core::fmt;

use super::dense::Space;
use super::outcome::{Counterexample, Explored, Unproven};
use crate::kernel::{Edge, Graph};

/// The maximum number of states of a [`Composition`], reachable or not. Its set of visited states needs one bit per
/// state.
const MOST: u64 = 1 << 32;

/// Several machines that take transitions one at a time, at the level of their statuses.
///
/// A machine may take a transition of its graph when the rule allows it, given the statuses of all machines.
/// [`explore`](Composition::explore) visits every combination of statuses that can be reached in this way and checks it
/// against an invariant.
///
/// A status is a number here, its index in the status enum: `ToolCallStatus::Running as u8`. A combination is a slice
/// of statuses, one per machine, in the order of their addition.
///
/// ```
/// use runstate::kernel::{Edge, Stateful};
/// use runstate::testing::Composition;
/// use runstate::testing::example::{AnyDoor, DoorStatus};
///
/// // An airlock: two doors. One door may open when the other is not open.
/// const OPEN: u8 = DoorStatus::Open as u8;
/// const SHUT: u8 = DoorStatus::Shut as u8;
/// let airlock = Composition::new().with("inner", AnyDoor::GRAPH).with("outer", AnyDoor::GRAPH).start(&[OPEN, SHUT]);
/// let other_is_shut =
///     |at: &[u8], door: usize, edge: &Edge| edge.to_index != usize::from(OPEN) || at[1 - door] != OPEN;
/// let not_both_open = |at: &[u8]| at != [OPEN, OPEN];
///
/// let explored = airlock.explore(other_is_shut, not_both_open)?;
/// assert_eq!(explored.states, 4 * 4 - 1);
///
/// // Without the rule, one step loses the air.
/// let error = airlock.explore(|_, _, _| true, not_both_open).unwrap_err();
/// assert_eq!(error.to_string(), "\
/// the invariant breaks after 1 step:
///      inner Open, outer Shut
///   1. outer: Shut --> Open : reopen
///      inner Open, outer Open
/// ");
/// # Ok::<(), runstate::testing::Unproven<runstate::testing::CompositionState, runstate::testing::CompositionStep>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Composition {
    machines: Vec<(String, &'static Graph)>,
    start: Option<Vec<u8>>,
}

impl Composition {
    /// Makes a composition without machines.
    pub fn new() -> Self {
        Composition::default()
    }

    /// Adds a machine with that name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, graph: &'static Graph) -> Self {
        self.machines.push((name.into(), graph));
        self
    }

    /// Adds `count` machines of one lifecycle, named `name 1`, `name 2` and so on.
    #[must_use]
    pub fn with_each(self, name: &str, count: usize, graph: &'static Graph) -> Self {
        (1..=count).fold(self, |composition, i| composition.with(format!("{name} {i}"), graph))
    }

    /// Sets the start statuses. Default: the initial states.
    ///
    /// # Panics
    /// When the number of statuses differs from the number of machines added so far.
    #[must_use]
    #[track_caller]
    pub fn start(mut self, statuses: &[u8]) -> Self {
        let is_status =
            |(at, (_, graph)): (&u8, &(String, &'static Graph))| usize::from(*at) < graph.states.len();
        assert!(
            statuses.len() == self.machines.len() && statuses.iter().zip(&self.machines).all(is_status),
            "got the statuses {statuses:?}, expected one of each of {} machines",
            self.machines.len(),
        );
        self.start = Some(statuses.to_vec());
        self
    }

    /// Visits every reachable combination of statuses, breadth first, and checks it against `invariant`.
    ///
    /// `rule` returns whether the machine at that index may take that transition, given the statuses of all machines
    /// before the step. Both closures are compiled into the search, which visits some millions of combinations per
    /// second. They should compare numbers ([`Edge::to_index`]), not names.
    ///
    /// # Errors
    /// [`Unproven::Violated`] with a shortest counterexample; [`Unproven::TooMany`] when there are more than 2³²
    /// combinations, reachable or not, or more than 64 bits of statuses.
    pub fn explore(
        &self,
        rule: impl Fn(&[u8], usize, &'static Edge) -> bool,
        invariant: impl Fn(&[u8]) -> bool,
    ) -> Result<Explored, Unproven<CompositionState, CompositionStep>> {
        let graphs: Vec<_> = self.machines.iter().map(|(_, graph)| *graph).collect();
        let space = Space::of(&graphs, MOST).ok_or(Unproven::TooMany { most: MOST })?;
        let initial =
            graphs.iter().map(|graph| graph.states.iter().position(|s| s.initial).unwrap_or(0) as u8);
        let start = self.start.clone().unwrap_or_else(|| initial.collect());
        space.search(&start, rule, invariant).map_err(|steps| {
            let mut at = start.clone();
            let start = self.state(&at);
            let steps = steps.into_iter().map(|(place, edge)| {
                at[place] = edge.to_index as u8;
                (CompositionStep { place, machine: self.machines[place].0.clone(), edge }, self.state(&at))
            });
            Unproven::Violated(Counterexample { start, steps: steps.collect() })
        })
    }

    fn state(&self, at: &[u8]) -> CompositionState {
        let named = self.machines.iter().zip(at);
        let machines = named.map(|((name, graph), at)| (name.clone(), graph.states[usize::from(*at)].name));
        CompositionState { machines: machines.collect() }
    }
}

/// The statuses of the machines of a [`Composition`], by name.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompositionState {
    /// The name of each machine and the name of its state.
    pub machines: Vec<(String, &'static str)>,
}

impl fmt::Display for CompositionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, state)) in self.machines.iter().enumerate() {
            write!(f, "{}{name} {state}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Debug for CompositionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One transition of one machine of a [`Composition`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompositionStep {
    /// The index of the machine.
    pub place: usize,
    /// The name of the machine.
    pub machine: String,
    /// The transition.
    pub edge: &'static Edge,
}

impl fmt::Display for CompositionStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.machine, self.edge)
    }
}
