//! What extends a run: plugins and the phases in which they are asked (document 003, "Phase Enum").

mod call;
mod context;
mod phase;
mod verdict;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::answer::Usage;
use super::model::InferenceRequest;
use crate::termination::TerminationReason;
use crate::turn::Turn;

pub use call::{ExecutedCall, GateCall};
pub use context::PhaseContext;
pub use phase::{Phase, Phases};
pub use verdict::Verdict;

/// Extends runs.
///
/// An error, or a panic, ends the run with [`TerminationReason::Error`], and that end is committed. In
/// [`run_end`](Plugin::run_end) there is nothing left to end: the error is reported, and the run ends as it does.
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
pub trait Plugin: Send + Sync {
    /// What it is called in errors.
    fn name(&self) -> &str;

    /// The phases that it wants to be asked in; the others cost nothing then.
    fn phases(&self) -> Phases {
        Phases::ALL
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

    /// [`Phase::RunEnd`].
    async fn run_end(
        &self,
        _cx: &mut PhaseContext<'_>,
        _reason: &TerminationReason,
    ) -> Result<(), PluginError> {
        Ok(())
    }
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
pub(super) type Plugins = Arc<[Arc<dyn Plugin>]>;
