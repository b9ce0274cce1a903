//! Replies as soon as a call asks.

use serde::{Deserialize, Serialize};

use super::decision::Decision;

/// Decisions as soon as a call asks, in order.
///
/// In the texts of its decisions `$asked` stands for the id of the answered suspension, and `$before` for the previous
/// suspension of the same call: the runtime assigns them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The question that is answered.
    pub to: Question,
    /// The decisions; an empty list is a reply too, and prevents a later reply to the question.
    #[serde(rename = "do")]
    pub gives: Vec<Given>,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// By the gate or the tool of a call.
    Ask {
        /// The call, as it is named in traces.
        call: String,
        /// The number of the question of that call, from 1. Default: every question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "json-schema", schemars(range(min = 1)))]
        nth: Option<u32>,
    },
    /// By the runtime: may a call that a crash interrupted execute again?
    Doubt,
}

/// Decisions that are given together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// The delay after the question, or after the replies to the previous decisions; in milliseconds.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub after_ms: u64,
    /// The decisions. `$call` stands for the call that asks.
    pub decide: Vec<Decision>,
}

/// The name of the call that asks.
const CALL: &str = "$call";
/// The id of the answered suspension.
const ASKED: &str = "$asked";
/// The id of the previous suspension.
const BEFORE: &str = "$before";
/// The replacement of `$before` if there was none.
const NEVER: &str = "never-asked";

impl Given {
    /// The reply with names in place of the variables.
    pub(crate) fn on(&self, call: &str, asked: &str, before: Option<&str>) -> Given {
        let fill = |text: &str| {
            let named = text.replace(BEFORE, before.unwrap_or(NEVER)).replace(ASKED, asked);
            if text == CALL { call.to_owned() } else { named }
        };
        let decide = self.decide.iter().map(|decision| {
            let to = fill(&decision.call);
            // A reply is on the asked question by default; an empty name is no suspension.
            let on_asked = || (to == call && decision.digest.is_none()).then(|| asked.to_owned());
            let named = decision.suspension.as_deref().map(fill).or_else(on_asked);
            Decision {
                id: fill(&decision.id),
                suspension: named.filter(|id| !id.is_empty()),
                actor: decision.actor.as_deref().map(fill),
                call: to,
                ..decision.clone()
            }
        });
        Given { after_ms: self.after_ms, decide: decide.collect() }
    }
}
