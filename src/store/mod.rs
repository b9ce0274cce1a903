//! Durable runs: stores that several processes share, and the worker that drives what is in them (the design's
//! "Durability").
//!
//! A [`RunStore`] keeps runs at rest. It has three parts: [`RunData`], [`RunLists`] and [`RunQueue`]. A process that drives a run takes a [`Lease`] on it; each lease has a higher fence than the one
//! before, and a commit under an older fence is refused, so that of two who believe that a run is theirs one alone goes on
//! with it. A commit holds what changed and no more. People decide about calls that wait from any process; the store says
//! which decision came first.
//!
//! [`MemoryStore`] keeps runs as long as its process lives, [`FileStore`] in a folder, in files to be read with the eyes;
//! databases are crates of their own. Whoever writes a store runs
//! `runstate::testing::store`, the suite that all of ours pass; a [`Wrapper`] changes some of what another store does.
//!
//! How long a lease is, how long a run is put off and how long a decision is in time are durations, and each store counts them by a
//! clock of its own, which all that use it share: the clocks of their machines need not agree. Other times are milliseconds since the
//! beginning of 1970, for people to read.

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

use news::News;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use crate::decision::Decision;

pub use changes::{ChangeCursor, Changes};
#[cfg(feature = "testing")]
pub(crate) use commit::Place;
pub use commit::{CallRow, Commit, EventRow, MessageRow, RunRow, TraceRow, ValueRow, Waits};
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
pub use wrapper::Wrapper;

/// Where runs are durable: all parts of a store.
///
/// A type that has the three parts is a store. A function may ask for one part: [`RunData`] to drive a run,
/// [`RunLists`] for lists, [`RunQueue`] for claims and notifications.
///
/// ```
/// use runstate::store::{MemoryStore, NewRun, RunData, RunStore};
///
/// /// It needs one part alone.
/// async fn is_there(runs: &dyn RunData, run: &str) -> bool {
///     runs.load(run).await.is_ok()
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let store: &dyn RunStore = &MemoryStore::default();
/// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
/// assert!(is_there(store, "r1").await && !is_there(store, "r2").await);
/// # Ok::<(), runstate::store::StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait RunStore: RunData + RunLists + RunQueue {}

impl<S: RunData + RunLists + RunQueue + ?Sized> RunStore for S {}

/// The rows of runs: enough to drive one run, and to accept decisions on it.
///
/// A program that gives out its work by itself implements this part alone. It checks decisions itself: [`decide`] needs the lists too.
///
/// Each operation is one transaction: it is made whole or not at all, and when one returns `Ok` a crash takes
/// nothing of it back. Any number of tasks and processes may call at once.
///
/// # Cancel safety
/// Dropped, an operation was made whole or not at all; the caller cannot know which. It is not made behind a later one.
/// [`Commit::again`] says how a commit is given again; all others may be given again as they were.
#[async_trait]
pub trait RunData: fmt::Debug + Send + Sync {
    /// Adds a run. It can be claimed from now on; one that is [put off](NewRun::not_before) only by name until then.
    ///
    /// A run with a [place on a thread](NewRun::thread) is added in the same transaction that looks at the last run of the thread.
    ///
    /// # Errors
    /// [`StoreError::Taken`] when the id, or that of the [message](NewRun::begins_with), [was given](Self::is_given), or names a thread that a
    /// run of another id began. [`StoreError::Busy`]
    /// when the thread has another last run than the one that is named, or that one is not `Done`.
    async fn create(&self, run: &NewRun) -> Result<(), StoreError>;

    /// Was the id given to a run, even one that was removed since, or to a [message](Self::supersede)? It is not given again: a question is
    /// named by the id of its run, and an answer that comes late must not be an answer to another run's question.
    ///
    /// # Errors
    /// Those of the store.
    async fn is_given(&self, run: &str) -> Result<bool, StoreError>;

    /// The rows of a run, as the last commit left them.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn parts(&self, run: &str) -> Result<Parts, StoreError>;

