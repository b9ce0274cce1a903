//! A store of service runs in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use runstate::service_run::ServiceRunStatus;
use runstate_runtime::clock::{Clock, unix_clock};
use tokio::sync::watch;

use super::{
    Change, KeyedAnswer, ListQuery, ListSort, PageRows, RequestKey, RunInfo, RunPage, ServiceChanges,
    ServiceCursor, ServiceLease, ServiceStore, ServiceStoreError, StoredRun,
};
use crate::rows::{EventRow, Numbered, Step, TimelineEntry};

type Stored<T> = Result<T, ServiceStoreError>;

/// A store of service runs in memory, for tests and for programs whose runs need not survive them. Each list scans all
/// runs.
///
/// ```
/// use runstate_service::{MemoryServiceStore, ServiceStore, ServiceStoreError};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let store = MemoryServiceStore::default();
/// assert!(matches!(store.load("run_1").await, Err(ServiceStoreError::NoRun { .. })));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct MemoryServiceStore {
    clock: Arc<dyn Clock>,
    /// Locked for one operation, never across an await.
    runs: Mutex<Runs>,
    changed: watch::Sender<u64>,
}

#[derive(Default)]
struct Runs {
    by_id: BTreeMap<String, Entry>,
    removed: BTreeSet<String>,
    /// The runs of the hashes.
    hashes: BTreeMap<String, String>,
    /// With the time of the change.
    answers: BTreeMap<RequestKey, (u64, KeyedAnswer)>,
    /// The number of the last change of any run.
    change: u64,
}

struct Entry {
    row: StoredRun,
    lease: Option<Held>,
    fence: u64,
    change: u64,
    steps: Vec<Step>,
    timeline: Vec<TimelineEntry>,
    events: Vec<EventRow>,
    trace: Vec<String>,
}

struct Held {
    holder: String,
    until_ms: u64,
}

impl Default for MemoryServiceStore {
    /// Creates an empty store with the clock of the machine.
    fn default() -> Self {
        Self::with_clock(unix_clock())
    }
}

