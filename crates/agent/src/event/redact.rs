//! Redaction of events and traces.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use runstate::decision::Suspension;
use runstate::termination::{StoppedReason, TerminationReason};
use serde_json::{Value, json};

use super::kind::CallOutcome;

/// A redaction of values before they reach events and traces.
///
/// The runtime calls `redact` for every value of a call and for the texts at the end of a run, before the value
/// leaves in an event or a trace. The returned value leaves instead. Tools, models, decisions and stores use the
/// original values.
///
/// The runtime may call `redact` several times for one value. An implementation should return equal results for equal
/// values, and must not block. If it panics, [`Redactor::PANICKED`] leaves instead of the value. With a redactor,
/// pieces of arguments ([`ToolCallArguments`](super::EventKind::ToolCallArguments)) are withheld, because their
/// context is unknown. The complete arguments follow, redacted.
///
/// ```
/// use runstate_agent::event::{Redact, Redacted, Redactor, Which};
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
/// // The arguments of all other tools pass unchanged.
/// assert_eq!(redactor.arguments("sign_up", "call_2", &arguments), arguments);
/// ```
pub trait Redact: Send + Sync {
    /// Returns the public form of `value`.
    fn redact(&self, what: Redacted<'_>, value: &Value) -> Value;
}

/// The origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redacted<'a> {
    /// The tool; empty for a value of the run.
    pub tool: &'a str,
    /// The name of the call in traces; empty for a value of the run.
    pub call: &'a str,
    /// The kind of the value.
    pub which: Which,
}

/// The kind of a value of a call or of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Which {
    /// The arguments of the call. Arguments that cannot be read are a text.
    Arguments,
    /// The output of the call.
    Output,
    /// The error, the warning or the reason for the cancellation of the call, as a text.
    Error,
    /// A progress report of the call.
    Progress,
    /// The suspension of the call: an object with `message` and `parameters`. A returned message that is not a text
    /// is written as JSON.
    Suspension,
    /// The reason why a run is blocked, stopped or failed, as a text. The text may come from a gate, a plugin or a
    /// tool.
    End,
}

/// The redaction of an agent: a [`Redact`], or none. Cheap to clone.
#[derive(Clone, Default)]
pub struct Redactor(Option<Arc<dyn Redact>>);

impl Redactor {
    /// The replacement for a value whose redaction panicked.
    pub const PANICKED: &str = "[withheld: the redactor panicked]";

    /// Creates a redactor with this redaction.
    pub fn new(redact: Arc<dyn Redact>) -> Self {
        Redactor(Some(redact))
    }

    /// Creates a redactor that changes no values.
    pub fn show_all() -> Self {
        Redactor(None)
    }

    /// Returns whether pieces of arguments are withheld.
    pub fn withholds_deltas(&self) -> bool {
        self.0.is_some()
    }

    /// Redacts the arguments of a call.
    pub fn arguments(&self, tool: &str, call: &str, arguments: &Value) -> Value {
        self.value(Redacted { tool, call, which: Which::Arguments }, arguments)
    }

    /// Redacts a progress report.
    pub fn progress(&self, tool: &str, call: &str, progress: &Value) -> Value {
        self.value(Redacted { tool, call, which: Which::Progress }, progress)
    }

    /// Redacts the outcome of a call.
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

    /// Redacts the message and the parameters of a suspension. The other fields are for programs, and stay.
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

    /// Redacts the text in a termination reason. Its kind and its code stay.
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

    /// Redacts a text about the end of a run.
    pub(crate) fn text_of_end(&self, text: &str) -> String {
        if self.0.is_none() {
            return text.to_owned();
        }
        self.text(Redacted { tool: "", call: "", which: Which::End }, text.to_owned())
    }

    fn value(&self, what: Redacted<'_>, value: &Value) -> Value {
        let Some(redact) = &self.0 else {
            return value.clone();
        };
        // A failed redactor must neither reveal the value nor end the run.
        catch_unwind(AssertUnwindSafe(|| redact.redact(what, value)))
            .unwrap_or_else(|_| Value::from(Self::PANICKED))
    }

    fn text(&self, what: Redacted<'_>, text: String) -> String {
        written(self.value(what, &Value::String(text)))
    }
}

/// Converts a value to a text. A text stays as it is, `null` becomes empty, and any other value becomes JSON.
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
