//! Runs that are skipped because of a problem with their files. They block no other run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::super::error::StoreError;
use super::super::query::CorruptEntry;
use super::Inner;
use super::lock::{Lock, Pauses, lock, try_lock};
use super::problem::kept;
use super::work::Wanted;

/// The runs that were skipped.
#[derive(Debug, Default)]
pub(super) struct SkippedRuns {
    /// Locks with an unsuccessful wait. An operation waits for such a lock again only after the lock was free.
    kept: BTreeSet<PathBuf>,
    /// The runs that the last claim without a name could not read or write.
    refused: Vec<CorruptEntry>,
}

const A_MOMENT: Duration = Duration::from_millis(1);

impl Inner {
    /// Takes a lock. Waits for it once.
    pub(super) fn lock(&self, path: &Path, wanted: &Wanted) -> Result<Lock, StoreError> {
        let take = |patience| lock(&*self.disk, path, Pauses::of(patience), || wanted.check());
        let locked = if self.is_kept(path) {
            take(Duration::ZERO).or_else(|error| {
                // The lock may have been free a moment ago, and be used by another operation of this process. That
                // operation notes it.
                thread::sleep(A_MOMENT);
                if self.is_kept(path) { Err(error) } else { take(wanted.patience()) }
            })
        } else {
            take(wanted.patience())
        };
        match &locked {
            Ok(_) => self.note_free(path),
            Err(StoreError::Unavailable(_)) if wanted.check().is_ok() => self.note_kept(path),
            Err(_) => {}
        }
        locked
    }

    pub(super) fn is_kept(&self, lock: &Path) -> bool {
        self.passed().kept.contains(lock)
    }

    /// Notes an unsuccessful wait for a lock.
    pub(super) fn note_kept(&self, lock: &Path) {
        self.passed().kept.insert(lock.to_owned());
    }

    /// Notes that a lock was free.
    pub(super) fn note_free(&self, lock: &Path) {
        self.passed().kept.remove(lock);
    }

    /// Notes the runs that a claim without a name could not read or write.
    pub(super) fn note_refused(&self, refused: Vec<CorruptEntry>) {
        self.passed().refused = refused;
    }

    /// Returns the problems of skipped runs that still exist.
    pub(super) fn passed_over(&self) -> Vec<CorruptEntry> {
        let mut looked = self.passed().kept.clone();
        looked.retain(|path| matches!(try_lock(&*self.disk, path), Ok(None)));
        let mut passed = self.passed();
        passed.kept.retain(|path| looked.contains(path));
        looked.iter().map(|path| kept(path)).chain(passed.refused.iter().cloned()).collect()
    }

    fn passed(&self) -> MutexGuard<'_, SkippedRuns> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