impl MemoryServiceStore {
    /// Creates an empty store with that clock, which measures the leases.
    pub fn with_clock(clock: impl Clock + 'static) -> Self {
        MemoryServiceStore { clock: Arc::new(clock), runs: Mutex::default(), changed: watch::Sender::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Runs> {
        // Only a bug panics under the lock. The rows are consistent even then.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, run: &str, work: impl FnOnce(&mut Entry) -> Stored<T>) -> Stored<T> {
        let mut runs = self.lock();
        let entry = runs.by_id.get_mut(run);
        work(entry.ok_or_else(|| ServiceStoreError::NoRun { run: run.to_owned() })?)
    }

    fn until(&self, term: Duration) -> u64 {
        let term = u64::try_from(term.as_millis()).unwrap_or(u64::MAX);
        self.clock.ticks_ms().saturating_add(term)
    }

    /// Applies a change to the run, under a lease that is renewed until a time or given back.
    fn apply(
        &self,
        run: &str,
        version: u64,
        change: &Change,
        lease: Option<(&ServiceLease, Option<u64>)>,
    ) -> Stored<u64> {
        let mut runs = self.lock();
        let next = runs.change + 1;
        let refused = runs.key_taken(change).or_else(|| runs.hash_taken(run, change));
        let entry = runs.by_id.get_mut(run);
        let entry = entry.ok_or_else(|| ServiceStoreError::NoRun { run: run.to_owned() })?;
        if let Some((lease, _)) = lease {
            entry.check(lease)?;
        }
        let current = entry.row.version;
        if current != version {
            return Err(ServiceStoreError::Version { run: run.to_owned(), got: version, current });
        }
        if let Some(error) = refused {
            return Err(error);
        }
        match (&mut entry.lease, lease) {
            (Some(held), Some((_, Some(until_ms)))) => held.until_ms = until_ms,
            (held, Some((_, None))) => *held = None,
            _ => {}
        }
        entry.append(change, Some(entry.row.status));
        change.apply_to(&mut entry.row);
        entry.change = next;
        let version = entry.row.version;
        runs.note_answer(change);
        runs.hashes.extend(change.hashes.iter().map(|hash| (hash.clone(), run.to_owned())));
        runs.change = next;
        drop(runs);
        self.changed.send_replace(next);
        Ok(version)
    }
}

impl Runs {
    /// The error for a change whose request has an answer.
    fn key_taken(&self, change: &Change) -> Option<ServiceStoreError> {
        let RequestKey { principal, key } = &change.answer.as_ref()?.key;
        let (at_ms, _) = self.answers.get(&change.answer.as_ref()?.key)?;
        (at_ms.saturating_add(RequestKey::TERM_MS) > change.at_ms)
            .then(|| ServiceStoreError::KeyTaken { principal: principal.clone(), key: key.clone() })
    }

    /// The error for a change with a hash of another run.
    fn hash_taken(&self, run: &str, change: &Change) -> Option<ServiceStoreError> {
        let is_of_another = |hash: &&String| self.hashes.get(*hash).is_some_and(|owner| owner != run);
        let hash = change.hashes.iter().find(is_of_another)?.clone();
        Some(ServiceStoreError::HashTaken { hash })
    }

    fn note_answer(&mut self, change: &Change) {
        let Some(answer) = &change.answer else { return };
        self.answers.retain(|_, (at_ms, _)| at_ms.saturating_add(RequestKey::TERM_MS) > change.at_ms);
        self.answers.insert(answer.key.clone(), (change.at_ms, answer.clone()));
    }
}

impl Entry {
    fn append(&mut self, change: &Change, before: Option<ServiceRunStatus>) {
        self.events.extend(change.events(before));
        self.steps.extend(change.steps.iter().cloned());
        self.timeline.extend(change.timeline.iter().cloned());
        self.trace.extend(change.trace.iter().cloned());
    }

    /// The lease that is not over.
    fn held(&self, now_ms: u64) -> Option<&Held> {
        self.lease.as_ref().filter(|held| held.until_ms > now_ms)
    }

    fn check(&self, lease: &ServiceLease) -> Stored<()> {
        if lease.fence == self.fence && self.lease.is_some() {
            return Ok(());
        }
        let (run, fence, current) = (lease.run.clone(), lease.fence, self.fence);
        Err(ServiceStoreError::Fenced { run, fence, current })
    }
}

fn page<T: Clone>(rows: &[T], after: u64, limit: usize) -> Vec<Numbered<T>> {
    let after = usize::try_from(after).unwrap_or(usize::MAX);
    let rows = rows.iter().enumerate().skip(after).take(limit);
    rows.map(|(place, row)| Numbered { seq: place as u64 + 1, row: row.clone() }).collect()
}

#[async_trait]
impl ServiceStore for MemoryServiceStore {
    async fn create(&self, run: &str, change: &Change) -> Stored<()> {
        let mut runs = self.lock();
        if runs.by_id.contains_key(run) || runs.removed.contains(run) {
            return Err(ServiceStoreError::Taken { run: run.to_owned() });
        }
        if let Some(error) = runs.key_taken(change) {
            return Err(error);
        }
        runs.note_answer(change);
        runs.change += 1;
        let next = runs.change;
        let mut entry = Entry {
            row: change.first_row(run),
            lease: None,
            fence: 0,
            change: next,
            steps: Vec::new(),
            timeline: Vec::new(),
            events: Vec::new(),
            trace: Vec::new(),
        };
        entry.append(change, None);
        runs.by_id.insert(run.to_owned(), entry);
        drop(runs);
        self.changed.send_replace(next);
        Ok(())
    }

    async fn load(&self, run: &str) -> Stored<StoredRun> {
        self.with(run, |entry| Ok(entry.row.clone()))
    }

    async fn claim(&self, run: Option<&str>, holder: &str, term: Duration) -> Stored<Option<ServiceLease>> {
        let (now, until_ms) = (self.clock.ticks_ms(), self.until(term));
        let mut runs = self.lock();
        let entry = match run {
            Some(run) => {
                let entry = runs.by_id.get_mut(run);
                let entry = entry.ok_or_else(|| ServiceStoreError::NoRun { run: run.to_owned() })?;
                if let Some(held) = entry.held(now) {
                    let left = Duration::from_millis(held.until_ms - now);
                    let (run, holder) = (run.to_owned(), held.holder.clone());
                    return Err(ServiceStoreError::Held { run, holder, left });
                }
                Some(entry).filter(|entry| entry.row.status == ServiceRunStatus::Running)
            }
            None => {
                let waits = |entry: &&mut Entry| {
                    entry.row.status == ServiceRunStatus::Running && entry.held(now).is_none()
                };
                runs.by_id.values_mut().filter(waits).min_by_key(|entry| (entry.row.lost, entry.change))
            }
        };
        Ok(entry.map(|entry| {
            entry.fence += 1;
            entry.row.lost = entry.row.lost.saturating_add(1);
            entry.lease = Some(Held { holder: holder.to_owned(), until_ms });
            ServiceLease { run: entry.row.id.clone(), fence: entry.fence }
        }))
    }

    async fn renew(&self, lease: &ServiceLease, term: Duration) -> Stored<()> {
        let until_ms = self.until(term);
        self.with(&lease.run, |entry| {
            entry.check(lease)?;
            if let Some(held) = &mut entry.lease {
                held.until_ms = until_ms;
            }
            Ok(())
        })
    }

    async fn release(&self, lease: &ServiceLease) -> Stored<()> {
        self.with(&lease.run, |entry| {
            if entry.check(lease).is_ok() {
                entry.lease = None;
                entry.row.lost = entry.row.lost.saturating_sub(1);
            }
            Ok(())
        })
    }

    async fn commit(
        &self,
        lease: &ServiceLease,
        version: u64,
        change: &Change,
        term: Option<Duration>,
    ) -> Stored<u64> {
        let until_ms = term.map(|term| self.until(term));
        self.apply(&lease.run, version, change, Some((lease, until_ms)))
    }

    async fn compare_and_set(&self, run: &str, version: u64, change: &Change) -> Stored<u64> {
        self.apply(run, version, change, None)
    }

    async fn list(&self, query: &ListQuery) -> Stored<RunPage> {
        let runs = self.lock();
        let mut counts: BTreeMap<ServiceRunStatus, usize> = BTreeMap::new();
        let mut found: Vec<RunInfo> = Vec::new();
        for entry in runs.by_id.values().filter(|entry| query.matches(&entry.row)) {
            *counts.entry(entry.row.status).or_default() += 1;
            let info = RunInfo::from(&entry.row);
            if query.after.as_ref().is_none_or(|after| query.is_before(after, &query.position(&info))) {
                found.push(info);
            }
        }
        found.sort_by_key(|info| query.position(info));
        if query.sort != ListSort::Oldest {
            found.reverse();
        }
        let mut page = PageRows::new(query);
        // The first run behind the page shows that another page follows.
        found.into_iter().all(|info| page.push(info));
        let counts = counts.into_iter().map(|(status, count)| (Some(status.to_string()), count));
        Ok(page.finish(query.counts.then(|| counts.collect())))
    }

    async fn steps(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<Step>>> {
        self.with(run, |entry| Ok(page(&entry.steps, after, limit)))
    }

    async fn timeline(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<TimelineEntry>>> {
        self.with(run, |entry| Ok(page(&entry.timeline, after, limit)))
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<Numbered<EventRow>>> {
        self.with(run, |entry| Ok(page(&entry.events, after, limit)))
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Stored<Vec<String>> {
        let rows = self.with(run, |entry| Ok(page(&entry.trace, after, limit)))?;
        Ok(rows.into_iter().map(|line| line.row).collect())
    }

    async fn current_cursor(&self) -> Stored<ServiceCursor> {
        Ok(ServiceCursor::new(self.lock().change))
    }

    async fn changes(
        &self,
        cursor: ServiceCursor,
        limit: usize,
        timeout: Duration,
    ) -> Stored<ServiceChanges> {
        let mut changed = self.changed.subscribe();
        // A timeout is not an error: no run changed.
        drop(tokio::time::timeout(timeout, changed.wait_for(|change| *change > cursor.number())).await);
        let runs = self.lock();
        let mut since: Vec<&Entry> =
            runs.by_id.values().filter(|entry| entry.change > cursor.number()).collect();
        since.sort_by_key(|entry| entry.change);
        let last = if since.len() > limit {
            since.truncate(limit);
            since.last().map_or(cursor.number(), |entry| entry.change)
        } else {
            runs.change.max(cursor.number())
        };
        let ids = since.iter().map(|entry| entry.row.id.clone()).collect();
        Ok(ServiceChanges { runs: ids, cursor: ServiceCursor::new(last) })
    }

    async fn answer(&self, key: &RequestKey, now_ms: u64) -> Stored<Option<KeyedAnswer>> {
        let runs = self.lock();
        let answer = runs.answers.get(key);
        let answer = answer.filter(|(at_ms, _)| at_ms.saturating_add(RequestKey::TERM_MS) > now_ms);
        Ok(answer.map(|(_, answer)| answer.clone()))
    }

    async fn delete(&self, run: &str) -> Stored<()> {
        let now = self.clock.ticks_ms();
        let mut runs = self.lock();
        let entry = runs.by_id.get(run).ok_or_else(|| ServiceStoreError::NoRun { run: run.to_owned() })?;
        if let Some(held) = entry.held(now) {
            let left = Duration::from_millis(held.until_ms - now);
            let (run, holder) = (run.to_owned(), held.holder.clone());
            return Err(ServiceStoreError::Held { run, holder, left });
        }
        if !entry.row.status.is_terminal() {
            return Err(ServiceStoreError::NotOver { run: run.to_owned(), status: entry.row.status });
        }
        runs.by_id.remove(run);
        runs.removed.insert(run.to_owned());
        Ok(())
    }
}

impl fmt::Debug for MemoryServiceStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryServiceStore").field("runs", &self.lock().by_id.len()).finish_non_exhaustive()
    }
}
