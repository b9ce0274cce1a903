//! Leases and fencing tokens.

use std::time::Duration;

use runstate::service_run::ServiceRunStatus;

use super::ServiceBench;
use super::world::{NOW, all_rows, bare, change, create};
use crate::store::{ServiceLease, ServiceStore, ServiceStoreError};

const RUNNING: ServiceRunStatus = ServiceRunStatus::Running;
const SECOND: Duration = Duration::from_secs(1);

async fn claim(store: &dyn ServiceStore, holder: &str) -> Option<ServiceLease> {
    match store.claim(Some("run_1"), holder, SECOND).await {
        Ok(lease) => Some(lease.expect("the run is RUNNING")),
        Err(ServiceStoreError::Held { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

pub(super) async fn lease_excludes_other_drivers(bench: &dyn ServiceBench) {
    let (store, other) = (bench.store().await, bench.store().await);
    create(&*store, "run_1", RUNNING).await;
    claim(&*store, "me").await.unwrap();
    bench.clock().set(NOW + 400);
    let error = other.claim(Some("run_1"), "you", SECOND).await.unwrap_err();
    let ServiceStoreError::Held { run, holder, left } = error else { panic!("{error}") };
    assert_eq!((run.as_str(), holder.as_str(), left), ("run_1", "me", Duration::from_millis(600)));
    assert_eq!(other.claim(None, "you", SECOND).await.unwrap(), None);
    bench.clock().set(NOW + 1_000);
    assert!(claim(&*other, "you").await.is_some(), "the term is over");
}

pub(super) async fn renewed_lease_lasts_longer(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    let lease = claim(&*store, "me").await.unwrap();
    bench.clock().set(NOW + 500);
    store.renew(&lease, SECOND).await.unwrap();
    bench.clock().set(NOW + 1_499);
    assert!(claim(&*store, "you").await.is_none());
    bench.clock().set(NOW + 1_500);
    assert!(claim(&*store, "you").await.is_some());
}

pub(super) async fn commit_renews_the_lease(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    let lease = claim(&*store, "me").await.unwrap();
    bench.clock().set(NOW + 500);
    assert_eq!(store.commit(&lease, 1, &change("run_1", RUNNING), Some(SECOND)).await.unwrap(), 2);
    bench.clock().set(NOW + 1_499);
    assert!(claim(&*store, "you").await.is_none());
    bench.clock().set(NOW + 1_500);
    assert!(claim(&*store, "you").await.is_some());
}

pub(super) async fn commit_gives_the_run_back(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    let lease = claim(&*store, "me").await.unwrap();
    store.commit(&lease, 1, &change("run_1", RUNNING), None).await.unwrap();
    assert!(claim(&*store, "you").await.is_some());
}

pub(super) async fn each_lease_has_a_higher_fence(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    let mut last = 0;
    for _ in 0..3 {
        let lease = claim(&*store, "me").await.unwrap();
        assert!(lease.fence > last);
        last = lease.fence;
        store.release(&lease).await.unwrap();
    }
}

pub(super) async fn older_lease_writes_nothing(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    let old = claim(&*store, "me").await.unwrap();
    bench.clock().set(NOW + 1_000);
    let new = claim(&*store, "you").await.unwrap();
    let (run, rows) = (store.load("run_1").await.unwrap(), all_rows(&*store, "run_1").await);
    let fenced = |error: ServiceStoreError| match error {
        ServiceStoreError::Fenced { fence, current, .. } => {
            assert_eq!((fence, current), (old.fence, new.fence))
        }
        other => panic!("{other}"),
    };
    fenced(store.commit(&old, 1, &change("run_1", RUNNING), Some(SECOND)).await.unwrap_err());
    fenced(store.renew(&old, SECOND).await.unwrap_err());
    assert_eq!(store.load("run_1").await.unwrap(), run);
    assert_eq!(all_rows(&*store, "run_1").await, rows);
    store.commit(&new, 1, &change("run_1", RUNNING), Some(SECOND)).await.unwrap();
}

pub(super) async fn released_lease_writes_nothing(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    let lease = claim(&*store, "me").await.unwrap();
    store.release(&lease).await.unwrap();
    let fenced = |error: ServiceStoreError| {
        assert!(matches!(error, ServiceStoreError::Fenced { .. }), "{error}");
    };
    fenced(store.renew(&lease, SECOND).await.unwrap_err());
    fenced(store.commit(&lease, 1, &change("run_1", RUNNING), Some(SECOND)).await.unwrap_err());
    let lease = claim(&*store, "me").await.unwrap();
    store.commit(&lease, 1, &change("run_1", RUNNING), None).await.unwrap();
    fenced(store.commit(&lease, 2, &change("run_1", RUNNING), None).await.unwrap_err());
}

pub(super) async fn lease_whose_term_is_over_lasts_until_the_next_claim(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    let lease = claim(&*store, "me").await.unwrap();
    bench.clock().set(NOW + 5_000);
    store.renew(&lease, SECOND).await.unwrap();
    assert!(claim(&*store, "you").await.is_none());
    bench.clock().set(NOW + 9_000);
    assert_eq!(store.commit(&lease, 1, &change("run_1", RUNNING), Some(SECOND)).await.unwrap(), 2);
}

pub(super) async fn lost_leases_are_counted_until_a_change(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    for lost in 1..=3_u32 {
        bench.clock().set(NOW + 1_000 * u64::from(lost));
        claim(&*store, "me").await.unwrap();
        assert_eq!(store.load("run_1").await.unwrap().lost, lost);
    }
    bench.clock().set(NOW + 9_000);
    let lease = claim(&*store, "me").await.unwrap();
    store.release(&lease).await.unwrap();
    assert_eq!(store.load("run_1").await.unwrap().lost, 3, "a lease that was given back is not lost");
    let lease = claim(&*store, "me").await.unwrap();
    store.commit(&lease, 1, &change("run_1", RUNNING), None).await.unwrap();
    assert_eq!(store.load("run_1").await.unwrap().lost, 0);
}

pub(super) async fn claim_of_any_takes_lost_runs_last(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    for run in ["bad", "good", "last"] {
        create(&*store, run, RUNNING).await;
    }
    let lease = store.claim(None, "me", SECOND).await.unwrap().unwrap();
    assert_eq!(lease.run, "bad");
    bench.clock().set(NOW + 1_000);
    let mut claimed = Vec::new();
    while let Some(lease) = store.claim(None, "me", SECOND).await.unwrap() {
        claimed.push(lease.run);
    }
    assert_eq!(claimed, ["good", "last", "bad"]);
}

pub(super) async fn release_of_an_older_lease_changes_nothing(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    let old = claim(&*store, "me").await.unwrap();
    bench.clock().set(NOW + 1_000);
    claim(&*store, "you").await.unwrap();
    store.release(&old).await.unwrap();
    assert!(claim(&*store, "me").await.is_none(), "the newer lease lasts");
}

pub(super) async fn change_of_an_actor_defeats_the_driver(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    let lease = claim(&*store, "me").await.unwrap();
    store.compare_and_set("run_1", 1, &bare("run_1", RUNNING)).await.unwrap();
    let error = store.commit(&lease, 1, &change("run_1", RUNNING), Some(SECOND)).await.unwrap_err();
    assert!(matches!(error, ServiceStoreError::Version { got: 1, current: 2, .. }), "{error}");
    store.commit(&lease, 2, &change("run_1", RUNNING), Some(SECOND)).await.unwrap();
}

pub(super) async fn only_running_runs_are_leased(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    for status in [ServiceRunStatus::Created, ServiceRunStatus::AwaitingApproval, ServiceRunStatus::Blocked] {
        create(&*store, status.name(), status).await;
        assert_eq!(store.claim(Some(status.name()), "me", SECOND).await.unwrap(), None);
    }
    assert_eq!(store.claim(None, "me", SECOND).await.unwrap(), None);
}

pub(super) async fn claim_of_any_takes_the_longest_waiting(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    for run in ["b", "a", "c"] {
        create(&*store, run, RUNNING).await;
    }
    // A change moves a run to the end.
    store.compare_and_set("b", 1, &bare("b", RUNNING)).await.unwrap();
    let mut claimed = Vec::new();
    while let Some(lease) = store.claim(None, "me", SECOND).await.unwrap() {
        claimed.push(lease.run);
    }
    assert_eq!(claimed, ["a", "c", "b"]);
}

pub(super) async fn leased_run_is_not_removed(bench: &dyn ServiceBench) {
    let store = bench.store().await;
    create(&*store, "run_1", RUNNING).await;
    let lease = claim(&*store, "me").await.unwrap();
    store.compare_and_set("run_1", 1, &bare("run_1", ServiceRunStatus::Blocked)).await.unwrap();
    let error = store.delete("run_1").await.unwrap_err();
    assert!(matches!(error, ServiceStoreError::Held { .. }), "{error}");
    store.release(&lease).await.unwrap();
    store.delete("run_1").await.unwrap();
}
