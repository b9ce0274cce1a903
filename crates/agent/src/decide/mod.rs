//! Decisions and their replies. A decision is the answer to one suspension.

mod board;
mod handle;
mod resolve;

use std::fmt;
use std::sync::Arc;

pub use board::{Board, CallNow, Question, well_formed};
pub(super) use handle::Envelope;
pub use handle::{DecisionHandle, Inbox, RunGone, inbox};
pub use resolve::fits;
pub(super) use resolve::{Accepted, Judging};
use runstate::decision::digest;
use runstate::decision::{Decision, DecisionAction, ResumeMode, Suspension};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A decision, as sent to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Incoming {
    /// The id of the decision. A second decision with the same id counts as the same decision.
    pub decision_id: String,
    /// The id of the run; `None` for the run of the handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The name of the call in traces.
    pub call: String,
    /// The id of the suspension; `None` for the suspension that the call waits on when the decision arrives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension_id: Option<String>,
    /// Whether to resume or to cancel the call.
    pub action: DecisionAction,
    /// The result, for resume modes that use one.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub result: Value,
    /// The reason for the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The actor that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The digest of the question that was shown, from [`PendingCall::digest`]. With a digest, the decision is for
    /// that question only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The time of the decision, in milliseconds on the agent's clock; `None` for the time of its arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at_ms: Option<u64>,
}

impl Incoming {
    /// Creates a decision on the question that the call waits on when the decision arrives. It is accepted only for a
    /// call that asks once. [`on`](Self::on) and [`for_question`](Self::for_question) name a question, and are safe
    /// for any call.
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
            digest: None,
            decided_at_ms: None,
        }
    }

    /// Sets the suspension that the decision is for.
    #[must_use]
    pub fn on(mut self, suspension_id: impl Into<String>) -> Self {
        self.suspension_id = Some(suspension_id.into());
        self
    }

    /// Sets the actor.
    #[must_use]
    pub fn by(mut self, actor: impl Into<String>) -> Self {
        self.actor = Some(actor.into());
        self
    }

    /// Sets the result.
    #[must_use]
    pub fn with_result(mut self, result: impl Into<Value>) -> Self {
        self.result = result.into();
        self
    }

    /// Sets an id that is derived from the content. A second decision with the same content has the same id, and gets
    /// [`Reply::Duplicate`]. A decision with other content has another id.
    ///
    /// ```
    /// use runstate_agent::Incoming;
    /// use runstate::decision::DecisionAction::{Cancel, Resume};
    ///
    /// let said = |action| Incoming::new("", "call_1", action).on("r1/call_1/1").named_by_content().decision_id;
    /// assert_eq!(said(Resume), said(Resume));
    /// assert_ne!(said(Resume), said(Cancel));
    /// ```
    #[must_use]
    pub fn named_by_content(mut self) -> Self {
        let on = self.suspension_id.as_deref().unwrap_or(&self.call);
        let said = json!([self.run_id, on, self.action, self.result, self.reason, self.actor, self.digest]);
        let digest = digest(&said);
        let hex = digest.rsplit(':').next().unwrap_or(&digest);
        let short = hex.get(..16).unwrap_or(hex);
        self.decision_id = format!("{on}/{short}");
        if well_formed(&self).is_err() {
            // The id of the run is very long, or begins as the runtime's own decisions do.
            self.decision_id = format!("decision/{hex}");
        }
        self
    }

    /// Sets the digest of the question that the decision is for.
    #[must_use]
    pub fn for_question(mut self, digest: impl Into<String>) -> Self {
        self.digest = Some(digest.into());
        self
    }
}

/// Converts an accepted decision back, for the loop that drives the run.
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
            digest: decision.digest,
            decided_at_ms: Some(decision.decided_at_ms),
        }
    }
}

