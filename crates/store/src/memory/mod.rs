//! A store of runs in memory.

mod kept;
mod runs;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use kept::{MemoryRun, Posting};
use runs::Runs;
use runstate::decision::Decision;
use runstate_runtime::clock::{Clock, unix_clock};

use super::changes::{self, ChangeCursor, Changes};
use super::commit::{Commit, EventRow, PendingQuestion, TraceRow};
use super::decide::Posted;
use super::error::StoreError;
use super::lease::{Claim, Lease, Release};
use super::load::Parts;
use super::news::ChangeNotifier;
use super::query::{Approval, ApprovalFilter, ApprovalQuery, RunInfo, RunQuery, Timer};
use super::thread::{Superseded, UserMessage};
use super::time::{Now, Ticking};
use super::{NewRun, PendingSignals, RunData, RunLists, RunQueue};

/// A store of runs in memory. For tests, and for runs that several tasks of one process drive. It is the reference
/// for other stores. Each list scans all runs.
///
/// ```
/// use std::time::Duration;
/// use runstate_runtime::clock::SetClock;
/// use runstate_store::{Claim, MemoryStore, NewRun, RunData, RunQueue, StoreError};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let clock = SetClock::at(0);
/// let store = MemoryStore::with_clock(clock.clone());
/// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
///
/// let second = Duration::from_secs(1);
/// let lease = store.claim(&Claim::of("r1", "me", second)).await?.unwrap();
/// assert_eq!(lease.fence, 1);
///
/// // Until the lease expires, no other holder can claim the run.
/// clock.set(999);
/// let refused = store.claim(&Claim::of("r1", "you", second)).await.unwrap_err();
/// assert!(matches!(refused, StoreError::Held { left, .. } if left == Duration::from_millis(1)));
/// clock.set(1_000);
/// assert_eq!(store.claim(&Claim::any("you", second)).await?.unwrap().fence, 2);
///
/// // From then on the older lease is refused.
/// let refused = store.renew(&lease, second).await.unwrap_err();
/// assert!(matches!(refused, StoreError::Fenced { fence: 1, current: 2, .. }));
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MemoryStore {
    clock: Ticking,
    /// Locked for one operation, never across an await.
    runs: Mutex<Runs>,
    news: ChangeNotifier,
    committed: ChangeNotifier,
}

impl Default for MemoryStore {
    /// Creates an empty store with the clock of the machine.
    fn default() -> Self {
        Self::with_clock(unix_clock())
    }
}

impl MemoryStore {
    /// Creates an empty store with that clock.
    pub fn with_clock(clock: impl Clock + 'static) -> Self {
        MemoryStore {
            clock: Ticking::of(clock),
            runs: Mutex::default(),
            news: ChangeNotifier::default(),
            committed: ChangeNotifier::default(),
        }
    }

    fn now(&self) -> Now {
        Now::of(&*self.clock)
    }

    fn lock(&self) -> MutexGuard<'_, Runs> {
        // Only a bug panics under the lock. The rows are consistent even then.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        run: &str,
        work: impl FnOnce(&mut MemoryRun) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.lock().by_id.get_mut(run) {
            Some(kept) => work(kept),
            None => Err(StoreError::NoRun { run: run.to_owned() }),
        }
    }
}

