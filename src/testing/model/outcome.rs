//! The results of an exploration.

use core::fmt;

/// The size of a space in which every state satisfies the invariant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explored {
    /// The number of reachable states.
    pub states: u64,
    /// The number of steps between them.
    pub steps: u64,
    /// The number of steps to the states farthest from the start.
    pub depth: usize,
}

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} states, {} steps, depth {}", self.states, self.steps, self.depth)
    }
}

/// A shortest path from the start to a state that violates the invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counterexample<S, L> {
    /// The start state.
    pub start: S,
    /// The steps, each with its label and its target state. The last state violates the invariant. Without steps, the
    /// start state violates it.
    pub steps: Vec<(L, S)>,
}

impl<S, L> Counterexample<S, L> {
    /// The state that violates the invariant.
    pub fn end(&self) -> &S {
        self.steps.last().map_or(&self.start, |(_, state)| state)
    }
}

impl<S: fmt::Debug, L: fmt::Display> fmt::Display for Counterexample<S, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.steps.len();
        writeln!(f, "the invariant breaks after {count} step{}:", if count == 1 { "" } else { "s" })?;
        writeln!(f, "     {:?}", self.start)?;
        for (i, (label, state)) in self.steps.iter().enumerate() {
            writeln!(f, "{:>3}. {label}", i + 1)?;
            if i + 1 == count {
                writeln!(f, "     {state:?}")?;
            }
        }
        Ok(())
    }
}

/// The reason why an exploration proves nothing.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unproven<S, L> {
    /// The invariant is violated.
    Violated(Counterexample<S, L>),
    /// The space has more states than the limit. The visited states satisfy the invariant.
    TooMany {
        /// The limit.
        most: u64,
    },
}

impl<S, L> Unproven<S, L> {
    /// The counterexample, if there is one.
    pub fn counterexample(&self) -> Option<&Counterexample<S, L>> {
        match self {
            Unproven::Violated(counterexample) => Some(counterexample),
            Unproven::TooMany { .. } => None,
        }
    }
}

impl<S: fmt::Debug, L: fmt::Display> fmt::Display for Unproven<S, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unproven::Violated(counterexample) => counterexample.fmt(f),
            Unproven::TooMany { most } => {
                write!(f, "more than {most} states: allow more, or put less into a state")
            }
        }
    }
}

/// The `Display` text, because `unwrap` shows it in a failed test.
impl<S: fmt::Debug, L: fmt::Display> fmt::Debug for Unproven<S, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<S: fmt::Debug, L: fmt::Display> std::error::Error for Unproven<S, L> {}
