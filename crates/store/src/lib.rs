//! Durable runs: stores that several processes share, and the worker that drives their runs.
//!
//! A [`RunStore`] contains runs. It has three parts: [`RunData`], [`RunLists`] and [`RunQueue`]. A process takes a
//! [`Lease`] on a run before it drives the run. Each lease has a higher fencing token than the previous one, and the
//! store refuses a commit with an older token. So of two processes with a lease on a run, only one can continue it. A
//! commit contains only the changes. Approvers decide about waiting calls from any process, and the store accepts the
//! first decision.
//!
//! [`MemoryStore`] holds runs in the memory of a process. [`FileStore`] holds them in a folder, in files that a
//! person can read. Stores in databases are separate crates. An implementation of a store must pass the suite
//! `runstate_store_conformance`, as all stores of this project do. A [`Wrapper`] changes some operations of another
//! store.
//!
//! Terms of leases, retry delays and times for decisions are durations. Each store measures them by a clock of its
//! own, which all its users share. The clocks of their machines need not agree. Other times are in milliseconds since
//! the Unix epoch, for display.

mod changes;
mod commit;
mod commit_json;
mod committer;
mod decide;
mod error;
mod expire;
mod feed;
mod file;
mod keyed;
mod lease;
mod load;
mod memory;
mod new_run;
mod news;
mod query;
mod renew;
mod thread;
mod time;
mod unread;
mod worker;
mod wrapper;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use runstate::decision::Decision;

use news::ChangeNotifier;

pub use changes::{ChangeCursor, Changes};
#[doc(hidden)]
pub use commit::Place;
pub use commit::{CallRow, Commit, EventRow, MessageRow, PendingQuestion, RunRow, TraceRow, ValueRow};
pub use committer::{Lost, StoreCommitter};
pub use decide::{Posted, decide, run_of_suspension};
pub use error::StoreError;
pub use expire::{expire, expire_due, expire_run};
pub use feed::{Feed, RunEvents};
pub use file::FileStore;
pub use keyed::Keyed;
pub use lease::{Claim, Lease, Release};
pub use load::{Loaded, Parts};
pub use memory::MemoryStore;
pub use new_run::{NewRun, PendingSignals};
pub use query::{
    Approval, ApprovalFilter, ApprovalQuery, CorruptEntry, Holder, RunInfo, RunQuery, SET_ASIDE_AFTER, Timer,
};
pub use renew::{LeaseTerm, renew_loop};
pub use thread::{Sent, Superseded, ThreadPlace, UserMessage, load, send};
pub use time::{left, moment};
pub use unread::Unread;
pub use worker::{Ended, Executor, ExecutorError, JobSpec, Worker};
pub use wrapper::{LeaseAfter, Wrapper};

/// All parts of a store of durable runs.
///
/// A type with the three parts is a store. A function may ask for one part: [`RunData`] to drive a run, [`RunLists`]
/// for lists, [`RunQueue`] for claims and notifications.
///
/// ```
/// use runstate_store::{MemoryStore, NewRun, RunData, RunStore};
///
/// /// This function needs one part alone.
/// async fn is_there(runs: &dyn RunData, run: &str) -> bool {
///     runs.load(run).await.is_ok()
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let store: &dyn RunStore = &MemoryStore::default();
/// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
/// assert!(is_there(store, "r1").await && !is_there(store, "r2").await);
/// # Ok::<(), runstate_store::StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait RunStore: RunData + RunLists + RunQueue {}

impl<S: RunData + RunLists + RunQueue + ?Sized> RunStore for S {}

/// The rows of runs: enough to drive one run, and to accept decisions about it.
///
/// A program that distributes its work itself implements this part alone. It also checks decisions itself, since
/// [`decide`] needs the lists.
///
/// Each operation is one transaction: it happens completely or not at all. After `Ok`, no crash undoes it. Any number
/// of tasks and processes may use a store concurrently.
///
/// # Cancel safety
/// If the future is dropped, the operation happens completely or not at all; the caller cannot know which. It does
/// not take effect after a later operation. A repeated commit sets [`Commit::again`]. Every other operation may be
/// repeated unchanged.
#[async_trait]
pub trait RunData: fmt::Debug + Send + Sync {
    /// Adds a run. It can be claimed from now on, and before its [`not_before`](NewRun::not_before) time only by
    /// name.
    ///
    /// A run with a [position on a thread](NewRun::thread) is added in the transaction that checks the last run of
    /// the thread.
    ///
    /// # Errors
    /// [`StoreError::Taken`] if the id, or that of the [message](NewRun::begins_with), [was used
    /// before](Self::is_given), or is the id of a thread that another run began. [`StoreError::Busy`] if the last run
    /// of the thread is not the named one, or is not `Done`.
    async fn create(&self, run: &NewRun) -> Result<(), StoreError>;

