//! The store in memory: leases, fencing tokens, versions, lists and changes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use runstate::service_run::ServiceRunStatus;
use runstate_runtime::clock::SetClock;
use runstate_service::sim::SimChain;
use runstate_service::{
    ListQuery, MemoryServiceStore, NewServiceRun, Service, ServiceError, ServiceStore, ServiceStoreError,
};

use super::fixture::{Bench, T, block_on};

const SECOND: Duration = Duration::from_secs(1);

struct Two {
    clock: SetClock,
    store: Arc<MemoryServiceStore>,
    service: Service,
}

impl Two {
    async fn new() -> Self {
        let (clock, chain) = (SetClock::at(T), SimChain::example());
        let store = Arc::new(MemoryServiceStore::with_clock(clock.clone()));
        let service = Service::new(
            Arc::clone(&store) as Arc<dyn ServiceStore>,
            chain.ports(),
            chain.config(),
            Arc::new(clock.clone()),
            "test",
        );
        let two = Two { clock, store, service };
        two.started("run_1", "send 5 USDC to 0xbeef").await;
        two
    }

    async fn started(&self, id: &str, intent: &str) {
        let new = NewServiceRun {
            id: id.into(),
            intent: intent.into(),
            wallet: Some(SimChain::WALLET.into()),
            chain_id: Some(31_337),
        };
        self.service.create(new, "ada").await.unwrap();
        self.service.start(id, "ada").await.unwrap();
    }
}

#[test]
fn lease_excludes_other_drivers_until_its_term_is_over() {
    block_on(async {
        let two = Two::new().await;
        let lease = two.store.claim(Some("run_1"), "me", SECOND).await.unwrap().unwrap();
        assert_eq!(lease.fence, 1);
        two.clock.set(T + 999);
        let held = two.service.drive("run_1").await.unwrap_err();
        let ServiceError::Store(ServiceStoreError::Held { holder, left, .. }) = held else {
            panic!("{held}")
        };
        assert_eq!((holder.as_str(), left), ("me", Duration::from_millis(1)));
        assert_eq!(two.store.claim(None, "you", SECOND).await.unwrap(), None);

        two.store.renew(&lease, 2 * SECOND).await.unwrap();
        two.clock.set(T + 2_998);
        assert_eq!(two.store.claim(None, "you", SECOND).await.unwrap(), None, "it was renewed");
        two.clock.set(T + 2_999);
        assert_eq!(two.store.claim(None, "you", SECOND).await.unwrap().unwrap().fence, 2);
    });
}

#[test]
fn older_lease_writes_nothing() {
    block_on(async {
        let two = Two::new().await;
        let old = two.store.claim(Some("run_1"), "me", SECOND).await.unwrap().unwrap();
        two.clock.set(T + 1_000);
        two.service.drive("run_1").await.unwrap();
        let before = two.store.load("run_1").await.unwrap();
        // A change of this run as another driver would make it.
        let change = change_of(&two).await;
        let refused = two.store.commit(&old, before.version, &change, None).await.unwrap_err();
        assert!(matches!(refused, ServiceStoreError::Fenced { fence: 1, current: 2, .. }), "{refused}");
        assert!(two.store.renew(&old, SECOND).await.is_err());
        two.store.release(&old).await.unwrap();
        assert_eq!(two.store.load("run_1").await.unwrap(), before);
    });
}

async fn change_of(two: &Two) -> runstate_service::Change {
    let row = two.store.load("run_1").await.unwrap();
    runstate_service::Change {
        at_ms: T,
        status: row.status,
        final_status: row.final_status,
        current_step: row.current_step,
        intent: row.intent,
        machine: row.machine,
        pass: row.pass,
        artifacts: BTreeMap::new(),
        steps: Vec::new(),
        timeline: Vec::new(),
        trace: Vec::new(),
        requested_by: None,
    }
}

#[test]
fn change_of_an_older_version_is_refused() {
    block_on(async {
        let two = Two::new().await;
        let change = change_of(&two).await;
        let version = two.store.load("run_1").await.unwrap().version;
        assert_eq!(two.store.compare_and_set("run_1", version, &change).await.unwrap(), version + 1);
        let refused = two.store.compare_and_set("run_1", version, &change).await.unwrap_err();
        assert!(matches!(refused, ServiceStoreError::Version { got, current, .. } if got + 1 == current));
        let nowhere = two.store.compare_and_set("run_9", 1, &change).await.unwrap_err();
        assert!(matches!(nowhere, ServiceStoreError::NoRun { .. }));
    });
}

