//! Why a call waits, and the answer to it (document 003, "Resume replay"; words of the design: suspension, decision).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The digest of a JSON value, as `sha256:` and 64 hexadecimal digits. White space and the order of keys do not count.
///
/// It is never the checksum of a snapshot, which covers several values.
///
/// ```
/// use runstate::decision::digest;
/// use serde_json::json;
///
/// assert_eq!(digest(&json!({"a": 1, "b": 2})), digest(&serde_json::from_str(r#"{"b": 2, "a": 1}"#)?));
/// assert_ne!(digest(&json!({"a": 1})), digest(&json!({"a": 2})));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn digest(value: &Value) -> String {
    crate::snapshot::digest(&[value])
}

/// What is asked for where a crash left it unknown whether a tool ran: the runtime's own word, no tool's.
pub const IN_DOUBT: &str = "in_doubt";

/// The parameter that holds what the execution in doubt was called with.
const ARGUMENTS: &str = "arguments";

/// Why a call waits: what a person, or a program for them, is asked.
///
/// ```
/// use runstate::decision::Suspension;
///
/// let suspension = Suspension::new("sus-1", "approve", "delete notes.tmp?").expiring_at(60_000);
/// assert!(!suspension.is_expired(59_999));
/// assert!(suspension.is_expired(60_000));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspension {
    /// An id that no other question of the run has: a call that waits twice has two. The runtime gives it when the call suspends; a
    /// word that a tool wants in it stands behind a colon, `r1/call_1/1:word`.
    pub id: String,
    /// What is asked for, as a word for programs: `approve`, `in_doubt`, …
    pub action: String,
    /// What is asked for, for a person.
    pub message: String,
    /// What a form needs beside the message.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub parameters: Value,
    /// The JSON Schema of a decision's result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Value>,
    /// What a decision to resume does.
    pub resume_mode: ResumeMode,
    /// When it lapses, in milliseconds on the run's clock. A store counts the time from the commit with the question on, by a clock of its
    /// own, unless it is a [date](Self::is_date).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at_ms: Option<u64>,
    /// Does the call lapse at a date, by the time of day of the store? If not, it is open for a duration from its commit on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_date: bool,
    /// Must the actor of a decision be another than those of the earlier decisions on the call?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct_actors: bool,
}

impl Suspension {
    /// A suspension that never lapses, and whose call is executed as it was asked for once it is resumed.
    pub fn new(id: impl Into<String>, action: impl Into<String>, message: impl Into<String>) -> Self {
        Suspension {
            id: id.into(),
            action: action.into(),
            message: message.into(),
            parameters: Value::Null,
            response_schema: None,
            resume_mode: ResumeMode::ReplayToolCall,
            expires_at_ms: None,
            is_date: false,
            distinct_actors: false,
        }
    }

    /// Asks whether an execution that a crash cut off, with these arguments, is to be made again.
    ///
    /// A decision to resume makes it again, under the same idempotency key. If it has a result that is the call's result, and
    /// the tool is not executed: who decides may know that it did run.
    ///
    /// ```
    /// use runstate::decision::Suspension;
    /// use serde_json::json;
    ///
    /// let doubt = Suspension::in_doubt("sus-1", "may have run", &json!({ "amount": 9_000 }));
    /// assert_eq!(doubt.doubted_arguments(), Some(&json!({ "amount": 9_000 })));
    /// assert_eq!(Suspension::new("sus-2", "approve", "run it?").doubted_arguments(), None);
    /// ```
    pub fn in_doubt(id: impl Into<String>, message: impl Into<String>, arguments: &Value) -> Self {
        Self::new(id, IN_DOUBT, message).with_parameters(json!({ ARGUMENTS: arguments }))
    }

    /// What the execution was called with of which is asked whether it is to be made again; none where anything else is asked.
    pub fn doubted_arguments(&self) -> Option<&Value> {
        if self.action == IN_DOUBT { self.parameters.get(ARGUMENTS) } else { None }
    }

    /// What a tool or a gate asks for: its id is given when the call suspends.
    pub fn ask(action: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new("", action, message)
    }

