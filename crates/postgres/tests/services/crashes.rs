//! Changes during crashes of the server, and their syncs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use runstate::service_run::ServiceRunStatus::Running;
use runstate_postgres::PostgresStore;
use runstate_service::{ServiceStore, ServiceStoreError};

use super::{change, create};
use crate::cluster::{self, soon};
use crate::faults::{syncs, syncs_behind};

/// Makes changes until an error other than that of an unreachable server.
async fn write(store: Arc<dyn ServiceStore>, acknowledged: Arc<AtomicU64>) -> ServiceStoreError {
    loop {
        let version = match store.load("r1").await {
            Ok(run) => run.version,
            Err(ServiceStoreError::Unavailable(_)) => {
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            }
            Err(error) => return error,
        };
        match store.compare_and_set("r1", version, &change("r1", Running, "next")).await {
            Ok(version) => acknowledged.store(version, Ordering::SeqCst),
            Err(ServiceStoreError::Unavailable(_)) => {}
            Err(error) => return error,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn acknowledged_change_survives_a_crash_of_the_server_with_all_its_rows() {
    let Some(server) = cluster::own(&[]) else { return };
    let server = Arc::new(server);
    let store: Arc<dyn ServiceStore> =
        Arc::new(PostgresStore::connect(server.url("postgres").parse().unwrap()).await.unwrap());
    create(&*store, "r1").await;
    let acknowledged = Arc::new(AtomicU64::new(1));
    let writer = tokio::spawn(write(Arc::clone(&store), Arc::clone(&acknowledged)));
    for _ in 0..3 {
        let before = acknowledged.load(Ordering::SeqCst);
        soon(async {
            while acknowledged.load(Ordering::SeqCst) < before + 20 {
                assert!(!writer.is_finished());
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        let server = Arc::clone(&server);
        let restart = move || {
            server.stop("QUIT").unwrap();
            server.again().unwrap();
        };
        tokio::task::spawn_blocking(restart).await.unwrap();
    }
    let last = acknowledged.load(Ordering::SeqCst);
    soon(async {
        while acknowledged.load(Ordering::SeqCst) == last {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    // The end of the store ends the writer.
    let acknowledged_before_the_read = acknowledged.load(Ordering::SeqCst);
    writer.abort();
    drop(writer.await);
    let run = store.load("r1").await.unwrap();
    assert!(run.version >= acknowledged_before_the_read, "{} of {acknowledged_before_the_read}", run.version);
    let steps = store.steps("r1", 0, usize::MAX).await.unwrap();
    let numbers: Vec<u64> = steps.iter().map(|step| step.seq).collect();
    assert!(numbers.len() as u64 >= run.version, "{} of {}", numbers.len(), run.version);
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert!(server.log().contains("automatic recovery in progress"), "the server crashed");
}

#[tokio::test]
async fn change_is_synced_once_despite_server_settings() {
    let settings = ["synchronous_commit=off", "wal_writer_delay=10s", "autovacuum=off"];
    let Some(server) = cluster::own(&settings) else { return };
    let url = server.url("postgres");
    let store = PostgresStore::connect(url.parse().unwrap()).await.unwrap();
    create(&store, "r1").await;
    drop(store);
    let before = syncs(&url).await;
    let store = PostgresStore::connect(url.parse().unwrap()).await.unwrap();
    for version in 1..=200 {
        store.compare_and_set("r1", version, &change("r1", Running, "next")).await.unwrap();
    }
    drop(store);
    let counted = syncs_behind(&url, before, 200).await;
    assert!((200..=210).contains(&counted), "{counted} syncs of the log for 200 changes");
}
