//! Runs from their beginning to their end, as the store of reference has them.

use std::sync::Arc;

use runstate::run::RunStatus;
use runstate_sqlite::SqliteStore;
use runstate_store::{MemoryStore, RunData, RunQuery, RunStore};

use crate::drive::{Plot, approve_all, create, drive, waiting};

#[tokio::test]
async fn a_run_that_asks_is_what_the_store_of_reference_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let stores: [Arc<dyn RunStore>; 2] =
        [Arc::new(SqliteStore::open(&path).unwrap()), Arc::new(MemoryStore::default())];
    let plot = Plot::asking(2, 2);
    let mut seen = Vec::new();
    for store in &stores {
        let mut told = Vec::new();
        create(store, "r1").await;
        told.push(format!("{:?}", store.load("r1").await.unwrap()));
        loop {
            let loaded = drive(store, "r1", plot).await;
            told.push(format!("{loaded:?}\n{:?}", waiting(store).await));
            if loaded.info.status == RunStatus::Done {
                break;
            }
            assert_eq!(approve_all(store).await, 2);
            told.push(format!("{:?}", store.pending_signals("r1").await.unwrap()));
        }
        told.push(format!("{:?}", store.trace("r1", 0, 10_000).await.unwrap()));
        told.push(format!("{:?}", store.runs(&RunQuery::all(10)).await.unwrap()));
        seen.push(told);
    }
    assert_eq!(seen[0].len(), 1 + 3 + 2 + 2);
    for (ours, reference) in seen[0].iter().zip(&seen[1]) {
        assert_eq!(ours, reference);
    }

    // And a process that opens the file later finds all of it.
    drop(stores);
    let store = SqliteStore::open(&path).unwrap();
    let trace = store.trace("r1", 0, 10_000).await.unwrap();
    assert_eq!(format!("{trace:?}"), seen[1][6]);
}