    /// Returns whether the id was used for a run, including removed ones, or for a [message](Self::supersede). Such
    /// an id is not used again: a question contains the id of its run, and a late answer must not match the question
    /// of another run.
    ///
    /// # Errors
    /// The errors of the store.
    async fn is_given(&self, run: &str) -> Result<bool, StoreError>;

    /// Returns the rows of a run as of its last commit.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn parts(&self, run: &str) -> Result<Parts, StoreError>;

    /// Returns the assembled run as of its last commit.
    ///
    /// # Errors
    /// [`StoreError::NoRun`]. [`StoreError::Unusable`] if a row cannot be read.
    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        load(self, run).await
    }

    /// Returns the last run of a thread. A new run of the thread follows it. None for a new thread. A run without a
    /// position on a thread is the first run of the thread with its id.
    ///
    /// # Errors
    /// The errors of the store.
    async fn last_of_thread(&self, thread: &str) -> Result<Option<String>, StoreError>;

    /// Sends a message to a waiting run. The run continues with the message instead of decisions: the store accepts
    /// no more decisions for its open questions, and lists omit them. [`send`] is for messages to a thread.
    ///
    /// The message is a [pending signal](Self::pending_signals) until the next commit of the run, which contains it.
    /// Its id counts as [used](Self::is_given) from now on.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError>;

    /// Makes the changes since the last commit durable. The decisions in it count as taken from now on.
    ///
    /// # Errors
    /// On an error nothing is stored.
    ///
    /// - [`StoreError::Fenced`] if the run was claimed since.
    /// - [`StoreError::Version`] if the commit does not have the next number.
    /// - [`StoreError::Decided`] if the commit contains a decision, and another one on its suspension was accepted.
    /// - [`StoreError::Superseded`] if a [message](Self::supersede) arrived since the last commit, and this commit
    ///   neither [contains](Commit::takes) the message nor ends the run as cancelled.
    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError>;

    /// Accepts the first decision on a waiting suspension. Programs for approvers call [`decide`], which checks the
    /// decision before and reports the result.
    ///
    /// The store accepts the decision if its call is suspended on `suspension_id` as of the last commit, and no
    /// decision has that suspension or that id. It does not check actor, expiry, schema and digest. The driver of the
    /// run ignores a decision with the digest of another question. If the question requires distinct actors, the
    /// driver also ignores a decision without a digest, and one of an actor with an earlier decision. An ignored
    /// decision stays in the store, and the run can only be cancelled.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError>;

    /// Requests the cancellation of a run. Returns whether the request is new: a `Done` run and a second request
    /// change nothing.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError>;

    /// Returns the input for a run that no commit has taken.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError>;

    /// Returns trace events of a run, as lines of JSON: at most `limit` with a number above `after`, in order.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError>;

    /// Returns events of a run, in the order of their numbers: the first `limit` with a last number above `after`.
    ///
    /// Events of all kinds are stored, with or without a sink, in the commit that makes them true. A repeated commit
    /// may have other events than the first try. They replace the stored ones from its first number on. The numbers
    /// of a run have no gap: the first row begins with 1, and each row begins with the number after the
    /// [last](EventRow::last) of the row before. A run that was begun by a version without durable events has another
    /// first number.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError>;
}

/// Lists of runs and of their open questions.
///
/// Each operation is one transaction: it happens completely or not at all. After `Ok`, no crash undoes it. Any number
/// of tasks and processes may use a store concurrently.
///
/// # Cancel safety
/// If the future is dropped, the operation happens completely or not at all; the caller cannot know which. It does
/// not take effect after a later operation. A repeated commit sets [`Commit::again`]. Every other operation may be
/// repeated unchanged.
#[async_trait]
pub trait RunLists: fmt::Debug + Send + Sync {
    /// Returns a page of runs, the newest first.
    ///
    /// # Errors
    /// The errors of the store.
    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError>;

