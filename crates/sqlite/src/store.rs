//! The store itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use runstate::decision::Decision;
use runstate::store::{
    Approval, ApprovalQuery, Claim, Commit, Damage, Lease, Mail, NewRun, Parts, Posted, Release, RunInfo,
    RunQuery, RunStore, StoreError, Timer, TraceRow,
};

use crate::error::Outcome;
use crate::news::News;
use crate::options::Options;
use crate::read::lists::Unread;
use crate::readers::Readers;
use crate::writer::Writer;
use crate::{connect, read, schema, write};

/// Runs in one SQLite file, which several processes may share (the design's "Durability").
///
/// A thread of its own writes: it takes what waits, and makes it in one transaction with one sync. A few connections read
/// beside it, on threads of tokio that may block. Several handles on one file, in one process or in many, see the same.
///
/// A row that cannot be read hides no other: lists leave it out, and [`RunStore::damaged`] says what is wrong with it: of runs whose status is
/// none at once, of other rows once a list of this handle has met them. A value has at most 64 MiB.
///
/// A file that is a link is refused: name the file itself. Its folder may be reached through links.
///
/// Dropped, it ends its thread and closes the file, which may take as long as writing the log back: a blocking operation.
///
/// ```
/// use runstate::store::{Claim, NewRun, RunStore, StoreError};
/// use runstate_sqlite::SqliteStore;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("runs.db");
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let store = SqliteStore::open(&path)?;
/// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
/// let lease = store.claim(&Claim::of("r1", "me", 0, 1_000)).await?.unwrap();
/// drop(store);
///
/// // Another process, later: it is all there, and who had the run has it still.
/// let store = SqliteStore::open(&path)?;
/// let refused = store.claim(&Claim::of("r1", "you", 999, 2_000)).await.unwrap_err();
/// assert!(matches!(refused, StoreError::Held { until_ms: 1_000, .. }));
/// store.renew(&lease, 3_000).await?;
///
/// // A file that is something else is left alone.
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
    options: Options,
    // Dropped first: the last connection to go tidies the file up, and one that only reads cannot.
    readers: Readers,
    writer: Writer,
    news: Arc<News>,
    unread: Arc<Unread>,
}

impl SqliteStore {
    /// Opens the file, and makes it if there is none: on Unix for its user alone (0600), as what SQLite keeps beside it. A file
    /// that is there keeps its modes.
    ///
    /// It blocks while it opens the file.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] when the file is of another program, damaged, or of a newer version of this one; nothing
    /// was changed in it then. [`StoreError::Unavailable`] when another process makes it at the same time and does not end.
    /// [`StoreError::Failed`] when it cannot be opened or written.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::open_with(path, Options::default())
    }

    /// The same, with options.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(path: impl Into<PathBuf>, options: Options) -> Result<Self, StoreError> {
        let path = path.into();
        Self::start(&path, options).map_err(|fault| fault.at(&path))
    }

    fn start(path: &Path, options: Options) -> Outcome<Self> {
        let mut conn = connect::writer(path, &options)?;
        // Until it is known to be ours: what another program left in its log stays there.
        connect::leave_log(&conn, true)?;
        schema::check(&conn, path, schema::MIGRATIONS.len())?;
        connect::leave_log(&conn, false)?;
        connect::durable(&conn, path, &options)?;
        schema::prepare(&mut conn, path, schema::MIGRATIONS)?;
        let news = Arc::new(News::from(&conn)?);
        let readers = Readers::open(path, &options)?;
        let writer = Writer::start(conn, path, &options, Arc::clone(&news))?;
        Ok(SqliteStore { path: path.to_owned(), options, readers, writer, news, unread: Arc::default() })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[async_trait]
impl RunStore for SqliteStore {
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        let run = run.clone();
        self.writer.ask(move |conn| write::runs::create(conn, &run)).await
    }

    async fn is_given(&self, run: &str) -> Result<bool, StoreError> {
        let run = run.to_owned();
        self.readers.read(move |conn| read::load::is_given(conn, &run)).await
    }

    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        let run = run.to_owned();
        self.readers.read(move |conn| read::load::parts(conn, &run)).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        let claim = claim.clone();
        self.writer.ask(move |conn| write::leases::claim(conn, &claim)).await
    }

    async fn renew(&self, lease: &Lease, until_ms: u64) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.writer.ask(move |conn| write::leases::renew(conn, &lease, until_ms)).await
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        let (lease, release) = (lease.clone(), release.clone());
        self.writer.ask(move |conn| write::leases::release(conn, &lease, &release)).await
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        let (lease, commit) = (lease.clone(), commit.clone());
        self.writer.ask(move |conn| write::commit::commit(conn, &lease, &commit)).await
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        let decision = decision.clone();
        self.writer.ask(move |conn| write::mail::post(conn, &decision)).await
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        let (run, reason) = (run.to_owned(), reason.to_owned());
        self.writer.ask(move |conn| write::mail::cancel(conn, &run, &reason)).await
    }

    async fn mail(&self, run: &str) -> Result<Mail, StoreError> {
        let run = run.to_owned();
        self.readers.read(move |conn| read::load::mail(conn, &run)).await
    }

    async fn news(&self, seen: u64, patience: Duration) -> Result<u64, StoreError> {
        Ok(News::wait(&self.news, &self.readers, seen, patience, self.options.poll).await)
    }

    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        let query = query.clone();
        let unread = Arc::clone(&self.unread);
        self.readers.read(move |conn| read::runs::page(conn, &query, &unread)).await
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        let query = query.clone();
        let unread = Arc::clone(&self.unread);
        self.readers.read(move |conn| read::approvals::page(conn, &query, &unread)).await
    }

    async fn due(&self, now_ms: u64, limit: usize) -> Result<Vec<Timer>, StoreError> {
        let unread = Arc::clone(&self.unread);
        self.readers.read(move |conn| read::approvals::due(conn, now_ms, limit, &unread)).await
    }

    async fn damaged(&self) -> Result<Vec<Damage>, StoreError> {
        let unread = Arc::clone(&self.unread);
        self.readers.read(move |conn| read::runs::damaged(conn, &unread)).await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        let run = run.to_owned();
        self.readers.read(move |conn| read::load::trace(conn, &run, after, limit)).await
    }

    async fn remove(&self, run: &str, now_ms: u64) -> Result<bool, StoreError> {
        let run = run.to_owned();
        self.writer.ask(move |conn| write::runs::remove(conn, &run, now_ms)).await
    }
}
