//! Receivers of the events of runs.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runstate::run::RunStatus;
use serde::Deserialize;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::RunStore;
use super::commit::EventRow;
use super::error::StoreError;

/// The rows of one query.
const PAGE: usize = 1_024;
/// The number of rows by which a receiver may lag before it reads the store itself.
const BEHIND: usize = 1_024;
/// The longest wait for a change. After it each run with receivers is checked, since a run may have been removed.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The shortest pause between two attempts at a store that fails. It doubles up to `LONGEST_PAUSE`.
const LEAST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Distributes the stored events of runs to any number of receivers.
///
/// All receivers of a run share one query a change. A slow or new receiver reads the store itself until it is up to
/// date, and slows no other. A receiver misses no event, whichever process drives the run.
///
/// If the acknowledgement of a commit is lost and the run continues, the commit is repeated with other events. A
/// receiver may already have the events of the first try. It gets those of the second from its current number on.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use runstate_store::{Claim, Feed, MemoryStore, NewRun, RunData, RunQueue, RunStore, StoreError};
/// # use runstate_store_conformance::Played;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// # runtime.block_on(async {
/// # let played = Played::new("r1", &[]).await;
/// # let commits = played.commits();
/// let store: Arc<dyn RunStore> = Arc::new(MemoryStore::default());
/// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
/// let feed = Feed::new(Arc::clone(&store));
/// let mut receiver = feed.watch("r1", 0);
/// let lease = store.claim(&Claim::of("r1", "me", Duration::from_secs(60))).await?.unwrap();
/// for commit in commits {
///     store.commit(&lease, commit).await?;
/// }
/// let mut last = 0;
/// while let Some(row) = receiver.next().await? {
///     assert_eq!(row.seq, last + 1);
///     last = row.last;
/// }
/// assert!(last > 5); // the run is over
///
/// // A receiver that comes back gets the events that it has not seen.
/// assert_eq!(feed.watch("r1", last - 1).next().await?.unwrap().seq, last);
///
/// // A run that does not exist has no events.
/// assert!(matches!(feed.watch("r2", 0).next().await, Err(StoreError::NoRun { .. })));
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Feed {
    shared: Arc<Shared>,
    task: AbortHandle,
}

struct Shared {
    store: Arc<dyn RunStore>,
    /// Locked for a few steps, never across an await.
    runs: Mutex<HashMap<String, Followed>>,
    /// Whether the task that distributes rows has ended.
    is_over: AtomicBool,
}

/// A run with receivers.
struct Followed {
    /// A row; or none, which makes each receiver read the store itself.
    rows: broadcast::Sender<Option<Arc<EventRow>>>,
    /// The number of the last event that up-to-date receivers got. None while no receiver is up to date.
    last: Option<u64>,
    /// The number of changes while no receiver was up to date.
    changes: u64,
}

