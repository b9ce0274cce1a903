//! Names that are empty, or that mean something elsewhere.

use std::sync::Arc;

use runstate_sqlite::SqliteStore;
use runstate_store::{ApprovalFilter, ApprovalQuery, MemoryStore, NewRun, RunQuery, RunStore};
use serde_json::json;

use crate::drive::{Plot, drive};

const ODD: [&str; 8] =
    ["", "%", "a\0b", "a'b\"c", "'; DROP TABLE runs; --", "../r", "\u{10FFFF}\u{301}", " "];

#[tokio::test]
async fn run_ids_may_have_odd_characters() {
    let folder = tempfile::tempdir().unwrap();
    let stores: [Arc<dyn RunStore>; 2] = [
        Arc::new(SqliteStore::open(folder.path().join("runs 'and' %.db")).unwrap()),
        Arc::new(MemoryStore::default()),
    ];
    let mut seen = Vec::new();
    for store in &stores {
        let mut told = Vec::new();
        for run in ODD {
            let new = NewRun::new(run, json!({ run: [1.5, null, run] }), 1).titled(run);
            store.create(&new).await.unwrap();
            told.push(format!("{:?}", drive(store, run, Plot::asking(1, 1)).await));
            let about = ApprovalQuery::new(ApprovalFilter::Run(run.to_owned()), 9);
            told.push(format!("{:?}", store.approvals(&about).await.unwrap()));
        }
        // Page by page, each run and each call comes once.
        let mut query = RunQuery::all(3);
        loop {
            let page = store.runs(&query).await.unwrap();
            let Some(last) = page.last() else { break };
            query = query.after(last);
            told.extend(page.iter().map(|run| run.id.clone()));
        }
        let mut query = ApprovalQuery::new(ApprovalFilter::Call("call_0_0".to_owned()), 3);
        loop {
            let page = store.approvals(&query).await.unwrap();
            let Some(last) = page.last() else { break };
            query = query.after(last);
            told.extend(page.iter().map(|approval| approval.run.clone()));
        }
        assert_eq!(told.len(), 4 * ODD.len());
        for run in ODD {
            assert!(store.remove(run).await.unwrap());
            assert!(!store.remove(run).await.unwrap());
        }
        seen.push(told);
    }
    for (ours, reference) in seen[0].iter().zip(&seen[1]) {
        assert_eq!(ours, reference);
    }
}
