//! Decisions that come in, and what becomes of them (`DESIGN`'s word: the answer to one suspension).

mod board;
mod handle;
mod resolve;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::decision::digest;
use crate::decision::{Decision, DecisionAction, ResumeMode, Suspension};

pub(crate) use board::{Asked, Board, CallNow, well_formed};
pub(super) use handle::Envelope;
pub use handle::{DecisionHandle, Inbox, RunGone, inbox};
pub(crate) use resolve::fits;
pub(super) use resolve::{Accepted, Judging};

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
    /// The suspension it answers; none for the one that the call waits on when the decision arrives.
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
    /// The digest of the question that was shown, as [`PendingCall::digest`] has it: with it the decision is for that question
    /// and no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// When, in milliseconds on the agent's clock; none for when it comes in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at_ms: Option<u64>,
}

impl Incoming {
    /// A decision on the question that the call waits on when the decision arrives. It is taken for a call that is asked about
    /// once; [`on`](Self::on) and [`for_question`](Self::for_question) name a question, and are safe for any call.
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

    /// The same, on this suspension and no other.
    #[must_use]
    pub fn on(mut self, suspension_id: impl Into<String>) -> Self {
        self.suspension_id = Some(suspension_id.into());
        self
    }

    /// The same, given by this actor.
    #[must_use]
    pub fn by(mut self, actor: impl Into<String>) -> Self {
        self.actor = Some(actor.into());
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
        let said = json!([self.run_id, on, self.action, self.result, self.reason, self.actor, self.digest]);
        let digest = digest(&said);
        let hex = digest.rsplit(':').next().unwrap_or(&digest);
        let short = hex.get(..16).unwrap_or(hex);
        self.decision_id = format!("{on}/{short}");
        if well_formed(&self).is_err() {
            // Of a run whose id is very long, or begins as the runtime's own decisions do.
            self.decision_id = format!("decision/{hex}");
        }
        self
    }

    /// The same, for the question of this digest and no other.
    #[must_use]
    pub fn for_question(mut self, digest: impl Into<String>) -> Self {
        self.digest = Some(digest.into());
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
            digest: decision.digest,
            decided_at_ms: Some(decision.decided_at_ms),
        }
    }
}

/// What became of a decision. All but the first change nothing, and none ends a run.
///
/// The replies are the same at every door: a handle, a store, the command. The first that matches is the reply:
///
/// | the decision | the reply |
/// |---|---|
/// | has an empty or a malformed id or actor, or one of the runtime's | [`Invalid`](Reply::Invalid) |
/// | names neither suspension, digest nor call; or, at a store, the call and not its run | [`Invalid`](Reply::Invalid) |
/// | has the id of an accepted decision with the same content | [`Duplicate`](Reply::Duplicate) |
/// | has the id of an accepted decision with other content | [`Invalid`](Reply::Invalid) |
/// | is on a question that the runtime has given up, since its time was over | [`Expired`](Reply::Expired) |
/// | is on a question that another decision has answered, with the same action too | [`Conflict`](Reply::Conflict) |
/// | names a suspension or a digest that the call does not wait on any more | [`Stale`](Reply::Stale) |
/// | names the call alone, and the call has asked before or its id lives again | [`Ambiguous`](Reply::Ambiguous) |
/// | is on nothing that waits | [`Unknown`](Reply::Unknown) |
/// | comes when the question has lapsed | [`Expired`](Reply::Expired) |
/// | approves where distinct actors are asked for, without an actor or by [one](crate::actor::is_one_actor) of an earlier decision on the call | [`NotDistinct`](Reply::NotDistinct) |
/// | has a result that does not fit what was asked for | [`Invalid`](Reply::Invalid) |
/// | is any other | [`Accepted`](Reply::Accepted) |
///
/// A decision is bound to its question when it arrives: one that names its call alone is never an answer to a second question,
/// and one that comes before its call asks is [`Unknown`](Reply::Unknown). A question exists once it is committed. A decision that names a
/// suspension and is made before its loop began, by the future of `decide` or in an [`Inbox`](super::Inbox), is for that suspension: its
/// giver was shown the question of a run that waits.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// It is the answer, and it is durable.
    Accepted,
    /// The same decision was accepted before.
    Duplicate,
    /// Another decision on that question was accepted before: this one.
    Conflict(Box<Decision>),
    /// The call does not wait on that question any more.
    Stale,
    /// Several questions may be meant. These suspensions wait: name one.
    Ambiguous(Vec<String>),
    /// The question had lapsed.
    Expired,
    /// No run, call or suspension of that name waits.
    Unknown,
    /// The question asks for a named actor that no earlier decision on the call had. A decision to cancel needs none.
    NotDistinct,
    /// It cannot be taken. Says why.
    Invalid(String),
}

impl Reply {
    /// In one word, for programs: `accepted`, `duplicate`, `conflict`, `stale`, `ambiguous`, `expired`, `unknown`,
    /// `not_distinct` or `invalid`.
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

/// The word, and its meaning where that is not plain.
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
                    waiting => write!(f, "; what waits is {waiting:?}"),
                }
            }
            Reply::Expired => f.write_str("expired: the suspension had lapsed"),
            Reply::Unknown => f.write_str("unknown: nothing of that name waits"),
            Reply::NotDistinct => f.write_str(
                "not_distinct: the question asks for a named actor, and for one that no earlier decision on the call had",
            ),
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
    /// The digest of the exact question, with nothing redacted.
    pub digest: String,
    /// What a decision to resume does with the call.
    pub resume_mode: ResumeMode,
    /// What it waits for.
    pub suspension: Suspension,
}
