//! A step that has ended.

use super::super::stop::StopCounters;
use crate::turn::Turn;

/// A step that has ended, as [`Plugin::stops`](super::Plugin::stops) is asked with it.
#[derive(Debug, Clone, Copy)]
pub struct EndedStep<'a> {
    pub(in crate::agent) counters: &'a StopCounters,
    pub(in crate::agent) answer: &'a Turn,
    pub(in crate::agent) now_ms: u64,
    pub(in crate::agent) ends_naturally: bool,
}

impl<'a> EndedStep<'a> {
    /// What was counted since the run started, this step included.
    pub fn counters(&self) -> &'a StopCounters {
        self.counters
    }

    /// The answer of the step.
    pub fn answer(&self) -> &'a Turn {
        self.answer
    }

    /// Milliseconds on the agent's clock.
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Does the run end here by itself, since the answer asks for no call and no call waits? Whoever stops it then only gives
    /// another reason.
    pub fn ends_naturally(&self) -> bool {
        self.ends_naturally
    }
}
