//! The questions that each decider was shown: the list of a handle at the time of the decision.

use std::collections::BTreeMap;

use crate::play::Look;

/// The shown questions, by the id of the decision and by the suspension.
#[derive(Default)]
pub(super) struct Looks(BTreeMap<String, BTreeMap<String, Look>>);

impl Looks {
    /// A decision is given by a person that was shown this list.
    pub(super) fn given(&mut self, decision: &str, shown: &[Look]) {
        let looks = self.0.entry(decision.to_owned()).or_default();
        looks.extend(shown.iter().map(|look| (look.suspension.clone(), look.clone())));
    }

    /// The question that the giver of the decision was shown; `None` if it was not in the list.
    pub(super) fn of(&self, decision: &str, suspension: &str) -> Option<&Look> {
        self.0.get(decision)?.get(suspension)
    }
}
