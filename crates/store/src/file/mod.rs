//! A store of runs in a folder, with files that a person can read.

mod boots;
mod commits;
mod index;
mod layout;
mod listed;
mod lists;
mod lock;
mod log;
mod operations;
mod passed;
mod problem;
mod rows;
mod runs;
mod state;
mod threads;
mod unlinked;
mod work;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use index::Index;
use layout::Layout;
use passed::SkippedRuns;
use runstate_runtime::clock::{Clock, unix_clock};
use runstate_runtime::files::{Disk, RealDisk};
use unlinked::Unlinked;

use super::error::StoreError;
use super::news::ChangeNotifier;
use super::time::{Now, Ticking};

/// A store of runs in a folder: one folder for each run, with files that a person can read.
///
/// ```text
/// <store>/store.json                     identifies the folder as a store, with its format
/// <store>/boots                          the boots of the machine that used it, the last one at the end
/// <store>/removed/<run>                  a note for each used id: of a removed run, or of a message
/// <store>/locks/<run>.lock               held for the duration of one operation
/// <store>/runs/<run>/state.json          the authority: the small data that each commit replaces
/// <store>/runs/<run>/spec.json           the specification of the run
/// <store>/runs/<run>/messages.jsonl      its messages
/// <store>/runs/<run>/calls.jsonl         its settled calls; the state has the open ones
/// <store>/runs/<run>/decisions.jsonl     the decisions that it took; the state has the pending ones
/// <store>/runs/<run>/trace.jsonl         its trace, for any reader of traces
/// <store>/runs/<run>/events.jsonl        its events
/// <store>/runs/<run>/state.json.removed  the state of a removed run, until all its files are deleted
/// ```
///
/// A commit replaces `state.json`. The new file contains the new lines, so one file and one name are synced. Lines
/// move from there into the logs together: every 24 KiB, and when the run waits, is over or is given back. The state
/// has the lengths of the logs. So the cost of a commit depends on its size and that of the state, not on the length
/// of the run. Bytes beyond these lengths are left from a crash. They are cut off at the next write to the log, and
/// [`on_repair`](Self::on_repair) or [`repairs`](Self::repairs) reports them.
///
/// Any number of processes may use one store. A lock separates two operations that write to one run. Lists and
/// readers need no lock. A process that is stopped during an operation keeps its lock. Other operations wait for that
/// lock [for a time](Self::patience), then fail with [`StoreError::Unavailable`]. Claims without a name skip such a
/// run, and [`RunLists::corrupt_entries`](super::RunLists::corrupt_entries) names it.
///
/// A store belongs to one machine. Leases are measured by its clock since boot, so leases of an earlier boot are
/// over. A boot that used the store before another one is refused.
///
/// The store is meant for a number of runs that a person can survey. Each list, and each claim without a name, checks
/// the state of each run and reads the changed ones. Each load and each page of a trace reads the logs of its run
/// from the beginning. For more runs, use a database.
///
/// A corrupt run hides no other. Lists and claims without a name skip it, and
/// [`RunLists::corrupt_entries`](super::RunLists::corrupt_entries) reports it. An operation that names the run is
/// refused, with the file, the problem and the remedy. If the state of a run is lost, no new run with its id is
/// created over its remaining files.
///
/// A file of a run is read as a whole. Its limit is 64 MiB: a commit that exceeds it is refused, unless it ends the
/// run. A link below the folder of the store is not followed.
///
/// An operation that fails with [`StoreError::Failed`] has changed nothing. If the new state is visible and its
/// folder cannot be synced, the error is [`StoreError::Unavailable`]: a crash may undo the change.
///
/// On Unix the store creates its folder and missing parents with mode 0700, so that other users cannot read the work
/// of agents. An existing folder keeps its mode, so several users may share one.
///
/// ```
/// use std::time::Duration;
/// use runstate_store::{Claim, FileStore, NewRun, RunData, RunQueue, StoreError};
///
/// # let folder = std::env::temp_dir().join(format!("runstate-store-{}", std::process::id()));
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let store = FileStore::open(&folder)?;
/// store.create(&NewRun::new("r1", serde_json::json!({ "model": "m" }), 0)).await?;
///
/// // Another process, or this one after a crash, finds the run.
/// let store = FileStore::open(&folder)?;
/// assert_eq!(store.load("r1").await?.spec["model"], "m");
/// assert_eq!(store.claim(&Claim::any("me", Duration::from_secs(30))).await?.unwrap().fence, 1);
///
/// // A folder with other contents is refused.
/// let refused = FileStore::open(folder.join("runs")).unwrap_err();
/// assert!(refused.to_string().contains("name the folder of a store, or one that is empty or not there"), "{refused}");
/// # std::fs::remove_dir_all(&folder).ok();
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Files are read and written on the blocking threads of tokio, so the store needs a tokio runtime.
#[derive(Debug, Clone)]
pub struct FileStore {
    inner: Arc<Inner>,
    /// The time to wait for a lock.
    patience: Duration,
    tell: Option<Tell>,
}

