//! Accepted decisions.

use std::collections::{BTreeMap, HashMap};

use runstate::decision::{Decision, DecisionAction};

use super::super::tool::path;

/// The accepted decisions, indexed by suspension and by decision id.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    by_suspension: BTreeMap<String, Decision>,
    /// The suspension id of each decision id.
    by_id: HashMap<String, String>,
    /// The suspensions whose decisions are not committed yet.
    unsaved: Vec<String>,
}

impl Decided {
    /// Adds a decision from storage.
    pub(crate) fn restore(&mut self, decision: Decision) {
        self.by_id.insert(decision.decision_id.clone(), decision.suspension_id.clone());
        self.by_suspension.insert(decision.suspension_id.clone(), decision);
    }

    /// Adds a newly accepted decision.
    pub(crate) fn accept(&mut self, decision: Decision) {
        self.unsaved.push(decision.suspension_id.clone());
        self.restore(decision);
    }

    /// The decision on a suspension.
    pub(crate) fn on(&self, suspension_id: &str) -> Option<&Decision> {
        self.by_suspension.get(suspension_id)
    }

    /// The decision of that id.
    pub(crate) fn by_id(&self, decision_id: &str) -> Option<&Decision> {
        self.by_suspension.get(self.by_id.get(decision_id)?)
    }

    /// The decisions to resume a call, in the order of its questions.
    pub(crate) fn resumed(&self, run: &str, call: &str) -> Vec<Decision> {
        let before = format!("{}/", path(run, call));
        let from = self.by_suspension.range(before.clone()..);
        let here = from.map_while(|(id, decision)| Some((id.strip_prefix(&before)?, decision)));
        let of_call = here.filter(|(_, it)| it.call == call && it.action == DecisionAction::Resume);
        let numbered = of_call.map(|(rest, decision)| {
            let digits = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
            (rest[..digits].parse::<u64>().unwrap_or(u64::MAX), decision)
        });
        let mut found: Vec<_> = numbered.collect();
        found.sort_by_key(|(number, _)| *number);
        found.into_iter().map(|(_, decision)| decision.clone()).collect()
    }

    pub(crate) fn all(&self) -> &BTreeMap<String, Decision> {
        &self.by_suspension
    }

    pub(crate) fn unsaved(&self) -> impl Iterator<Item = &Decision> {
        self.unsaved.iter().filter_map(|id| self.by_suspension.get(id))
    }

    /// Records that all decisions are committed. Returns the suspensions of the newly committed ones.
    pub(crate) fn committed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unsaved)
    }
}
