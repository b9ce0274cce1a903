//! The store itself.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use runstate::decision::Decision;
use runstate_runtime::clock::{Clock, unix_clock};
use runstate_store::{
    Approval, ApprovalQuery, ChangeCursor, Changes, Claim, Commit, CorruptEntry, EventRow, Lease, NewRun,
    Parts, PendingSignals, Posted, Release, RunData, RunInfo, RunLists, RunQuery, RunQueue, StoreError,
    Superseded, Timer, TraceRow, Unread, UserMessage,
};
use rusqlite::Connection;

use crate::error::Outcome;
use crate::news::ChangeNotifier;
use crate::number::number;
use crate::options::Options;
use crate::readers::Readers;
use crate::time::Now;
use crate::writer::Writer;
use crate::{connect, read, schema, time, write};

/// A store of runs in one SQLite file, which several processes may share.
///
/// One thread writes: it takes the waiting requests and executes them in one transaction with one sync. A few
/// connections read concurrently, on tokio's threads for blocking work. All handles on one file see one state, in one
/// process or in many.
///
/// An unreadable row hides no other: lists skip it, and [`RunLists::corrupt_entries`] reports it. A run with an
/// unknown status is reported immediately, another row once a list of this handle has met it. A value has at most 64
/// MiB.
///
/// On Linux, leases and expiries are measured by a clock of the machine that cannot be set, so all processes agree;
/// elsewhere by the time of day. This clock restarts with each boot, so leases of an earlier boot are over. So a file
/// belongs to one machine: a boot that used the file before another one is refused.
///
/// A file that is a link is refused: name the file itself. Its folder may be reached through links.
///
/// With the feature `service` the file has service runs too. Their leases follow the same clock.
///
/// Dropping the store ends its thread and closes the file. This blocks for as long as the log is copied into the
/// file.
///
/// ```
/// use std::time::Duration;
/// use runstate_store::{Claim, NewRun, RunData, RunQueue, StoreError};
/// use runstate_sqlite::SqliteStore;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("runs.db");
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let store = SqliteStore::open(&path)?;
/// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
/// let minute = Duration::from_secs(60);
/// let lease = store.claim(&Claim::of("r1", "me", minute)).await?.unwrap();
/// drop(store);
///
/// // Another process, later: all data is there, and the lease is still valid.
/// let store = SqliteStore::open(&path)?;
/// let refused = store.claim(&Claim::of("r1", "you", minute)).await.unwrap_err();
/// assert!(matches!(refused, StoreError::Held { left, .. } if left <= minute));
/// store.renew(&lease, minute).await?;
///
/// // A file of another program is refused.
/// let notes = path.with_extension("txt");
/// std::fs::write(&notes, "remember the milk\n".repeat(100)).map_err(StoreError::failed)?;
/// let refused = SqliteStore::open(&notes).unwrap_err();
/// assert!(matches!(refused, StoreError::Unusable { .. }));
/// assert!(refused.to_string().contains("is no SQLite database"));
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    clock: Ticking,
    pub(crate) options: Options,
    // Dropped first: the last connection to close cleans the file up, and a read-only one cannot.
    pub(crate) readers: Readers,
    writer: Writer,
    pub(crate) news: Arc<ChangeNotifier>,
    unread: Arc<Unread>,
}

impl SqliteStore {
    /// Opens the file, or creates it. On Unix the file and those that SQLite keeps beside it get mode 0600. An
    /// existing file keeps its mode.
    ///
    /// The function blocks while it opens the file.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] if the file is of another program, damaged, or of a newer version of this one;
    /// nothing was changed in it then. [`StoreError::Unavailable`] if another process is creating it and does not
    /// finish. [`StoreError::Failed`] if the file cannot be opened or written.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::open_with(path, Options::default())
    }

    /// Opens the file with options, as [`open`](Self::open).
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(path: impl Into<PathBuf>, options: Options) -> Result<Self, StoreError> {
        Self::open_by(path, options, unix_clock())
    }

    /// Opens the file with another clock than the machine's, as [`open`](Self::open). For tests. All handles on one
    /// file need one clock.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_by(
        path: impl Into<PathBuf>,
        options: Options,
        clock: impl Clock + 'static,
    ) -> Result<Self, StoreError> {
        let path = path.into();
        Self::start(&path, options, Arc::new(clock)).map_err(|fault| fault.at(&path))
    }

    fn start(path: &Path, options: Options, clock: Arc<dyn Clock>) -> Outcome<Self> {
        let mut conn = connect::writer(path, &options)?;
        // Until the origin of the file is checked, the log of another program must not be copied into it.
        connect::leave_log(&conn, true)?;
        let version = schema::check(&conn, path, schema::MIGRATIONS)?;
        if !options.migrates {
            schema::is_current(path, version)?;
        }
        connect::leave_log(&conn, false)?;
        connect::durable(&conn, path, &options)?;
        schema::prepare(&mut conn, path, schema::MIGRATIONS)?;
        time::check(&conn, path, clock.boot())?;
        let news = Arc::new(ChangeNotifier::from(&conn)?);
        let readers = Readers::open(path, &options)?;
        let writer = Writer::start(conn, path, &options, Arc::clone(&news))?;
        let (path, clock) = (path.to_owned(), Ticking(clock));
        Ok(SqliteStore { path, clock, options, readers, writer, news, unread: Arc::default() })
    }

    /// Runs an operation on the writer, with the time of its execution.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&Connection, Now) -> Outcome<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (clock, path) = (Arc::clone(&self.clock.0), self.path.clone());
        let work = move |conn: &Connection| {
            time::enter(conn, &path, clock.boot())?;
            work(conn, Now::of(&*clock))
        };
        self.writer.ask(work).await
    }

    /// Runs a read, with the time of its execution.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, Now) -> Outcome<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let clock = Arc::clone(&self.clock.0);
        self.readers.read(move |conn| work(conn, Now::beside(conn, &*clock)?)).await
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The clock for leases and expiries.
struct Ticking(Arc<dyn Clock>);

