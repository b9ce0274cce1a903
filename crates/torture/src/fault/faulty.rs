//! A store with a fault.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use runstate::decision::{Decision, DecisionAction};
use runstate_agent::async_trait;
use runstate_store::{
    Approval, ApprovalFilter, ApprovalQuery, Claim, Commit, Lease, LeaseAfter, NewRun, PendingSignals,
    Posted, Release, RunStore, StoreError, Superseded, Timer, UserMessage, Wrapper,
};

use serde_json::Value;

use super::Fault;

/// Forwards to another store, except for the fault.
#[derive(Debug)]
pub struct Faulty {
    inner: Arc<dyn RunStore>,
    fault: Fault,
    count: AtomicU64,
}

/// The digest of a decision on another question: no question has it.
pub(crate) const OTHER_QUESTION: &str = "sha256:0";

/// The delay of an acknowledged write.
const LATER: Duration = Duration::from_millis(15);

impl Faulty {
    /// The store, with the fault if there is one.
    pub fn wrap(inner: Arc<dyn RunStore>, fault: Option<Fault>) -> Arc<dyn RunStore> {
        match fault {
            Some(fault) => Arc::new(Faulty { inner, fault, count: AtomicU64::new(0) }),
            None => inner,
        }
    }

    /// True once in that many calls.
    fn now_and_then(&self, times: u64) -> bool {
        self.count.fetch_add(1, Ordering::Relaxed) % times == times - 1
    }

    /// The last committer wins.
    async fn force(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        let mut lease = lease.clone();
        let mut commit = commit.clone();
        loop {
            match self.inner.commit(&lease, &commit).await {
                Err(StoreError::Fenced { current, .. }) => lease.fence = current,
                Err(StoreError::Version { expected, .. }) => commit.version = expected,
                made => return made,
            }
        }
    }

    async fn commit_faultily(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        let mut commit = commit.clone();
        match self.fault {
            Fault::AckBeforeWrite => {
                let (inner, lease) = (Arc::clone(&self.inner), lease.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(LATER).await;
                    // No caller remains to receive an error.
                    inner.commit(&lease, &commit).await.ok();
                });
                return Ok(());
            }
            Fault::Torn => {
                let mut part = commit.clone();
                part.messages.clear();
                part.trace.clear();
                self.inner.commit(lease, &part).await?;
                tokio::time::sleep(LATER).await;
                commit.again = true;
            }
            Fault::FenceIgnored => return self.force(lease, &commit).await,
            Fault::MessageLost if self.now_and_then(20) => drop(commit.messages.pop()),
            Fault::TraceLost if self.now_and_then(20) => commit.trace.clear(),
            Fault::EventLost if self.now_and_then(20) => drop(commit.events.pop()),
            Fault::ValueLost if self.now_and_then(20) => commit.values.clear(),
            _ => {}
        }
        self.inner.commit(lease, &commit).await
    }
}

#[async_trait]
impl Wrapper for Faulty {
    fn inner(&self) -> &dyn RunStore {
        &*self.inner
    }

    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        if self.fault == Fault::RunLost && self.now_and_then(10) {
            return Ok(());
        }
        self.inner.create(run).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        let mut claim = claim.clone();
        if self.fault == Fault::LeaseForEver {
            claim.term = claim.term.saturating_add(Duration::from_secs(3_600));
        }
        self.inner.claim(&claim).await
    }

    async fn renew(&self, lease: &Lease, term: Duration) -> Result<(), StoreError> {
        let term = match self.fault {
            Fault::Unrenewed => return Ok(()),
            Fault::LeaseForEver => term.saturating_add(Duration::from_secs(3_600)),
            _ => term,
        };
        match self.inner.renew(lease, term).await {
            Err(StoreError::Fenced { .. }) if self.fault == Fault::FenceIgnored => Ok(()),
            renewed => renewed,
        }
    }

    async fn commit(&self, lease: &Lease, commit: &Commit, after: LeaseAfter) -> Result<(), StoreError> {
        self.commit_faultily(lease, commit).await?;
        match after {
            LeaseAfter::Kept => Ok(()),
            LeaseAfter::Released => {
                self.inner.release(lease, &Release::clean().with_lost_claims_reset()).await
            }
        }
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        let mut decision = decision.clone();
        if self.fault == Fault::DecisionLost && self.now_and_then(10) {
            return Ok(Posted::Accepted);
        }
        if self.fault == Fault::DeclineTurned && self.now_and_then(4) {
            decision.action = DecisionAction::Resume;
        }
        match self.fault {
            Fault::ResultLost if self.now_and_then(4) => decision.result = Value::Null,
            Fault::ActorLost if self.now_and_then(10) => decision.actor = None,
            Fault::OtherQuestion if decision.digest.as_deref() == Some(OTHER_QUESTION) => {
                decision.digest = None;
            }
            _ => {}
        }
        match self.inner.post(&decision).await? {
            Posted::Conflict if self.fault == Fault::SecondAccepted => Ok(Posted::Accepted),
            posted => Ok(posted),
        }
    }

    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        let mut mail = self.inner.pending_signals(run).await?;
        if self.fault == Fault::CancelUntold {
            mail.cancel = None;
        }
        Ok(mail)
    }

    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError> {
        if self.fault == Fault::SentLost && self.now_and_then(2) {
            return Ok(Superseded::Accepted);
        }
        let mut message = message.clone();
        if self.fault == Fault::SentChanged {
            message.text.push('!');
        }
        self.inner.supersede(run, &message).await
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        let mut found = self.inner.approvals(query).await?;
        // A question that is searched by its suspension is about to be decided.
        if let ApprovalFilter::Suspension(_) = query.about {
            for approval in &mut found {
                match self.fault {
                    Fault::SamePersonTwice => approval.suspension.distinct_actors = false,
                    Fault::OtherQuestion => approval.digest = OTHER_QUESTION.to_owned(),
                    _ => {}
                }
            }
        }
        Ok(found)
    }

    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError> {
        if self.fault == Fault::LapseUntold {
            return Ok(Vec::new());
        }
        self.inner.due(limit).await
    }
}
