//! Calls as plugins see them.

use serde_json::Value;

use crate::decision::Decision;
use crate::tool_call::CallKey;
use crate::tool_execution::ToolCallOutcome;

/// A call at its gate.
#[derive(Debug, Clone, Copy)]
pub struct GateCall<'a> {
    pub(in crate::agent) name: &'a str,
    pub(in crate::agent) id: &'a str,
    pub(in crate::agent) key: CallKey,
    pub(in crate::agent) tool: &'a str,
    pub(in crate::agent) arguments: &'a Value,
    pub(in crate::agent) decision: Option<&'a Decision>,
    pub(in crate::agent) decisions: &'a [&'a Decision],
    pub(in crate::agent) number: u32,
    pub(in crate::agent) is_replaced: bool,
}

impl GateCall<'_> {
    /// The call, as it is named in traces.
    pub fn name(&self) -> &str {
        self.name
    }

    /// The id that the model gave it.
    pub fn id(&self) -> &str {
        self.id
    }

    /// Its place in the run.
    pub fn key(&self) -> CallKey {
        self.key
    }

    /// The tool it names.
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// What the tool would be called with.
    pub fn arguments(&self) -> &Value {
        self.arguments
    }

    /// The decision that lets it go on, on a replay.
    pub fn decision(&self) -> Option<&Decision> {
        self.decision
    }

    /// All decisions that let it go on so far, the first one first.
    pub fn decisions(&self) -> &[&Decision] {
        self.decisions
    }

    /// Are the [`arguments`](Self::arguments) others than those that the model gave, since a decision gave them
    /// ([`ResumeMode::PassDecisionToTool`](crate::decision::ResumeMode::PassDecisionToTool))?
    pub fn is_replaced(&self) -> bool {
        self.is_replaced
    }

    /// Which call of its tool in the run it is, from 1, in the order in which the model asked for them.
    pub fn number(&self) -> u32 {
        self.number
    }
}

/// A call whose outcome is known.
#[derive(Debug, Clone, Copy)]
pub struct ExecutedCall<'a> {
    pub(in crate::agent) name: &'a str,
    pub(in crate::agent) tool: &'a str,
    pub(in crate::agent) outcome: ToolCallOutcome,
    pub(in crate::agent) output: Result<&'a Value, &'a str>,
}

impl ExecutedCall<'_> {
    /// The call, as it is named in traces.
    pub fn name(&self) -> &str {
        self.name
    }

    /// The tool it names.
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// How it came out.
    pub fn outcome(&self) -> ToolCallOutcome {
        self.outcome
    }

    /// What the tool gave.
    ///
    /// # Errors
    /// Why there is no output: the error, or what is asked for where it waits.
    pub fn output(&self) -> Result<&Value, &str> {
        self.output
    }
}
