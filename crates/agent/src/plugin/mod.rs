//! Plugins, which extend runs, and the phases that call them.

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

pub use approvals::{Approval, Approvals};
pub(crate) use approvals::{approvers, foreign_word, is_superseded, question_word};
use async_trait::async_trait;
pub(crate) use call::PreviewedBy;
pub use call::{ExecutedCall, GateCall};
pub use context::PhaseContext;
pub use ended::EndedStep;
pub use phase::{Phase, Phases};
use runstate::termination::{FinalReason, TerminationReason};
use runstate::turn::Turn;
pub use verdict::Verdict;

use super::answer::Usage;
use super::model::InferenceRequest;

/// An extension of runs.
///
/// An error or a panic ends the run with [`TerminationReason::Error`], and that end is committed. An error in
/// [`run_end`](Plugin::run_end) is reported, and does not change the end. For calls that need an approval,
/// [`Approvals`] exists already. An example of another gate:
///
/// ```
/// use runstate_agent::{
///     GateCall, Phase, PhaseContext, Phases, Plugin, PluginError, Verdict, async_trait,
/// };
/// use runstate::decision::Suspension;
///
/// /// Asks an approver before files are deleted.
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
///         // A replay has a decision. Without this check, the call would wait again after each decision.
///         if call.tool() != "delete" || call.decision().is_some() {
///             return Ok(Verdict::Allow);
///         }
///         Ok(Verdict::Suspend(Suspension::ask("approve", format!("delete {}?", call.arguments()["path"]))))
///     }
/// }
/// ```
#[async_trait]
pub trait Plugin: Any + Send + Sync {
    /// The name of the plugin in errors.
    fn name(&self) -> &str;

    /// The phases that call the plugin. Other phases cost nothing. The agent reads this once, when it is built.
    /// Default: all phases.
    fn phases(&self) -> Phases {
        Phases::ALL
    }

    /// The names of tools that the plugin refers to. [`build`](crate::AgentBuilder::build) refuses an agent
    /// without one of them. The agent reads this once, when it is built. Default: none.
    fn tools(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Handles [`Phase::RunStart`].
    ///
    /// # Errors
    /// An error ends the run. This holds for every phase but [`run_end`](Plugin::run_end).
    ///
    /// # Cancel safety
    /// The future is dropped when the run is cancelled. This holds for every phase but [`run_end`](Plugin::run_end).
    async fn run_start(&self, _cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        Ok(())
    }

    /// Handles [`Phase::StepStart`].
    async fn step_start(&self, _cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        Ok(())
    }

    /// Handles [`Phase::BeforeInference`]. [`PhaseContext::skip_inference`] ends the run without a request to the
    /// model.
    async fn before_inference(
        &self,
        _cx: &mut PhaseContext<'_>,
        _request: &mut InferenceRequest,
    ) -> Result<(), PluginError> {
        Ok(())
    }

    /// Handles [`Phase::AfterInference`]. The plugin may change the answer and its calls.
    async fn after_inference(
        &self,
        _cx: &mut PhaseContext<'_>,
        _turn: &mut Turn,
        _usage: &Usage,
    ) -> Result<(), PluginError> {
        Ok(())
    }

    /// Handles [`Phase::BeforeToolExecute`]. All plugins are called, and the strongest verdict counts. Default:
    /// [`Verdict::Allow`].
    async fn before_tool_execute(
        &self,
        _cx: &mut PhaseContext<'_>,
        _call: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        Ok(Verdict::Allow)
    }

    /// Handles [`Phase::AfterToolExecute`].
    async fn after_tool_execute(
        &self,
        _cx: &mut PhaseContext<'_>,
        _call: &ExecutedCall<'_>,
    ) -> Result<(), PluginError> {
        Ok(())
    }

    /// Handles [`Phase::StepEnd`].
    async fn step_end(&self, _cx: &mut PhaseContext<'_>) -> Result<(), PluginError> {
        Ok(())
    }

    /// Returns the reason to stop the run after the completed step; `None` if the run continues. All plugins are
    /// asked after [`Phase::StepEnd`], in their order and whatever their phases are. The first reason counts. A
    /// reason from [`PhaseContext::end_run`] takes precedence. After a crash, a resumed run asks about its last step
    /// again, so this method should have no side effects.
    ///
    /// [`StopConditions`](super::stop::StopConditions) are a plugin that implements this method only.
    ///
    /// ```
    /// use runstate_agent::{EndedStep, Plugin};
    /// use runstate::termination::{FinalReason, StoppedReason};
    ///
    /// /// Stops a run after a number of written tokens.
    /// struct MostWritten(u64);
    ///
    /// impl Plugin for MostWritten {
    ///     fn name(&self) -> &str {
    ///         "most-written"
    ///     }
    ///
    ///     fn stops(&self, step: &EndedStep<'_>) -> Option<FinalReason> {
    ///         let written = step.counters().usage().output_tokens;
    ///         // A run that ends naturally needs no stop.
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

    /// The number of calls, those of the step included, that
    /// [`repeated_within`](super::stop::StopCounters::repeated_within) must cover. At most 1,000. Default: 0, for a
    /// plugin that does not use it. The agent reads this once, when it is built.
    fn window(&self) -> u32 {
        0
    }

    /// Handles [`Phase::RunEnd`].
    async fn run_end(
        &self,
        _cx: &mut PhaseContext<'_>,
        _reason: &TerminationReason,
    ) -> Result<(), PluginError> {
        Ok(())
    }
}

/// A plugin and the phases that call it.
pub(super) struct Extension {
    pub(super) plugin: Arc<dyn Plugin>,
    pub(super) phases: Phases,
}

/// The error of a plugin.
#[derive(Debug)]
pub struct PluginError(Box<dyn Error + Send + Sync>);

impl PluginError {
    /// Creates an error with this cause.
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
