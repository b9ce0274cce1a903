//! The operations of the store traits.

use std::time::Duration;

use async_trait::async_trait;
use runstate::decision::Decision;
use runstate::run::RunStatus;

use super::super::commit::{Commit, EventRow, TraceRow};
use super::super::decide::Posted;
use super::super::error::StoreError;
use super::super::lease::{Claim, Lease, Release};
use super::super::load::Parts;
use super::super::query::{Approval, ApprovalQuery, CorruptEntry, RunInfo, RunQuery, Timer};
use super::super::thread::{Superseded, UserMessage};
use super::super::{NewRun, PendingSignals, RunData, RunLists, RunQueue};
use super::FileStore;

#[async_trait]
impl RunData for FileStore {
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        let run = run.clone();
        self.work(move |inner, wanted| inner.create(&run, wanted)).await?;
        self.inner.news.tell();
        Ok(())
    }

    async fn is_given(&self, run: &str) -> Result<bool, StoreError> {
        let run = run.to_owned();
        self.work(move |inner, _| inner.is_given(&run)).await
    }

    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        self.read(run, |run| run.parts()).await
    }

    async fn last_of_thread(&self, thread: &str) -> Result<Option<String>, StoreError> {
        let thread = thread.to_owned();
        self.work(move |inner, _| Ok(inner.last_of_thread(&thread)?.map(|state| state.id))).await
    }

    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError> {
        let (run, message) = (run.to_owned(), message.clone());
        let superseded = self.work(move |inner, wanted| inner.supersede(&run, &message, wanted)).await;
        if matches!(superseded, Ok(Superseded::Accepted)) {
            self.inner.news.tell();
        }
        superseded
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        let (mine, commit) = (lease.clone(), commit.clone());
        self.with(&lease.run, move |run| run.commit(&mine, &commit, false)).await
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        let posted = decision.clone();
        let posted = self.with(&decision.run_id, move |run| run.post(&posted)).await;
        // A refused decision sends no notification: a worker would wake itself again and again.
        if matches!(posted, Ok(Posted::Accepted)) {
            self.inner.news.tell();
        }
        posted
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        let reason = reason.to_owned();
        let noted = self.with(run, move |run| {
            if run.state.status == RunStatus::Done || run.state.cancel.is_some() {
                run.sync()?;
                return Ok(false);
            }
            run.state.cancel = Some(reason);
            if run.state.problem.is_some() {
                run.state.not_before_ms = None;
            }
            run.save()?;
            Ok(true)
        });
        let noted = noted.await;
        if matches!(noted, Ok(true)) {
            self.inner.news.tell();
        }
        noted
    }

    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        let run = run.to_owned();
        let mail = self.work(move |inner, _| {
            let state = inner.state(&run)?.ok_or(StoreError::NoRun { run })?;
            Ok(state.pending_signals())
        });
        mail.await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        self.read(run, move |run| run.trace(after, limit)).await
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        self.read(run, move |run| run.events(after, limit)).await
    }
}

#[async_trait]
impl RunLists for FileStore {
    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        let query = query.clone();
        self.work(move |inner, _| inner.runs(&query)).await
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        let query = query.clone();
        self.work(move |inner, _| inner.approvals(&query)).await
    }

    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError> {
        self.work(move |inner, _| inner.due(limit)).await
    }

    async fn corrupt_entries(&self) -> Result<Vec<CorruptEntry>, StoreError> {
        self.work(|inner, _| inner.corrupt_entries()).await
    }

    async fn remove(&self, run: &str) -> Result<bool, StoreError> {
        let run = run.to_owned();
        let removed = self.work(move |inner, wanted| {
            inner.with(&run, wanted, |run| {
                run.state.is_held(run.now)?;
                if let Some(by) = inner.behind(&run.state)? {
                    return Err(StoreError::Continued { run: run.state.id.clone(), by: by.id });
                }
                inner.remove(&run.place)
            })
        });
        match removed.await {
            Err(StoreError::NoRun { .. }) => Ok(false),
            removed => removed.map(|()| true),
        }
    }
}

#[async_trait]
impl RunQueue for FileStore {
    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        let claim = claim.clone();
        let Some(run) = claim.run.clone() else {
            return self.work(move |inner, wanted| inner.claim_any(&claim, wanted)).await;
        };
        let claimed = self.with(&run, move |run| {
            run.state.is_held(run.now)?;
            let lease = run.state.lease(&claim, run.now);
            run.save()?;
            Ok(Some(lease))
        });
        claimed.await
    }

    async fn renew(&self, lease: &Lease, term: Duration) -> Result<(), StoreError> {
        let wanted = lease.clone();
        let renewed = self.with(&lease.run, move |run| {
            run.state.is_fenced(&wanted)?;
            run.state.renew(term, run.now);
            run.save()
        });
        renewed.await
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        let (mine, release) = (lease.clone(), release.clone());
        let given_back = self.with(&lease.run, move |run| {
            if run.state.is_fenced(&mine).is_err() {
                return Ok(false);
            }
            // If a log is damaged or cannot be written, fresh lines stay in the state. The run is given back
            // nevertheless.
            if let Err(error) = run.settle() {
                error.into_run_scoped()?;
            }
            run.state.give_back(release, run.now);
            run.save()?;
            Ok(true)
        });
        let given_back = given_back.await;
        if matches!(given_back, Ok(true)) {
            self.inner.news.tell();
        }
        match given_back {
            Err(StoreError::NoRun { .. }) => Ok(()),
            given_back => given_back.map(|_| ()),
        }
    }

    async fn commit_and_release(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        let (mine, commit) = (lease.clone(), commit.clone());
        self.with(&lease.run, move |run| run.commit(&mine, &commit, true)).await?;
        self.inner.news.tell();
        Ok(())
    }

    /// Sees input of this handle immediately, and input of other processes after the timeout.
    async fn changed_since(&self, seen: u64, patience: Duration) -> Result<u64, StoreError> {
        Ok(self.inner.news.wait(seen, patience).await)
    }
}
