//! What extends a run: plugins and the phases in which they are asked (document 003, "Phase Enum").

mod approvals;
mod call;
mod context;
mod ended;
mod phase;
mod verdict;

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::answer::Usage;
use super::model::InferenceRequest;
use crate::termination::{FinalReason, TerminationReason};
use crate::turn::Turn;

pub use approvals::{Approval, Approvals};
pub(in crate::agent) use approvals::{approvers, foreign_word};
pub use call::{ExecutedCall, GateCall};
pub use context::PhaseContext;
pub use ended::EndedStep;
pub use phase::{Phase, Phases};
pub use verdict::Verdict;

/// Extends runs.
///
/// An error, or a panic, ends the run with [`TerminationReason::Error`], and that end is committed. In
/// [`run_end`](Plugin::run_end) there is nothing left to end: the error is reported, and the run ends as it does.
/// For calls that people must approve there are [`Approvals`] already. A gate of another kind:
///
/// ```
/// use runstate::agent::{
///     GateCall, Phase, PhaseContext, Phases, Plugin, PluginError, Verdict, async_trait,
/// };
/// use runstate::decision::Suspension;
///
/// /// Asks a person before anything is deleted.
/// struct AskBeforeDelete;
///
/// #[async_trait]
/// impl Plugin for AskBeforeDelete {
///     fn name(&self) -> &str {
///         "ask-before-delete"
///     }
///
///     fn phases(&self) -> Phases {
///         Phases::of(&[Phase::BeforeToolExecute])
///     }
///
///     async fn before_tool_execute(
///         &self,
///         _: &mut PhaseContext<'_>,
///         call: &GateCall<'_>,
///     ) -> Result<Verdict, PluginError> {
///         // On the replay the decision is there. Without this look at it the call would wait again, and again.
///         if call.tool() != "delete" || call.decision().is_some() {
///             return Ok(Verdict::Allow);
///         }
///         Ok(Verdict::Suspend(Suspension::ask("approve", format!("delete {}?", call.arguments()["path"]))))
///     }
/// }
/// ```
#[async_trait]
pub trait Plugin: Any + Send + Sync {
    /// What it is called in errors.
    fn name(&self) -> &str;

    /// The phases that it wants to be asked in; the others cost nothing then. Asked once, when its agent is built.
    fn phases(&self) -> Phases {
        Phases::ALL
    }

    /// Tools that it is about by their names: [`build`](crate::agent::AgentBuilder::build) refuses an agent without one of them. Asked
    /// once, when the agent is built.
    fn tools(&self) -> Vec<&str> {
        Vec::new()
    }

    /// [`Phase::RunStart`].
    ///
    /// # Errors
    /// Ends the run. So in each phase.
    ///
    /// # Cancel safety
    /// The future is dropped when the run is cancelled. So in each phase but [`run_end`](Plugin::run_end).
    async fn run_start(&self, _cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        Ok(())
    }

    /// [`Phase::StepStart`].
    async fn step_start(&self, _cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        Ok(())
    }

    /// [`Phase::BeforeInference`]. [`PhaseContext::skip_inference`] asks no model, and ends the run.
    async fn before_inference(
        &self,
        _cx: &mut PhaseContext<'_>,
        _request: &mut InferenceRequest,
    ) -> Result<(), PluginError> {
        Ok(())
    }

    /// [`Phase::AfterInference`]. The answer may be changed, its calls too.
    async fn after_inference(
        &self,
        _cx: &mut PhaseContext<'_>,
        _turn: &mut Turn,
        _usage: &Usage,
    ) -> Result<(), PluginError> {
        Ok(())
    }

    /// [`Phase::BeforeToolExecute`]. All plugins are asked, and the strongest verdict counts.
    async fn before_tool_execute(
        &self,
        _cx: &mut PhaseContext<'_>,
        _call: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        Ok(Verdict::Allow)
    }

    /// [`Phase::AfterToolExecute`].
    async fn after_tool_execute(
        &self,
        _cx: &mut PhaseContext<'_>,
        _call: &ExecutedCall<'_>,
    ) -> Result<(), PluginError> {
        Ok(())
    }

    /// [`Phase::StepEnd`].
    async fn step_end(&self, _cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        Ok(())
    }

    /// Why the run stops behind the step that ended, if it does. All plugins are asked where [`Phase::StepEnd`] is over, whatever
    /// their phases, in their order, and the first reason counts; one that a plugin gave [before](PhaseContext::end_run) comes
    /// first. A run that is taken up behind a crash is asked about its last step once more, so this should change nothing.
    ///
    /// [`StopConditions`](super::stop::StopConditions) are a plugin that has this alone.
    ///
    /// ```
    /// use runstate::agent::{EndedStep, Plugin};
    /// use runstate::termination::{FinalReason, StoppedReason};
    ///
    /// /// Stops a run that has written so many tokens.
    /// struct MostWritten(u64);
    ///
    /// impl Plugin for MostWritten {
    ///     fn name(&self) -> &str {
    ///         "most-written"
    ///     }
    ///
    ///     fn stops(&self, step: &EndedStep<'_>) -> Option<FinalReason> {
    ///         let written = step.counters().usage().output_tokens;
    ///         // Where the run ends by itself there is nothing to stop.
    ///         if written < self.0 || step.ends_naturally() {
    ///             return None;
    ///         }
    ///         StoppedReason::new("most_written", Some(&format!("{written} tokens"))).ok().map(FinalReason::from)
    ///     }
    /// }
    /// ```
    fn stops(&self, _step: &EndedStep<'_>) -> Option<FinalReason> {
        None
    }

    /// Of how many calls, those of the step included, [`repeated_within`](super::stop::StopCounters::repeated_within) is to know; 0
    /// where it is not asked, and at most 1,000. Asked once, when the agent is built.
    fn window(&self) -> u32 {
        0
    }

    /// [`Phase::RunEnd`].
    async fn run_end(
        &self,
        _cx: &mut PhaseContext<'_>,
        _reason: &TerminationReason,
    ) -> Result<(), PluginError> {
        Ok(())
    }
}

/// A plugin and the phases that it wants to be asked in.
pub(super) struct Extension {
    pub(super) plugin: Arc<dyn Plugin>,
    pub(super) phases: Phases,
}

/// Why a plugin failed.
#[derive(Debug)]
pub struct PluginError(Box<dyn Error + Send + Sync>);

impl PluginError {
    /// It failed because of this.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        PluginError(cause.into())
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for PluginError {
    fn from(cause: E) -> Self {
        PluginError(cause.into())
    }
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The plugins of an agent, in order.
pub(super) type Plugins = Box<[Extension]>;
