//! Runs that last as long as their process.

mod kept;

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::commit::{Commit, TraceRow, Waits};
use super::decide::Posted;
use super::error::StoreError;
use super::lease::{Claim, Lease, Release};
use super::load::Parts;
use super::news::News;
use super::query::{About, Approval, ApprovalQuery, Holder, RunInfo, RunQuery, Timer};
use super::{Mail, NewRun, RunStore};
use crate::decision::Decision;
use crate::run::RunStatus;
use kept::{Kept, Posting};

/// Keeps runs in memory: for tests, and for runs that several tasks of one process drive. It is what other stores are held
/// against, and looks at all runs for each list.
///
/// ```
/// use runstate::store::{Claim, MemoryStore, NewRun, RunStore, StoreError};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let store = MemoryStore::default();
/// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
///
/// let lease = store.claim(&Claim::of("r1", "me", 0, 1_000)).await?.unwrap();
/// assert_eq!(lease.fence, 1);
///
/// // Until the lease is over nobody else has the run.
/// let refused = store.claim(&Claim::of("r1", "you", 999, 2_000)).await.unwrap_err();
/// assert!(matches!(refused, StoreError::Held { until_ms: 1_000, .. }));
/// assert_eq!(store.claim(&Claim::any("you", 1_000, 2_000)).await?.unwrap().fence, 2);
///
/// // From then on who had it before can do nothing with it.
/// let refused = store.renew(&lease, 3_000).await.unwrap_err();
/// assert!(matches!(refused, StoreError::Fenced { fence: 1, current: 2, .. }));
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore {
    /// Held for the time of one operation, never over an await.
    runs: Mutex<Runs>,
    news: News,
}

#[derive(Debug, Default)]
struct Runs {
    by_id: BTreeMap<String, Kept>,
    /// The ids of the runs that were removed.
    removed: HashSet<String>,
}

impl Runs {
    fn is_given(&self, run: &str) -> bool {
        self.by_id.contains_key(run) || self.removed.contains(run)
    }
}

impl MemoryStore {
    fn lock(&self) -> MutexGuard<'_, Runs> {
        // Nothing panics while it is held but a bug; what is there is whole all the same.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        run: &str,
        work: impl FnOnce(&mut Kept) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.lock().by_id.get_mut(run) {
            Some(kept) => work(kept),
            None => Err(StoreError::NoRun { run: run.to_owned() }),
        }
    }
}

#[async_trait]
impl RunStore for MemoryStore {
    async fn create(&self, run: &NewRun) -> Result<(), StoreError> {
        let mut runs = self.lock();
        if runs.is_given(&run.id) {
            return Err(StoreError::Taken { run: run.id.clone() });
        }
        runs.by_id.insert(run.id.clone(), Kept::new(run));
        self.news.tell();
        Ok(())
    }

    async fn is_given(&self, run: &str) -> Result<bool, StoreError> {
        Ok(self.lock().is_given(run))
    }

    async fn parts(&self, run: &str) -> Result<Parts, StoreError> {
        self.with(run, |kept| Ok(kept.parts()))
    }

    async fn claim(&self, claim: &Claim) -> Result<Option<Lease>, StoreError> {
        if let Some(run) = &claim.run {
            return self.with(run, |kept| match &kept.info.holder {
                Some(Holder { name, until_ms }) if *until_ms > claim.now_ms => {
                    let (run, holder) = (run.clone(), name.clone());
                    Err(StoreError::Held { run, holder, until_ms: *until_ms })
                }
                _ => Ok(Some(kept.lease(claim))),
            });
        }
        let mut runs = self.lock();
        let ready = runs.by_id.values_mut().filter(|kept| kept.can_go_on(claim.now_ms));
        let first =
            ready.min_by(|a, b| (a.info.changed_at_ms, &a.info.id).cmp(&(b.info.changed_at_ms, &b.info.id)));
        Ok(first.map(|kept| kept.lease(claim)))
    }

    async fn renew(&self, lease: &Lease, until_ms: u64) -> Result<(), StoreError> {
        self.with(&lease.run, |kept| {
            kept.is_fenced(lease)?;
            if let Some(holder) = &mut kept.info.holder {
                holder.until_ms = until_ms;
            }
            Ok(())
        })
    }

