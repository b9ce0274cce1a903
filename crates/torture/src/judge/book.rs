//! The ledger, indexed by run and by call.

use std::collections::{HashMap, HashSet};

use runstate::decision::DecisionAction;

use crate::ledger::{Entries, Entry, Made, Sent};

/// The entries of the ledger.
#[derive(Debug, Default)]
pub(super) struct LedgerIndex<'e> {
    pub(super) created: Vec<&'e str>,
    /// The version of each cancelled run at its cancellation.
    cancelled: HashMap<&'e str, u64>,
    /// By run and call, in order.
    began: HashMap<&'e str, HashMap<&'e str, Vec<Began<'e>>>>,
    /// The first place at which the decision of that id was sent.
    sent: HashMap<&'e str, usize>,
    ended: HashSet<&'e str>,
    commits: HashMap<&'e str, Vec<&'e Made>>,
    pub(super) refused: Vec<&'e str>,
    pub(super) replies: Vec<(&'e Sent, &'e str)>,
    /// By suspension.
    accepted: HashMap<&'e str, Vec<&'e Sent>>,
    pub(super) executions: usize,
    /// Messages before their sending.
    messaging: HashSet<&'e str>,
    /// By run.
    messaged: HashMap<&'e str, Vec<&'e str>>,
}

/// A tool began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Began<'e> {
    /// The place in the ledger.
    at: usize,
    /// Under this key.
    pub(super) key: &'e str,
}

impl<'e> LedgerIndex<'e> {
    pub(super) fn of(entries: &'e Entries) -> Self {
        let mut book = LedgerIndex::default();
        for (at, entry) in entries.all.iter().enumerate() {
            match entry {
                Entry::Began(it) => {
                    book.executions += 1;
                    let of_run = book.began.entry(&it.run).or_default();
                    of_run.entry(&it.call).or_default().push(Began { at, key: &it.key });
                }
                Entry::Ended(it) => drop(book.ended.insert(&it.key)),
                Entry::Committed(made) => book.commits.entry(&made.run).or_default().push(made),
                Entry::Refused { why, .. } => book.refused.push(why),
                Entry::Created { run } => book.created.push(run),
                Entry::Cancelled { run, version } => drop(book.cancelled.insert(run, *version)),
                Entry::Replied { sent, reply } => book.replied(sent, reply),
                Entry::Sent(sent) => drop(book.sent.entry(&sent.decision).or_insert(at)),
                Entry::GaveBack { .. } => {}
                Entry::Messaging { message } => drop(book.messaging.insert(message)),
                Entry::Messaged { run, message } => book.messaged.entry(run).or_default().push(message),
            }
        }
        book
    }

    fn replied(&mut self, sent: &'e Sent, reply: &'e str) {
        self.replies.push((sent, reply));
        // A duplicate was accepted before, if no reply arrived then.
        if matches!(reply, "accepted" | "duplicate") {
            let accepted = self.accepted.entry(&sent.suspension).or_default();
            if !accepted.iter().any(|other| other.decision == sent.decision) {
                accepted.push(sent);
            }
        }
    }

    pub(super) fn began(&self, run: &str, call: &str) -> &[Began<'e>] {
        self.began.get(run).and_then(|calls| calls.get(call)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn has_ended(&self, key: &str) -> bool {
        self.ended.contains(key)
    }

    pub(super) fn commits(&self, run: &str) -> &[&'e Made] {
        self.commits.get(run).map_or(&[], Vec::as_slice)
    }

    /// Was the message sent, or about to be sent?
    pub(super) fn was_sent(&self, message: &str) -> bool {
        self.messaging.contains(message)
    }

    /// The acknowledged messages of a run.
    pub(super) fn messaged(&self, run: &str) -> &[&'e str] {
        self.messaged.get(run).map_or(&[], Vec::as_slice)
    }

    /// Was a cancellation requested?
    pub(super) fn was_cancelled(&self, run: &str) -> bool {
        self.cancelled.contains_key(run)
    }

    /// The commits of a run after its cancellation, if there was one.
    pub(super) fn unheeded(&self, run: &str) -> Option<Vec<&'e Made>> {
        let wish = self.cancelled.get(run)?;
        Some(self.commits(run).iter().filter(|made| made.version > *wish).copied().collect())
    }

    /// The accepted decisions, by suspension.
    pub(super) fn accepted(&self) -> impl Iterator<Item = (&'e str, &[&'e Sent])> {
        self.accepted.iter().map(|(suspension, sent)| (*suspension, sent.as_slice()))
    }

    /// The accepted decisions of a run.
    pub(super) fn accepted_of(&self, run: &str) -> impl Iterator<Item = &'e Sent> {
        self.accepted.values().flatten().copied().filter(move |sent| sent.run == run)
    }

    /// The number of acknowledged or pending resumptions of a call: before its tool began here, or at all.
    pub(super) fn resumes(&self, run: &str, call: &str, before: Option<&Began<'_>>) -> usize {
        let of_call = self.accepted_of(run).filter(|sent| sent.call == call);
        let resumes = of_call.filter(|sent| sent.action == DecisionAction::Resume);
        let was_sent = |sent: &&Sent| {
            let at = self.sent.get(&*sent.decision);
            before.is_none_or(|began| at.is_some_and(|at| *at < began.at))
        };
        resumes.filter(was_sent).count()
    }
}
