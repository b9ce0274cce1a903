//! Compares the store with the acknowledgements, with itself, and with the external effects.

mod book;
mod calls;
mod cancel;
mod commits;
mod decisions;
mod events;
mod facts;
mod messages;
mod run;
mod trace;

use std::fmt;

use runstate_store::RunStore;

pub use facts::Facts;

use crate::ledger::Entries;
use book::LedgerIndex;

pub use runstate::decision::IN_DOUBT;

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The promise.
    pub rule: &'static str,
    /// The run; empty if it is none.
    pub run: String,
    /// The details.
    pub what: String,
}

impl Violation {
    pub(crate) fn new(rule: &'static str, run: impl Into<String>, what: impl fmt::Display) -> Self {
        Violation { rule, run: run.into(), what: what.to_string() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.rule, self.run, self.what)
    }
}

/// The result of a judgement.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    /// The figures.
    pub facts: Facts,
    /// The violations.
    pub violations: Vec<Violation>,
}

/// Judges all runs of a ledger by their data in a store.
pub async fn judge(store: &dyn RunStore, entries: &Entries) -> Judged {
    let book = LedgerIndex::of(entries);
    let mut judged = Judged { facts: Facts::of(&book), violations: Vec::new() };
    decisions::replies(&book, &mut judged.violations);
    for run in &book.created {
        match run::Seen::read(store, run).await {
            Ok(seen) => {
                judged.facts.add(&seen, &book);
                let wrong = &mut judged.violations;
                commits::judge(&seen, &book, wrong);
                messages::judge(&seen, &book, wrong);
                trace::judge(&seen, &book, wrong);
                events::judge(&seen, wrong);
                decisions::judge(&seen, &book, wrong);
                calls::judge(&seen, &book, wrong);
                cancel::judge(&seen, &book, wrong);
            }
            Err(violation) => judged.violations.push(violation),
        }
    }
    judged
}
