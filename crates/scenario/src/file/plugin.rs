//! Plugins for scenarios.

use runstate::termination::TerminationReason;
use runstate_agent::Phase;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ticket::Ticket;
use super::tool::Patch;

/// A plugin that does one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Plugin {
    /// Asks a person before the tool executes, unless a decision exists.
    Ask {
        /// The tool.
        tool: String,
        /// The number of questions for one call: above 1, the replay asks again.
        #[serde(default = "once")]
        #[cfg_attr(feature = "json-schema", schemars(range(min = 1)))]
        times: u32,
        /// The question.
        #[serde(default)]
        ticket: Ticket,
    },
    /// Needs approvals before the tool executes, as `ToolSpec::needs_approval` of an agent does. Each is of another person.
    Approval {
        /// The tool.
        tool: String,
        /// The number of approvers.
        #[serde(default = "once")]
        #[cfg_attr(feature = "json-schema", schemars(range(min = 1)))]
        people: u32,
        /// The question. Default: one with the name of the tool.
        #[serde(default, skip_serializing_if = "super::is_default")]
        message: Option<String>,
        /// The value that the approvals are bound to, such as the version of the tool.
        #[serde(default, skip_serializing_if = "super::is_default")]
        bound_to: Option<Value>,
    },
    /// Fails the calls of the tool; the loop continues.
    Block {
        /// The tool.
        tool: String,
        /// The error that the model reads.
        reason: String,
        /// Only on a replay, after a decision has resumed the call?
        #[serde(default, skip_serializing_if = "super::is_default")]
        on_replay: bool,
    },
    /// Fails the calls of the tool and ends the run as blocked.
    BlockRun {
        /// The tool.
        tool: String,
        /// The reason.
        reason: String,
    },
    /// Gives the calls of the tool a result; the tool does not execute.
    SetResult {
        /// The tool.
        tool: String,
        /// The result.
        result: Value,
    },
    /// Gives a verdict at one gate of one call, and none at any other.
    Gate {
        /// The call, as it is named in traces.
        call: String,
        /// The number of earlier questions of its gate or its tool: 0 is its first gate. Questions about doubts after a
        /// crash do not count.
        #[serde(default, skip_serializing_if = "super::is_default")]
        asked: u32,
        /// The verdict.
        says: Says,
    },
    /// Ends the run.
    EndRun {
        /// The phase.
        at: At,
        /// With this reason.
        #[serde(default = "requested")]
        #[cfg_attr(feature = "json-schema", schemars(with = "crate::schema::Reason"))]
        reason: TerminationReason,
    },
    /// Skips inference in a step, which ends the run.
    SkipInference {
        /// The step.
        #[serde(default = "once")]
        step: u32,
    },
    /// Replaces the system prompt.
    System {
        /// The prompt.
        prompt: String,
    },
    /// Sets a parameter of the model.
    Parameter {
        /// Its name.
        name: String,
        /// Its value.
        value: Value,
    },
    /// Offers only these tools to the model.
    Offer {
        /// The tools.
        tools: Vec<String>,
        /// In this step alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<u32>,
    },
    /// Shows the model the last messages alone.
    LastMessages {
        /// The number of messages.
        count: usize,
    },
    /// Replaces the text of the model in a step; its calls stay.
    Say {
        /// The step.
        #[serde(default = "once")]
        step: u32,
        /// The text.
        text: String,
    },
    /// Removes the calls of a tool from the model's answers.
    DropCalls {
        /// The tool.
        tool: String,
    },
    /// Sets or removes a key.
    Set {
        /// The phase.
        at: At,
        /// The key.
        patch: Patch,
    },
    /// Delays the phase.
    Wait {
        /// The phase.
        at: At,
        /// The delay, in milliseconds.
        ms: u64,
    },
    /// Fails.
    Fail {
        /// The phase.
        at: At,
        /// The error.
        message: String,
    },
    /// Panics.
    Panic {
        /// The phase.
        at: At,
        /// With this message.
        message: String,
    },
}

/// A verdict at a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Says {
    /// A person is asked.
    Ask(Ticket),
    /// The call fails with this error.
    Block(String),
    /// The call fails with this error, and the run ends as blocked.
    BlockRun(String),
    /// The call has this result.
    SetResult(Value),
}

/// A phase, of one step or activation, or of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct At {
    /// The phase.
    pub phase: PhaseName,
    /// The step. Default: every step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The activation. Default: every activation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation: Option<u32>,
}

impl At {
    /// The phase, in every step and activation.
    pub fn any(phase: PhaseName) -> Self {
        At { phase, step: None, activation: None }
    }
}

/// The phases in which plugins run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PhaseName {
    /// Once, at the beginning of an activation.
    RunStart,
    /// At the beginning of a step.
    StepStart,
    /// Before the model is asked.
    BeforeInference,
    /// After the answer.
    AfterInference,
    /// Before a tool executes.
    BeforeToolExecute,
    /// After the outcome of a call is known.
    AfterToolExecute,
    /// At the end of a step.
    StepEnd,
    /// Once, at the end of an activation.
    RunEnd,
}

impl From<PhaseName> for Phase {
    fn from(phase: PhaseName) -> Self {
        match phase {
            PhaseName::RunStart => Phase::RunStart,
            PhaseName::StepStart => Phase::StepStart,
            PhaseName::BeforeInference => Phase::BeforeInference,
            PhaseName::AfterInference => Phase::AfterInference,
            PhaseName::BeforeToolExecute => Phase::BeforeToolExecute,
            PhaseName::AfterToolExecute => Phase::AfterToolExecute,
            PhaseName::StepEnd => Phase::StepEnd,
            PhaseName::RunEnd => Phase::RunEnd,
        }
    }
}

fn once() -> u32 {
    1
}

fn requested() -> TerminationReason {
    TerminationReason::BehaviorRequested
}
