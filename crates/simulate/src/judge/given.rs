//! The decisions that were given under each id, and the accepted one of them.

use std::collections::{BTreeMap, BTreeSet};

use runstate::decision::DecisionAction;
use runstate_agent::Incoming;
use runstate_agent::event::EventKind;
use serde_json::Value;

use super::ObservedRun;

/// The given decisions, by their ids: an id may have been given with several contents.
#[derive(Default)]
pub(super) struct Given {
    said: BTreeMap<String, Vec<Incoming>>,
    told: BTreeMap<String, Told>,
}

/// A decision that resumed a call, as in its event.
struct Told {
    call: String,
    suspension: String,
    action: DecisionAction,
    actor: Option<String>,
}

impl Told {
    fn agrees(&self, one: &Incoming) -> bool {
        let is_on = one.suspension_id.as_ref().is_none_or(|id| *id == self.suspension);
        is_on && one.action == self.action && one.actor == self.actor
    }
}

impl Given {
    /// A decision is given.
    pub(super) fn sent(&mut self, incoming: &Incoming) {
        let said = self.said.entry(incoming.decision_id.clone()).or_default();
        if !said.contains(incoming) {
            said.push(incoming.clone());
        }
    }

    /// A decision resumed a call.
    pub(super) fn told(&mut self, kind: &EventKind) {
        let EventKind::ToolCallResumed { call, suspension_id, decision_id, action, actor, .. } = kind else {
            return;
        };
        let told = Told {
            call: call.clone(),
            suspension: suspension_id.clone(),
            action: *action,
            actor: actor.clone(),
        };
        self.told.insert(decision_id.clone(), told);
    }

    /// Was a decision of that id and that action given by that actor? A decision of the runtime has no giver.
    pub(super) fn is_by(&self, id: &str, action: DecisionAction, actor: Option<&str>) -> bool {
        let is_it = |one: &Incoming| one.action == action && one.actor.as_deref() == actor;
        id.starts_with("expiry:") || self.said.get(id).is_some_and(|said| said.iter().any(is_it))
    }

    /// The candidates for the accepted decision under an id: the given ones that agree with the event.
    fn under(&self, id: &str) -> Vec<&Incoming> {
        let told = self.told.get(id);
        let agrees = |one: &&Incoming| told.is_none_or(|told| told.agrees(one));
        self.said.get(id).into_iter().flatten().filter(agrees).collect()
    }

    /// Does a decision repeat the accepted one of its id? `None` while several candidates remain.
    pub(super) fn repeats(&self, incoming: &Incoming) -> Option<bool> {
        let told = self.told.get(&incoming.decision_id);
        let accepted = self.under(&incoming.decision_id);
        let same = |one: &&Incoming| is_same(incoming, one, told);
        match (accepted.iter().all(same), accepted.iter().any(same)) {
            (true, true) => Some(true),
            (false, false) => Some(false),
            _ => None,
        }
    }

    /// The result of the accepted decision of an id.
    pub(super) fn result(&self, id: &str) -> Value {
        self.under(id).last().map(|one| one.result.clone()).unwrap_or_default()
    }

    /// Was this the result of any decision?
    pub(super) fn has_result(&self, result: &Value) -> bool {
        self.said.values().flatten().any(|one| one.result == *result)
    }

    /// The actors that decided on a call so far.
    pub(super) fn actors_on(&self, call: &str, now: &ObservedRun) -> BTreeSet<String> {
        let mut actors = BTreeSet::new();
        for id in now.accepted.values().chain(&now.durable) {
            match self.told.get(id) {
                Some(told) if told.call == call => actors.extend(told.actor.clone()),
                Some(_) => {}
                None => {
                    let on_call = self.under(id).into_iter().filter(|one| one.call == call);
                    actors.extend(on_call.filter_map(|one| one.actor.clone()));
                }
            }
        }
        actors
    }
}

/// Does a decision agree with the accepted one of its id? Omitted fields agree.
fn is_same(incoming: &Incoming, accepted: &Incoming, told: Option<&Told>) -> bool {
    let on = told.map(|told| &told.suspension).or(accepted.suspension_id.as_ref());
    let is_on = match (&incoming.suspension_id, on) {
        (Some(named), Some(on)) => named == on,
        _ => true,
    };
    let names_call = incoming.call == accepted.call || told.is_some_and(|told| told.call == incoming.call);
    let is_of_digest = match (&incoming.digest, &accepted.digest) {
        (Some(digest), Some(accepted)) => digest == accepted,
        // No question has this digest.
        (Some(digest), None) => digest != "0",
        (None, _) => true,
    };
    let said = |one: &Incoming| (one.action, one.result.clone(), one.reason.clone(), one.actor.clone());
    is_on && names_call && is_of_digest && said(incoming) == said(accepted)
}