    /// The same, with what a form needs beside the message.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Value) -> Self {
        self.parameters = parameters;
        self
    }

    /// The same, with the JSON Schema of a decision's result.
    #[must_use]
    pub fn with_response_schema(mut self, schema: Value) -> Self {
        self.response_schema = Some(schema);
        self
    }

    /// The same, with another way to resume.
    #[must_use]
    pub fn resuming_by(mut self, mode: ResumeMode) -> Self {
        self.resume_mode = mode;
        self
    }

    /// The same, lapsing at that time of the run's clock: so long after now. Where the clocks of machines differ, the time that is left
    /// counts.
    #[must_use]
    pub fn expiring_at(mut self, at_ms: u64) -> Self {
        self.expires_at_ms = Some(at_ms);
        self
    }

    /// The same, lapsing at that date, in milliseconds since the Unix epoch. Where the clocks of machines differ, the date counts.
    #[must_use]
    pub fn expiring_on(mut self, date_ms: u64) -> Self {
        (self.expires_at_ms, self.is_date) = (Some(date_ms), true);
        self
    }

    /// The same, for an actor that no earlier decision on this call had: two people must agree, and one of them cannot do it with
    /// two clicks. A decision without an actor is refused ([`Reply::NotDistinct`](crate::agent::Reply::NotDistinct)).
    ///
    /// They agree on the question. Where the answer takes the place of the arguments or of the result, the last of them gives it alone: ask
    /// several people with [`ResumeMode::ReplayToolCall`].
    #[must_use]
    pub fn by_distinct_actors(mut self) -> Self {
        self.distinct_actors = true;
        self
    }

    /// The digest of this question about a call: of the run, the call as it is named in traces, its tool, the arguments that are
    /// shown, and all of the suspension. A decision that has it is for this question alone.
    ///
    /// ```
    /// use runstate::decision::Suspension;
    /// use serde_json::json;
    ///
    /// let (first, second) = (Suspension::new("r1/c1/1", "approve", "pay?"), Suspension::new("r1/c1/2", "approve", "pay?"));
    /// let amount = json!({ "amount": 10 });
    /// assert_eq!(first.digest("r1", "c1", "pay", &amount), first.digest("r1", "c1", "pay", &amount));
    ///
    /// // The same words about the same arguments are another question when they are asked again, or of another call.
    /// assert_ne!(first.digest("r1", "c1", "pay", &amount), second.digest("r1", "c1", "pay", &amount));
    /// assert_ne!(first.digest("r1", "c1", "pay", &amount), first.digest("r1", "c1#2", "pay", &amount));
    /// ```
    pub fn digest(&self, run: &str, call: &str, tool: &str, arguments: &Value) -> String {
        digest(&json!([run, call, tool, arguments, self]))
    }

    /// Has it lapsed at `now_ms`? At its very time it has.
    pub fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_at_ms.is_some_and(|at| now_ms >= at)
    }
}

/// What a decision to resume does with the call (document 003, "Resume replay").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumeMode {
    /// The tool is executed with the arguments that the model gave.
    ReplayToolCall,
    /// The decision's result is the call's result; the tool is not executed.
    UseDecisionAsToolResult,
    /// The tool is executed with the decision's result for arguments.
    PassDecisionToTool,
}

/// The answer to one suspension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Its own id: the same id again is the same decision.
    pub decision_id: String,
    /// The run it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run_id: String,
    /// The call it is on, as it is named in traces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// The suspension it answers.
    pub suspension_id: String,
    /// Go on, or give the call up.
    pub action: DecisionAction,
    /// The answer itself, for modes that use it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// Why, in the words of who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The digest of the question that it answers ([`Suspension::digest`]). Decisions of 0.1.0 have one of the arguments alone.
    #[serde(default, alias = "args_digest", skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// When, in milliseconds on the run's clock.
    pub decided_at_ms: u64,
    /// The tag that a keyed store gave it; none outside of such a store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Box<str>>,
}

/// The actor of the runtime's own decisions: they cancel calls whose questions expired.
pub const RUNTIME: &str = "runstate";
/// The beginning of the ids of the runtime's own decisions.
pub const EXPIRY: &str = "expiry:";

impl Decision {
    /// Returns whether the runtime made the decision because its question had expired.
    ///
    /// ```
    /// use runstate::decision::{Decision, DecisionAction, EXPIRY, RUNTIME};
    ///
    /// let mut decision = Decision::new(format!("{EXPIRY}r1/c1/1"), "r1/c1/1", DecisionAction::Cancel);
    /// assert!(!decision.is_expiry(), "an id alone is any program's to give");
    /// decision.actor = Some(RUNTIME.to_owned());
    /// assert!(decision.is_expiry());
    /// ```
    pub fn is_expiry(&self) -> bool {
        let on = self.decision_id.strip_prefix(EXPIRY).map(|on| on.trim_end_matches('\''));
        self.action == DecisionAction::Cancel
            && self.actor.as_deref() == Some(RUNTIME)
            && on == Some(self.suspension_id.trim_end_matches('\''))
    }

    /// A decision with nothing but its action.
    pub fn new(
        decision_id: impl Into<String>,
        suspension_id: impl Into<String>,
        action: DecisionAction,
    ) -> Self {
        Decision {
            decision_id: decision_id.into(),
            run_id: String::new(),
            call: String::new(),
            suspension_id: suspension_id.into(),
            action,
            result: Value::Null,
            reason: None,
            actor: None,
            digest: None,
            decided_at_ms: 0,
            tag: None,
        }
    }
}

/// What a decision says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionAction {
    /// The call goes on, as the suspension's [`ResumeMode`] says.
    Resume,
    /// The call is given up.
    Cancel,
}