impl fmt::Debug for Ticking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({:?})", self.0.boot())
    }
}

/// The limit of runs in one result of [`RunQueue::changes`].
const MOST_CHANGES: usize = 1_000;

#[async_trait]
impl RunData for SqliteStore {
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        let run = run.clone();
        self.write(move |conn, now| write::runs::create(conn, &run, now)).await
    }

    async fn is_given(&self, run: &str) -> Result<bool, StoreError> {
        let run = run.to_owned();
        self.readers.read(move |conn| read::load::is_given(conn, &run)).await
    }

    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        let run = run.to_owned();
        self.read(move |conn, now| read::load::parts(conn, &run, now)).await
    }

    async fn last_of_thread(&self, thread: &str) -> Result<Option<String>, StoreError> {
        let thread = thread.to_owned();
        self.readers.read(move |conn| read::threads::last(conn, &thread, None)).await
    }

    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError> {
        let (run, message) = (run.to_owned(), message.clone());
        self.writer.ask(move |conn| write::mail::supersede(conn, &run, &message)).await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        let (lease, commit) = (lease.clone(), commit.clone());
        self.write(move |conn, now| write::commit::commit(conn, &lease, &commit, now)).await
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        let decision = decision.clone();
        self.writer.ask(move |conn| write::mail::post(conn, &decision)).await
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        let (run, reason) = (run.to_owned(), reason.to_owned());
        self.writer.ask(move |conn| write::mail::cancel(conn, &run, &reason)).await
    }

    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        let run = run.to_owned();
        self.readers.read(move |conn| read::load::mail(conn, &run)).await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        let run = run.to_owned();
        self.readers.read(move |conn| read::load::trace(conn, &run, after, limit)).await
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let run = run.to_owned();
        self.readers.read(move |conn| read::load::events(conn, &run, after, limit)).await
    }
}

#[async_trait]
impl RunLists for SqliteStore {
    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        let query = query.clone();
        let unread = Arc::clone(&self.unread);
        self.read(move |conn, now| read::runs::page(conn, &query, &unread, now)).await
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        let query = query.clone();
        let unread = Arc::clone(&self.unread);
        self.read(move |conn, now| read::approvals::page(conn, &query, &unread, now)).await
    }

    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError> {
        let of_boot = async || {
            let unread = Arc::clone(&self.unread);
            let due = move |conn: &Connection, now: Now| match now.is_of_boot {
                true => read::approvals::due(conn, now, limit, &unread).map(Some),
                false => Ok(None),
            };
            self.read(due).await
        };
        if let Some(due) = of_boot().await? {
            return Ok(due);
        }
        // The first query of expired calls in a boot converts the times of the previous boot.
        self.write(|_, _| Ok(())).await?;
        Ok(of_boot().await?.unwrap_or_default())
    }

    async fn corrupt_entries(&self) -> Result<Vec<CorruptEntry>, StoreError> {
        let unread = Arc::clone(&self.unread);
        self.read(move |conn, now| read::runs::damaged(conn, &unread, now)).await
    }

    async fn remove(&self, run: &str) -> Result<bool, StoreError> {
        let removed = run.to_owned();
        let is_removed = self.write(move |conn, now| write::runs::remove(conn, &removed, now)).await?;
        self.unread.forget(run);
        Ok(is_removed)
    }
}

#[async_trait]
impl RunQueue for SqliteStore {
    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        let claim = claim.clone();
        self.write(move |conn, now| write::leases::claim(conn, &claim, now)).await
    }

    async fn renew(&self, lease: &Lease, term: Duration) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.write(move |conn, now| write::leases::renew(conn, &lease, now.after(term))).await
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        let (lease, release) = (lease.clone(), release.clone());
        self.write(move |conn, now| write::leases::release(conn, &lease, &release, now)).await
    }

    async fn commit_and_release(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        let (lease, commit) = (lease.clone(), commit.clone());
        let work = move |conn: &Connection, now: Now| {
            write::commit::commit(conn, &lease, &commit, now)?;
            write::leases::release(conn, &lease, &Release::clean().with_lost_claims_reset(), now)
        };
        self.write(work).await
    }

    async fn changed_since(&self, seen: u64, patience: Duration) -> Result<u64, StoreError> {
        Ok(ChangeNotifier::wait(&self.news, &self.readers, seen, patience, self.options.poll).await)
    }

    async fn current_cursor(&self) -> Result<ChangeCursor, StoreError> {
        let counted = self.readers.read(|conn| Ok(read::load::counted(conn)?)).await?;
        Ok(ChangeCursor::new(number(counted), BTreeMap::new()))
    }

    async fn changes(&self, cursor: &ChangeCursor, timeout: Duration) -> Result<Changes, StoreError> {
        let began = tokio::time::Instant::now();
        let mut after = cursor.at();
        loop {
            let seen = self.news.commits();
            let read = move |conn: &Connection| read::load::changes(conn, after, MOST_CHANGES);
            let (at, runs) = self.readers.read(read).await?;
            after = at;
            let left = timeout.saturating_sub(began.elapsed());
            if !runs.is_empty() || left.is_zero() {
                return Ok(Changes { runs, cursor: ChangeCursor::new(at, BTreeMap::new()) });
            }
            self.news.wait_for_commit(&self.readers, seen, left, self.options.poll).await;
        }
    }
}
