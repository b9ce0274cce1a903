//! What a decision means for a run: first wins, and nothing else changes state.

use serde_json::Value;

use super::super::depth::{MOST_LEVELS, is_too_deep};
use super::super::schema::SchemaCheck;
use super::super::state::RunState;
use super::{Incoming, Reply};
use crate::decision::digest;
use crate::decision::{Decision, DecisionAction, Suspension};
use crate::tool_call::{AnyToolCall, ToolCallStatus};

/// A decision that is the answer, and the place of its call.
#[derive(Debug)]
pub(in crate::agent) struct Accepted {
    pub(in crate::agent) call: usize,
    pub(in crate::agent) decision: Decision,
}

/// Who says whether a decision comes in time and fits what was asked for, and who gives up calls that nobody decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::agent) enum Judging {
    /// The loop.
    Here,
    /// The store that decisions come from: one that was accepted there counts, however late it is taken.
    InStore,
}

/// What to do with a decision.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it is taken apart where it is made")]
pub(in crate::agent) enum Resolved {
    /// It is the answer.
    Accept(Accepted),
    /// It is kept until its call asks.
    Hold,
    /// It changes nothing.
    Refuse(Reply),
}

impl RunState {
    /// What a decision from outside means now.
    pub(in crate::agent) fn resolve(
        &self,
        incoming: &Incoming,
        now_ms: u64,
        judging: Judging,
        schemas: &dyn SchemaCheck,
    ) -> Resolved {
        match self.judge(incoming, now_ms, judging, schemas) {
            Ok(Some(accepted)) => Resolved::Accept(accepted),
            Ok(None) => Resolved::Hold,
            Err(reply) => Resolved::Refuse(reply),
        }
    }

    fn judge(
        &self,
        incoming: &Incoming,
        now_ms: u64,
        judging: Judging,
        schemas: &dyn SchemaCheck,
    ) -> Result<Option<Accepted>, Reply> {
        if incoming.run_id.as_ref().is_some_and(|run| *run != *self.id) {
            return Err(Reply::Unknown);
        }
        let call = self.calls.position(&incoming.call).ok_or(Reply::Unknown)?;
        self.is_first(incoming, call)?;
        let wanted = incoming.args_digest.as_ref();
        if wanted.is_some_and(|wanted| *wanted != digest(self.asked_arguments(call))) {
            return Err(Reply::Stale);
        }
        let AnyToolCall::Suspended(machine) = self.calls[call].machine.get() else {
            return self.not_waiting(incoming, call);
        };
        let suspension = machine.suspension();
        if incoming.suspension_id.as_ref().is_some_and(|id| *id != suspension.id) {
            return Err(Reply::Stale);
        }
        if judging == Judging::Here {
            if suspension.is_expired(now_ms) {
                return Err(Reply::Expired);
            }
            fits(suspension, incoming, schemas)?;
        }
        Ok(Some(self.accepted(incoming, call, &suspension.id, now_ms)))
    }

    /// What who decides on the call was shown.
    fn asked_arguments(&self, call: usize) -> &Value {
        match self.calls[call].machine.get() {
            AnyToolCall::Suspended(machine) => machine.asked_arguments(),
            other => other.record().arguments(),
        }
    }

    fn accepted(&self, incoming: &Incoming, call: usize, suspension_id: &str, now_ms: u64) -> Accepted {
        let decision = Decision {
            decision_id: incoming.decision_id.clone(),
            run_id: self.id.to_string(),
            call: incoming.call.clone(),
            suspension_id: suspension_id.to_owned(),
            action: incoming.action,
            result: incoming.result.clone(),
            reason: incoming.reason.clone(),
            actor: incoming.actor.clone(),
            args_digest: Some(digest(self.asked_arguments(call))),
            decided_at_ms: incoming.decided_at_ms.unwrap_or(now_ms),
            tag: None,
        };
        Accepted { call, decision }
    }

