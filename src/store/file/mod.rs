//! Runs in a folder, to be read with the eyes.

mod commits;
mod fences;
mod layout;
mod lists;
mod log;
mod problem;
mod rows;
mod state;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;

use super::commit::{Commit, TraceRow};
use super::decide::Posted;
use super::error::StoreError;
use super::lease::{Claim, Lease, Release};
use super::load::Loaded;
use super::query::{Approval, ApprovalQuery, RunInfo, RunQuery, Timer};
use super::{Mail, NewRun, RunStore};
use crate::decision::Decision;
use crate::files::{Disk, Open, RealDisk, replace};
use crate::run::RunStatus;
use commits::OpenRun;
use layout::{Layout, Place};
use problem::failed;
use state::State;

/// Keeps runs in a folder: a folder for each, with files that a person can read.
///
/// ```text
/// <store>/store.json                     says that this is a store, and its format
/// <store>/removed.json                   what is known of runs that were removed
/// <store>/locks/<run>.lock               held for the time of one operation
/// <store>/runs/<run>/state.json          the authority: what is small and new with each commit
/// <store>/runs/<run>/spec.json           what the run was created with
/// <store>/runs/<run>/messages.jsonl      its messages
/// <store>/runs/<run>/calls.jsonl         its calls that are settled; those that are open are in the state
/// <store>/runs/<run>/decisions.jsonl     the decisions that were taken; those that wait are in the state
/// <store>/runs/<run>/trace.jsonl         its trace, for whatever reads traces
/// ```
///
/// A commit appends to the logs and syncs them, and then puts a new `state.json`, which has their lengths, in place of the
/// old one. It costs what it holds and the state, however long the run is. What a crash left behind the lengths is cut off
/// by the next commit, and [`repairs`](Self::repairs) tells of it.
///
/// Any number of processes may use one store; a lock keeps two operations on one run apart. It is meant for one machine, and
/// for as many runs as one looks through: each list, and each claim without a name, reads the states of all runs, and each
/// load and page of a trace reads the logs of its run from their beginning. For more there are databases.
///
/// ```
/// use runstate::store::{Claim, FileStore, NewRun, RunStore, StoreError};
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
/// assert_eq!(store.claim(&Claim::any("me", 0, 1_000)).await?.unwrap().fence, 1);
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
}

#[derive(Debug)]
struct Inner {
    disk: Arc<dyn Disk>,
    layout: Layout,
    /// What was cut off. Held for a moment, never over an await.
    repairs: Mutex<Vec<String>>,
    news: Notify,
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
        let layout = Layout::open(&*disk, folder.into())?;
        let (repairs, news) = (Mutex::default(), Notify::new());
        Ok(FileStore { inner: Arc::new(Inner { disk, layout, repairs, news }) })
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

    /// Does what blocks on a thread that may block. When this future is dropped, work that has not begun is not begun.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner, &Wanted) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let wanted = Wanted(Arc::new(AtomicBool::new(true)));
        let (inner, here) = (Arc::clone(&self.inner), wanted.clone());
        let _unwanted = Unwanted(wanted);
        match tokio::task::spawn_blocking(move || work(&inner, &here)).await {
            Ok(done) => done,
            Err(error) => Err(StoreError::failed(error)),
        }
    }

    /// Does something with a run that is there, under its lock.
    async fn with<T: Send + 'static>(
        &self,
        run: &str,
        work: impl FnOnce(&mut OpenRun<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let run = run.to_owned();
        self.work(move |inner, wanted| inner.with(&run, wanted, work)).await
    }
}

/// Does anybody wait for the work? Looked at under the lock, so that what was given up is not done behind what came after.
#[derive(Clone)]
struct Wanted(Arc<AtomicBool>);

impl Wanted {
    fn check(&self) -> Result<(), StoreError> {
        if self.0.load(Ordering::SeqCst) {
            return Ok(());
        }
        Err(StoreError::unavailable("nobody waits for it any more"))
    }
}

struct Unwanted(Wanted);

impl Drop for Unwanted {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::SeqCst);
    }
}

impl Inner {
    /// The state of a run, as it is at the moment.
    fn state(&self, run: &str) -> Result<Option<State>, StoreError> {
        let place = self.layout.run(run);
        let state = State::read(&*self.disk, &place)?;
        if let Some(state) = &state {
            state.is_of(run, &place.state())?;
        }
        Ok(state)
    }

