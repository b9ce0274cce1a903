//! A run in memory and its operations.

use std::collections::{BTreeMap, HashMap};

use runstate::decision::Decision;
use runstate::run::RunStatus;
use runstate_agent::keys::Scope;
use serde_json::Value;

use super::super::NewRun;
use super::super::commit::{CallRow, Commit, EventRow, PendingQuestion};
use super::super::error::StoreError;
use super::super::lease::{Claim, Lease, Release, lost_claims};
use super::super::load::Parts;
use super::super::query::{Holder, RunInfo};
use super::super::thread::{Superseded, ThreadPlace, UserMessage};
use super::super::time::Now;

#[derive(Debug)]
pub(super) struct MemoryRun {
    /// The info without its lease and its retry delay.
    pub(super) info: RunInfo,
    /// The name of the holder and the expiry of the lease.
    holder: Option<(String, u64)>,
    not_before: Option<u64>,
    pub(super) spec: Value,
    pub(super) fence: u64,
    /// The fencing token of the last commit.
    pub(super) committed_under: u64,
    /// The steps of the run at its last claim.
    pub(super) claimed_steps: u32,
    pub(super) run: Option<(String, String)>,
    /// Each call with the expiry of its question, unless the expiry is a date.
    calls: HashMap<String, (CallRow, Option<u64>)>,
    pub(super) messages: BTreeMap<u64, String>,
    pub(super) values: BTreeMap<(Scope, String), String>,
    pub(super) trace: BTreeMap<u64, String>,
    /// Each event by the number of the last event in its row.
    pub(super) events: BTreeMap<u64, EventRow>,
    /// The decisions in the order of their arrival.
    pub(super) decisions: Vec<Posting>,
    pub(super) thread: Option<ThreadPlace>,
    /// A message that was not taken.
    pub(super) message: Option<UserMessage>,
}

#[derive(Debug)]
pub(super) struct Posting {
    pub(super) decision: Decision,
    pub(super) is_taken: bool,
}

impl MemoryRun {
    /// Creates the entry of a new run.
    pub(super) fn new(run: &NewRun, now: Now) -> Self {
        MemoryRun {
            info: RunInfo::created(run),
            holder: None,
            not_before: run.not_before.map(|time| now.after(time)),
            spec: run.spec.clone(),
            fence: 0,
            committed_under: 0,
            claimed_steps: 0,
            run: None,
            calls: HashMap::new(),
            messages: BTreeMap::new(),
            values: BTreeMap::new(),
            trace: BTreeMap::new(),
            events: BTreeMap::new(),
            decisions: Vec::new(),
            thread: run.thread.clone(),
            message: None,
        }
    }

    pub(super) fn is_fenced(&self, lease: &Lease) -> Result<(), StoreError> {
        if lease.fence == self.fence {
            return Ok(());
        }
        let (run, fence) = (lease.run.clone(), lease.fence);
        Err(StoreError::Fenced { run, fence, current: self.fence })
    }

    pub(super) fn has_mail(&self) -> bool {
        self.message.is_some() || self.decisions.iter().any(|kept| !kept.is_taken)
    }

    /// Returns the entry of the run in lists.
    pub(super) fn info(&self, now: Now) -> RunInfo {
        let mut info = self.info.clone();
        let holder = self.holder.as_ref();
        info.holder = holder.map(|(name, until)| Holder {
            name: name.clone(),
            left: now.left(*until),
            fence: self.fence,
        });
        info.not_before = self.not_before.map(|at| now.left(at)).filter(|left| !left.is_zero());
        info
    }

    pub(super) fn can_go_on(&self, now: Now) -> bool {
        self.info(now).can_go_on(self.has_mail())
    }

