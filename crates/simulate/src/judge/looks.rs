//! The questions that each decider was shown: the list of a handle at the time of the decision.

use std::collections::BTreeMap;

use crate::play::Look;

/// The shown questions, by the id of the decision and by the suspension.
#[derive(Default)]
pub(super) struct Looks(BTreeMap<String, BTreeMap<String, Look>>);

impl Looks {
    /// Records the list of questions that a person saw before this decision.
    pub(super) fn given(&mut self, decision: &str, shown: &[Look]) {
        let looks = self.0.entry(decision.to_owned()).or_default();
        looks.extend(shown.iter().map(|look| (look.suspension.clone(), look.clone())));
    }

    /// Returns the question that was shown before the decision; `None` if it was not in the list.
    pub(super) fn of(&self, decision: &str, suspension: &str) -> Option<&Look> {
        self.0.get(decision)?.get(suspension)
    }
}