#[async_trait]
impl RunData for MemoryStore {
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        let mut runs = self.lock();
        if runs.is_given(&run.id) {
            return Err(StoreError::Taken { run: run.id.clone() });
        }
        let message = run.begins_with.as_ref().filter(|message| **message != run.id);
        if let Some(message) = message.filter(|message| runs.is_given(message)) {
            return Err(StoreError::Taken { run: message.clone() });
        }
        match &run.thread {
            Some(place) => {
                runs.is_free(place)?;
                runs.threads.entry(place.thread.clone()).or_default().push(run.id.clone());
            }
            None if runs.last_of_thread(&run.id).is_some() => {
                return Err(StoreError::Taken { run: run.id.clone() });
            }
            None => {}
        }
        runs.given.extend(message.cloned());
        runs.by_id.insert(run.id.clone(), MemoryRun::new(run, self.now()));
        self.news.tell();
        Ok(())
    }

    async fn is_given(&self, run: &str) -> Result<bool, StoreError> {
        Ok(self.lock().is_given(run))
    }

    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        self.with(run, |kept| Ok(kept.parts(self.now())))
    }

    async fn last_of_thread(&self, thread: &str) -> Result<Option<String>, StoreError> {
        Ok(self.lock().last_of_thread(thread).map(|kept| kept.info.id.clone()))
    }

    async fn supersede(&self, run: &str, message: &UserMessage) -> Result<Superseded, StoreError> {
        let superseded = {
            let mut runs = self.lock();
            let is_given = runs.is_given(&message.id);
            let kept = runs.by_id.get_mut(run).ok_or_else(|| StoreError::NoRun { run: run.to_owned() })?;
            if is_given {
                return Ok(Superseded::Duplicate);
            }
            let superseded = kept.supersede(message);
            if superseded == Superseded::Accepted {
                runs.given.insert(message.id.clone());
            }
            superseded
        };
        if superseded == Superseded::Accepted {
            self.news.tell();
        }
        Ok(superseded)
    }

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.with(&lease.run, |kept| {
            kept.check(lease, commit)?;
            kept.store(lease, commit, self.now());
            Ok(())
        })?;
        self.committed.tell();
        Ok(())
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        let posted = self.with(&decision.run_id, |kept| {
            if kept.decisions.iter().any(|kept| kept.decision.decision_id == decision.decision_id) {
                return Ok(Posted::Duplicate);
            }
            if kept.is_decided(&decision.suspension_id).is_some() {
                return Ok(Posted::Conflict);
            }
            let waits = kept.open().any(|(row, waits, _)| {
                row.name == decision.call && waits.suspension.id == decision.suspension_id
            });
            if !waits {
                return Ok(Posted::NotWaiting);
            }
            kept.decisions.push(Posting { decision: decision.clone(), is_taken: false });
            Ok(Posted::Accepted)
        });
        // A refused decision sends no notification: a worker would wake itself again and again.
        if matches!(posted, Ok(Posted::Accepted)) {
            self.news.tell();
        }
        posted
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        let noted = self.with(run, |kept| Ok(kept.cancel(reason)));
        if matches!(noted, Ok(true)) {
            self.news.tell();
        }
        noted
    }

    async fn pending_signals(&self, run: &str) -> Result<PendingSignals, StoreError> {
        self.with(run, |kept| {
            let untaken = kept.decisions.iter().filter(|kept| !kept.is_taken);
            let decisions = untaken.map(|kept| kept.decision.clone()).collect();
            Ok(PendingSignals::new(decisions, kept.info.cancel.clone()).with_message(kept.message.clone()))
        })
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        self.with(run, |kept| {
            let rows = kept.trace.range(after.saturating_add(1)..).take(limit);
            Ok(rows.map(|(seq, json)| TraceRow { seq: *seq, json: json.clone() }).collect())
        })
    }

    async fn events(&self, run: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        self.with(run, |kept| {
            let rows = kept.events.range(after.saturating_add(1)..).take(limit);
            Ok(rows.map(|(_, row)| row.clone()).collect())
        })
    }
}

