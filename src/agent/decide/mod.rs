//! Decisions that come in, and what becomes of them (`DESIGN`'s word: the answer to one suspension).

mod handle;
mod resolve;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::decision::digest;
use crate::decision::{Decision, DecisionAction, Suspension};

pub(super) use handle::Envelope;
pub use handle::{DecisionHandle, Inbox, RunGone, inbox};
pub(super) use resolve::{Accepted, Judging, Resolved};
#[cfg(feature = "store")]
pub(crate) use resolve::{RUNTIME, after, fits};

/// A decision as it comes in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Incoming {
    /// Its id: the same id again is the same decision.
    pub decision_id: String,
    /// The run it is for; none for the one whose handle takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The call it is for, as it is named in traces.
    pub call: String,
    /// The suspension it answers; none for whichever the call waits on now, or will wait on first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension_id: Option<String>,
    /// Go on, or give the call up.
    pub action: DecisionAction,
    /// The answer itself, for modes that use it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The digest of the arguments that were shown, as [`PendingCall::args_digest`] has it: with it the decision is for
    /// those and no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args_digest: Option<String>,
    /// When, in milliseconds on the agent's clock; none for when it comes in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at_ms: Option<u64>,
}

impl Incoming {
    /// A decision on whatever the call waits on now.
    pub fn new(decision_id: impl Into<String>, call: impl Into<String>, action: DecisionAction) -> Self {
        Incoming {
            decision_id: decision_id.into(),
            run_id: None,
            call: call.into(),
            suspension_id: None,
            action,
            result: Value::Null,
            reason: None,
            actor: None,
            args_digest: None,
            decided_at_ms: None,
        }
    }

    /// The same, on this suspension and no other.
    #[must_use]
    pub fn on(mut self, suspension_id: impl Into<String>) -> Self {
        self.suspension_id = Some(suspension_id.into());
        self
    }

    /// The same, with an answer.
    #[must_use]
    pub fn with_result(mut self, result: impl Into<Value>) -> Self {
        self.result = result.into();
        self
    }

    /// The same, under an id that follows from what it says. Given again in the same words it is the same decision, and
    /// [`Reply::Duplicate`]; in other words it is another one.
    ///
    /// ```
    /// use runstate::agent::Incoming;
    /// use runstate::decision::DecisionAction::{Cancel, Resume};
    ///
    /// let said = |action| Incoming::new("", "call_1", action).on("r1/call_1/1").named_by_content().decision_id;
    /// assert_eq!(said(Resume), said(Resume));
    /// assert_ne!(said(Resume), said(Cancel));
    /// ```
    #[must_use]
    pub fn named_by_content(mut self) -> Self {
        let on = self.suspension_id.as_deref().unwrap_or(&self.call);
        let said =
            json!([self.run_id, on, self.action, self.result, self.reason, self.actor, self.args_digest]);
        let digest = digest(&said);
        let hex = digest.rsplit(':').next().unwrap_or(&digest);
        self.decision_id = format!("{on}/{}", hex.get(..16).unwrap_or(hex));
        self
    }

    /// The same, for these arguments and no others.
    #[must_use]
    pub fn for_arguments(mut self, digest: impl Into<String>) -> Self {
        self.args_digest = Some(digest.into());
        self
    }
}

/// The same decision again, as whoever drives the run takes it.
impl From<Decision> for Incoming {
    fn from(decision: Decision) -> Self {
        Incoming {
            decision_id: decision.decision_id,
            run_id: Some(decision.run_id).filter(|run| !run.is_empty()),
            call: decision.call,
            suspension_id: Some(decision.suspension_id),
            action: decision.action,
            result: decision.result,
            reason: decision.reason,
            actor: decision.actor,
            args_digest: decision.args_digest,
            decided_at_ms: Some(decision.decided_at_ms),
        }
    }
}

/// What became of a decision. All but the first two change nothing, and none ends a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// It is the answer, and it is durable.
    Accepted,
    /// Its call has not asked yet. It counts when it does, in this activation, and is dropped if it never does.
    Held,
    /// The same decision was accepted before.
    Duplicate,
    /// Another decision on that suspension was accepted before.
    Conflict,
    /// The call does not wait on that suspension any more, or was asked with other arguments.
    Stale,
    /// The suspension had lapsed.
    Expired,
    /// No run, call or suspension of that name waits.
    Unknown,
    /// Its result cannot be taken: it does not fit what was asked for, or nests deeper than 96 levels. Says how.
    Invalid(String),
}

impl Reply {
    /// In one word, for programs: `accepted`, `held`, `duplicate`, `conflict`, `stale`, `expired`, `unknown` or `invalid`.
    pub fn name(&self) -> &'static str {
        match self {
            Reply::Accepted => "accepted",
            Reply::Held => "held",
            Reply::Duplicate => "duplicate",
            Reply::Conflict => "conflict",
            Reply::Stale => "stale",
            Reply::Expired => "expired",
            Reply::Unknown => "unknown",
            Reply::Invalid(_) => "invalid",
        }
    }
}

/// The word, and what it means where that is not plain.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Accepted => f.write_str("accepted"),
            Reply::Held => f.write_str("held until the call asks"),
            Reply::Duplicate => f.write_str("duplicate: this decision was accepted before"),
            Reply::Conflict => f.write_str("conflict: another decision was accepted before"),
            Reply::Stale => {
                f.write_str("stale: the call does not wait on that suspension, or with those arguments")
            }
            Reply::Expired => f.write_str("expired: the suspension had lapsed"),
            Reply::Unknown => f.write_str("unknown: nothing of that name waits"),
            Reply::Invalid(why) => write!(f, "invalid: {why}"),
        }
    }
}

/// A call that waits for a decision, for those who hold a [`DecisionHandle`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// As it is named in traces.
    pub call: Arc<str>,
    /// The tool it names.
    pub tool: String,
    /// What the tool would be called with, redacted where the agent redacts.
    pub arguments: Value,
    /// The digest of the exact arguments.
    pub args_digest: String,
    /// What it waits for.
    pub suspension: Suspension,
}