/// The receiver of repairs.
#[derive(Clone)]
struct Tell(Arc<dyn Fn(&str) + Send + Sync>);

impl fmt::Debug for Tell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tell")
    }
}

#[derive(Debug)]
struct Inner {
    disk: Arc<dyn Disk>,
    clock: Ticking,
    layout: Layout,
    /// The states that lists have read. Locked while a list checks the files, never across an await.
    index: Mutex<Index>,
    /// Repairs of logs. Locked briefly, never across an await.
    repairs: Mutex<Vec<String>>,
    /// Locked briefly, never across an await.
    passed: Mutex<SkippedRuns>,
    news: ChangeNotifier,
}

impl Inner {
    fn new(disk: Arc<dyn Disk>, layout: Layout, clock: Ticking) -> Self {
        let (index, repairs, passed) = (Mutex::default(), Mutex::default(), Mutex::default());
        Inner { disk, clock, layout, index, repairs, passed, news: ChangeNotifier::default() }
    }

    fn now(&self) -> Now {
        Now::of(&*self.clock)
    }
}

/// The limit of remembered repairs.
const REPAIRS: usize = 1_000;

impl FileStore {
    /// Opens the store in that folder, or creates it.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] if the folder has other contents, or a store of another version of this program.
    /// [`StoreError::Failed`] if the folder cannot be read or written.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::on(Arc::new(RealDisk), folder)
    }

    /// Opens the store in that folder of a disk, or creates it.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn on(disk: Arc<dyn Disk>, folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let root = folder.into();
        let disk: Arc<dyn Disk> = Arc::new(Unlinked { disk, root: root.clone() });
        let layout = Layout::open(&*disk, root)?;
        let inner = Arc::new(Inner::new(disk, layout, Ticking::of(unix_clock())));
        Ok(FileStore { inner, patience: lock::PATIENCE, tell: None })
    }

    /// Creates a separate handle on the folder with another clock than the machine's. For tests.
    #[must_use]
    pub fn with_clock(self, clock: impl Clock + 'static) -> Self {
        let Inner { disk, layout, .. } = &*self.inner;
        let inner = Arc::new(Inner::new(Arc::clone(disk), layout.clone(), Ticking::of(clock)));
        FileStore { inner, ..self }
    }

    /// Sets the time to wait for a lock that another process holds. Default: 5 s.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets a function that gets each repair after it was made. Repairs are not collected for
    /// [`repairs`](Self::repairs) then.
    #[must_use]
    pub fn on_repair(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.tell = Some(Tell(Arc::new(tell)));
        self
    }

    /// Returns the folder of a run. The run need not exist.
    pub fn folder_of(&self, run: &str) -> PathBuf {
        self.inner.layout.run(run).folder
    }

    /// Takes the repairs that this handle made since the previous call: for each, the file and the number of bytes
    /// that were cut off. Such bytes are left from a crash and belong to no commit.
    pub fn repairs(&self) -> Vec<String> {
        std::mem::take(&mut *self.inner.repairs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell_repairs(&self) {
        if let Some(Tell(tell)) = &self.tell {
            self.repairs().iter().for_each(|repair| tell(repair));
        }
    }
}
