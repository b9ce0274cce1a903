//! What every store has to do, each time with handles of their own on one file.

use std::sync::Arc;

use runstate::store::RunStore;
use runstate::testing::store::Bench;
use tempfile::TempDir;

use crate::child::open;

struct Folder(TempDir);

#[runstate::agent::async_trait]
impl Bench for Folder {
    async fn store(&self) -> Arc<dyn RunStore> {
        open(&self.0.path().join("runs.db"))
    }
}

runstate::store_conformance!(async { Folder(tempfile::tempdir().unwrap()) });
