//! What every store has to do, each time with handles of their own on one file.

use std::sync::Arc;

use runstate_runtime::clock::SetClock;
use runstate_sqlite::SqliteStore;
use runstate_store::RunStore;
use runstate_store_conformance::Bench;
use tempfile::TempDir;

use crate::child::patient;

struct Folder(TempDir, SetClock);

#[runstate_agent::async_trait]
impl Bench for Folder {
    async fn store(&self) -> Arc<dyn RunStore> {
        let path = self.0.path().join("runs.db");
        Arc::new(SqliteStore::open_by(path, patient(), self.1.clone()).unwrap())
    }

    fn clock(&self) -> &SetClock {
        &self.1
    }
}

runstate_store_conformance::store_conformance!(async {
    Folder(tempfile::tempdir().unwrap(), SetClock::default())
});
