//! Compares the stored service runs with the tables of the source, with the acknowledgements, and with the chain.

mod expected;
mod requests;
mod rows;
mod walk;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use runstate::service_run::ServiceRunStatus;
use runstate_service::sim::SimChain;
use runstate_service::{EventRow, Numbered, ServiceStore, ServiceStoreError, Step, StoredRun, TimelineEntry};

use super::entry::{Asked, Deed, Entry, Made, Reply};
use crate::judge::Violation;
use crate::ledger::Entries;

/// The figures of a campaign.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The number of runs.
    pub runs: usize,
    /// The runs, by status.
    pub statuses: BTreeMap<String, usize>,
    /// Passes.
    pub passes: usize,
    /// Passes with a repair.
    pub repaired: usize,
    /// Passes that another driver continued.
    pub taken_over: usize,
    /// Runs that failed because a node lost too many drivers.
    pub given_up: usize,
    /// Acknowledged changes.
    pub changes: usize,
    /// Commits that were refused because another driver had claimed the run.
    pub fenced: usize,
    /// Requests that were carried out.
    pub done: usize,
    /// Requests that were refused.
    pub refused: usize,
    /// Requests whose repetition found their answer.
    pub repeated: usize,
    /// Of these, requests without another reply: a killed process had carried them out.
    pub survived: usize,
    /// Resumed runs.
    pub resumed: usize,
    /// Sent transactions.
    pub paid: usize,
}

/// The result of a judgement.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    /// The figures.
    pub facts: Facts,
    /// The violations.
    pub violations: Vec<Violation>,
}

/// The ledger, indexed by run and by request.
#[derive(Debug, Default)]
struct Index<'e> {
    /// In the order of the ledger.
    asked: Vec<&'e Asked>,
    by_request: HashMap<&'e str, &'e Asked>,
    replies: HashMap<&'e str, Vec<&'e Reply>>,
    made: HashMap<&'e str, Vec<&'e Made>>,
    /// The hashes of sent transactions, by run.
    paid: HashMap<&'e str, Vec<&'e str>>,
    /// The largest number of claims between two changes, by run.
    claims: HashMap<&'e str, u32>,
}

impl<'e> Index<'e> {
    fn of(entries: &'e Entries<Entry>, judged: &mut Judged) -> Self {
        let mut index = Index::default();
        let mut claims: HashMap<&str, (u32, BTreeSet<&str>)> = HashMap::new();
        for entry in &entries.all {
            match entry {
                Entry::Asked(asked) => {
                    index.asked.push(asked);
                    index.by_request.insert(&asked.request, asked);
                }
                Entry::Answered { request, reply } => index.replies.entry(request).or_default().push(reply),
                Entry::Paid { run, hash } => index.paid.entry(run).or_default().push(hash),
                Entry::Claimed { run, by } => {
                    let (count, drivers) = claims.entry(run).or_default();
                    *count += 1;
                    if !drivers.is_empty() && drivers.insert(by) {
                        judged.facts.taken_over += 1;
                    }
                    drivers.insert(by);
                    let most = index.claims.entry(run).or_default();
                    *most = (*most).max(*count);
                }
                Entry::Made(made) => {
                    index.made.entry(&made.run).or_default().push(made);
                    claims.entry(&made.run).or_default().0 = 0;
                    judged.facts.changes += 1;
                }
                Entry::Fenced { .. } => judged.facts.fenced += 1,
                Entry::Broken { run, error } => {
                    judged.violations.push(Violation::new("requests", &**run, error));
                }
            }
        }
        judged.facts.paid = index.paid.values().map(Vec::len).sum();
        index
    }

    fn is_done(&self, request: &str) -> bool {
        let replies = self.replies.get(request).map_or(&[][..], Vec::as_slice);
        replies.iter().any(|reply| matches!(reply, Reply::Done | Reply::Repeated))
    }
}

/// A run with all its rows.
struct Seen {
    run: StoredRun,
    steps: Vec<Numbered<Step>>,
    timeline: Vec<Numbered<TimelineEntry>>,
    events: Vec<Numbered<EventRow>>,
    trace: Vec<String>,
}

impl Seen {
    async fn read(store: &dyn ServiceStore, run: &str) -> Result<Seen, ServiceStoreError> {
        Ok(Seen {
            run: store.load(run).await?,
            steps: store.steps(run, 0, usize::MAX).await?,
            timeline: store.timeline(run, 0, usize::MAX).await?,
            events: store.events(run, 0, usize::MAX).await?,
            trace: store.trace(run, 0, usize::MAX).await?,
        })
    }
}

/// The violations of one run.
struct Findings<'a> {
    run: &'a str,
    all: &'a mut Vec<Violation>,
}

impl Findings<'_> {
    fn say(&mut self, rule: &'static str, what: impl fmt::Display) {
        self.all.push(Violation::new(rule, self.run, what));
    }
}

/// Judges all runs of a ledger by their rows in a store.
pub async fn judge(store: &dyn ServiceStore, chain: &SimChain, entries: &Entries<Entry>) -> Judged {
    let mut judged = Judged::default();
    let index = Index::of(entries, &mut judged);
    requests::count(&index, &mut judged.facts);
    let mut confirmed = HashSet::new();
    for asked in &index.asked {
        let Deed::Create { .. } = asked.deed else { continue };
        let mut findings = Findings { run: &asked.run, all: &mut judged.violations };
        let seen = match Seen::read(store, &asked.run).await {
            Ok(seen) => seen,
            Err(ServiceStoreError::NoRun { .. }) if !index.is_done(&asked.request) => continue,
            Err(error) => {
                findings.say("acknowledged", error);
                continue;
            }
        };
        judged.facts.runs += 1;
        *judged.facts.statuses.entry(seen.run.status.to_string()).or_default() += 1;
        requests::judge(&seen, &index, &mut findings);
        rows::judge(&seen, &index, &mut findings);
        let walked = walk::walk(&seen, &index, &mut findings);
        walked.compare(&seen, &index, chain, &mut findings);
        walked.count(&mut judged.facts);
        if seen.run.status == ServiceRunStatus::Confirmed {
            for hash in walked.hashes() {
                if !confirmed.insert(hash.clone()) {
                    findings.say("chain", format!("the transaction {hash} confirms two runs"));
                }
            }
        }
    }
    judged
}
