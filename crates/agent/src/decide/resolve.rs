//! The effect of a decision on a run. The first decision on a question is the answer; later ones change nothing.

use std::sync::Arc;

use runstate::actor::is_one_actor;
use runstate::decision::{Decision, DecisionAction, EXPIRY, RUNTIME, Suspension};

use super::super::depth::{MOST_LEVELS, is_too_deep};
use super::super::plugin::is_superseded;
use super::super::schema::SchemaCheck;
use super::super::state::{Call, RunState};
use super::board::well_formed;
use super::{Board, Incoming, Question, Reply};

/// An accepted decision, and the position of its call.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) call: usize,
    pub(crate) decision: Decision,
}

/// The component that checks expiry and results of decisions, and that expires undecided calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judging {
    /// The loop.
    Here,
    /// The store that the decisions come from. A decision accepted by the store is valid, however late the loop
    /// receives it.
    InStore,
}

impl RunState {
    /// Resolves a decision that a store has accepted. Returns `None` if its call does not wait for it any more.
    pub(crate) fn posted(&self, incoming: &Incoming, now_ms: u64) -> Option<Accepted> {
        let call = self.calls.position(&incoming.call)?;
        let asked = &self.calls[call];
        let suspension = self.suspension(call)?;
        let on = incoming.suspension_id.as_deref()?;
        if is_lapse(incoming, suspension) {
            return self.accept(incoming, call, on, None, now_ms);
        }
        // A caller of `post` may pass any ids, and the runtime's actor.
        well_formed(incoming).ok()?;
        let asks = |digest: &String| asked.asks(&self.id, digest);
        // A store matches by suspension only. A caller of its `post` may not have checked the actors.
        let wants_another = suspension.distinct_actors && incoming.action == DecisionAction::Resume;
        // The question that was shown came from the store's own columns. It must match the question of the machine.
        match &incoming.digest {
            Some(digest) if asks(digest) || !wants_another && asked.has_arguments(digest) => {}
            None if !wants_another => {}
            _ => return None,
        }
        if wants_another {
            let actor = incoming.actor.as_deref()?;
            let earlier = self.decided.resumed(&self.id, &self.calls[call].name);
            let counts = earlier.iter().filter(|one| !is_superseded(&one.suspension_id, on));
            if counts.filter_map(|one| one.actor.as_deref()).any(|of| is_one_actor(of, actor)) {
                return None;
            }
        }
        self.accept(incoming, call, on, incoming.digest.clone(), now_ms)
    }

    /// Resolves a decision on a known question. Returns `None` if its call does not wait for the decision any more.
    pub(crate) fn answer(&self, asked: &Question, incoming: &Incoming, now_ms: u64) -> Option<Accepted> {
        let call = self.calls.position(&asked.call)?;
        self.accept(incoming, call, &asked.suspension.id, Some(asked.digest.clone()), now_ms)
    }

    /// `digest` is the digest of the question, if it is known. Computing it is the most expensive part of this
    /// function.
    fn accept(
        &self,
        incoming: &Incoming,
        call: usize,
        suspension_id: &str,
        digest: Option<String>,
        now_ms: u64,
    ) -> Option<Accepted> {
        let suspension = self.suspension(call).filter(|suspension| suspension.id == *suspension_id)?;
        Some(self.accepted(incoming, call, suspension, digest, now_ms))
    }

    fn accepted(
        &self,
        incoming: &Incoming,
        call: usize,
        suspension: &Suspension,
        digest: Option<String>,
        now_ms: u64,
    ) -> Accepted {
        let decision = Decision {
            decision_id: incoming.decision_id.clone(),
            run_id: self.id.to_string(),
            call: self.calls[call].name.to_string(),
            suspension_id: suspension.id.clone(),
            action: incoming.action,
            result: incoming.result.clone(),
            reason: incoming.reason.clone(),
            actor: incoming.actor.clone(),
            digest: digest.or_else(|| self.calls[call].asked(&self.id).map(|asked| asked.digest)),
            decided_at_ms: incoming.decided_at_ms.unwrap_or(now_ms),
            tag: None,
        };
        Accepted { call, decision }
    }

    /// The questions and the decisions on them.
    pub(crate) fn board(&self, show: impl Fn(&Call, &mut Question)) -> Board {
        let mut board = Board::of(Arc::clone(&self.id));
        for place in 0..self.calls.len() {
            let call = &self.calls[place];
            let mut now = call.now(&self.id, place);
            if let Some(asked) = &mut now.waits {
                show(call, asked);
            }
            board.call(now);
        }
        self.decided.all().values().for_each(|decision| board.decision(decision));
        board
    }

    /// The first expired suspension, with the runtime's decision to cancel it. Only the runtime can make such a
    /// decision. It is processed like any other decision.
    pub(crate) fn lapsed(&self, now_ms: u64) -> Option<(Incoming, Accepted)> {
        if self.next_expiry_ms().is_none_or(|at| now_ms < at) {
            return None;
        }
        let lapsed = self.calls.suspended().find_map(|call| {
            let suspension = self.suspension(call)?;
            suspension.is_expired(now_ms).then_some((call, suspension))
        });
        let (call, suspension) = lapsed?;
        let mut id = format!("{EXPIRY}{}", suspension.id);
        while self.decided.by_id(&id).is_some() {
            id.push('\'');
        }
        let mut incoming =
            Incoming::new(id, &*self.calls[call].name, DecisionAction::Cancel).on(&*suspension.id);
        incoming.reason = Some("no decision came in time".to_owned());
        incoming.actor = Some(RUNTIME.to_owned());
        let accepted = self.accepted(&incoming, call, suspension, None, now_ms);
        Some((incoming, accepted))
    }

    /// The expiry time of the next suspension to expire.
    pub(crate) fn next_expiry_ms(&self) -> Option<u64> {
        self.calls.next_expiry_ms()
    }
}

/// Returns whether this is the runtime's own decision on an expired question, as a store makes it.
fn is_lapse(incoming: &Incoming, suspension: &Suspension) -> bool {
    let Incoming { action, actor, decision_id, decided_at_ms, .. } = incoming;
    let mut decision = Decision::new(decision_id, &*suspension.id, *action);
    decision.actor.clone_from(actor);
    decision.is_expiry() && decided_at_ms.is_some_and(|at_ms| suspension.is_expired(at_ms))
}

/// The reply to a decision on a suspension that `decision` has answered already.
pub(super) fn after(decision: &Decision) -> Reply {
    if decision.is_expiry() { Reply::Expired } else { Reply::Conflict(Box::new(decision.clone())) }
}

/// Checks the result of a decision against its suspension.
#[doc(hidden)]
pub fn fits(suspension: &Suspension, incoming: &Incoming, schemas: &dyn SchemaCheck) -> Result<(), Reply> {
    if is_too_deep(&incoming.result) {
        return Err(Reply::Invalid(format!("the result nests deeper than {MOST_LEVELS} levels")));
    }
    match (&suspension.response_schema, incoming.action) {
        (Some(schema), DecisionAction::Resume) => schemas
            .check(schema, &incoming.result)
            .map_err(|why| Reply::Invalid(format!("the result does not fit its schema: {why}"))),
        (Some(_), DecisionAction::Cancel) | (None, _) => Ok(()),
    }
}