#[test]
fn claim_of_any_run_takes_the_longest_waiting_one() {
    block_on(async {
        let two = Two::new().await;
        two.started("run_0", "send 5 USDC to 0xbeef").await;
        assert_eq!(two.service.drive_next().await.unwrap().unwrap().run_id, "run_1");
        assert_eq!(two.service.drive_next().await.unwrap().unwrap().run_id, "run_0");
        assert_eq!(two.service.drive_next().await.unwrap(), None);
        assert_eq!(two.store.claim(Some("run_0"), "me", SECOND).await.unwrap(), None, "it is not RUNNING");
    });
}

#[test]
fn pages_are_stable_while_runs_are_created() {
    block_on(async {
        let two = Two::new().await;
        for (place, id) in ["b", "a", "c"].into_iter().enumerate() {
            two.clock.set(T + 10 + place as u64 / 2);
            two.started(id, "send 1 ETH to 0xbeef").await;
        }
        let ids = |page: &runstate_service::RunPage| -> Vec<String> {
            page.runs.iter().map(|run| run.position.id.clone()).collect()
        };
        let first = two.store.list(&ListQuery::first(2)).await.unwrap();
        assert_eq!(ids(&first), ["c", "b"], "newest first, then by id");
        two.clock.set(T + 99);
        two.started("new", "send 1 ETH to 0xbeef").await;
        let next = ListQuery { after: first.next, ..ListQuery::first(2) };
        let second = two.store.list(&next).await.unwrap();
        assert_eq!((ids(&second), second.next), (vec!["a".to_owned(), "run_1".to_owned()], None));
        assert_eq!(second.counts, BTreeMap::from([(ServiceRunStatus::Running, 5)]), "of all pages");
    });
}

#[test]
fn lists_are_filtered() {
    block_on(async {
        let two = Two::new().await;
        two.clock.set(T + 10);
        two.started("eth", "send 1 ETH to 0xbeef").await;
        two.service.drive("eth").await.unwrap();
        let count = async |query: ListQuery| two.store.list(&query).await.unwrap().runs.len();
        let all = || ListQuery::first(9);
        assert_eq!(count(ListQuery { text: Some("usdc".into()), ..all() }).await, 1);
        assert_eq!(count(ListQuery { text: Some("ETH".into()), ..all() }).await, 1);
        assert_eq!(count(ListQuery { statuses: [ServiceRunStatus::Running].into(), ..all() }).await, 1);
        let ready = Some(runstate::service_run::FinalStatus::Ready);
        assert_eq!(count(ListQuery { final_status: ready, ..all() }).await, 1);
        assert_eq!(count(ListQuery { since_ms: Some(T + 10), ..all() }).await, 1);
        assert_eq!(count(ListQuery { until_ms: Some(T + 10), ..all() }).await, 1);
        assert_eq!(count(all()).await, 2);
    });
}

#[test]
fn changes_list_the_runs_after_a_cursor() {
    block_on(async {
        let bench = Bench::new();
        bench.create("send 5 USDC to 0xbeef").await;
        let hour = Duration::from_secs(3_600);
        let first = bench.store.changes(0, hour).await.unwrap();
        assert_eq!(first.runs, ["run_1"]);
        let waits = bench.store.changes(first.cursor, hour);
        let starts = async {
            tokio::time::sleep(SECOND).await;
            bench.service.start("run_1", "ada").await.unwrap();
        };
        let (second, ()) = tokio::join!(waits, starts);
        assert_eq!(second.unwrap().runs, ["run_1"]);
        let began = tokio::time::Instant::now();
        let cursor = bench.store.changes(0, SECOND).await.unwrap().cursor;
        let none = bench.store.changes(cursor, hour).await.unwrap();
        assert_eq!((none.runs.len(), none.cursor, began.elapsed()), (0, cursor, hour));
    });
}

#[test]
fn removed_run_is_gone_and_its_id_stays_taken() {
    block_on(async {
        let bench = Bench::with(|ports| ports, |config| config.policy.targets.clear());
        bench.run("send 5 USDC to 0xbeef").await;
        bench.service.delete("run_1").await.unwrap();
        assert!(matches!(bench.store.load("run_1").await, Err(ServiceStoreError::NoRun { .. })));
        let error = bench.service.create(bench.new_run("run_1", "x"), "ada").await.unwrap_err();
        assert!(matches!(error, ServiceError::Store(ServiceStoreError::Taken { .. })));
    });
}
