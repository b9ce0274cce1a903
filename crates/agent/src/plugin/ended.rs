//! A completed step.

use runstate::turn::Turn;

use super::super::stop::StopCounters;

/// A completed step, as passed to [`Plugin::stops`](super::Plugin::stops).
#[derive(Debug, Clone, Copy)]
pub struct EndedStep<'a> {
    pub(crate) counters: &'a StopCounters,
    pub(crate) answer: &'a Turn,
    pub(crate) now_ms: u64,
    pub(crate) ends_naturally: bool,
}

impl<'a> EndedStep<'a> {
    /// The counters since the start of the run, this step included.
    pub fn counters(&self) -> &'a StopCounters {
        self.counters
    }

    /// The answer of the step.
    pub fn answer(&self) -> &'a Turn {
        self.answer
    }

    /// The time, in milliseconds on the agent's clock.
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Returns whether the run ends naturally here, because the answer has no calls and no call waits. A plugin that
    /// stops it then only gives another reason.
    pub fn ends_naturally(&self) -> bool {
        self.ends_naturally
    }
}
