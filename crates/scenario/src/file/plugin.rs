//! Plugins for scenarios.

use runstate::agent::Phase;
use runstate::termination::TerminationReason;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ticket::Ticket;
use super::tool::Patch;

/// A plugin that does one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Plugin {
    /// Asks a person before the tool executes, unless a decision is there.
    Ask {
        /// The tool.
        tool: String,
        /// How often, for one call: more than once asks again on the replay.
        #[serde(default = "once")]
        #[cfg_attr(feature = "json-schema", schemars(range(min = 1)))]
        times: u32,
        /// What is asked for.
        #[serde(default)]
        ticket: Ticket,
    },
    /// Fails the calls of the tool, and lets the loop go on.
    Block {
        /// The tool.
        tool: String,
        /// The error that the model reads.
        reason: String,
        /// Only on a replay, when a decision has let the call go on?
        #[serde(default, skip_serializing_if = "super::is_default")]
        on_replay: bool,
    },
    /// Fails the calls of the tool and ends the run as blocked.
    BlockRun {
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
    },
    /// Gives the calls of the tool a result; the tool does not execute.
    SetResult {
        /// The tool.
        tool: String,
        /// The result.
        result: Value,
    },
    /// Says something at one gate of one call, and nothing at any other.
    Gate {
        /// The call, as it is named in traces.
        call: String,
        /// How often its gate or its tool has asked before: 0 is its first gate. What is asked because of a crash counts not.
        #[serde(default, skip_serializing_if = "super::is_default")]
        asked: u32,
        /// What.
        says: Says,
    },
    /// Ends the run.
    EndRun {
        /// Where.
        at: At,
        /// With this reason.
        #[serde(default = "requested")]
        #[cfg_attr(feature = "json-schema", schemars(with = "crate::schema::Reason"))]
        reason: TerminationReason,
    },
    /// Asks no model in a step, which ends the run.
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
    /// Offers the model these of the tools alone.
    Offer {
        /// The tools.
        tools: Vec<String>,
        /// In this step alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<u32>,
    },
    /// Shows the model the last so many messages alone.
    LastMessages {
        /// How many.
        count: usize,
    },
    /// Replaces what the model says in a step; its calls stay.
    Say {
        /// The step.
        #[serde(default = "once")]
        step: u32,
        /// The text.
        text: String,
    },
    /// Takes the calls of a tool out of the model's answers.
    DropCalls {
        /// The tool.
        tool: String,
    },
    /// Sets or removes a key.
    Set {
        /// Where.
        at: At,
        /// The key.
        patch: Patch,
    },
    /// Takes its time.
    Wait {
        /// Where.
        at: At,
        /// How long, in milliseconds.
        ms: u64,
    },
    /// Fails.
    Fail {
        /// Where.
        at: At,
        /// How.
        message: String,
    },
    /// Panics.
    Panic {
        /// Where.
        at: At,
        /// With this message.
        message: String,
    },
}

/// What is said at a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Says {
    /// A person is asked.
    Ask(Ticket),
    /// The call fails with this error.
    Block(String),
    /// The same, and the run ends as blocked.
    BlockRun(String),
    /// This is the result of the call.
    SetResult(Value),
}

/// A phase, of any step and activation or of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct At {
    /// The phase.
    pub phase: PhaseName,
    /// The step, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The activation, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation: Option<u32>,
}

impl At {
    /// The phase, wherever it comes.
    pub fn any(phase: PhaseName) -> Self {
        At { phase, step: None, activation: None }
    }
}

/// Where plugins are asked (document 003, "Phase Enum").
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
    /// The answer is there.
    AfterInference,
    /// Before a tool executes.
    BeforeToolExecute,
    /// The outcome of a call is known.
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