    /// The run that its rows make, as the last commit left it.
    ///
    /// # Errors
    /// [`StoreError::NoRun`]; [`StoreError::Unusable`] when a row cannot be read.
    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        load(self, run).await
    }

    /// The last run of a thread. A new run of the thread comes behind it. None for a thread that is new. A run that was created
    /// without a place on a thread is the first of the thread that has its id.
    ///
    /// # Errors
    /// Those of the store.
    async fn last_of_thread(&self, thread: &str) -> Result<Option<String>, StoreError>;

    /// Sends a message to a run that waits. The run goes on with it instead of the decisions that it waited for: no decision is accepted
    /// from now on for its open questions, and lists have them no more. [`send`] is for messages to a thread.
    ///
    /// The message stays in the [mail](Self::pending_signals) until the next commit of the run, which holds it. Its id is [given](Self::is_given)
    /// from now on.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError>;

    /// Makes what changed since the last commit durable. Decisions in it are taken from now on.
    ///
    /// # Errors
    /// Nothing is stored then. [`StoreError::Fenced`] when somebody took the run since; [`StoreError::Version`] when it is
    /// not the next commit; [`StoreError::Decided`] when it holds a decision and another one on the same suspension was
    /// accepted; [`StoreError::Superseded`] when a [message](Self::supersede) has come since the last commit, which this one neither
    /// [takes](Commit::takes) nor ends as cancelled.
    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError>;

    /// Accepts the first decision on a suspension that waits. [`decide`] is what people call: it looks at the decision
    /// before, and says what became of it.
    ///
    /// It is accepted if its call is suspended on `suspension_id` as of the last commit, and no decision on that suspension
    /// or of that id is there. Nothing else is looked at: actors, expiry, schema and digest are not. The driver of the run takes no
    /// decision whose digest is of another question; and, where the question asks for distinct actors, none without a digest and
    /// none of an actor that was accepted before. Such a decision stays where it is, and the run can be cancelled alone.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError>;

    /// Notes that somebody wants a run cancelled. Says whether it was noted: a run that is `Done` is over, and a second wish
    /// changes nothing.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError>;

    /// What came in for a run and was not taken yet.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError>;

    /// Events of the trace of a run, as lines of JSON: those with a number above `after`, in order, at most `limit`.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError>;

    /// Events of a run, in the order of their numbers: the first `limit` with a last number above `after`.
    ///
    /// All kinds of events are stored, in the commit that makes them true, whether a sink gets them or not. A commit that is given again
    /// may have others than the first try: they take the place of those from its first number on. The numbers of a run
    /// have no gap: each row begins with the number behind the [last](EventRow::last) of the row before, the first row of a run
    /// with 1. Of a run that was begun by a version without durable events, the first row has another number.
    ///
    /// # Errors
    /// [`StoreError::NoRun`].
    async fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError>;
}

/// Lists of runs and of their open questions.
///
/// Each operation is one transaction: it is made whole or not at all, and when one returns `Ok` a crash takes
/// nothing of it back. Any number of tasks and processes may call at once.
///
/// # Cancel safety
/// Dropped, an operation was made whole or not at all; the caller cannot know which. It is not made behind a later one.
/// [`Commit::again`] says how a commit is given again; all others may be given again as they were.
#[async_trait]
pub trait RunLists: fmt::Debug + Send + Sync {
    /// A page of runs, the newest first.
    ///
    /// # Errors
    /// Those of the store.
    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError>;

    /// A page of calls that wait for a decision, by run and call. One whose decision is there and not taken waits no more.
    ///
    /// # Errors
    /// Those of the store.
    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError>;

    /// Suspensions that have lapsed without a decision, the oldest first, at most `limit`.
    ///
    /// # Errors
    /// Those of the store.
    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError>;

    /// The remains of runs that cannot be read, in no particular order; nothing, in a store that is whole or that
    /// is damaged as a whole. Lists, and claims without a name, leave these out; a caller that names such a run is
    /// refused with the same words. A run that can be read, and that a claim without a name had to pass over, is here as well.
    ///
    /// # Errors
    /// Those of the store.
    async fn corrupt_entries(&self) -> Result<Vec<CorruptEntry>, StoreError> {
        Ok(Vec::new())
    }

    /// Takes a run away, with all that belongs to it. Its id is kept, and [not given again](RunData::is_given). Says whether the run
    /// was there.
    ///
    /// # Errors
    /// [`StoreError::Held`] while a lease on it lasts. [`StoreError::Continued`] while a later run of its thread is there, which begins with
    /// its messages.
    async fn remove(&self, run: &str) -> Result<bool, StoreError>;
}

/// The queue of work: which run is driven next, by which process, for how long.
///
/// Each operation is one transaction: it is made whole or not at all, and when one returns `Ok` a crash takes
/// nothing of it back. Any number of tasks and processes may call at once.
///
/// # Cancel safety
/// Dropped, an operation was made whole or not at all; the caller cannot know which. It is not made behind a later one.
/// [`Commit::again`] says how a commit is given again; all others may be given again as they were.
#[async_trait]
pub trait RunQueue: RunData + RunLists {
    /// Claims a run: the named one, or of the runs that can go on the one with the longest wait.
    ///
    /// A run that is named is claimed whatever its status, unless another process holds it. Without a name a run can go on when
    ///
    /// - it has no lease, or its lease is over,
    /// - it is not put off ([`Release::retry_after`]) any more,
    /// - and it is `Running` (it has not begun, or was interrupted), or `Waiting` with a decision that was not taken, or
    ///   with a [message](RunData::supersede) that was not taken, or not `Done` and a cancellation is requested.
    ///
    /// The lease has a higher fence than any lease on that run before it: an older lease can do nothing with the run any more.
    ///
    /// # Errors
    /// For a run that is named: [`StoreError::NoRun`], and [`StoreError::Held`].
    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError>;

