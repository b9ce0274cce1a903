//! Suspensions of tool calls, and the decisions that answer them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Computes the digest of a JSON value, as `sha256:` and 64 hexadecimal digits. White space and the order of keys do
/// not count.
///
/// It never equals the checksum of a snapshot, which covers several values.
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

/// The action of a question whether to execute a call again after a crash. Only the runtime uses this word; no tool
/// does.
pub const IN_DOUBT: &str = "in_doubt";

/// The parameter that holds the arguments of the execution in doubt.
const ARGUMENTS: &str = "arguments";

/// A suspension: the question to a person, or to a program for them, while a call waits.
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
    /// The id, unique among the questions of the run: a call that waits twice has two. The runtime assigns it when
    /// the call suspends. A tool can choose the part after a colon: `r1/call_1/1:word`.
    pub id: String,
    /// The requested action, as a word for programs: `approve`, `in_doubt`, …
    pub action: String,
    /// The question, for a person.
    pub message: String,
    /// Parameters of a form beside the message.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub parameters: Value,
    /// The JSON Schema of a decision's result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Value>,
    /// The effect of a decision to resume.
    pub resume_mode: ResumeMode,
    /// The expiry, in milliseconds on the run's clock. Default: no expiry. Unless the expiry is a
    /// [date](Self::is_date), a store measures the remaining time from the commit of the question, by its own clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at_ms: Option<u64>,
    /// Whether the expiry is a date, compared with the time of day of the store. Otherwise it is a duration from the
    /// commit of the question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_date: bool,
    /// Whether the actor of a decision must differ from the actors of all earlier decisions on the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distinct_actors: bool,
}

impl Suspension {
    /// Makes a suspension without an expiry. After a decision to resume, the tool executes with the arguments of the
    /// call.
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

    /// Asks whether to repeat an execution that a crash cut off, with these arguments.
    ///
    /// A decision to resume repeats the execution under the same idempotency key. If the decision has a result, that
    /// is the call's result, and the tool does not execute: the actor may know that the first execution completed.
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

    /// The arguments of the execution in doubt; none for any other question.
    pub fn doubted_arguments(&self) -> Option<&Value> {
        if self.action == IN_DOUBT { self.parameters.get(ARGUMENTS) } else { None }
    }

    /// Makes the question of a tool or a gate. The runtime assigns the id when the call suspends.
    pub fn ask(action: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new("", action, message)
    }

    /// Sets the parameters of a form beside the message. Default: none.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Value) -> Self {
        self.parameters = parameters;
        self
    }

    /// Sets the JSON Schema of a decision's result. Default: none.
    #[must_use]
    pub fn with_response_schema(mut self, schema: Value) -> Self {
        self.response_schema = Some(schema);
        self
    }

    /// Sets the effect of a decision to resume. Default: [`ResumeMode::ReplayToolCall`].
    #[must_use]
    pub fn resuming_by(mut self, mode: ResumeMode) -> Self {
        self.resume_mode = mode;
        self
    }

    /// Sets the expiry to a time of the run's clock, which stands for a duration from now. Where the clocks of
    /// machines differ, the remaining duration counts. Default: no expiry.
    #[must_use]
    pub fn expiring_at(mut self, at_ms: u64) -> Self {
        self.expires_at_ms = Some(at_ms);
        self
    }

    /// Sets the expiry to a date, in milliseconds since the Unix epoch. Where the clocks of machines differ, the date
    /// counts. Default: no expiry.
    #[must_use]
    pub fn expiring_on(mut self, date_ms: u64) -> Self {
        (self.expires_at_ms, self.is_date) = (Some(date_ms), true);
        self
    }

    /// Requires an actor that no earlier decision on this call had. Default: not required. So two people must agree,
    /// and one person cannot do it with two clicks. A decision without an actor is refused
    /// (`Reply::NotDistinct` of `runstate-agent`).
    ///
    /// The actors agree on the question. Where a decision replaces the arguments or the result, the last decision
    /// alone supplies them. Use [`ResumeMode::ReplayToolCall`] for questions to several people.
    #[must_use]
    pub fn by_distinct_actors(mut self) -> Self {
        self.distinct_actors = true;
        self
    }

    /// Computes the digest of this question. It covers the run, the trace name of the call, its tool, the displayed
    /// arguments, and the whole suspension. A decision with this digest answers this question alone.
    ///
    /// ```
    /// use runstate::decision::Suspension;
    /// use serde_json::json;
    ///
    /// let (first, second) = (Suspension::new("r1/c1/1", "approve", "pay?"), Suspension::new("r1/c1/2", "approve", "pay?"));
    /// let amount = json!({ "amount": 10 });
    /// assert_eq!(first.digest("r1", "c1", "pay", &amount), first.digest("r1", "c1", "pay", &amount));
    ///
    /// // A repeated question, or one about another call, has another digest even with equal words and arguments.
    /// assert_ne!(first.digest("r1", "c1", "pay", &amount), second.digest("r1", "c1", "pay", &amount));
    /// assert_ne!(first.digest("r1", "c1", "pay", &amount), first.digest("r1", "c1#2", "pay", &amount));
    /// ```
    pub fn digest(&self, run: &str, call: &str, tool: &str, arguments: &Value) -> String {
        digest(&json!([run, call, tool, arguments, self]))
    }

    /// Returns whether the suspension has expired at `now_ms`. It expires at its exact time.
    pub fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_at_ms.is_some_and(|at| now_ms >= at)
    }
}

/// The effect of a decision to resume on its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumeMode {
    /// The tool executes with the arguments of the model.
    ReplayToolCall,
    /// The decision's result is the call's result; the tool does not execute.
    UseDecisionAsToolResult,
    /// The tool executes with the decision's result as its arguments.
    PassDecisionToTool,
}

/// The answer to one suspension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The id of the decision. A second decision with this id is a repetition of the first.
    pub decision_id: String,
    /// The run of the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run_id: String,
    /// The trace name of the call: `call_1`, or `call_1#2` when the model reuses the id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// The id of the answered suspension.
    pub suspension_id: String,
    /// Whether the call resumes or is cancelled.
    pub action: DecisionAction,
    /// The result, for the modes that use it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// The reason, in the words of the actor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The actor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The digest of the answered question ([`Suspension::digest`]). Decisions of 0.1.0 have a digest of the
    /// arguments alone.
    #[serde(default, alias = "args_digest", skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The time of the decision, in milliseconds on the run's clock.
    pub decided_at_ms: u64,
    /// The tag of a store with keys; none outside of such a store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Box<str>>,
}

/// The actor of the runtime's own decisions. These decisions cancel calls with expired questions.
pub const RUNTIME: &str = "runstate";
/// The prefix of the ids of the runtime's own decisions.
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

    /// Makes a decision with an action and no further data.
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

/// The action of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionAction {
    /// The call resumes according to the suspension's [`ResumeMode`].
    Resume,
    /// The call is cancelled.
    Cancel,
}
