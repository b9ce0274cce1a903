//! Runs in a folder, to be read with the eyes.

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

use super::error::StoreError;
use super::news::News;
use super::time::{Now, Ticking};
use crate::clock::{Clock, unix_clock};
use crate::files::{Disk, RealDisk};
use index::Index;
use layout::Layout;
use passed::Passed;
use unlinked::Unlinked;

/// Keeps runs in a folder: a folder for each, with files that a person can read.
///
/// ```text
/// <store>/store.json                     says that this is a store, and its format
/// <store>/boots                          the boots of the machine that had it, the last one at the end
/// <store>/removed/<run>                  an empty file for each run that was removed: its id is not given again
/// <store>/locks/<run>.lock               held for the time of one operation
/// <store>/runs/<run>/state.json          the authority: what is small and new with each commit
/// <store>/runs/<run>/spec.json           what the run was created with
/// <store>/runs/<run>/messages.jsonl      its messages
/// <store>/runs/<run>/calls.jsonl         its calls that are settled; those that are open are in the state
/// <store>/runs/<run>/decisions.jsonl     the decisions that were taken; those that wait are in the state
/// <store>/runs/<run>/trace.jsonl         its trace, for whatever reads traces
/// <store>/runs/<run>/events.jsonl        its events
/// <store>/runs/<run>/state.json.removed  the state of a run that was removed, until all of it is gone
/// ```
///
/// A commit puts a new `state.json` in place of the old one, with the lines in it that are new: one file and one name to be
/// synced. Lines go from there into the logs together, some 24 KiB at a time, and all of them when the run waits, is over or is
/// given back; the state has the lengths of the logs. So a commit costs what it holds and the state, however long the run is.
/// What a crash left behind the lengths is cut off when lines are next written there, and [`telling`](Self::telling) or
/// [`repairs`](Self::repairs) says so.
///
/// Any number of processes may use one store; a lock keeps two operations that write to one run apart. Lists and what reads a run
/// need none. One that somebody keeps, because the process was stopped in the midst of an operation, is waited for
/// [for a while](Self::patience), and is then [`StoreError::Unavailable`]; claims without a name pass over such a run, and
/// [`RunLists::corrupt_entries`](super::RunLists::corrupt_entries) names it. A store is for one machine: leases are told by its clock since it
/// booted, those of an earlier boot are over, and a boot that had the store before another one is refused. It is meant
/// for as many runs as one looks through: each list, and each claim without a name, looks at the state of each run and reads
/// those that changed since this handle read them, and each load and page of a trace reads the logs of its run from their
/// beginning. For more there are databases.
///
/// A run that is damaged hides no other. Lists and claims without a name leave out what they cannot read, and
/// [`RunLists::corrupt_entries`](super::RunLists::corrupt_entries) says what that is; asked for by its name it is refused, with the file, what is
/// wrong with it and what to do. Where its state is lost, no other run of its id is created over what is left of it.
///
/// A file of a run is read as a whole, and has at most 64 MiB: a commit that would make one larger is refused, but for one that ends the run. A
/// link below the folder of the store is not followed.
///
/// An operation that fails with [`StoreError::Failed`] has changed nothing. Where the new state is in place and the folder of its
/// name cannot be synced, that is [`StoreError::Unavailable`]: it is there now, and a crash may undo it.
///
/// On Unix the folder of the store, and those above it that have to be made, are made for their user alone (0700): others are not
/// to read what agents did. A folder that is there keeps its modes, so that several users may share one.
///
/// ```
/// use std::time::Duration;
/// use runstate::store::{Claim, FileStore, NewRun, RunData, RunQueue, StoreError};
///
/// # let folder = std::env::temp_dir().join(format!("runstate-store-{}", std::process::id()));
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let store = FileStore::open(&folder)?;
/// store.create(&NewRun::new("r1", serde_json::json!({ "model": "m" }), 0)).await?;
///
/// // Another process, or the same one after a crash, finds it.
/// let store = FileStore::open(&folder)?;
/// assert_eq!(store.load("r1").await?.spec["model"], "m");
/// assert_eq!(store.claim(&Claim::any("me", Duration::from_secs(30))).await?.unwrap().fence, 1);
///
/// // A folder with something else in it is left alone.
/// let refused = FileStore::open(folder.join("runs")).unwrap_err();
/// assert!(refused.to_string().contains("name the folder of a store, or one that is empty or not there"), "{refused}");
/// # std::fs::remove_dir_all(&folder).ok();
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Files are read and written on the threads that tokio has for what blocks: its runtime has to be there.
#[derive(Debug, Clone)]
pub struct FileStore {
    inner: Arc<Inner>,
    /// How long a lock is waited for.
    patience: Duration,
    tell: Option<Tell>,
}

/// Who is told of repairs.
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
    /// What lists read before. Held while a list looks at the files, never over an await.
    index: Mutex<Index>,
    /// What was cut off. Held for a moment, never over an await.
    repairs: Mutex<Vec<String>>,
    /// Held for a moment, never over an await.
    passed: Mutex<Passed>,
    news: News,
}

impl Inner {
    fn new(disk: Arc<dyn Disk>, layout: Layout, clock: Ticking) -> Self {
        let (index, repairs, passed) = (Mutex::default(), Mutex::default(), Mutex::default());
        Inner { disk, clock, layout, index, repairs, passed, news: News::default() }
    }

    fn now(&self) -> Now {
        Now::of(&*self.clock)
    }
}

/// At most so many repairs are remembered.
const REPAIRS: usize = 1_000;

impl FileStore {
    /// The store in that folder, which is made if it is not there.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] when the folder has something else in it, or a store of another version of this program;
    /// [`StoreError::Failed`] when it cannot be read or written.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::on(Arc::new(RealDisk), folder)
    }

    /// The store in that folder of that disk.
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

    /// A handle of its own on the same folder, with another clock than the machine's: for tests.
    #[must_use]
    pub fn with_clock(self, clock: impl Clock + 'static) -> Self {
        let Inner { disk, layout, .. } = &*self.inner;
        let inner = Arc::new(Inner::new(Arc::clone(disk), layout.clone(), Ticking::of(clock)));
        FileStore { inner, ..self }
    }

    /// The same handle, which waits so long for a lock that somebody else has; for 5 seconds if this is not said.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The same handle, which tells this of each repair once it is made, rather than keep it for [`repairs`](Self::repairs).
    #[must_use]
    pub fn telling(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.tell = Some(Tell(Arc::new(tell)));
        self
    }

    /// Where the files of a run are, whether it is there or not.
    pub fn folder_of(&self, run: &str) -> PathBuf {
        self.inner.layout.run(run).folder
    }

    /// What this handle cut off of logs since it was asked last, because a crash had left it there and no commit had it:
    /// the file, and how many bytes.
    pub fn repairs(&self) -> Vec<String> {
        std::mem::take(&mut *self.inner.repairs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell_repairs(&self) {
        if let Some(Tell(tell)) = &self.tell {
            self.repairs().iter().for_each(|repair| tell(repair));
        }
    }
}
