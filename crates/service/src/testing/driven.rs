//! A run that the driver takes from its request to confirmed transactions.

use std::sync::Arc;

use runstate::service_run::ServiceRunStatus;
use runstate_runtime::clock::SetClock;
use serde_json::Value;

use super::ServiceBench;
use super::world::{NOW, all_rows};
use crate::service::{Answers, NewServiceRun, Service, SubmittedBy};
use crate::sim::SimChain;
use crate::store::{MemoryServiceStore, ServiceStore, StoredRun};

/// The row of a run, and its other rows.
type Kept = (StoredRun, Value);

/// Drives a run from its request to confirmed transactions, with a question and a repeated request.
async fn driven(store: Arc<dyn ServiceStore>) -> Kept {
    let chain = SimChain::example();
    let clock = Arc::new(SetClock::at(NOW));
    let service = Service::new(Arc::clone(&store), chain.ports(), chain.config(), clock, "test");
    let new = NewServiceRun {
        id: "run_1".into(),
        intent: "send 5 USDC".into(),
        wallet: Some(SimChain::WALLET.into()),
        chain_id: Some(chain.id()),
    };
    service.create(new, "ada").await.unwrap();
    service.start("run_1", "ada").await.unwrap();
    assert_eq!(service.drive("run_1").await.unwrap().status, ServiceRunStatus::Paused);
    let answers = Answers { answers: [("recipient".into(), "0xbeef".into())].into(), ..Answers::default() };
    service.resume("run_1", &answers, "ada").await.unwrap();
    let run = service.drive_next().await.unwrap().unwrap();
    assert_eq!(run.status, ServiceRunStatus::AwaitingApproval);
    service.approve("run_1", run.digest.as_deref(), "fine", "bob").await.unwrap();
    let handout = service.execute("run_1", "ada").await.unwrap();
    let hash = chain.send(&serde_json::from_value(handout.tx_requests[0].clone()).unwrap());
    service.tx_submitted("run_1", &[hash], SubmittedBy::Manual, "ada").await.unwrap();
    chain.mine();
    assert_eq!(service.poll_tx("run_1", "ada").await.unwrap().status, ServiceRunStatus::Confirmed);
    assert!(service.drive_next().await.unwrap().is_none());
    (store.load("run_1").await.unwrap(), all_rows(&*store, "run_1").await)
}

pub(super) async fn driven_run_has_the_rows_of_the_store_in_memory(bench: &dyn ServiceBench) {
    let expected = driven(Arc::new(MemoryServiceStore::default())).await;
    let (run, rows) = driven(bench.store().await).await;
    assert_eq!(run, expected.0);
    assert_eq!(rows, expected.1);
    assert!(rows["events"].as_array().unwrap().len() > 50, "{rows}");
    // Another process reads the same.
    assert_eq!(bench.store().await.load("run_1").await.unwrap(), run);
}
