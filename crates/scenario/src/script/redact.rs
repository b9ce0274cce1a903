//! Hides the values of calls from those who listen.

use runstate::agent::event::{Redact, Redacted, Which};
use serde_json::{Value, json};

/// Says what a value is, and of which call, in the place of the value.
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
