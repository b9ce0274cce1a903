//! Reports to the executor: corrupt runs, and a store that cannot be reached.

use std::collections::BTreeSet;

use super::super::RunLists;
use super::super::error::StoreError;
use super::super::query::CorruptEntry;
use super::Executor;

/// Reports each corrupt entry once. Also reports once that the store cannot be reached, with the reason, and that it
/// has recovered.
pub(super) struct Trouble<'h> {
    host: &'h dyn Executor,
    has_looked: bool,
    /// The reported entries: as many as there are corrupt runs.
    told: BTreeSet<CorruptEntry>,
    /// The reported reason for which the store cannot be reached.
    away: Option<String>,
}

impl<'h> Trouble<'h> {
    pub(super) fn of(host: &'h dyn Executor) -> Self {
        Trouble { host, has_looked: false, told: BTreeSet::new(), away: None }
    }

    pub(super) fn has_never_looked(&self) -> bool {
        !self.has_looked
    }

    /// Reads the corrupt entries of the store and reports new ones.
    pub(super) async fn look(&mut self, store: &dyn RunLists) -> Result<(), StoreError> {
        for damage in store.corrupt_entries().await? {
            self.tell(damage);
        }
        self.has_looked = true;
        Ok(())
    }

    pub(super) fn tell(&mut self, damage: CorruptEntry) {
        if !self.told.contains(&damage) {
            self.host.on_store_error(&damage.clone().into());
            self.told.insert(damage);
        }
    }

    /// Reports a store that cannot be reached, if the failure or its reason is new.
    pub(super) fn is_away(&mut self, error: &StoreError) {
        let why = error.to_string();
        if self.away.as_ref() != Some(&why) {
            self.host.on_store_error(error);
            self.away = Some(why);
        }
    }

    /// Reports a recovered store, if its failure was reported.
    pub(super) fn is_back(&mut self) {
        if self.away.take().is_some() {
            self.host.on_store_recovered();
        }
    }
}
