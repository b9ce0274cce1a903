//! The question of a suspended call.

use runstate::decision::{ResumeMode, Suspension};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The question of a suspended call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ticket {
    /// The suspension's id. Default: the runtime assigns one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The requested action, as a word for programs.
    #[serde(default = "approve")]
    pub action: String,
    /// The question, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Further data of a form beside the message.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub parameters: Value,
    /// The JSON Schema of a decision's result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Value>,
    /// The effect of a decision to resume.
    #[serde(default = "replay", skip_serializing_if = "is_replay")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::schema::Resume"))]
    pub resume_mode: ResumeMode,
    /// The expiry of the question after the suspension of the call, in milliseconds; at most 10^15, some 30,000 years.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "within")]
    #[cfg_attr(feature = "json-schema", schemars(range(max = 1_000_000_000_000_000_u64)))]
    pub expires_after_ms: Option<u64>,
    /// Must the actor differ from the actors of earlier decisions on the call?
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub distinct_actors: bool,
}

/// No clock reaches a later time, so a run would wait for ever.
const LONGEST_MS: u64 = 1_000_000_000_000_000;

fn within<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    match Option::<u64>::deserialize(deserializer)? {
        Some(ms) if ms > LONGEST_MS => {
            Err(D::Error::custom(format_args!("expected at most {LONGEST_MS} milliseconds, got {ms}")))
        }
        ms => Ok(ms),
    }
}

impl Default for Ticket {
    fn default() -> Self {
        Ticket {
            id: None,
            action: approve(),
            message: None,
            parameters: Value::Null,
            response_schema: None,
            resume_mode: replay(),
            expires_after_ms: None,
            distinct_actors: false,
        }
    }
}

impl Ticket {
    /// Does the call execute unchanged once it is approved?
    pub(crate) fn replays(&self) -> bool {
        is_replay(&self.resume_mode)
    }

    /// The suspension of a call of that tool, at that time.
    pub(crate) fn suspension(&self, tool: &str, now_ms: u64) -> Suspension {
        let message = self.message.clone().unwrap_or_else(|| format!("may {tool} execute?"));
        let mut suspension = Suspension::new(self.id.clone().unwrap_or_default(), &*self.action, message);
        suspension.parameters = self.parameters.clone();
        suspension.response_schema.clone_from(&self.response_schema);
        suspension.resume_mode = self.resume_mode;
        suspension.distinct_actors = self.distinct_actors;
        suspension.expires_at_ms = self.expires_after_ms.map(|after| now_ms.saturating_add(after));
        suspension
    }
}

fn approve() -> String {
    "approve".to_owned()
}

fn replay() -> ResumeMode {
    ResumeMode::ReplayToolCall
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_replay(mode: &ResumeMode) -> bool {
    *mode == replay()
}