    /// Returns a page of waiting calls, by run and call. A call with an accepted decision does not wait any more,
    /// even before a commit takes the decision.
    ///
    /// # Errors
    /// The errors of the store.
    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError>;

    /// Returns at most `limit` suspensions that have expired without a decision, the oldest first.
    ///
    /// # Errors
    /// The errors of the store.
    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError>;

    /// Returns the corrupt entries, in no particular order: runs that cannot be read, and remains of runs. Empty for
    /// an intact store, and for a store that is damaged as a whole. Lists, and claims without a name, omit these
    /// runs. An operation that names such a run gets an error with the text of the entry. A readable run that a claim
    /// without a name had to skip is included as well.
    ///
    /// # Errors
    /// The errors of the store.
    async fn corrupt_entries(&self) -> Result<Vec<CorruptEntry>, StoreError> {
        Ok(Vec::new())
    }

    /// Removes a run with all its data. Its id is remembered and [not used again](RunData::is_given). Returns whether
    /// the run existed.
    ///
    /// # Errors
    /// [`StoreError::Held`] while the run is leased. [`StoreError::Continued`] while a later run of its thread
    /// exists, since that run begins with its messages.
    async fn remove(&self, run: &str) -> Result<bool, StoreError>;
}

/// The queue of work: leases on runs, and notifications.
///
/// Each operation is one transaction: it happens completely or not at all. After `Ok`, no crash undoes it. Any number
/// of tasks and processes may use a store concurrently.
///
/// # Cancel safety
/// If the future is dropped, the operation happens completely or not at all; the caller cannot know which. It does
/// not take effect after a later operation. A repeated commit sets [`Commit::again`]. Every other operation may be
/// repeated unchanged.
#[async_trait]
pub trait RunQueue: RunData + RunLists {
    /// Claims a run: the named one, or the longest waiting run that can continue.
    ///
    /// A named run is claimed in any status, unless another process holds it. Without a name, a run can continue if
    ///
    /// - it has no lease, or its lease has expired,
    /// - its retry delay ([`Release::retry_after`]) is over,
    /// - and it is `Running` (it has not begun, or was interrupted), or it is `Waiting` and has a decision or a
    ///   [message](RunData::supersede) that was not taken, or a requested cancellation.
    ///
    /// The lease has a higher fencing token than each earlier lease on the run. The store refuses every operation of
    /// an earlier lease.
    ///
    /// # Errors
    /// For a named run: [`StoreError::NoRun`] and [`StoreError::Held`].
    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError>;

    /// Renews a lease for that term from now on. An expired lease is renewed too, unless the run was claimed since.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] after another claim of the run, and [`StoreError::NoRun`].
    async fn renew(&self, lease: &Lease, term: Duration) -> Result<(), StoreError>;

    /// Gives a run back. Changes nothing after another claim of the run.
    ///
    /// # Errors
    /// The errors of the store.
    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError>;

    /// Makes the last commit of a lease and gives the run back, in one transaction. Resets the [lost
    /// claims](RunInfo::lost) of the run.
    ///
    /// A later renewal of the lease changes nothing. A repeated commit changes nothing once another process has
    /// claimed the run.
    ///
    /// The default implementation uses two transactions: a [commit](RunData::commit) and a [release](Self::release).
    ///
    /// ```
    /// use std::time::Duration;
    /// use runstate_store::{Claim, MemoryStore, NewRun, RunData, RunQueue, StoreError};
    /// # use runstate_store_conformance::Played;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// # let played = Played::new("r1", &[]).await;
    /// # let commit = played.commits().next().unwrap();
    /// let store = MemoryStore::default();
    /// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
    /// let hour = Duration::from_secs(3_600);
    /// let lease = store.claim(&Claim::of("r1", "me", hour)).await?.unwrap();
    /// store.commit_and_release(&lease, commit).await?;
    /// assert_eq!(store.load("r1").await?.info.holder, None);
    ///
    /// // Another process claims the run: the commit is refused from then on.
    /// store.claim(&Claim::of("r1", "you", hour)).await?;
    /// let refused = store.commit_and_release(&lease, commit).await.unwrap_err();
    /// assert!(matches!(refused, StoreError::Fenced { fence: 1, current: 2, .. }));
    /// # Ok::<(), runstate_store::StoreError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`RunData::commit`]. The run keeps its lease then.
    async fn commit_and_release(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.commit(lease, commit).await?;
        self.release(lease, &Release::clean().with_lost_claims_reset()).await
    }

