//! Decisions that come in, and what becomes of them.

use serde_json::Value;

use super::depth::is_too_deep;
use super::state::RunState;
use crate::decision::{Decision, DecisionAction, Suspension};
use crate::tool_call::{AnyToolCall, CallRecord, ToolCallStatus};

/// A call that waits for a decision.
#[derive(Debug, Clone, Copy)]
pub struct Pending<'a> {
    /// As it is named in traces.
    pub call: &'a str,
    /// What it is.
    pub record: &'a CallRecord,
    /// What it waits for.
    pub suspension: &'a Suspension,
}

/// A decision as it comes in.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// Its id: the same id again is the same decision.
    pub decision_id: String,
    /// The call it is for, as it is named in traces.
    pub call: String,
    /// The suspension it answers; none for whichever the call waits on now.
    pub suspension_id: Option<String>,
    /// Go on, or give the call up.
    pub action: DecisionAction,
    /// The answer itself, for modes that use it.
    pub result: Value,
    /// Why.
    pub reason: Option<String>,
    /// Who decided.
    pub actor: Option<String>,
    /// When, in milliseconds on the run's clock.
    pub decided_at_ms: u64,
}

impl Incoming {
    /// A decision on whatever the call waits on now.
    pub fn new(decision_id: impl Into<String>, call: impl Into<String>, action: DecisionAction) -> Self {
        Incoming {
            decision_id: decision_id.into(),
            call: call.into(),
            suspension_id: None,
            action,
            result: Value::Null,
            reason: None,
            actor: None,
            decided_at_ms: 0,
        }
    }
}

/// What became of a decision. All but the first change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// It is the answer.
    Accepted,
    /// The same decision was accepted before.
    Duplicate,
    /// Another decision on that suspension was accepted before.
    Conflict,
    /// The call does not wait on that suspension any more.
    Stale,
    /// The suspension had lapsed.
    Expired,
    /// No call, or no suspension, of that name waits.
    Unknown,
    /// Its result nests deeper than 96 levels, and could not be stored.
    TooDeep,
}

/// Where decisions come in.
pub trait DecisionSource {
    /// The next decision, if one is there; `pending` is what waits. It is asked until it has none.
    ///
    /// One that gets no reply was not taken, or the process died before it could tell: offer it again. If it was taken,
    /// the reply is then [`Reply::Duplicate`].
    fn next(&mut self, pending: &[Pending<'_>]) -> Option<Incoming>;

    /// What became of a decision that it gave. An accepted one is durable by now.
    fn replied(&mut self, incoming: &Incoming, reply: Reply);
}

/// No decisions come in.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoDecisions;

impl DecisionSource for NoDecisions {
    fn next(&mut self, _: &[Pending<'_>]) -> Option<Incoming> {
        None
    }

    fn replied(&mut self, _: &Incoming, _: Reply) {}
}

/// A decision that is the answer, and the place of its call. Its source is told once it is durable.
pub(super) struct Accepted {
    pub(super) call: usize,
    pub(super) decision: Decision,
    pub(super) incoming: Incoming,
}

impl RunState {
    /// Asks for decisions until one is accepted or there are none.
    pub(super) fn next_accepted(&self, source: &mut dyn DecisionSource) -> Option<Accepted> {
        loop {
            let incoming = source.next(&self.pending())?;
            match self.resolve(&incoming) {
                Ok((call, decision)) => return Some(Accepted { call, decision, incoming }),
                Err(reply) => source.replied(&incoming, reply),
            }
        }
    }

    /// First wins; nothing else changes state.
    fn resolve(&self, incoming: &Incoming) -> Result<(usize, Decision), Reply> {
        let call = self.position(&incoming.call).ok_or(Reply::Unknown)?;
        if let Some(earlier) = self.earlier(incoming) {
            return Err(if earlier.decision_id == incoming.decision_id {
                Reply::Duplicate
            } else {
                Reply::Conflict
            });
        }
        let AnyToolCall::Suspended(machine) = self.calls[call].machine.get() else {
            let decided = self.status_of(call) != ToolCallStatus::New;
            return Err(if decided && incoming.suspension_id.is_some() {
                Reply::Stale
            } else {
                Reply::Unknown
            });
        };
        let suspension = machine.suspension();
        match &incoming.suspension_id {
            Some(id) if *id != suspension.id => return Err(Reply::Stale),
            Some(_) | None => {}
        }
        if suspension.is_expired(incoming.decided_at_ms) {
            return Err(Reply::Expired);
        }
        if is_too_deep(&incoming.result) {
            return Err(Reply::TooDeep);
        }
        let decision = Decision {
            decision_id: incoming.decision_id.clone(),
            suspension_id: suspension.id.clone(),
            action: incoming.action,
            result: incoming.result.clone(),
            reason: incoming.reason.clone(),
            actor: incoming.actor.clone(),
            decided_at_ms: incoming.decided_at_ms,
        };
        Ok((call, decision))
    }

    /// The decision that was accepted under the same id, or on the same suspension.
    fn earlier(&self, incoming: &Incoming) -> Option<&Decision> {
        let by_suspension = incoming.suspension_id.as_ref().and_then(|id| self.decisions.get(id));
        by_suspension.or_else(|| self.decisions.values().find(|d| d.decision_id == incoming.decision_id))
    }
}
