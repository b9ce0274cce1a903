//! Stores that change some operations of another store.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use runstate::decision::Decision;

use super::{
    Approval, ApprovalQuery, ChangeCursor, Changes, Claim, Commit, CorruptEntry, EventRow, Lease, Loaded,
    NewRun, Parts, PendingSignals, Posted, Release, RunData, RunInfo, RunLists, RunQuery, RunQueue, RunStore,
    StoreError, Superseded, Timer, TraceRow, UserMessage,
};

/// The lease after a commit through a [`Wrapper`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseAfter {
    /// The lease stays.
    Kept,
    /// The commit gives the run back, in one transaction.
    Released,
}

impl LeaseAfter {
    /// Makes the commit in another store, as [`RunData::commit`] or [`RunQueue::commit_and_release`].
    ///
    /// # Errors
    /// The errors of that operation.
    ///
    /// # Cancel safety
    /// That of the store.
    pub async fn commit(
        self,
        store: &dyn RunStore,
        lease: &Lease,
        commit: &Commit,
    ) -> Result<(), StoreError> {
        match self {
            LeaseAfter::Kept => store.commit(lease, commit).await,
            LeaseAfter::Released => store.commit_and_release(lease, commit).await,
        }
    }
}

/// A [`RunStore`] around another one. Operations without an implementation go to the inner store.
///
/// A wrapper that counts, encrypts, delays or refuses implements only the operations that it changes. An operation
/// that a later version of this library adds with a default goes to the inner store as well.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::time::Duration;
/// use async_trait::async_trait;
/// use runstate_store::{Claim, Commit, Lease, LeaseAfter, MemoryStore, NewRun, RunData, RunQueue, RunStore, StoreError, Wrapper};
///
/// /// Refuses a commit with more messages than the limit.
/// #[derive(Debug)]
/// struct Limited {
///     store: MemoryStore,
///     messages: usize,
///     refused: AtomicU64,
/// }
///
/// #[async_trait]
/// impl Wrapper for Limited {
///     fn inner(&self) -> &dyn RunStore {
///         &self.store
///     }
///
///     async fn commit(&self, lease: &Lease, commit: &Commit, after: LeaseAfter) -> Result<(), StoreError> {
///         if commit.messages.len() > self.messages {
///             self.refused.fetch_add(1, Ordering::Relaxed);
///             let got = commit.messages.len();
///             return Err(StoreError::failed(format!("{got} messages, expected {} at most", self.messages)));
///         }
///         after.commit(self.inner(), lease, commit).await
///     }
/// }
///
/// # use runstate_store_conformance::Played;
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let limited = Limited { store: MemoryStore::default(), messages: 0, refused: AtomicU64::new(0) };
/// let store: &dyn RunStore = &limited;
/// // All other operations go to the inner store.
/// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
/// let lease = store.claim(&Claim::of("r1", "me", Duration::from_secs(1))).await?.unwrap();
///
/// let played = Played::new("r1", &[]).await;
/// let refused = store.commit(&lease, played.commits().next().unwrap()).await.unwrap_err();
/// assert!(refused.to_string().contains("1 messages, expected 0 at most"));
/// assert_eq!(limited.refused.load(Ordering::Relaxed), 1);
/// assert_eq!(store.load("r1").await?.messages, 0);
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of the [`RunStore`] operation with that name.
///
/// # Cancel safety
/// That of the inner store, if the implementation of the wrapper preserves it.
#[async_trait]
pub trait Wrapper: fmt::Debug + Send + Sync {
    /// Returns the inner store.
    fn inner(&self) -> &dyn RunStore;

