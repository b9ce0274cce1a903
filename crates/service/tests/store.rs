//! The store in memory, and drivers that share it.

use std::sync::Arc;
use std::time::Duration;

use runstate_runtime::clock::SetClock;
use runstate_service::sim::SimChain;
use runstate_service::{
    MemoryServiceStore, NewServiceRun, Service, ServiceError, ServiceStore, ServiceStoreError,
};

use super::fixture::{Bench, T, block_on};

mod conformance {
    use runstate_service::MemoryServiceStore;
    use runstate_service::testing::OneStore;

    runstate_service::service_store_conformance!(async { OneStore::new(MemoryServiceStore::with_clock) });
}

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

/// A process sleeps while its lease expires; another one ends the pass, and the sleeper writes nothing.
#[test]
fn driver_that_slept_past_its_lease_writes_nothing() {
    block_on(async {
        let bench = Bench::scripted("judge: [{delay_ms: 20000, answer: {verdict: BLOCK}}]");
        bench.create("send 5 USDC to 0xbeef").await;
        bench.service.start("run_1", "ada").await.unwrap();
        let mut sleeper = Box::pin(bench.service.drive("run_1"));
        let asleep = tokio::time::timeout(Duration::from_secs(1), &mut sleeper).await;
        assert!(asleep.is_err(), "it waits for its judge");
        tokio::time::sleep(Duration::from_secs(60)).await;

        let other = bench.without_judge();
        let run = other.drive("run_1").await.unwrap();
        assert_eq!(run.status.name(), "AWAITING_APPROVAL");
        let error = sleeper.await.unwrap_err();
        assert!(matches!(error, ServiceError::Store(ServiceStoreError::Fenced { fence: 1, current: 2, .. })));
        assert_eq!(bench.service.get("run_1").await.unwrap(), run);
        assert_eq!(bench.report().await.violations, 0);
    });
}