#[async_trait]
impl RunLists for MemoryStore {
    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        let now = self.now();
        let runs = self.lock();
        let place = |info: &RunInfo| (info.created_at_ms, info.id.clone());
        let mut found: Vec<RunInfo> = runs
            .by_id
            .values()
            .map(|kept| kept.info(now))
            .filter(|info| query.status.is_none_or(|status| status == info.status))
            .filter(|info| query.changed_before_ms.is_none_or(|at| info.changed_at_ms < at))
            .filter(|info| !query.held || info.holder.is_some())
            .filter(|info| query.after.as_ref().is_none_or(|behind| place(info) < *behind))
            .collect();
        found.sort_by_key(|info| std::cmp::Reverse(place(info)));
        found.truncate(query.limit);
        Ok(found)
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        let now = self.now();
        let runs = self.lock();
        let mut found = Vec::new();
        for (run, kept) in &runs.by_id {
            for (row, waits, lapses) in kept.open() {
                let is_meant = match &query.about {
                    ApprovalFilter::All => true,
                    ApprovalFilter::Run(id) => id == run,
                    ApprovalFilter::Call(call) => *call == row.name || *call == row.id,
                    ApprovalFilter::Suspension(id) => *id == waits.suspension.id,
                };
                let place = (run.clone(), row.name.clone());
                if is_meant && query.after.as_ref().is_none_or(|behind| place > *behind) {
                    found.push((
                        place,
                        row.tool.clone(),
                        waits.clone(),
                        now.left_of(&waits.suspension, lapses),
                    ));
                }
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.truncate(query.limit);
        let approval = |((run, call), tool, waits, left): (_, _, PendingQuestion, _)| {
            let arguments = runstate::json::from_str(&waits.arguments).map_err(StoreError::failed)?;
            Ok(Approval::new(run, call, tool, arguments, waits.suspension).leaving(left))
        };
        found.into_iter().map(approval).collect()
    }

    async fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError> {
        let now = self.now();
        let runs = self.lock();
        let open = runs.by_id.iter().flat_map(|(run, kept)| kept.open().map(move |open| (run, open)));
        let lapsed = open.filter(|(_, (_, waits, lapses))| {
            now.left_of(&waits.suspension, *lapses).is_some_and(|left| left.is_zero())
        });
        let mut due: Vec<_> = lapsed
            .map(|(run, (row, waits, _))| {
                let timer = Timer::new(run.clone(), row.name.clone(), waits.suspension.id.clone());
                (waits.suspension.expires_at_ms, timer)
            })
            .collect();
        due.sort_by(|(at, a), (other, b)| (at, &a.run, &a.call).cmp(&(other, &b.run, &b.call)));
        due.truncate(limit);
        Ok(due.into_iter().map(|(_, timer)| timer).collect())
    }

    async fn remove(&self, run: &str) -> Result<bool, StoreError> {
        let now = self.now();
        let mut runs = self.lock();
        if let Some(kept) = runs.by_id.get(run) {
            kept.is_held(now)?;
            if let Some(by) = runs.behind(kept) {
                return Err(StoreError::Continued { run: run.to_owned(), by: by.clone() });
            }
        }
        let removed = runs.by_id.remove(run);
        if let Some(place) = removed.as_ref().and_then(|kept| kept.thread.as_ref())
            && let Some(on_it) = runs.threads.get_mut(&place.thread)
        {
            on_it.pop();
            if on_it.is_empty() {
                runs.threads.remove(&place.thread);
            }
        }
        let removed = removed.is_some();
        if removed {
            runs.given.insert(run.to_owned());
        }
        Ok(removed)
    }
}

#[async_trait]
impl RunQueue for MemoryStore {
    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        let now = self.now();
        if let Some(run) = &claim.run {
            return self.with(run, |kept| kept.is_held(now).map(|()| Some(kept.lease(claim, now))));
        }
        let mut runs = self.lock();
        let ready = runs.by_id.values_mut().filter(|kept| kept.can_go_on(now));
        let first =
            ready.min_by(|a, b| (a.info.changed_at_ms, &a.info.id).cmp(&(b.info.changed_at_ms, &b.info.id)));
        Ok(first.map(|kept| kept.lease(claim, now)))
    }

    async fn renew(&self, lease: &Lease, term: Duration) -> Result<(), StoreError> {
        let until = self.now().after(term);
        self.with(&lease.run, |kept| kept.is_fenced(lease).map(|()| kept.renew(until)))
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        let given_back = self.with(&lease.run, |kept| {
            let is_mine = kept.is_fenced(lease).is_ok();
            if is_mine {
                kept.give_back(release, self.now());
            }
            Ok(is_mine)
        });
        if matches!(given_back, Ok(true)) {
            self.news.tell();
        }
        match given_back {
            Err(StoreError::NoRun { .. }) => Ok(()),
            given_back => given_back.map(|_| ()),
        }
    }

    async fn commit_and_release(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.with(&lease.run, |kept| {
            kept.check(lease, commit)?;
            kept.store(lease, commit, self.now());
            kept.give_back(&Release::clean().with_lost_claims_reset(), self.now());
            Ok(())
        })?;
        self.committed.tell();
        self.news.tell();
        Ok(())
    }

    async fn changed_since(&self, seen: u64, patience: Duration) -> Result<u64, StoreError> {
        Ok(self.news.wait(seen, patience).await)
    }

    async fn changes(&self, cursor: &ChangeCursor, timeout: Duration) -> Result<Changes, StoreError> {
        changes::by_lists(self, cursor, timeout, Some(&self.committed)).await
    }
}