/// The reply to a decision. All replies but [`Accepted`](Reply::Accepted) change nothing, and none ends a run.
///
/// The replies are the same at every entry point: a handle, a store, the command. The first matching row is the
/// reply:
///
/// | the decision | the reply |
/// |---|---|
/// | has an empty or malformed id or actor, or one that is reserved for the runtime | [`Invalid`](Reply::Invalid) |
/// | names no suspension, no digest and no call; or, at a store, a call without its run | [`Invalid`](Reply::Invalid) |
/// | has the id of an accepted decision, and equal content | [`Duplicate`](Reply::Duplicate) |
/// | has the id of an accepted decision, and other content | [`Invalid`](Reply::Invalid) |
/// | is on a question that the runtime has expired | [`Expired`](Reply::Expired) |
/// | is on a question that another decision has answered, even with an equal action | [`Conflict`](Reply::Conflict) |
/// | names a suspension or a digest that is not open any more | [`Stale`](Reply::Stale) |
/// | names the call alone, and the call asked before or its id belongs to several calls | [`Ambiguous`](Reply::Ambiguous) |
/// | is on no open question | [`Unknown`](Reply::Unknown) |
/// | arrives after the expiry of the question | [`Expired`](Reply::Expired) |
/// | approves a question for distinct actors, without an actor or by [one](runstate::actor::is_one_actor) of an earlier decision on the call | [`NotDistinct`](Reply::NotDistinct) |
/// | has a result that does not fit the question | [`Invalid`](Reply::Invalid) |
/// | is any other decision | [`Accepted`](Reply::Accepted) |
///
/// A decision is matched to its question when it arrives. A decision that names its call alone never answers a second
/// question. A decision that arrives before its call asks is [`Unknown`](Reply::Unknown). A question exists once it
/// is committed.
///
/// A decision that names a suspension may be sent before its loop begins, by the future of `decide` or in an
/// [`Inbox`](super::Inbox). It is for that suspension, because the sender has seen the question of a waiting run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// The decision is the answer, and it is durable.
    Accepted,
    /// The decision was accepted before.
    Duplicate,
    /// Another decision on the question was accepted before: this one.
    Conflict(Box<Decision>),
    /// The question is closed.
    Stale,
    /// The name may refer to several questions. These are the open suspensions; the next decision names one of them.
    Ambiguous(Vec<String>),
    /// The question had expired.
    Expired,
    /// No open question belongs to a run, call or suspension of that name.
    Unknown,
    /// The question requires a named actor that made no earlier decision on the call. A decision to cancel needs no
    /// actor.
    NotDistinct,
    /// The decision is invalid, for this reason.
    Invalid(String),
}

impl Reply {
    /// The reply as one word, for programs: `accepted`, `duplicate`, `conflict`, `stale`, `ambiguous`, `expired`,
    /// `unknown`, `not_distinct` or `invalid`.
    pub fn name(&self) -> &'static str {
        match self {
            Reply::Accepted => "accepted",
            Reply::Duplicate => "duplicate",
            Reply::Conflict(_) => "conflict",
            Reply::Stale => "stale",
            Reply::Ambiguous(_) => "ambiguous",
            Reply::Expired => "expired",
            Reply::Unknown => "unknown",
            Reply::NotDistinct => "not_distinct",
            Reply::Invalid(_) => "invalid",
        }
    }
}

/// The word, with an explanation where needed.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Accepted => f.write_str("accepted"),
            Reply::Duplicate => f.write_str("duplicate: this decision was accepted before"),
            Reply::Conflict(accepted) => {
                let said = match accepted.action {
                    DecisionAction::Resume => "resume",
                    DecisionAction::Cancel => "cancel",
                };
                write!(f, "conflict: the decision {:?}, to {said}", accepted.decision_id)?;
                if let Some(actor) = &accepted.actor {
                    write!(f, " by {actor:?}")?;
                }
                f.write_str(", was accepted before")
            }
            Reply::Stale => f.write_str("stale: the call does not wait on that question"),
            Reply::Ambiguous(waiting) => {
                f.write_str(
                    "ambiguous: that name stands for several questions, so name the suspension or the digest",
                )?;
                match waiting.as_slice() {
                    [] => f.write_str("; none waits"),
                    waiting => write!(f, "; the waiting questions are {waiting:?}"),
                }
            }
            Reply::Expired => f.write_str("expired: the suspension was past its deadline"),
            Reply::Unknown => f.write_str("unknown: nothing of that name waits"),
            Reply::NotDistinct => f.write_str(
                "not_distinct: the question asks for a named actor, and for one that no earlier decision on the call had",
            ),
            Reply::Invalid(why) => write!(f, "invalid: {why}"),
        }
    }
}

/// A call that waits for a decision, as shown to holders of a [`DecisionHandle`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// The name of the call in traces.
    pub call: Arc<str>,
    /// The name of the tool.
    pub tool: String,
    /// The arguments for the tool, redacted if the agent redacts.
    pub arguments: Value,
    /// The digest of the question, computed without redaction.
    pub digest: String,
    /// The effect of a decision to resume.
    pub resume_mode: ResumeMode,
    /// The suspension that the call waits on.
    pub suspension: Suspension,
}
