//! What people decide as soon as a call asks.

use serde::{Deserialize, Serialize};

use super::decision::Decision;

/// What people decide as soon as a call asks, in order.
///
/// In the texts of its decisions `$asked` stands for the id of the suspension that is answered, and `$before` for that of the
/// one before it of the same call: they are the runtime's to give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// To what.
    pub to: Question,
    /// What; nothing at all is an answer too, in the place of a later reply to the same.
    #[serde(rename = "do")]
    pub gives: Vec<Given>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// By the gate or the tool of a call.
    Ask {
        /// The call, as it is named in traces.
        call: String,
        /// The first time, the second and so on; each time, without a number.
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
    /// How long after the call asked, or after those before them were answered; in milliseconds.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub after_ms: u64,
    /// The decisions. With `$call` for a call, on the one that asks.
    pub decide: Vec<Decision>,
}

/// The name of the call that asks.
const CALL: &str = "$call";
/// The id of the suspension that is answered.
const ASKED: &str = "$asked";
/// The id of the one before it.
const BEFORE: &str = "$before";
/// In its place, where there was none.
const NEVER: &str = "never-asked";

impl Given {
    /// The same with names in the place of what stands for them.
    pub(crate) fn on(&self, call: &str, asked: &str, before: Option<&str>) -> Given {
        let fill = |text: &str| {
            let named = text.replace(BEFORE, before.unwrap_or(NEVER)).replace(ASKED, asked);
            if text == CALL { call.to_owned() } else { named }
        };
        let decide = self.decide.iter().map(|decision| {
            let to = fill(&decision.call);
            // A reply is on what was asked, unless it says otherwise; an empty name is none.
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