    fn with<T>(
        &self,
        run: &str,
        wanted: &Wanted,
        work: impl FnOnce(&mut OpenRun<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let no_run = || StoreError::NoRun { run: run.to_owned() };
        // Locks are not made for what nobody has.
        self.state(run)?.ok_or_else(no_run)?;
        let place = self.layout.run(run);
        let _lock = place.lock(&*self.disk)?;
        wanted.check()?;
        let state = self.state(run)?.ok_or_else(no_run)?;
        work(&mut OpenRun { disk: &*self.disk, place, state })
    }

    fn create(&self, new: &NewRun, wanted: &Wanted) -> Result<(), StoreError> {
        let taken = || StoreError::Taken { run: new.id.clone() };
        let place = self.layout.run(&new.id);
        let _lock = place.lock(&*self.disk)?;
        wanted.check()?;
        if self.state(&new.id)?.is_some() {
            return Err(taken());
        }
        place.make(&*self.disk)?;
        for log in LOGS {
            // What a run of that id left that was removed, or never was, is none of this one.
            let path = place.log(log);
            self.disk.open(&path, Open::Write).map(drop).map_err(failed(&path))?;
        }
        let (path, mut spec) =
            (place.spec(), serde_json::to_vec_pretty(&new.spec).map_err(StoreError::failed)?);
        spec.push(b'\n');
        replace(&*self.disk, &path, &spec).map_err(failed(&path))?;
        State::created(new, self.first_fence()?).write(&*self.disk, &place)
    }

    fn claim_any(&self, claim: &Claim, wanted: &Wanted) -> Result<Option<Lease>, StoreError> {
        let mut ready = self.states()?;
        ready.retain(|state| state.can_go_on(claim.now_ms));
        ready.sort_by(|a, b| (a.changed_at_ms, &a.id).cmp(&(b.changed_at_ms, &b.id)));
        for state in ready {
            // Somebody may have taken it meanwhile.
            let claimed = self.with(&state.id, wanted, |run| {
                if !run.state.can_go_on(claim.now_ms) {
                    return Ok(None);
                }
                let lease = run.state.lease(claim);
                run.save()?;
                Ok(Some(lease))
            });
            match claimed {
                Ok(None) | Err(StoreError::NoRun { .. }) => {}
                claimed => return claimed,
            }
        }
        Ok(None)
    }

    /// First the state, with which the run is gone; what is left then is nobody's.
    fn remove(&self, place: &Place) -> Result<(), StoreError> {
        let path = place.state();
        self.disk.remove(&path).map_err(failed(&path))?;
        self.disk.sync_folder(&place.folder).map_err(failed(&place.folder))?;
        for name in self.disk.list(&place.folder).unwrap_or_default() {
            self.disk.remove(&place.folder.join(name)).ok();
        }
        self.disk.remove_folder(&place.folder).ok();
        Ok(())
    }

    fn repaired(&self, cut: Vec<String>) {
        let mut repairs = self.repairs.lock().unwrap_or_else(PoisonError::into_inner);
        let room = REPAIRS.saturating_sub(repairs.len());
        repairs.extend(cut.into_iter().take(room));
    }
}

const LOGS: [&str; 4] = ["messages", "calls", "decisions", "trace"];

#[async_trait]
impl RunStore for FileStore {
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        let run = run.clone();
        self.work(move |inner, wanted| inner.create(&run, wanted)).await?;
        self.inner.news.notify_waiters();
        Ok(())
    }

    async fn load(&self, run: &str) -> Result<Loaded, StoreError> {
        self.with(run, |run| run.load()).await
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        let claim = claim.clone();
        let Some(run) = claim.run.clone() else {
            return self.work(move |inner, wanted| inner.claim_any(&claim, wanted)).await;
        };
        let claimed = self.with(&run, move |run| {
            run.state.is_held(claim.now_ms)?;
            let lease = run.state.lease(&claim);
            run.save()?;
            Ok(Some(lease))
        });
        claimed.await
    }

    async fn renew(&self, lease: &Lease, until_ms: u64) -> Result<(), StoreError> {
        let wanted = lease.clone();
        let renewed = self.with(&lease.run, move |run| {
            run.state.is_fenced(&wanted)?;
            run.state.renew(until_ms);
            run.save()
        });
        renewed.await
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        let (mine, release) = (lease.clone(), release.clone());
        let released = self.with(&lease.run, move |run| {
            if run.state.is_fenced(&mine).is_err() {
                return Ok(());
            }
            run.state.give_back();
            (run.state.not_before_ms, run.state.problem) = (release.not_before_ms, release.problem);
            run.save()
        });
        let released = match released.await {
            Err(StoreError::NoRun { .. }) => Ok(()),
            released => released,
        };
        self.inner.news.notify_waiters();
        released
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        let (mine, commit) = (lease.clone(), commit.clone());
        let cut = self.with(&lease.run, move |run| run.commit(&mine, &commit)).await?;
        self.inner.repaired(cut);
        Ok(())
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        let posted = decision.clone();
        let posted = self.with(&decision.run_id, move |run| run.post(&posted)).await;
        self.inner.news.notify_waiters();
        posted
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        let reason = reason.to_owned();
        let noted = self.with(run, move |run| {
            if run.state.status == RunStatus::Done || run.state.cancel.is_some() {
                return Ok(false);
            }
            run.state.cancel = Some(reason);
            run.save()?;
            Ok(true)
        });
        let noted = noted.await;
        self.inner.news.notify_waiters();
        noted
    }

    async fn mail(&self, run: &str) -> Result<Mail, StoreError> {
        let run = run.to_owned();
        let mail = self.work(move |inner, _| {
            let state = inner.state(&run)?.ok_or(StoreError::NoRun { run })?;
            Ok(state.mail())
        });
        mail.await
    }

    /// What other processes bring is seen when the patience is over, and what this handle brings at once.
    async fn news(&self, patience: Duration) -> Result<(), StoreError> {
        // Longer than patience is no error: nothing came.
        drop(tokio::time::timeout(patience, self.inner.news.notified()).await);
        Ok(())
    }

    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        let query = query.clone();
        self.work(move |inner, _| inner.runs(&query)).await
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        let query = query.clone();
        self.work(move |inner, _| inner.approvals(&query)).await
    }

    async fn due(&self, now_ms: u64, limit: usize) -> Result<Vec<Timer>, StoreError> {
        self.work(move |inner, _| inner.due(now_ms, limit)).await
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        self.with(run, move |run| run.trace(after, limit)).await
    }

    async fn remove(&self, run: &str, now_ms: u64) -> Result<bool, StoreError> {
        let run = run.to_owned();
        let removed = self.work(move |inner, wanted| {
            inner.with(&run, wanted, |run| {
                run.state.is_held(now_ms)?;
                inner.note_removed(run.state.fence)?;
                inner.remove(&run.place)
            })
        });
        match removed.await {
            Err(StoreError::NoRun { .. }) => Ok(false),
            removed => removed.map(|()| true),
        }
    }
}

impl fmt::Debug for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wanted({})", self.0.load(Ordering::SeqCst))
    }
}
