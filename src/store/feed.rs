//! Receivers of the events of runs.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::AbortHandle;

use super::RunStore;
use super::changes::ChangeCursor;
use super::commit::EventRow;
use super::error::StoreError;
use crate::agent::event::{AgentEvent, EventKind};
use crate::run::RunStatus;

/// Rows of one query.
const PAGE: usize = 256;
/// Rows that a receiver may be behind before it reads the store by itself.
const BEHIND: usize = 256;
/// The longest wait for a change, and between two attempts at a store that fails.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Gives the stored events of runs to any number of receivers.
///
/// All receivers of a run share one query a change. A receiver that is slow or new reads the store by itself until it is up to date,
/// and slows no other. No receiver misses an event, whatever process drives the run.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use runstate::store::{Claim, Feed, MemoryStore, NewRun, RunStore, StoreError};
/// # use runstate::testing::store::Played;
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
/// // A receiver that comes back gets what it has not seen.
/// assert_eq!(feed.watch("r1", last - 1).next().await?.unwrap().seq, last);
///
/// // A run that is not there has no events.
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
    /// Held for a few steps, never over an await.
    runs: Mutex<HashMap<String, Followed>>,
}

/// A run with receivers.
struct Followed {
    rows: broadcast::Sender<Arc<EventRow>>,
    /// The number of the last event that was given to all of them, or that one of them has read.
    last: u64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Followed>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last event of a run with receivers. A run whose receivers are gone is forgotten.
    fn last_of(&self, run: &str) -> Option<u64> {
        let mut runs = self.lock();
        let followed = runs.get(run)?;
        if followed.rows.receiver_count() == 0 {
            runs.remove(run);
            return None;
        }
        Some(followed.last)
    }

    async fn give_new(&self, run: &str) -> Result<(), StoreError> {
        while let Some(last) = self.last_of(run) {
            let page = match self.store.events(run, last, PAGE).await {
                // It was removed. Receivers hear of it when they read.
                Err(StoreError::NoRun { .. }) => return Ok(()),
                page => page?,
            };
            let is_all = page.len() < PAGE;
            let mut runs = self.lock();
            let Some(followed) = runs.get_mut(run) else { return Ok(()) };
            for row in page {
                followed.last = followed.last.max(row.last);
                // Without a receiver it is given to none.
                followed.rows.send(Arc::new(row)).ok();
            }
            if is_all {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn follow(&self) {
        let (mut cursor, mut pause) = (ChangeCursor::default(), Duration::from_millis(100));
        loop {
            let told = async {
                let changes = self.store.changes(&cursor, LONGEST_WAIT).await?;
                for (run, _) in &changes.runs {
                    self.give_new(run).await?;
                }
                Ok::<_, StoreError>(changes.cursor)
            };
            match told.await {
                Ok(behind) => (cursor, pause) = (behind, Duration::from_millis(100)),
                // Receivers that read by themselves tell it. The others get the events once the store is back.
                Err(_) => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }
}

impl Feed {
    /// Begins to follow the changes of a store.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn new(store: Arc<dyn RunStore>) -> Self {
        let shared = Arc::new(Shared { store, runs: Mutex::default() });
        let following = Arc::clone(&shared);
        let task = tokio::spawn(async move { following.follow().await }).abort_handle();
        Feed { shared, task }
    }

    /// A receiver of the events of a run behind the number `after`; 0 is the beginning.
    pub fn watch(&self, run: impl Into<String>, after: u64) -> RunEvents {
        let run = run.into();
        let mut runs = self.shared.lock();
        let followed = runs
            .entry(run.clone())
            .or_insert_with(|| Followed { rows: broadcast::Sender::new(BEHIND), last: 0 });
        let rows = followed.rows.subscribe();
        drop(runs);
        let (shared, page) = (Arc::clone(&self.shared), VecDeque::new());
        RunEvents { shared, run, rows, last: after, page, is_behind: true, is_over: false }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
        // Receivers end once they have what was given.
        self.shared.lock().clear();
    }
}

/// A receiver of the events of one run.
pub struct RunEvents {
    shared: Arc<Shared>,
    run: String,
    rows: broadcast::Receiver<Arc<EventRow>>,
    /// The number of the last event that was given.
    last: u64,
    /// Rows that were read from the store.
    page: VecDeque<Arc<EventRow>>,
    /// Are there events in the store that it has not read?
    is_behind: bool,
    is_over: bool,
}

impl RunEvents {
    /// The next event; none behind the end of the run, and none once the feed is gone.
    ///
    /// Rows follow each other without a gap: each begins behind the last number of the row before. A row that a receiver has seen
    /// in part is given whole.
    ///
    /// # Errors
    /// Those of the store. The next call goes on from the same place.
    ///
    /// # Cancel safety
    /// Cancel safe: what was not returned is returned by the next call.
    pub async fn next(&mut self) -> Result<Option<Arc<EventRow>>, StoreError> {
        if self.is_over {
            return Ok(None);
        }
        loop {
            while let Some(row) = self.page.pop_front() {
                if row.last > self.last {
                    return Ok(Some(self.give(row)));
                }
            }
            if self.is_behind {
                let page = self.shared.store.events(&self.run, self.last, PAGE).await?;
                self.is_behind = page.len() == PAGE;
                self.page = page.into_iter().map(Arc::new).collect();
                let last = self.page.back().map_or(self.last, |row| row.last);
                if !self.is_behind
                    && let Some(followed) = self.shared.lock().get_mut(&self.run)
                {
                    followed.last = followed.last.max(last);
                }
                continue;
            }
            match self.rows.recv().await {
                Ok(row) if row.last <= self.last => {}
                Ok(row) if row.seq <= self.last + 1 => return Ok(Some(self.give(row))),
                // Others have read on, or it was too slow.
                Ok(_) | Err(RecvError::Lagged(_)) => self.is_behind = true,
                Err(RecvError::Closed) => {
                    self.is_over = true;
                    return Ok(None);
                }
            }
        }
    }

    fn give(&mut self, row: Arc<EventRow>) -> Arc<EventRow> {
        self.last = row.last;
        self.is_over = is_end(&row);
        row
    }
}

/// Is it the end of a run, behind which no event comes?
fn is_end(row: &EventRow) -> bool {
    let event =
        row.json.contains("run_finished").then(|| crate::json::from_str::<AgentEvent>(&row.json).ok());
    let kind = event.flatten().map(|event| event.kind);
    matches!(kind, Some(EventKind::RunFinished { status: RunStatus::Done, .. }))
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
