//! Queries over all runs. An unreadable run is reported separately, and hides no other.

use std::cmp::Ordering;
use std::io::ErrorKind;
use std::sync::PoisonError;

use runstate_runtime::files::Open;

use super::super::decide::run_of_suspension;
use super::super::error::StoreError;
use super::super::query::{Approval, ApprovalFilter, ApprovalQuery, CorruptEntry, RunInfo, RunQuery, Timer};
use super::super::time::Now;
use super::Inner;
use super::index::Index;
use super::layout::Place;
use super::listed::Listed;
use super::lock::try_lock;
use super::problem::{failed, without_state};
use super::runs::LOGS;

impl Inner {
    /// Runs a query on the current states of all runs.
    pub(super) fn over_runs<T>(&self, look: impl FnOnce(&Index) -> T) -> Result<T, StoreError> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        index.refresh(&*self.disk, &self.layout, self.clock.boot())?;
        Ok(look(&index))
    }

    pub(super) fn runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        let now = self.now();
        self.over_runs(|index| {
            let is_behind =
                |info: &RunInfo, (at_ms, id): &(u64, String)| (info.created_at_ms, &info.id) < (*at_ms, id);
            let found = index
                .runs()
                .filter(|run| query.status.is_none_or(|status| status == run.info.status))
                .filter(|run| query.changed_before_ms.is_none_or(|at| run.info.changed_at_ms < at))
                .filter(|run| !query.held || run.is_held())
                .filter(|run| query.after.as_ref().is_none_or(|behind| is_behind(&run.info, behind)));
            let newest = |Listed { info: a, .. }: &&Listed, Listed { info: b, .. }: &&Listed| {
                (b.created_at_ms, &b.id).cmp(&(a.created_at_ms, &a.id))
            };
            first(found.collect(), query.limit, newest).into_iter().map(|run| run.info_at(now)).collect()
        })
    }

    pub(super) fn approvals(&self, query: &ApprovalQuery) -> Result<Vec<Approval>, StoreError> {
        let of = |run: &str| {
            let place = self.layout.run(run);
            let run = self.state(run)?.map(|state| Listed::of(&state, &place)).transpose()?;
            Ok::<_, StoreError>(page(run.iter(), query, self.now()))
        };
        match &query.about {
            ApprovalFilter::Run(run) => return of(run),
            // The id names the run that asked. The other runs are read only if that run does not wait.
            ApprovalFilter::Suspension(id) => {
                let found = run_of_suspension(id).map_or(Ok(Vec::new()), |run| of(&run));
                if let Ok(found) = found
                    && !found.is_empty()
                {
                    return Ok(found);
                }
            }
            ApprovalFilter::All | ApprovalFilter::Call(_) => {}
        }
        self.over_runs(|index| page(index.runs(), query, self.now()))
    }

    pub(super) fn due(&self, limit: usize) -> Result<Vec<Timer>, StoreError> {
        let now = self.now();
        let due = self.over_runs(|index| {
            let waiting = index.runs().flat_map(Listed::waiting);
            waiting.filter_map(|(run, waits)| waits.lapsed(run, now)).collect()
        })?;
        let due =
            first(due, limit, |(at, a), (other, b)| (at, &a.run, &a.call).cmp(&(other, &b.run, &b.call)));
        Ok(due.into_iter().map(|(_, timer)| timer).collect())
    }

    /// Returns the runs that may be claimed without a name, the longest waiting first.
    pub(super) fn ready(&self) -> Result<Vec<String>, StoreError> {
        let now = self.now();
        self.over_runs(|index| {
            let ready = index.runs().filter(|run| run.can_go_on(now)).map(|run| &run.info);
            let mut ready: Vec<_> = ready.map(|info| (info.changed_at_ms, info.id.clone())).collect();
            ready.sort_unstable();
            ready.into_iter().map(|(_, id)| id).collect()
        })
    }

    /// Returns the corrupt runs. Completes interrupted removals on the way.
    pub(super) fn corrupt_entries(&self) -> Result<Vec<CorruptEntry>, StoreError> {
        let (mut damaged, without): (Vec<CorruptEntry>, Vec<String>) = self.over_runs(|index| {
            (index.corrupt_entries().cloned().collect(), index.without_state().map(str::to_owned).collect())
        })?;
        for name in without {
            let place = self.layout.folder(&name);
            if (self.is_removed(&place) || self.may_have_rows(&place)) && self.has_lost_its_state(&place) {
                damaged.push(without_state(&place));
            }
        }
        damaged.extend(self.passed_over());
        Ok(damaged)
    }

    /// Returns whether a run has lost its state. The check takes the lock of the run: a process that holds it may be
    /// creating or removing the run.
    fn has_lost_its_state(&self, place: &Place) -> bool {
        // On a read-only disk no process creates or removes the run.
        let lock = match try_lock(&*self.disk, &place.lock) {
            Ok(None) => return false,
            lock => lock.ok().flatten(),
        };
        if self.disk.open(&place.state(), Open::Read).is_ok() {
            return false;
        }
        if self.is_removed(place) {
            // A failed cleanup does no harm.
            if lock.is_some() {
                self.clear(place).ok();
            }
            return false;
        }
        self.may_have_rows(place)
    }

    /// Returns whether the run may have rows. An unreadable log counts as a log with rows.
    fn may_have_rows(&self, place: &Place) -> bool {
        self.has_rows(place).unwrap_or(true)
    }

    /// Returns whether the run in that folder has rows. A run without rows was never driven: its loss costs only its
    /// name.
    pub(super) fn has_rows(&self, place: &Place) -> Result<bool, StoreError> {
        for log in LOGS {
            let path = place.log(log);
            match self.disk.open(&path, Open::Read).and_then(|mut log| log.is_empty()) {
                Ok(true) => {}
                Ok(false) => return Ok(true),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(error) => return Err(failed(&path)(error)),
            }
        }
        Ok(false)
    }
}

fn page<'r>(runs: impl Iterator<Item = &'r Listed>, query: &ApprovalQuery, now: Now) -> Vec<Approval> {
    let behind = query.after.as_ref();
    let found = runs.flat_map(Listed::waiting).filter(|(run, waits)| {
        waits.is_meant(&query.about) && behind.is_none_or(|(id, call)| (&run.id, &waits.call) > (id, call))
    });
    let found = first(found.collect(), query.limit, |(run, waits), (other, others)| {
        (&run.id, &waits.call).cmp(&(&other.id, &others.call))
    });
    found.into_iter().map(|(run, waits)| waits.approval(run, now)).collect()
}

/// Returns the first `limit` items in that order.
fn first<T>(mut all: Vec<T>, limit: usize, mut order: impl FnMut(&T, &T) -> Ordering) -> Vec<T> {
    if limit < all.len() {
        all.select_nth_unstable_by(limit, &mut order);
        all.truncate(limit);
    }
    all.sort_unstable_by(order);
    all
}
