//! The conditions as a plugin.

use super::super::plugin::{EndedStep, Phases, Plugin};
use super::conditions::StopConditions;
use crate::termination::FinalReason;

/// Stop conditions are a plugin: [`AgentBuilder::stop`](crate::agent::AgentBuilder::stop) puts them behind all others, and
/// [`AgentBuilder::plugin`](crate::agent::AgentBuilder::plugin) where they are to be asked.
impl Plugin for StopConditions {
    fn name(&self) -> &str {
        "stop-conditions"
    }

    /// None: they are asked behind them all.
    fn phases(&self) -> Phases {
        Phases::of(&[])
    }

    fn window(&self) -> u32 {
        self.window
    }

    fn stops(&self, step: &EndedStep<'_>) -> Option<FinalReason> {
        self.check(step.counters(), step.now_ms(), step.answer(), step.ends_naturally())
            .map(FinalReason::from)
    }
}