    /// As [`RunData::create`].
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        self.inner().create(run).await
    }

    /// As [`RunData::is_given`].
    async fn is_given(&self, run: &str) -> Result<bool, StoreError> {
        self.inner().is_given(run).await
    }

    /// As [`RunData::parts`].
    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        self.inner().parts(run).await
    }

    /// As [`RunData::load`].
    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        self.inner().load(run).await
    }

    /// As [`RunData::last_of_thread`].
    async fn last_of_thread(&self, thread: &str) -> Result<Option<String>, StoreError> {
        self.inner().last_of_thread(thread).await
    }

    /// As [`RunData::supersede`].
    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError> {
        self.inner().supersede(run, message).await
    }

    /// As [`RunQueue::claim`].
    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        self.inner().claim(claim).await
    }

    /// As [`RunQueue::renew`].
    async fn renew(&self, lease: &Lease, term: Duration) -> Result<(), StoreError> {
        self.inner().renew(lease, term).await
    }

    /// As [`RunQueue::release`].
    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        self.inner().release(lease, release).await
    }

    /// As [`RunData::commit`] or, with [`LeaseAfter::Released`], as [`RunQueue::commit_and_release`]. Every commit
    /// comes through this operation.
    async fn commit(&self, lease: &Lease, commit: &Commit, after: LeaseAfter) -> Result<(), StoreError> {
        after.commit(self.inner(), lease, commit).await
    }

    /// As [`RunData::post`].
    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        self.inner().post(decision).await
    }

    /// As [`RunData::cancel`].
    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        self.inner().cancel(run, reason).await
    }

    /// As [`RunData::pending_signals`].
    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        self.inner().pending_signals(run).await
    }

    /// As [`RunQueue::changed_since`].
    async fn changed_since(&self, seen: u64, patience: Duration) -> Result<u64, StoreError> {
        self.inner().changed_since(seen, patience).await
    }

    /// As [`RunLists::runs`].
    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        self.inner().runs(query).await
    }

    /// As [`RunLists::approvals`].
    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        self.inner().approvals(query).await
    }

    /// As [`RunLists::due`].
    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError> {
        self.inner().due(limit).await
    }

    /// As [`RunData::trace`].
    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        self.inner().trace(run, after, limit).await
    }

    /// As [`RunData::events`].
    async fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        self.inner().events(run, after, limit).await
    }

    /// As [`RunQueue::current_cursor`].
    async fn current_cursor(&self) -> Result<ChangeCursor, StoreError> {
        self.inner().current_cursor().await
    }

    /// As [`RunQueue::changes`].
    async fn changes(&self, cursor: &ChangeCursor, timeout: Duration) -> Result<Changes, StoreError> {
        self.inner().changes(cursor, timeout).await
    }

    /// As [`RunLists::corrupt_entries`].
    async fn corrupt_entries(&self) -> Result<Vec<CorruptEntry>, StoreError> {
        self.inner().corrupt_entries().await
    }

    /// As [`RunLists::remove`].
    async fn remove(&self, run: &str) -> Result<bool, StoreError> {
        self.inner().remove(run).await
    }
}

#[async_trait]
impl<W: Wrapper> RunData for W {
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        Wrapper::create(self, run).await
    }

    async fn is_given(&self, run: &str) -> Result<bool, StoreError> {
        Wrapper::is_given(self, run).await
    }

    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        Wrapper::parts(self, run).await
    }

    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        Wrapper::load(self, run).await
    }

    async fn last_of_thread(&self, thread: &str) -> Result<Option<String>, StoreError> {
        Wrapper::last_of_thread(self, thread).await
    }

    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError> {
        Wrapper::supersede(self, run, message).await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        Wrapper::commit(self, lease, commit, LeaseAfter::Kept).await
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        Wrapper::post(self, decision).await
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        Wrapper::cancel(self, run, reason).await
    }

    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        Wrapper::pending_signals(self, run).await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        Wrapper::trace(self, run, after, limit).await
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        Wrapper::events(self, run, after, limit).await
    }
}

#[async_trait]
impl<W: Wrapper> RunLists for W {
    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        Wrapper::runs(self, query).await
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        Wrapper::approvals(self, query).await
    }

    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError> {
        Wrapper::due(self, limit).await
    }

    async fn corrupt_entries(&self) -> Result<Vec<CorruptEntry>, StoreError> {
        Wrapper::corrupt_entries(self).await
    }

    async fn remove(&self, run: &str) -> Result<bool, StoreError> {
        Wrapper::remove(self, run).await
    }
}

#[async_trait]
impl<W: Wrapper> RunQueue for W {
    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        Wrapper::claim(self, claim).await
    }

    async fn renew(&self, lease: &Lease, term: Duration) -> Result<(), StoreError> {
        Wrapper::renew(self, lease, term).await
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        Wrapper::release(self, lease, release).await
    }

    async fn commit_and_release(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        Wrapper::commit(self, lease, commit, LeaseAfter::Released).await
    }

    async fn changed_since(&self, seen: u64, patience: Duration) -> Result<u64, StoreError> {
        Wrapper::changed_since(self, seen, patience).await
    }

    async fn current_cursor(&self) -> Result<ChangeCursor, StoreError> {
        Wrapper::current_cursor(self).await
    }

    async fn changes(&self, cursor: &ChangeCursor, timeout: Duration) -> Result<Changes, StoreError> {
        Wrapper::changes(self, cursor, timeout).await
    }
}