    /// Was it, or another one on the same suspension, accepted before?
    fn is_first(&self, incoming: &Incoming, call: usize) -> Result<(), Reply> {
        if self.decided.by_id(&incoming.decision_id).is_some() {
            return Err(Reply::Duplicate);
        }
        match &incoming.suspension_id {
            Some(id) => match self.decided.on(id) {
                Some(decision) => Err(after(decision)),
                None => Ok(()),
            },
            // It means what the call was last asked, and that is answered: being replayed it does not wait.
            None if self.status_of(call) == ToolCallStatus::Resuming => Err(Reply::Conflict),
            None => Ok(()),
        }
    }

    fn not_waiting(&self, incoming: &Incoming, call: usize) -> Result<Option<Accepted>, Reply> {
        if incoming.suspension_id.is_some() {
            return Err(Reply::Stale);
        }
        let asked_before = self.calls[call].record().suspensions() > 0;
        match self.status_of(call) {
            ToolCallStatus::New | ToolCallStatus::Running if !asked_before => Ok(None),
            // What it answers was answered: it must not count for what the call may ask next.
            ToolCallStatus::New | ToolCallStatus::Running | ToolCallStatus::Resuming => Err(Reply::Conflict),
            // What it waited on last may have lapsed: who comes late is told so.
            ToolCallStatus::Cancelled => {
                let of_call = self.decided.all().values().filter(|decision| decision.call == incoming.call);
                let lapsed = of_call.map(after).any(|reply| reply == Reply::Expired);
                Err(if lapsed { Reply::Expired } else { Reply::Unknown })
            }
            ToolCallStatus::Suspended | ToolCallStatus::Succeeded | ToolCallStatus::Failed => {
                Err(Reply::Unknown)
            }
        }
    }

    /// The first suspension that has lapsed, given up by the runtime. It is a decision like any other, but for who makes it
    /// and that nobody else can.
    pub(in crate::agent) fn lapsed(&self, now_ms: u64) -> Option<(Incoming, Accepted)> {
        let lapsed = self.calls.suspended().find_map(|call| {
            let suspension = self.suspension(call)?;
            suspension.is_expired(now_ms).then_some((call, suspension))
        });
        let (call, suspension) = lapsed?;
        let mut id = format!("expiry:{}", suspension.id);
        while self.decided.by_id(&id).is_some() {
            id.push('\'');
        }
        let mut incoming =
            Incoming::new(id, &*self.calls[call].name, DecisionAction::Cancel).on(&*suspension.id);
        incoming.reason = Some("nobody decided in time".to_owned());
        incoming.actor = Some(RUNTIME.to_owned());
        let accepted = self.accepted(&incoming, call, &suspension.id, now_ms);
        Some((incoming, accepted))
    }

    /// When the next suspension lapses.
    pub(in crate::agent) fn next_expiry_ms(&self) -> Option<u64> {
        self.calls.suspended().filter_map(|call| self.suspension(call)?.expires_at_ms).min()
    }
}

/// Who gives up calls whose suspensions lapsed.
pub(crate) const RUNTIME: &str = "runstate";

/// What a decision is that comes after this one on the same suspension.
pub(crate) fn after(decision: &Decision) -> Reply {
    let is_runtimes = decision.actor.as_deref() == Some(RUNTIME)
        && decision.decision_id.trim_end_matches('\'').strip_prefix("expiry:")
            == Some(decision.suspension_id.trim_end_matches('\''));
    if is_runtimes { Reply::Expired } else { Reply::Conflict }
}

/// Is the result of a decision one that its suspension can take?
pub(crate) fn fits(
    suspension: &Suspension,
    incoming: &Incoming,
    schemas: &dyn SchemaCheck,
) -> Result<(), Reply> {
    if is_too_deep(&incoming.result) {
        return Err(Reply::Invalid(format!("the result nests deeper than {MOST_LEVELS} levels")));
    }
    match (&suspension.response_schema, incoming.action) {
        (Some(schema), DecisionAction::Resume) => schemas
            .check(schema, &incoming.result)
            .map_err(|why| Reply::Invalid(format!("the result does not fit what was asked for: {why}"))),
        (Some(_), DecisionAction::Cancel) | (None, _) => Ok(()),
    }
}
