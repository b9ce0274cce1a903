//! What must not reach events and traces.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::{Value, json};

use super::kind::CallOutcome;
use crate::decision::Suspension;
use crate::termination::{StoppedReason, TerminationReason};

/// Hides what must not reach events and traces.
///
/// Contract: it is asked for every value of a call, and for what is said of the end of a run, before it leaves the runtime in an
/// event or a trace, and what it gives back is what leaves. Tools, models, decisions and stores see the values themselves. It may be asked for the same value
/// several times, should then say the same, and must not block. If it panics, [`Redactor::PANICKED`] leaves instead of the
/// value. Pieces of arguments ([`ToolCallArguments`](super::EventKind::ToolCallArguments)) are withheld wherever there is a
/// redactor, since it could not know what a piece belongs to; the complete arguments follow, redacted.
///
/// ```
/// use runstate::agent::event::{Redact, Redacted, Redactor, Which};
/// use serde_json::{Value, json};
/// use std::sync::Arc;
///
/// struct NoPasswords;
/// impl Redact for NoPasswords {
///     fn redact(&self, what: Redacted<'_>, value: &Value) -> Value {
///         let mut value = value.clone();
///         if what.which == Which::Arguments && what.tool == "log_in" {
///             value["password"] = json!("***");
///         }
///         value
///     }
/// }
///
/// let redactor = Redactor::new(Arc::new(NoPasswords));
/// let arguments = json!({ "user": "ada", "password": "1815" });
/// assert_eq!(redactor.arguments("log_in", "call_1", &arguments), json!({ "user": "ada", "password": "***" }));
///
/// // Other tools, as this one has it, go through.
/// assert_eq!(redactor.arguments("sign_up", "call_2", &arguments), arguments);
/// ```
pub trait Redact: Send + Sync {
    /// What may be seen of `value`.
    fn redact(&self, what: Redacted<'_>, value: &Value) -> Value;
}

/// Where a value belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redacted<'a> {
    /// The tool; empty where the value is of the run.
    pub tool: &'a str,
    /// The call, as it is named in traces; empty where the value is of the run.
    pub call: &'a str,
    /// What the value is of it.
    pub which: Which,
}

/// What a value is of its call, or of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Which {
    /// Its arguments; a text, where they could not be read.
    Arguments,
    /// Its output.
    Output,
    /// Its error, its warning, or why it was given up: a text.
    Error,
    /// A word on how far it is.
    Progress,
    /// What it waits for: an object with `message` and `parameters`. A message that comes back as no text is written as JSON.
    Suspension,
    /// Why a run is blocked, stopped or failed: a text, which may be that of a gate, of a plugin or of a tool.
    End,
}

/// Hides with a [`Redact`], or shows all. Cheap to clone.
#[derive(Clone, Default)]
pub struct Redactor(Option<Arc<dyn Redact>>);

impl Redactor {
    /// What leaves in place of a value when its redactor panics.
    pub const PANICKED: &str = "[withheld: the redactor panicked]";

    /// Hides with this.
    pub fn new(redact: Arc<dyn Redact>) -> Self {
        Redactor(Some(redact))
    }

    /// Shows all.
    pub fn show_all() -> Self {
        Redactor(None)
    }

    /// Are pieces of arguments withheld?
    pub fn withholds_deltas(&self) -> bool {
        self.0.is_some()
    }

    /// What may be seen of the arguments of a call.
    pub fn arguments(&self, tool: &str, call: &str, arguments: &Value) -> Value {
        self.value(Redacted { tool, call, which: Which::Arguments }, arguments)
    }

    /// What may be seen of a tool's progress.
    pub fn progress(&self, tool: &str, call: &str, progress: &Value) -> Value {
        self.value(Redacted { tool, call, which: Which::Progress }, progress)
    }

    /// What may be seen of what a call came to.
    pub fn outcome(&self, tool: &str, call: &str, outcome: CallOutcome) -> CallOutcome {
        if self.0.is_none() {
            return outcome;
        }
        let text = |text| self.text(Redacted { tool, call, which: Which::Error }, text);
        match outcome {
            CallOutcome::Succeeded { output, warning } => CallOutcome::Succeeded {
                output: self.value(Redacted { tool, call, which: Which::Output }, &output),
                warning: warning.map(text),
            },
            CallOutcome::Failed { error } => CallOutcome::Failed { error: text(error) },
            CallOutcome::Cancelled { reason, cause } => {
                CallOutcome::Cancelled { reason: text(reason), cause }
            }
        }
    }

    /// What may be seen of what a call waits for: its message and its parameters are redacted, the rest is for programs.
    pub fn suspension(&self, tool: &str, call: &str, suspension: &Suspension) -> Suspension {
        let mut seen = suspension.clone();
        if self.0.is_some() {
            let asked = json!({ "message": seen.message, "parameters": seen.parameters });
            let asked = self.value(Redacted { tool, call, which: Which::Suspension }, &asked);
            (seen.message, seen.parameters) = match asked {
                Value::Object(mut fields) => {
                    let mut take = |name| fields.remove(name).unwrap_or_default();
                    (written(take("message")), take("parameters"))
                }
                other => (written(other), Value::Null),
            };
        }
        seen
    }

    /// What may be seen of why a run ended: its kind and its code stay, what is said in words is redacted.
    pub fn reason(&self, reason: &TerminationReason) -> TerminationReason {
        match reason {
            TerminationReason::Blocked(why) => TerminationReason::Blocked(self.text_of_end(why)),
            TerminationReason::Error(what) => TerminationReason::Error(self.text_of_end(what)),
            TerminationReason::Stopped(stopped) => {
                let detail = stopped.detail().map(|detail| self.text_of_end(detail));
                let seen = StoppedReason::new(stopped.code(), detail.as_deref());
                TerminationReason::Stopped(seen.unwrap_or_else(|_| stopped.clone()))
            }
            TerminationReason::NaturalEnd
            | TerminationReason::BehaviorRequested
            | TerminationReason::Cancelled
            | TerminationReason::Suspended => reason.clone(),
        }
    }

    /// What may be seen of what is said of the end of a run.
    pub(in crate::agent) fn text_of_end(&self, text: &str) -> String {
        if self.0.is_none() {
            return text.to_owned();
        }
        self.text(Redacted { tool: "", call: "", which: Which::End }, text.to_owned())
    }

    fn value(&self, what: Redacted<'_>, value: &Value) -> Value {
        let Some(redact) = &self.0 else {
            return value.clone();
        };
        // A redactor that fails must not show what it was there to hide, nor end the run.
        catch_unwind(AssertUnwindSafe(|| redact.redact(what, value)))
            .unwrap_or_else(|_| Value::from(Self::PANICKED))
    }

    fn text(&self, what: Redacted<'_>, text: String) -> String {
        written(self.value(what, &Value::String(text)))
    }
}

/// A text as it is, nothing as nothing, and all else as JSON.
fn written(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Redactor(set)" } else { "Redactor(none)" })
    }
}
