//! The stop conditions as a plugin.

use runstate::termination::FinalReason;

use super::super::plugin::{EndedStep, Phases, Plugin};
use super::conditions::StopConditions;

/// Stop conditions are a plugin. [`AgentBuilder::stop`](crate::AgentBuilder::stop) puts them after all other
/// plugins; [`AgentBuilder::plugin`](crate::AgentBuilder::plugin) puts them at a chosen position.
impl Plugin for StopConditions {
    fn name(&self) -> &str {
        "stop-conditions"
    }

    /// No phases: the conditions are evaluated after all of them.
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
