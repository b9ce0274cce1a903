//! All runs of a store in memory, with their threads.

use std::collections::{BTreeMap, HashMap, HashSet};

use runstate::run::RunStatus;

use super::super::error::StoreError;
use super::super::thread::ThreadPlace;
use super::kept::MemoryRun;

#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) by_id: BTreeMap<String, MemoryRun>,
    /// The ids of the removed runs, and those of messages.
    pub(super) given: HashSet<String>,
    /// The runs with a position on a thread, in order.
    pub(super) threads: HashMap<String, Vec<String>>,
}

impl Runs {
    pub(super) fn is_given(&self, run: &str) -> bool {
        self.by_id.contains_key(run) || self.given.contains(run)
    }

    /// Returns the next run on the thread.
    pub(super) fn behind(&self, kept: &MemoryRun) -> Option<&String> {
        let id = &kept.info.id;
        match &kept.thread {
            Some(place) => self.threads.get(&place.thread)?.iter().skip_while(|run| *run != id).nth(1),
            None => self.threads.get(id)?.first(),
        }
    }

    pub(super) fn last_of_thread(&self, thread: &str) -> Option<&MemoryRun> {
        let placed = self.threads.get(thread).and_then(|runs| self.by_id.get(runs.last()?));
        placed.or_else(|| self.by_id.get(thread).filter(|kept| kept.thread.is_none()))
    }

    /// Checks that a run may take that position.
    pub(super) fn is_free(&self, place: &ThreadPlace) -> Result<(), StoreError> {
        let last = self.last_of_thread(&place.thread);
        match last {
            None if place.after.is_none() => Ok(()),
            Some(last)
                if place.after.as_ref() == Some(&last.info.id) && last.info.status == RunStatus::Done =>
            {
                Ok(())
            }
            None => Err(StoreError::NoRun { run: place.after.clone().unwrap_or_default() }),
            Some(last) => Err(StoreError::Busy {
                thread: place.thread.clone(),
                run: last.info.id.clone(),
                status: last.info.status,
            }),
        }
    }
}