    /// Renews a lease for that term, from now on. A lease that is over is renewed too, unless the run was claimed since.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] after another process claimed the run, and [`StoreError::NoRun`].
    async fn renew(&self, lease: &Lease, term: Duration) -> Result<(), StoreError>;

    /// Gives a run back. It changes nothing after another process claimed the run.
    ///
    /// # Errors
    /// Those of the store.
    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError>;

    /// Makes the last commit of a lease, and gives the run back, in one transaction. The [lost claims](RunInfo::lost) of the run are
    /// forgotten.
    ///
    /// A renewal of the lease that comes later changes nothing. A repeated commit changes nothing once another process has claimed the
    /// run.
    ///
    /// The default makes two transactions, a [commit](RunData::commit) and a [release](Self::release).
    ///
    /// ```
    /// use std::time::Duration;
    /// use runstate::store::{Claim, MemoryStore, NewRun, RunData, RunQueue, StoreError};
    /// # use runstate::testing::store::Played;
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
    /// # Ok::<(), runstate::store::StoreError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`RunData::commit`]. The run keeps its lease then.
    async fn commit_and_release(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.commit(lease, commit).await?;
        self.release(lease, &Release::clean().pardoned()).await
    }

    /// Waits until something may have come in since the mark `seen`, for any run, but no longer than `patience`. It gives the
    /// mark for the next wait; a first one has seen 0.
    ///
    /// What comes in are decisions, wishes to cancel, new runs, and runs that are given back. Any number may wait at one
    /// handle, each with marks of its own: it waits, looks at the store, and waits again with the mark that it was given
    /// before it looked. So nothing is missed between a look and a wait, and nobody takes another's news away. That is so if
    /// an implementation
    ///
    /// - returns at once where more has come in than `seen` says,
    /// - wakes all who wait when something comes in,
    /// - and gives marks that count nothing which cannot be read from the store yet.
    ///
    /// It may return early, and count what is no news, but not what was refused: a worker that tries it again each time that there
    /// are news would never rest. One that hears no news waits for `patience` and gives `seen` back, as
    /// this one does. A mark means nothing at other handles.
    ///
    /// ```
    /// use std::time::Duration;
    /// use runstate::store::{MemoryStore, NewRun, RunData, RunQueue};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    /// # runtime.block_on(async {
    /// let store = MemoryStore::default();
    /// let long = Duration::from_secs(3_600);
    /// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
    ///
    /// // Two who wait have seen nothing yet: each of them is told at once, and then only of what is new.
    /// let began = tokio::time::Instant::now();
    /// let (one, other) = (store.changed_since(0, long).await?, store.changed_since(0, long).await?);
    /// assert!(began.elapsed().is_zero());
    /// assert_eq!((store.changed_since(one, long).await?, began.elapsed()), (one, long));
    /// # let _ = other;
    /// # Ok::<(), runstate::store::StoreError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of the store.
    ///
    /// # Cancel safety
    /// Nothing is lost: what came in stays in the store, and the mark of the last wait is still good.
    async fn changed_since(&self, seen: u64, patience: Duration) -> Result<u64, StoreError> {
        tokio::time::sleep(patience).await;
        Ok(seen)
    }

    /// Runs that were committed behind the cursor. Where there is none, it waits for one, at most for `timeout`: then the list is
    /// empty. A run that was removed is not named.
    ///
    /// This one lists all runs four times a second and compares, which is for stores of some thousand runs.
    ///
    /// ```
    /// use std::time::Duration;
    /// use runstate::store::{ChangeCursor, Claim, MemoryStore, NewRun, RunData, RunQueue};
    /// # use runstate::testing::store::Played;
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
    /// // No commit is made within the hour: no run is named.
    /// assert_eq!(store.changes(&changes.cursor, hour).await?.runs, []);
    /// # Ok::<(), runstate::store::StoreError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of the store.
    ///
    /// # Cancel safety
    /// Nothing is lost: the cursor of the last answer is still good.
    async fn changes(&self, cursor: &ChangeCursor, timeout: Duration) -> Result<Changes, StoreError> {
        changes::by_lists(self, cursor, timeout, None).await
    }
}