    /// Waits until the store has input that is newer than the cursor `seen`, for any run, or until the timeout
    /// `patience`. Returns the cursor for the next wait. The first cursor is 0.
    ///
    /// Input is: decisions, requested cancellations, new runs, and runs that are given back. Any number of tasks may
    /// wait at one handle, each with its own cursor. A task waits, reads the store, and waits again with the cursor
    /// that it had before the read. So it misses no input between a read and a wait, and takes no notification from
    /// another task. For this, an implementation must
    ///
    /// - return immediately if there is input beyond `seen`,
    /// - wake all waiting tasks on input,
    /// - and return cursors that count only input that can already be read from the store.
    ///
    /// An implementation may return early, and may count other changes, but not refused requests: a worker that
    /// retries on each notification would never rest. An implementation without notifications waits for `patience`
    /// and returns `seen`, as the default does. A cursor is valid at its handle only.
    ///
    /// ```
    /// use std::time::Duration;
    /// use runstate_store::{MemoryStore, NewRun, RunData, RunQueue};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    /// # runtime.block_on(async {
    /// let store = MemoryStore::default();
    /// let long = Duration::from_secs(3_600);
    /// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
    ///
    /// // Two tasks have seen nothing yet: each is notified immediately, and later only of new input.
    /// let began = tokio::time::Instant::now();
    /// let (one, other) = (store.changed_since(0, long).await?, store.changed_since(0, long).await?);
    /// assert!(began.elapsed().is_zero());
    /// assert_eq!((store.changed_since(one, long).await?, began.elapsed()), (one, long));
    /// # let _ = other;
    /// # Ok::<(), runstate_store::StoreError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of the store.
    ///
    /// # Cancel safety
    /// If the future is dropped, nothing is lost: input stays in the store, and the last cursor is still valid.
    async fn changed_since(&self, seen: u64, patience: Duration) -> Result<u64, StoreError> {
        tokio::time::sleep(patience).await;
        Ok(seen)
    }

    /// Returns a cursor after all commits, so that a new reader of changes reads no history.
    ///
    /// The default implementation lists all runs.
    ///
    /// # Errors
    /// The errors of the store.
    ///
    /// # Cancel safety
    /// If the future is dropped, nothing is lost.
    async fn current_cursor(&self) -> Result<ChangeCursor, StoreError> {
        changes::current(self).await
    }

    /// Returns the runs that were committed after the cursor. Without such a run it waits for one, at most for
    /// `timeout`, and then returns an empty list. A removed run is not listed.
    ///
    /// The default implementation lists all runs four times a second and compares. It suits stores of a few thousand
    /// runs.
    ///
    /// ```
    /// use std::time::Duration;
    /// use runstate_store::{ChangeCursor, Claim, MemoryStore, NewRun, RunData, RunQueue};
    /// # use runstate_store_conformance::Played;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    /// # runtime.block_on(async {
    /// # let played = Played::new("r1", &[]).await;
    /// # let commit = played.commits().next().unwrap();
    /// let store = MemoryStore::default();
    /// let hour = Duration::from_secs(3_600);
    /// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
    /// let lease = store.claim(&Claim::of("r1", "me", hour)).await?.unwrap();
    /// store.commit(&lease, commit).await?;
    /// let changes = store.changes(&ChangeCursor::default(), hour).await?;
    /// assert_eq!(changes.runs, [("r1".to_owned(), 1)]);
    ///
    /// // No commit is made within the hour: no run is listed.
    /// assert_eq!(store.changes(&changes.cursor, hour).await?.runs, []);
    /// # Ok::<(), runstate_store::StoreError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of the store.
    ///
    /// # Cancel safety
    /// If the future is dropped, nothing is lost: the last cursor is still valid.
    async fn changes(&self, cursor: &ChangeCursor, timeout: Duration) -> Result<Changes, StoreError> {
        changes::by_lists(self, cursor, timeout, None).await
    }
}

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
