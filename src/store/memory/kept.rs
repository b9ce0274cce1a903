//! A run in memory, and what may be done with it.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::super::NewRun;
use super::super::commit::{CallRow, Commit};
use super::super::error::StoreError;
use super::super::lease::{Claim, Lease, lost_claims};
use super::super::load::Parts;
use super::super::query::{Holder, RunInfo};
use crate::agent::keys::Scope;
use crate::decision::Decision;
use crate::run::RunStatus;

#[derive(Debug)]
pub(super) struct Kept {
    pub(super) info: RunInfo,
    pub(super) spec: Value,
    pub(super) fence: u64,
    /// The fence of the last commit.
    pub(super) committed_under: u64,
    /// The steps of the run at its last claim.
    pub(super) claimed_steps: u32,
    pub(super) run: Option<(String, String)>,
    pub(super) calls: HashMap<String, CallRow>,
    pub(super) messages: BTreeMap<u64, String>,
    pub(super) values: BTreeMap<(Scope, String), String>,
    pub(super) trace: BTreeMap<u64, String>,
    /// In the order in which they came.
    pub(super) decisions: Vec<Posting>,
}

#[derive(Debug)]
pub(super) struct Posting {
    pub(super) decision: Decision,
    pub(super) is_taken: bool,
}

impl Kept {
    /// A run that was just created.
    pub(super) fn new(run: &NewRun) -> Self {
        Kept {
            info: RunInfo::created(run),
            spec: run.spec.clone(),
            fence: 0,
            committed_under: 0,
            claimed_steps: 0,
            run: None,
            calls: HashMap::new(),
            messages: BTreeMap::new(),
            values: BTreeMap::new(),
            trace: BTreeMap::new(),
            decisions: Vec::new(),
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
        self.decisions.iter().any(|kept| !kept.is_taken)
    }

    pub(super) fn can_go_on(&self, now_ms: u64) -> bool {
        self.info.can_go_on(self.has_mail(), now_ms)
    }

    pub(super) fn lease(&mut self, claim: &Claim) -> Lease {
        if self.info.holder.is_some() {
            self.end_claim(false);
        }
        self.claimed_steps = self.info.steps;
        self.fence = self.fence.saturating_add(1);
        self.info.holder = Some(Holder { name: claim.holder.clone(), until_ms: claim.until_ms });
        Lease::new(self.info.id.clone(), self.fence)
    }

    /// A claim is over.
    pub(super) fn end_claim(&mut self, is_given_back: bool) {
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

    pub(super) fn store(&mut self, lease: &Lease, commit: &Commit) {
        let row = &commit.run;
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
        self.calls.extend(commit.calls.iter().map(|row| (row.name.clone(), row.clone())));
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

    /// The calls that wait and are not decided.
    pub(super) fn open(&self) -> impl Iterator<Item = &CallRow> {
        self.calls.values().filter(|row| {
            row.waits.as_ref().is_some_and(|waits| self.is_decided(&waits.suspension.id).is_none())
        })
    }

    pub(super) fn parts(&self) -> Parts {
        let calls = self.calls.values();
        let calls = calls.map(|row| (row.name.clone(), row.passes, row.snapshot.clone()));
        let taken = self.decisions.iter().filter(|kept| kept.is_taken);
        let values = self.values.iter();
        Parts {
            info: self.info.clone(),
            spec: self.spec.clone(),
            traced: self.trace.keys().next_back().copied().unwrap_or(0),
            run: self.run.clone(),
            calls: calls.collect(),
            decisions: taken.map(|kept| kept.decision.clone()).collect(),
            messages: self.messages.values().cloned().collect(),
            values: values.map(|((scope, key), json)| (*scope, key.clone(), json.clone())).collect(),
        }
    }
}
