//! Workers: the stop, a run that ends its drivers, and a run that cannot be used.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::Duration;

use runstate::service_run::ServiceRunStatus;
use runstate_service::{Change, ServiceStore, StepName};
use tokio::time::{Instant, sleep};

use super::fixture::{Bench, block_on};

const TWO: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

async fn start(bench: &Bench, id: &str) {
    bench.service.create(bench.new_run(id, "send 5 USDC to 0xbeef"), "ada").await.unwrap();
    bench.service.start(id, "ada").await.unwrap();
}

async fn status(bench: &Bench, id: &str) -> ServiceRunStatus {
    bench.service.get(id).await.unwrap().status
}

#[test]
fn worker_drives_each_run_also_one_that_starts_later() {
    block_on(async {
        let bench = Bench::new();
        for id in ["a", "b", "c"] {
            start(&bench, id).await;
        }
        let stop = async {
            sleep(Duration::from_secs(5)).await;
            start(&bench, "later").await;
            // A change wakes the worker: it does not wait for its pause.
            sleep(Duration::from_millis(10)).await;
            assert_eq!(status(&bench, "later").await, ServiceRunStatus::AwaitingApproval);
        };
        bench.service.work(TWO, stop, |run, error| panic!("{run:?}: {error}")).await;
        for id in ["a", "b", "c"] {
            assert_eq!(status(&bench, id).await, ServiceRunStatus::AwaitingApproval);
        }
    });
}

#[test]
fn stopped_worker_gives_its_runs_back() {
    block_on(async {
        let bench = Bench::scripted("wallet: [{delay_ms: 20000, unreachable: never}]");
        start(&bench, "a").await;
        start(&bench, "b").await;
        let began = Instant::now();
        bench.service.work(TWO, sleep(Duration::from_secs(1)), |_, _| {}).await;
        assert_eq!(began.elapsed(), Duration::from_secs(1));
        for id in ["a", "b"] {
            assert_eq!(status(&bench, id).await, ServiceRunStatus::Running);
            let lease = bench.store.claim(Some(id), "other", Duration::from_secs(9)).await.unwrap();
            assert!(lease.is_some(), "{id} was given back");
        }
    });
}

#[test]
fn driver_that_was_stopped_after_its_claim_changes_nothing() {
    block_on(async {
        let bench = Bench::new();
        start(&bench, "run_1").await;
        let other = bench.without_judge();
        // Longer than the lease: the other driver ends the pass between the claim and the load.
        bench.store.delay_load(Duration::from_secs(11));
        let stopped = bench.service.drive("run_1");
        let ended = async {
            sleep(Duration::from_millis(10_500)).await;
            other.drive("run_1").await.unwrap()
        };
        let (late, ended) = tokio::join!(stopped, ended);
        assert_eq!(ended.status, ServiceRunStatus::AwaitingApproval);
        assert_eq!(late.unwrap(), ended);
    });
}

#[test]
fn node_that_ends_five_drivers_fails_the_run() {
    block_on(async {
        let bench = Bench::new();
        start(&bench, "run_1").await;
        for _ in 0..5 {
            let term = Duration::from_secs(1);
            bench.store.claim(Some("run_1"), "a process that dies", term).await.unwrap().unwrap();
            sleep(term).await;
        }
        let run = bench.service.drive("run_1").await.unwrap();
        assert_eq!(run.status, ServiceRunStatus::Failed);
        let fatal = run.artifacts.fatal_error.unwrap();
        assert_eq!(StepName::from(fatal.step).to_string(), "WALLET_SNAPSHOT");
        assert_eq!(fatal.error, "the node lost 5 drivers, which ended without a result");
    });
}

#[test]
fn unusable_run_holds_up_no_other() {
    block_on(async {
        let bench = Bench::new();
        start(&bench, "bad").await;
        start(&bench, "good").await;
        // A row of another program: the status contradicts the machine.
        let row = bench.store.load("bad").await.unwrap();
        let change = Change {
            at_ms: row.updated_at_ms,
            status: row.status,
            final_status: row.final_status,
            current_step: row.current_step,
            intent: "another intent".into(),
            machine: row.machine,
            pass: row.pass,
            artifacts: BTreeMap::new(),
            steps: Vec::new(),
            timeline: Vec::new(),
            trace: Vec::new(),
            requested_by: None,
            answer: None,
            hashes: Vec::new(),
        };
        bench.store.compare_and_set("bad", row.version, &change).await.unwrap();
        let failed = Mutex::new(Vec::new());
        let note = |run: Option<&str>, error: &_| failed.lock().unwrap().push(format!("{run:?}: {error}"));
        bench.service.work(NonZeroUsize::MIN, sleep(Duration::from_secs(5)), note).await;
        assert_eq!(status(&bench, "good").await, ServiceRunStatus::AwaitingApproval);
        let expected = "Some(\"bad\"): run \"bad\": the row has the intent another intent, the machine has send 5 \
                        USDC to 0xbeef";
        assert_eq!(*failed.lock().unwrap(), [expected], "its lease lasts for its term");
    });
}
