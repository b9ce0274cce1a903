//! Phases of a run.

use std::fmt;

/// A phase of a run. The variants are in the order of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The beginning of an activation, once.
    RunStart,
    /// The beginning of a step.
    StepStart,
    /// Before the model is asked. A plugin may change the request, or skip the inference.
    BeforeInference,
    /// After the answer of the model.
    AfterInference,
    /// Before the tool of a call executes, and again on a replay.
    BeforeToolExecute,
    /// After the outcome of a call is known.
    AfterToolExecute,
    /// The end of a step, once. [`Plugin::stops`](super::Plugin::stops) is called after it.
    StepEnd,
    /// The end of an activation, once, whatever the reason is.
    RunEnd,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Phase; 8] = [
        Phase::RunStart,
        Phase::StepStart,
        Phase::BeforeInference,
        Phase::AfterInference,
        Phase::BeforeToolExecute,
        Phase::AfterToolExecute,
        Phase::StepEnd,
        Phase::RunEnd,
    ];
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A set of phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phases(u8);

impl Phases {
    /// Every phase.
    pub const ALL: Phases = Phases(u8::MAX);

    /// Creates a set of these phases.
    pub const fn of(phases: &[Phase]) -> Self {
        let mut set = 0;
        let mut i = 0;
        while i < phases.len() {
            set |= 1 << phases[i] as u8;
            i += 1;
        }
        Phases(set)
    }

    /// Returns whether the set contains the phase.
    pub const fn contains(self, phase: Phase) -> bool {
        self.0 & (1 << phase as u8) != 0
    }
}