impl Followed {
    /// Adds a receiver that has read all events up to `known` and wants those after `last`, which may be larger.
    /// Returns whether the receiver is up to date, so that it gets later events from the channel.
    fn joins(&mut self, known: u64, last: u64, seen: u64) -> bool {
        match self.last {
            // A commit was made after the receiver began to read, and no receiver got its events.
            None if self.changes != seen => return false,
            None => self.last = Some(known),
            // The store has fewer events than were distributed: a backup was restored. Receivers skip rows that they
            // get twice.
            Some(given) if given > last => self.last = Some(known),
            // The receiver subscribed before it read, so rows since then are in its channel.
            Some(_) => {}
        }
        true
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Followed>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of the last distributed event of a run with receivers.
    fn last_of(&self, run: &str) -> Option<u64> {
        let mut runs = self.lock();
        let followed = runs.get_mut(run)?;
        if followed.rows.receiver_count() == 0 {
            runs.remove(run);
            return None;
        }
        followed.changes += u64::from(followed.last.is_none());
        followed.last
    }

    /// Makes the receivers of these runs read the store themselves.
    fn nudge(&self, is_meant: impl Fn(&str) -> bool) {
        for (_, followed) in self.lock().iter().filter(|(run, _)| is_meant(run)) {
            // An error means that the run has no receiver.
            followed.rows.send(None).ok();
        }
    }

    /// Makes the receivers that have read, or are reading, read again: a commit before the first cursor is not
    /// distributed.
    fn distrust_reads(&self) {
        for followed in self.lock().values_mut() {
            match followed.last {
                Some(_) => drop(followed.rows.send(None)),
                None => followed.changes += 1,
            }
        }
    }

    /// Distributes the new events of a run to its receivers. The receivers meet an error of the run themselves.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn give_new(&self, run: &str, was_committed: bool) -> Result<(), StoreError> {
        while let Some(last) = self.last_of(run) {
            let page = match self.store.events(run, last, PAGE).await {
                Ok(page) => page,
                Err(error @ StoreError::Unavailable(_)) => return Err(error),
                Err(_) => {
                    self.nudge(|one| one == run);
                    return Ok(());
                }
            };
            let is_all = page.len() < PAGE;
            // A commit has events. A committed run without an event after its last number has a forged number, and
            // may have ended. Receivers find themselves that a run cannot be read.
            let is_over = was_committed
                && page.is_empty()
                && match self.is_done(run).await {
                    Err(error @ StoreError::Unavailable(_)) => return Err(error),
                    is_done => is_done.unwrap_or(true),
                };
            if is_over {
                self.nudge(|one| one == run);
            }
            if let Some(followed) = self.lock().get_mut(run) {
                for row in page {
                    followed.last = followed.last.max(Some(row.last));
                    followed.rows.send(Some(Arc::new(row))).ok();
                }
            }
            if is_all {
                return Ok(());
            }
            // Receivers take the rows that are there before more come.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Returns whether the run is `Done`.
    ///
    /// # Errors
    /// The errors of the store.
    async fn is_done(&self, run: &str) -> Result<bool, StoreError> {
        self.store.parts(run).await.map(|parts| parts.info.status == RunStatus::Done)
    }

    async fn follow(&self) {
        let (mut cursor, mut pause) = (None, LEAST_PAUSE);
        let mut looked = Instant::now();
        loop {
            let told = async {
                let Some(after) = &cursor else {
                    let current = self.store.current_cursor().await?;
                    self.distrust_reads();
                    return Ok(current);
                };
                let changes = self.store.changes(after, LONGEST_WAIT).await?;
                let committed: HashSet<_> = changes.runs.into_iter().map(|(run, _)| run).collect();
                let mut runs: Vec<_> = committed.iter().cloned().collect();
                if looked.elapsed() >= LONGEST_WAIT {
                    looked = Instant::now();
                    runs = self.lock().keys().cloned().collect();
                }
                for run in runs {
                    self.give_new(&run, committed.contains(&run)).await?;
                }
                Ok::<_, StoreError>(changes.cursor)
            };
            match told.await {
                Ok(behind) => (cursor, pause) = (Some(behind), LEAST_PAUSE),
                Err(_) => {
                    // Each receiver meets the error when it reads, or gets the stored rows.
                    self.nudge(|_| true);
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }
}

/// A guard that ends all receivers when the distributing task ends in any way.
struct Ends(Arc<Shared>);

impl Drop for Ends {
    fn drop(&mut self) {
        let mut runs = self.0.lock();
        self.0.is_over.store(true, Ordering::Relaxed);
        runs.clear();
    }
}

impl Feed {
    /// Creates a feed and starts to follow the changes of a store.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn new(store: Arc<dyn RunStore>) -> Self {
        let shared = Arc::new(Shared { store, runs: Mutex::default(), is_over: AtomicBool::new(false) });
        let following = Ends(Arc::clone(&shared));
        let task = tokio::spawn(async move { following.0.follow().await }).abort_handle();
        Feed { shared, task }
    }

    /// Returns a receiver of the events of a run after the number `after`. 0 is the beginning.
    pub fn watch(&self, run: impl Into<String>, after: u64) -> RunEvents {
        let run = run.into();
        let mut runs = self.shared.lock();
        let followed = runs.entry(run.clone()).or_insert_with(|| Followed {
            rows: broadcast::Sender::new(BEHIND),
            last: None,
            changes: 0,
        });
        let rows = followed.rows.subscribe();
        if self.shared.is_over.load(Ordering::Relaxed) {
            // Its channel closes here, so the receiver ends once it has read the store.
            runs.remove(&run);
        }
        drop(runs);
        let (shared, page) = (Arc::clone(&self.shared), VecDeque::new());
        RunEvents {
            shared,
            run,
            rows,
            last: after,
            known: 0,
            page,
            is_behind: true,
            is_new: true,
            is_over: false,
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
        // Receivers end once they have taken the rows in their channels.
        self.shared.lock().clear();
    }
}

/// A receiver of the events of one run.
pub struct RunEvents {
    shared: Arc<Shared>,
    run: String,
    rows: broadcast::Receiver<Option<Arc<EventRow>>>,
    /// The number of the last event that was returned.
    last: u64,
    /// The number of the last event that was read. A receiver may begin after the last event of its run.
    known: u64,
    /// Rows that were read from the store.
    page: VecDeque<Arc<EventRow>>,
    /// Whether the store may have events that the receiver has not read.
    is_behind: bool,
    /// Whether the receiver has read nothing yet.
    is_new: bool,
    is_over: bool,
}

impl RunEvents {
    /// Returns the next event. None after the end of the run, and none once the feed is dropped.
    ///
    /// Rows follow each other without a gap: each begins after the last number of the row before. A row that a
    /// receiver has seen in part is returned whole.
    ///
    /// # Errors
    /// The errors of the store. The next call continues at the same position.
    ///
    /// # Cancel safety
    /// Cancel safe: an event that was not returned is returned by the next call.
    pub async fn next(&mut self) -> Result<Option<Arc<EventRow>>, StoreError> {
        loop {
            while let Some(row) = self.page.pop_front() {
                if let Some(row) = self.take(row) {
                    return Ok(Some(row));
                }
            }
            if self.is_over {
                return Ok(None);
            }
            if self.is_behind {
                self.read().await?;
                continue;
            }
            match self.rows.recv().await {
                Ok(Some(row)) if row.seq <= self.last.saturating_add(1) => {
                    if let Some(row) = self.take(row) {
                        return Ok(Some(row));
                    }
                }
                // The feed asks for a read, other receivers are ahead, or this receiver lagged.
                Ok(_) | Err(RecvError::Lagged(_)) => self.is_behind = true,
                Err(RecvError::Closed) => self.is_over = true,
            }
        }
    }

    /// Reads a page of the store. A receiver that begins after the last event also finds the end of the run.
    async fn read(&mut self) -> Result<(), StoreError> {
        let after = if self.is_new { self.last.saturating_sub(1) } else { self.last };
        let seen = self.shared.lock().get(&self.run).map_or(0, |followed| followed.changes);
        let mut page = self.shared.store.events(&self.run, after, PAGE).await?;
        if page.is_empty() && self.shared.is_done(&self.run).await? {
            // The run may have ended between the two reads. A run without events here is of an earlier version, or
            // the number is after its end.
            page = self.shared.store.events(&self.run, after, PAGE).await?;
            self.is_over = page.is_empty();
        }
        self.is_new = false;
        let is_all = page.len() < PAGE;
        self.known = page.last().map_or(self.known, |row| row.last);
        self.page = page.into_iter().map(Arc::new).collect();
        if is_all {
            let mut runs = self.shared.lock();
            // Without the entry the feed is dropped; the closed channel shows that.
            let last = self.last.max(self.known);
            self.is_behind =
                runs.get_mut(&self.run).is_some_and(|followed| !followed.joins(self.known, last, seen));
        }
        Ok(())
    }

    /// Returns the row if it ends after the last returned event.
    fn take(&mut self, row: Arc<EventRow>) -> Option<Arc<EventRow>> {
        self.is_over |= is_end(&row);
        self.known = self.known.max(row.last);
        (row.last > self.last).then(|| {
            self.last = row.last;
            row
        })
    }
}

impl Drop for RunEvents {
    fn drop(&mut self) {
        let mut runs = self.shared.lock();
        // The receiver itself is one of those counted.
        if runs.get(&self.run).is_some_and(|followed| followed.rows.receiver_count() <= 1) {
            runs.remove(&self.run);
        }
    }
}

/// The fields that show the end of a run.
#[derive(Deserialize)]
struct Ended {
    #[serde(rename = "type")]
    kind: String,
    status: RunStatus,
}

/// Returns whether the event is the end of a run, after which no event follows.
fn is_end(row: &EventRow) -> bool {
    let ended = row.json.contains("run_finished").then(|| runstate::json::from_str::<Ended>(&row.json).ok());
    ended.flatten().is_some_and(|ended| ended.kind == "run_finished" && ended.status == RunStatus::Done)
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("store", &self.store).field("runs", &self.lock().len()).finish()
    }
}

impl fmt::Debug for RunEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunEvents").field("run", &self.run).field("last", &self.last).finish_non_exhaustive()
    }
}
