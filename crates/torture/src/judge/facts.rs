//! The figures of a campaign.

use std::collections::{BTreeMap, HashSet};

use runstate::decision::DecisionAction;
use runstate_agent::Durability;

use super::IN_DOUBT;
use super::book::LedgerIndex;
use super::run::Seen;

/// The figures of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Created runs.
    pub runs: usize,
    /// The ends of runs, with unfinished ones.
    pub ends: BTreeMap<String, usize>,
    /// Runs with one commit a step.
    pub stepwise: usize,
    /// Runs with commits under more than one lease.
    pub taken_over: usize,
    /// Acknowledged commits.
    pub commits: usize,
    /// Commits that were refused after the run was taken.
    pub fenced: usize,
    /// Commits that were refused for another reason.
    pub refused: usize,
    /// Replies to decisions.
    pub replies: BTreeMap<String, usize>,
    /// Expired suspensions.
    pub lapsed: usize,
    /// Calls in doubt that a person resumed, and calls that were given up.
    pub doubts: (usize, usize),
    /// Messages that superseded questions, and runs that follow another one on their thread.
    pub messages: (usize, usize),
    /// Executions of tools.
    pub executions: usize,
    /// Repeated executions among them.
    pub again: usize,
}

impl Facts {
    pub(super) fn of(book: &LedgerIndex<'_>) -> Facts {
        let fenced = book.refused.iter().filter(|why| **why == "fenced").count();
        let mut facts = Facts {
            runs: book.created.len(),
            fenced,
            refused: book.refused.len() - fenced,
            executions: book.executions,
            ..Facts::default()
        };
        for (_, reply) in &book.replies {
            *facts.replies.entry((*reply).to_owned()).or_default() += 1;
        }
        facts
    }

    pub(super) fn add(&mut self, seen: &Seen, book: &LedgerIndex<'_>) {
        let info = &seen.loaded.info;
        self.messages.0 += book.messaged(&seen.id).len();
        self.messages.1 += usize::from(seen.loaded.before.is_some());
        let end = match &info.reason {
            Some(reason) if seen.is_over() => reason.clone(),
            _ => format!("not over: {}", info.status),
        };
        *self.ends.entry(end).or_default() += 1;
        self.stepwise += usize::from(seen.script.durability == Durability::Step);
        let commits = book.commits(&seen.id);
        self.commits += commits.len();
        let leases: HashSet<u64> = commits.iter().map(|made| made.fence).collect();
        self.taken_over += usize::from(leases.len() > 1);
        for decision in &seen.taken {
            self.lapsed += usize::from(decision.decision_id.starts_with("expiry:"));
            if decision.suspension_id.ends_with(IN_DOUBT) {
                match decision.action {
                    DecisionAction::Resume => self.doubts.0 += 1,
                    DecisionAction::Cancel => self.doubts.1 += 1,
                }
            }
        }
        for (name, _) in seen.state.iter().flat_map(|state| state.calls()) {
            let began = book.began(&seen.id, name);
            let keys: HashSet<&str> = began.iter().map(|began| began.key).collect();
            self.again += began.len() - keys.len();
        }
    }
}