    pub(super) fn is_held(&self, now: Now) -> Result<(), StoreError> {
        match self.info(now).holder {
            Some(Holder { name: holder, left, .. }) if !left.is_zero() => {
                Err(StoreError::Held { run: self.info.id.clone(), holder, left })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn renew(&mut self, until: u64) {
        if let Some((_, held_until)) = &mut self.holder {
            *held_until = until;
        }
    }

    pub(super) fn give_back(&mut self, release: &Release, now: Now) {
        self.holder = None;
        self.not_before = release.not_before.map(|time| now.after(time));
        self.info.problem.clone_from(&release.problem);
        self.end_claim(true);
        if release.resets_lost_claims {
            self.info.lost = 0;
        }
    }

    /// Requests the cancellation, unless one is pending or the run is over. Returns whether the request is new.
    pub(super) fn cancel(&mut self, reason: &str) -> bool {
        let is_new = self.info.status != RunStatus::Done && self.info.cancel.is_none();
        if is_new {
            self.info.cancel = Some(reason.to_owned());
            if self.info.problem.is_some() {
                self.not_before = None;
            }
        }
        is_new
    }

    /// Accepts a message if the run waits and has no other pending input.
    pub(super) fn supersede(&mut self, message: &UserMessage) -> Superseded {
        match self.info.status {
            RunStatus::Done => Superseded::Over,
            RunStatus::Running => Superseded::Busy,
            RunStatus::Waiting if self.has_mail() || self.info.cancel.is_some() => Superseded::Busy,
            RunStatus::Waiting => {
                self.message = Some(message.clone());
                Superseded::Accepted
            }
        }
    }

    pub(super) fn lease(&mut self, claim: &Claim, now: Now) -> Lease {
        if self.holder.is_some() {
            self.end_claim(false);
        }
        self.claimed_steps = self.info.steps;
        self.fence = self.fence.saturating_add(1);
        self.holder = Some((claim.holder.clone(), now.after(claim.term)));
        Lease::new(self.info.id.clone(), self.fence).of_lost(self.info.lost)
    }

    /// Counts the end of a claim.
    fn end_claim(&mut self, is_given_back: bool) {
        let ended_a_step = self.info.steps > self.claimed_steps.max(1);
        self.info.lost = lost_claims(self.info.lost, is_given_back, ended_a_step);
    }

    pub(super) fn is_decided(&self, suspension: &str) -> Option<&Posting> {
        self.decisions.iter().find(|kept| kept.decision.suspension_id == suspension)
    }

    pub(super) fn check(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.is_fenced(lease)?;
        let again =
            commit.again && commit.version == self.info.version && self.committed_under == lease.fence;
        if commit.version != self.info.version + 1 && !again {
            let run = lease.run.clone();
            let (got, expected) = (commit.version, self.info.version + 1);
            return Err(StoreError::Version { run, got, expected });
        }
        if let Some(message) = self.message.as_ref().filter(|_| !again) {
            commit.holds(&lease.run, message)?;
        }
        for decision in &commit.decisions {
            if let Some(Posting { decision: first, .. }) = self.is_decided(&decision.suspension_id)
                && first.decision_id != decision.decision_id
            {
                return Err(StoreError::Decided {
                    run: lease.run.clone(),
                    suspension: decision.suspension_id.clone(),
                    decision: first.decision_id.clone(),
                });
            }
        }
        Ok(())
    }

    pub(super) fn store(&mut self, lease: &Lease, commit: &Commit, now: Now) {
        let row = &commit.run;
        // A repeated commit was made before the message arrived.
        if commit.version > self.info.version {
            self.message = None;
        }
        let info = &mut self.info;
        (info.status, info.version) = (row.status, commit.version);
        (info.steps, info.waiting) = (row.steps, row.waiting);
        info.reason.clone_from(&row.reason);
        info.changed_at_ms = commit.at_ms;
        if info.status == RunStatus::Done {
            info.cancel = None;
        }
        self.committed_under = lease.fence;
        self.run = Some((row.snapshot.clone(), row.core.clone()));
        self.messages.extend(commit.messages.iter().map(|row| (row.seq, row.json.clone())));
        self.trace.extend(commit.trace.iter().map(|row| (row.seq, row.json.clone())));
        if let Some(first) = commit.events.first().filter(|_| commit.again) {
            drop(self.events.split_off(&first.seq));
        }
        self.events.extend(commit.events.iter().map(|row| (row.last, row.clone())));
        for row in &commit.calls {
            let left = row.waits.as_ref().and_then(|waits| waits.left_at(commit.at_ms));
            self.calls.insert(row.name.clone(), (row.clone(), left.map(|left| now.after(left))));
        }
        for value in &commit.values {
            let key = (value.scope, value.key.clone());
            match &value.json {
                Some(json) => drop(self.values.insert(key, json.clone())),
                None => drop(self.values.remove(&key)),
            }
        }
        for decision in &commit.decisions {
            let kept =
                self.decisions.iter_mut().find(|kept| kept.decision.decision_id == decision.decision_id);
            match kept {
                Some(kept) => kept.is_taken = true,
                None => self.decisions.push(Posting { decision: decision.clone(), is_taken: true }),
            }
        }
    }

    /// Returns the waiting calls without a decision, each with the expiry of its question.
    pub(super) fn open(&self) -> impl Iterator<Item = (&CallRow, &PendingQuestion, Option<u64>)> {
        let calls = self.calls.values().filter(|_| self.message.is_none());
        let waiting = calls.filter_map(|(row, at)| Some((row, row.waits.as_ref()?, *at)));
        waiting.filter(|(_, waits, _)| self.is_decided(&waits.suspension.id).is_none())
    }

    pub(super) fn parts(&self, now: Now) -> Parts {
        let calls = self.calls.values();
        let calls = calls.map(|(row, _)| (row.name.clone(), row.passes, row.snapshot.clone()));
        let taken = self.decisions.iter().filter(|kept| kept.is_taken);
        let values = self.values.iter();
        Parts {
            info: self.info(now),
            spec: self.spec.clone(),
            thread: self.thread.clone(),
            traced: self.trace.keys().next_back().copied().unwrap_or(0),
            run: self.run.clone(),
            calls: calls.collect(),
            decisions: taken.map(|kept| kept.decision.clone()).collect(),
            messages: self.messages.values().cloned().collect(),
            values: values.map(|((scope, key), json)| (*scope, key.clone(), json.clone())).collect(),
        }
    }
}
