//! What every store has to do, each time with handles of their own on one file.

use std::sync::Arc;

use runstate::store::RunStore;
use runstate::testing::store::Bench;
use runstate_sqlite::SqliteStore;
use tempfile::TempDir;

struct Folder(TempDir);

#[runstate::agent::async_trait]
impl Bench for Folder {
    async fn store(&self) -> Arc<dyn RunStore> {
        Arc::new(SqliteStore::open(self.0.path().join("runs.db")).unwrap())
    }
}

runstate::store_conformance!(async { Folder(tempfile::tempdir().unwrap()) });
