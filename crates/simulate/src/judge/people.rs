//! A tool with approvals executes after the required number of people have approved the arguments that each was shown.

use std::collections::{BTreeMap, BTreeSet};

use runstate::decision::DecisionAction;
use runstate_agent::Incoming;
use runstate_agent::event::EventKind;
use serde_json::Value;

use super::looks::Looks;
use super::{Findings, Judge, ObservedRun, Step};
use crate::case::{Case, Needs};
use crate::play::{Durable, Seen, What};

/// The action of the library's questions. No gate and no tool of a case uses it.
pub(super) const APPROVE: &str = "approve";

/// A decision that approved a call.
#[derive(Debug, Clone)]
struct Approved {
    decision: String,
    /// The question; `None` if the decision names its call alone, and a death suppressed its event.
    suspension: Option<String>,
    actor: Option<String>,
}

pub(super) struct People<'s> {
    case: &'s Case,
    looks: Looks,
    sent: BTreeMap<String, Incoming>,
    /// The approvals of each call, by events.
    approved: BTreeMap<String, Vec<Approved>>,
}

impl<'s> People<'s> {
    pub(super) fn new(seen: &'s Seen) -> Self {
        People { case: &seen.case, looks: Looks::default(), sent: BTreeMap::new(), approved: BTreeMap::new() }
    }

    /// The stored approvals of a call, if there is a store.
    fn approved(&self, call: &str, durable: Option<&Durable>, now: &ObservedRun) -> Vec<Approved> {
        let mut all: Vec<Approved> = self.approved.get(call).cloned().unwrap_or_default();
        let Some(durable) = durable else { return all };
        all.retain(|one| durable.decisions.contains(&one.decision));
        if now.cuts == 0 {
            return all;
        }
        // A decision that became durable at the time of a death has no event.
        for sent in durable.decisions.iter().filter_map(|id| self.sent.get(id)) {
            let approves = |id: &String| now.asked.get(id).is_some_and(|asked| asked.action == APPROVE);
            let is_on_it = sent.call == call && sent.suspension_id.as_ref().is_none_or(approves);
            let is_known = all.iter().any(|one| one.decision == sent.decision_id);
            if is_on_it && !is_known && sent.action == DecisionAction::Resume {
                let (decision, suspension) = (sent.decision_id.clone(), sent.suspension_id.clone());
                all.push(Approved { decision, suspension, actor: sent.actor.clone() });
            }
        }
        all
    }

    /// The number of those people that were shown these arguments.
    fn count(&self, approved: &[Approved], people: u32, arguments: &Value) -> usize {
        let given = approved.iter().filter(|one| {
            // Another promise covers a giver that was shown nothing.
            let look = one.suspension.as_ref().and_then(|id| self.looks.of(&one.decision, id));
            look.is_none_or(|look| look.arguments == *arguments)
        });
        match people {
            0 | 1 => given.count(),
            _ => given.filter_map(|one| one.actor.as_ref()).collect::<BTreeSet<_>>().len(),
        }
    }
}

/// Must people approve a call with these arguments?
fn is_needed(needs: &Needs, arguments: &Value) -> bool {
    !needs.odd || arguments["n"].as_u64().is_none_or(|n| n % 2 == 1)
}

impl Judge for People<'_> {
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings) {
        let Step::Entry(entry) = step else { return };
        match &entry.what {
            What::Sent { incoming, shown, .. } => {
                self.looks.given(&incoming.decision_id, shown);
                self.sent.insert(incoming.decision_id.clone(), incoming.clone());
            }
            What::Event(event) => {
                if let EventKind::ToolCallResumed { call, suspension_id, decision_id, action, actor, .. } =
                    &event.kind
                    && *action == DecisionAction::Resume
                    && now.asked.get(suspension_id).is_some_and(|asked| asked.action == APPROVE)
                {
                    self.approved.entry(call.clone()).or_default().push(Approved {
                        decision: decision_id.clone(),
                        suspension: Some(suspension_id.clone()),
                        actor: actor.clone(),
                    });
                }
            }
            What::Began { call, key, arguments, durable, .. } => {
                let tool = self.case.call(key.step, key.ordinal).map(|planned| planned.tool);
                let of_tool = self.case.approvals.iter().filter(|needs| Some(needs.tool) == tool);
                let needed = of_tool.filter(|needs| is_needed(needs, arguments));
                let people = needed.map(|needs| needs.people).max().unwrap_or(0);
                let count = self.count(&self.approved(call, durable.as_ref(), now), people, arguments);
                if count < people as usize {
                    book.wrong(
                        "people",
                        format!("{call} executes with {arguments}: {count} of {people} approved that"),
                    );
                }
            }
            _ => {}
        }
    }
}
