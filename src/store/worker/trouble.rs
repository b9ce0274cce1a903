//! What a worker tells its host of runs that cannot be read.

use std::collections::BTreeSet;

use super::super::RunStore;
use super::super::error::StoreError;
use super::super::query::Damage;
use super::Host;

/// Tells a host of what cannot be read, of each thing once.
pub(super) struct Trouble<'h> {
    host: &'h dyn Host,
    has_looked: bool,
    /// As many as there are damaged runs.
    told: BTreeSet<Damage>,
}

impl<'h> Trouble<'h> {
    pub(super) fn of(host: &'h dyn Host) -> Self {
        Trouble { host, has_looked: false, told: BTreeSet::new() }
    }

    pub(super) fn has_never_looked(&self) -> bool {
        !self.has_looked
    }

    /// Looks what the store cannot read, and tells what is new.
    pub(super) async fn look(&mut self, store: &dyn RunStore) -> Result<(), StoreError> {
        for damage in store.damaged().await? {
            self.tell(damage);
        }
        self.has_looked = true;
        Ok(())
    }

    pub(super) fn tell(&mut self, damage: Damage) {
        if !self.told.contains(&damage) {
            self.host.troubled(&damage.clone().into());
            self.told.insert(damage);
        }
    }
}
