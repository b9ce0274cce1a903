//! Where plugins are asked.

use std::fmt;

/// Where plugins are asked, in the order of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Once, at the beginning of an activation.
    RunStart,
    /// At the beginning of a step.
    StepStart,
    /// The last chance to change the request, or to ask no model.
    BeforeInference,
    /// The answer is there.
    AfterInference,
    /// Before the tool of a call executes; on a replay again.
    BeforeToolExecute,
    /// The outcome of a call is known.
    AfterToolExecute,
    /// Once, at the end of a step; behind it [`Plugin::stops`](super::Plugin::stops) is asked.
    StepEnd,
    /// Once, at the end of an activation, whatever the reason.
    RunEnd,
}

impl Phase {
    /// All of them, in order.
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

/// Some of the phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phases(u8);

impl Phases {
    /// Every phase.
    pub const ALL: Phases = Phases(u8::MAX);

    /// These.
    pub const fn of(phases: &[Phase]) -> Self {
        let mut set = 0;
        let mut i = 0;
        while i < phases.len() {
            set |= 1 << phases[i] as u8;
            i += 1;
        }
        Phases(set)
    }

    /// Is the phase among them?
    pub const fn contains(self, phase: Phase) -> bool {
        self.0 & (1 << phase as u8) != 0
    }
}
