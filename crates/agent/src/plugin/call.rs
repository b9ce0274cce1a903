//! Calls, as passed to plugins.

use std::fmt;

use runstate::decision::Decision;
use runstate::tool_call::CallKey;
use runstate::tool_execution::ToolCallOutcome;
use serde_json::Value;

use super::super::preview::Preview;
use super::super::tool::Tool;

/// A call at its gate.
#[derive(Debug, Clone, Copy)]
pub struct GateCall<'a> {
    pub(crate) name: &'a str,
    pub(crate) id: &'a str,
    pub(crate) key: CallKey,
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a Value,
    pub(crate) decision: Option<&'a Decision>,
    pub(crate) decisions: &'a [&'a Decision],
    pub(crate) number: u32,
    pub(crate) is_replaced: bool,
    pub(crate) previewed_by: PreviewedBy<'a>,
}

/// The tool of a call, which has its preview.
#[derive(Clone, Copy)]
pub(crate) struct PreviewedBy<'a>(pub(crate) Option<&'a dyn Tool>);

impl fmt::Debug for PreviewedBy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PreviewedBy")
    }
}

impl GateCall<'_> {
    /// The name of the call in traces.
    pub fn name(&self) -> &str {
        self.name
    }

    /// The id that the model gave the call.
    pub fn id(&self) -> &str {
        self.id
    }

    /// The position of the call in the run.
    pub fn key(&self) -> CallKey {
        self.key
    }

    /// The name of the tool.
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// The arguments for the tool.
    pub fn arguments(&self) -> &Value {
        self.arguments
    }

    /// The decision to resume the call, on a replay.
    pub fn decision(&self) -> Option<&Decision> {
        self.decision
    }

    /// All decisions to resume the call so far, in order.
    pub fn decisions(&self) -> &[&Decision] {
        self.decisions
    }

    /// Returns whether a decision replaced the [`arguments`](Self::arguments) of the model
    /// ([`ResumeMode::PassDecisionToTool`](runstate::decision::ResumeMode::PassDecisionToTool)).
    pub fn is_replaced(&self) -> bool {
        self.is_replaced
    }

    /// The effect that the call would have, if its tool has [previews](Tool::preview).
    ///
    /// # Cancel safety
    /// A preview has no effect.
    pub async fn preview(&self) -> Option<Preview> {
        self.previewed_by.0?.preview(self).await
    }

    /// The number of the call among the calls of its tool in the run, from 1, in the order of the model's requests.
    pub fn number(&self) -> u32 {
        self.number
    }
}

/// A call with a known outcome.
#[derive(Debug, Clone, Copy)]
pub struct ExecutedCall<'a> {
    pub(crate) name: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) outcome: ToolCallOutcome,
    pub(crate) output: Result<&'a Value, &'a str>,
}

impl ExecutedCall<'_> {
    /// The name of the call in traces.
    pub fn name(&self) -> &str {
        self.name
    }

    /// The name of the tool.
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// The outcome.
    pub fn outcome(&self) -> ToolCallOutcome {
        self.outcome
    }

    /// The output of the tool.
    ///
    /// # Errors
    /// The error message, or the question of a call that waits.
    pub fn output(&self) -> Result<&Value, &str> {
        self.output
    }
}
