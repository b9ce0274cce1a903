//! What a worker tells its host of runs that cannot be read, and of a store that is away.

use std::collections::BTreeSet;

use super::super::RunLists;
use super::super::error::StoreError;
use super::super::query::CorruptEntry;
use super::Executor;

/// Tells a host of what cannot be read, of each thing once; and once that the store is away, why, and that it is back.
pub(super) struct Trouble<'h> {
    host: &'h dyn Executor,
    has_looked: bool,
    /// As many as there are damaged runs.
    told: BTreeSet<CorruptEntry>,
    /// Why the store cannot be reached, as the host was told.
    away: Option<String>,
}

impl<'h> Trouble<'h> {
    pub(super) fn of(host: &'h dyn Executor) -> Self {
        Trouble { host, has_looked: false, told: BTreeSet::new(), away: None }
    }

    pub(super) fn has_never_looked(&self) -> bool {
        !self.has_looked
    }

    /// Looks what the store cannot read, and tells what is new.
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

    /// The store could not be reached. It is told where that was not so before, or was for another reason.
    pub(super) fn is_away(&mut self, error: &StoreError) {
        let why = error.to_string();
        if self.away.as_ref() != Some(&why) {
            self.host.on_store_error(error);
            self.away = Some(why);
        }
    }

    /// The store was reached. It is told where it could not be before.
    pub(super) fn is_back(&mut self) {
        if self.away.take().is_some() {
            self.host.on_store_recovered();
        }
    }
}