    async fn release(&self, lease: &Lease, release: &Release) -> Result<(), StoreError> {
        let given_back = self.with(&lease.run, |kept| {
            let is_mine = kept.is_fenced(lease).is_ok();
            if is_mine {
                kept.info.holder = None;
                kept.info.not_before_ms = release.not_before_ms;
                kept.info.problem.clone_from(&release.problem);
                kept.end_claim(true);
                if release.pardons {
                    kept.info.lost = 0;
                }
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

    async fn commit(&self, lease: &Lease, commit: &Commit) -> Result<(), StoreError> {
        self.with(&lease.run, |kept| {
            kept.check(lease, commit)?;
            kept.store(lease, commit);
            Ok(())
        })
    }

    async fn post(&self, decision: &Decision) -> Result<Posted, StoreError> {
        let posted = self.with(&decision.run_id, |kept| {
            if kept.decisions.iter().any(|kept| kept.decision.decision_id == decision.decision_id) {
                return Ok(Posted::Duplicate);
            }
            if kept.is_decided(&decision.suspension_id).is_some() {
                return Ok(Posted::Conflict);
            }
            let waits = kept.open().any(|row| {
                row.name == decision.call
                    && row.waits.as_ref().is_some_and(|waits| waits.suspension.id == decision.suspension_id)
            });
            if !waits {
                return Ok(Posted::NotWaiting);
            }
            kept.decisions.push(Posting { decision: decision.clone(), is_taken: false });
            Ok(Posted::Accepted)
        });
        // What was refused is no news: a worker would hear of itself again and again.
        if matches!(posted, Ok(Posted::Accepted)) {
            self.news.tell();
        }
        posted
    }

    async fn cancel(&self, run: &str, reason: &str) -> Result<bool, StoreError> {
        let noted = self.with(run, |kept| {
            let is_new = kept.info.status != RunStatus::Done && kept.info.cancel.is_none();
            if is_new {
                kept.info.cancel = Some(reason.to_owned());
                if kept.info.problem.is_some() {
                    kept.info.not_before_ms = None;
                }
            }
            Ok(is_new)
        });
        if matches!(noted, Ok(true)) {
            self.news.tell();
        }
        noted
    }

    async fn mail(&self, run: &str) -> Result<Mail, StoreError> {
        self.with(run, |kept| {
            let untaken = kept.decisions.iter().filter(|kept| !kept.is_taken);
            let decisions = untaken.map(|kept| kept.decision.clone()).collect();
            Ok(Mail { decisions, cancel: kept.info.cancel.clone() })
        })
    }

    async fn news(&self, seen: u64, patience: Duration) -> Result<u64, StoreError> {
        Ok(self.news.wait(seen, patience).await)
    }

    async fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        let runs = self.lock();
        let place = |info: &RunInfo| (info.created_at_ms, info.id.clone());
        let mut found: Vec<RunInfo> = runs
            .by_id
            .values()
            .map(|kept| &kept.info)
            .filter(|info| query.status.is_none_or(|status| status == info.status))
            .filter(|info| query.changed_before_ms.is_none_or(|at| info.changed_at_ms < at))
            .filter(|info| query.behind.as_ref().is_none_or(|behind| place(info) < *behind))
            .cloned()
            .collect();
        found.sort_by_key(|info| std::cmp::Reverse(place(info)));
        found.truncate(query.limit);
        Ok(found)
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        let runs = self.lock();
        let mut found = Vec::new();
        for (run, kept) in &runs.by_id {
            for row in kept.open() {
                let Some(waits) = &row.waits else { continue };
                let is_meant = match &query.about {
                    About::All => true,
                    About::Run(id) => id == run,
                    About::Call(call) => *call == row.name || *call == row.id,
                    About::Suspension(id) => *id == waits.suspension.id,
                };
                let place = (run.clone(), row.name.clone());
                if is_meant && query.behind.as_ref().is_none_or(|behind| place > *behind) {
                    found.push((place, row.tool.clone(), waits.clone()));
                }
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.truncate(query.limit);
        let approval = |((run, call), tool, waits): (_, _, Waits)| {
            let arguments = crate::json::from_str(&waits.arguments).map_err(StoreError::failed)?;
            Ok(Approval::new(run, call, tool, arguments, waits.suspension))
        };
        found.into_iter().map(approval).collect()
    }

    async fn due(&self, now_ms: u64, limit: usize) -> Result<Vec<Timer>, StoreError> {
        let runs = self.lock();
        let mut due: Vec<Timer> = runs
            .by_id
            .iter()
            .flat_map(|(run, kept)| kept.open().map(move |row| (run, row)))
            .filter_map(|(run, row)| {
                let suspension = &row.waits.as_ref()?.suspension;
                let at_ms = suspension.expires_at_ms.filter(|at| *at <= now_ms)?;
                Some(Timer::new(run.clone(), row.name.clone(), suspension.id.clone(), at_ms))
            })
            .collect();
        due.sort_by(|a, b| (a.at_ms, &a.run, &a.call).cmp(&(b.at_ms, &b.run, &b.call)));
        due.truncate(limit);
        Ok(due)
    }

    async fn trace(&self, run: &str, after: u64, limit: usize) -> Result<Vec<TraceRow>, StoreError> {
        self.with(run, |kept| {
            let rows = kept.trace.range(after.saturating_add(1)..).take(limit);
            Ok(rows.map(|(seq, json)| TraceRow { seq: *seq, json: json.clone() }).collect())
        })
    }

    async fn remove(&self, run: &str, now_ms: u64) -> Result<bool, StoreError> {
        let mut runs = self.lock();
        let holder = runs.by_id.get(run).and_then(|kept| kept.info.holder.clone());
        if let Some(Holder { name, until_ms }) = holder.filter(|holder| holder.until_ms > now_ms) {
            return Err(StoreError::Held { run: run.to_owned(), holder: name, until_ms });
        }
        let removed = runs.by_id.remove(run).is_some();
        if removed {
            runs.removed.insert(run.to_owned());
        }
        Ok(removed)
    }
}
