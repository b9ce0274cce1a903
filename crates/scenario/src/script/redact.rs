//! Hides the values of calls from receivers of events.

use runstate_agent::event::{Redact, Redacted, Which};
use serde_json::{Value, json};

/// Replaces a value by its kind and its call.
pub(super) struct Hides;

impl Redact for Hides {
    fn redact(&self, what: Redacted<'_>, _value: &Value) -> Value {
        let call = what.call;
        match what.which {
            Which::Arguments => json!(format!("[arguments of {call}]")),
            Which::Output => json!(format!("[output of {call}]")),
            Which::Error => json!(format!("[error of {call}]")),
            Which::Progress => json!(format!("[progress of {call}]")),
            Which::Suspension => json!({ "message": format!("[question of {call}]") }),
            _ => json!(format!("[value of {call}]")),
        }
    }
}
