//! Operations of actors: each one in each status, and two that contradict each other.

use std::sync::Arc;

use runstate::service_run::ServiceRunStatus;
use runstate_runtime::clock::SetClock;
use runstate_service::sim::SimChain;
use runstate_service::{
    Answers, MemoryServiceStore, NewServiceRun, Operation, RunStep, Service, ServiceError, ServiceStore,
    ServiceStoreError, SubmittedBy, TxKind, TxRequest, Units,
};

use super::fixture::{Bench, T, block_on};

const ALL: [Operation; 8] = [
    Operation::Start,
    Operation::Resume,
    Operation::Approve,
    Operation::Reject,
    Operation::Execute,
    Operation::TxSubmitted,
    Operation::PollTx,
    Operation::Delete,
];

/// A bench with a run in that status, and the hashes of its transactions.
async fn at(status: ServiceRunStatus) -> (Bench, Vec<String>) {
    let bench = match status {
        ServiceRunStatus::Blocked => Bench::with(|ports| ports, |config| config.policy.targets.clear()),
        _ => Bench::new(),
    };
    match status {
        ServiceRunStatus::Created => drop(bench.create("send 5 USDC to 0xbeef").await),
        ServiceRunStatus::Running => {
            bench.create("send 5 USDC to 0xbeef").await;
            bench.service.start("run_1", "ada").await.unwrap();
        }
        ServiceRunStatus::Paused => drop(bench.run("send 5 USDC").await),
        ServiceRunStatus::Failed => {
            bench.chain.set_reachable(false);
            bench.run("send 5 USDC to 0xbeef").await;
            bench.chain.set_reachable(true);
        }
        _ => drop(bench.run("send 5 USDC to 0xbeef").await),
    }
    let mut hashes = vec!["0x1".to_owned()];
    match status {
        ServiceRunStatus::ApprovedReady => {
            bench.service.approve("run_1", None, "", "bob").await.unwrap();
        }
        ServiceRunStatus::Rejected => {
            bench.service.reject("run_1", "no", "bob").await.unwrap();
        }
        ServiceRunStatus::Submitted | ServiceRunStatus::Confirmed | ServiceRunStatus::Reverted => {
            if status == ServiceRunStatus::Reverted {
                // The wallet spends all of its tokens before the approved transaction.
                bench.chain.send(&spend_all(&bench).await);
            }
            hashes = bench.approve_and_send().await;
            bench.service.tx_submitted("run_1", &hashes, SubmittedBy::Manual, "ada").await.unwrap();
            if status != ServiceRunStatus::Submitted {
                bench.chain.mine();
                bench.service.poll_tx("run_1", "ada").await.unwrap();
            }
        }
        _ => {}
    }
    assert_eq!(bench.service.get("run_1").await.unwrap().status, status);
    (bench, hashes)
}

/// A transaction of all USDC of the wallet.
async fn spend_all(bench: &Bench) -> TxRequest {
    let other = bench.service.create(bench.new_run("other", "send 1000 USDC to 0xfee"), "ada").await.unwrap();
    bench.service.start(&other.run_id, "ada").await.unwrap();
    let other = bench.service.drive(&other.run_id).await.unwrap();
    other.artifacts.tx_requests.unwrap().remove(0)
}

async fn take(bench: &Bench, operation: Operation, hashes: &[String]) -> Result<(), ServiceError> {
    let service = &bench.service;
    match operation {
        Operation::Start => service.start("run_1", "ada").await.map(drop),
        Operation::Resume => service.resume("run_1", &Answers::default(), "ada").await.map(drop),
        Operation::Approve => service.approve("run_1", None, "", "bob").await.map(drop),
        Operation::Reject => service.reject("run_1", "no", "bob").await.map(drop),
        Operation::Execute => service.execute("run_1", "ada").await.map(drop),
        Operation::TxSubmitted => {
            let further = ["0x2".to_owned()];
            let submitted = service.get("run_1").await?.status == ServiceRunStatus::Submitted;
            let hashes = if submitted { &further[..] } else { hashes };
            service.tx_submitted("run_1", hashes, SubmittedBy::Manual, "ada").await.map(drop)
        }
        Operation::PollTx => service.poll_tx("run_1", "ada").await.map(drop),
        Operation::Delete => service.delete("run_1", None).await,
    }
}

#[test]
fn each_status_allows_exactly_its_operations() {
    for &status in ServiceRunStatus::ALL {
        for operation in ALL {
            block_on(async {
                let (bench, hashes) = at(status).await;
                let before = bench.store.load("run_1").await.unwrap();
                let result = take(&bench, operation, &hashes).await;
                // One transaction has one hash: a second one is refused by its content, not by the status.
                let by_content = (status, operation) == (ServiceRunStatus::Submitted, Operation::TxSubmitted);
                if Operation::allowed(status).contains(&operation) && !by_content {
                    result.unwrap_or_else(|error| panic!("{operation} in {status}: {error}"));
                    return;
                }
                let error = result.unwrap_err();
                match &error {
                    ServiceError::Invalid { field: "tx_hashes", .. } if by_content => {}
                    ServiceError::Conflict(conflict) | ServiceError::NoCheckpoint(conflict) => {
                        assert_eq!((conflict.operation, conflict.status), (operation, status));
                        assert_eq!(conflict.allowed, Operation::allowed(status));
                        let no_checkpoint = matches!(error, ServiceError::NoCheckpoint(_));
                        let never_started = status == ServiceRunStatus::Created;
                        assert_eq!(no_checkpoint, never_started && operation == Operation::Resume);
                    }
                    other => panic!("{operation} in {status}: {other}"),
                }
                assert_eq!(bench.store.load("run_1").await.unwrap(), before, "{operation} in {status}");
            });
        }
    }
}

#[test]
fn errors_name_what_the_run_allows() {
    block_on(async {
        let (bench, _) = at(ServiceRunStatus::AwaitingApproval).await;
        let said = bench.service.execute("run_1", "ada").await.unwrap_err().to_string();
        assert_eq!(
            said,
            "run \"run_1\" is AWAITING_APPROVAL (READY) and refuses execute; it allows approve, reject"
        );
        let (bench, _) = at(ServiceRunStatus::Running).await;
        let said = bench.service.start("run_1", "ada").await.unwrap_err().to_string();
        assert_eq!(said, "run \"run_1\" is RUNNING and refuses start; it allows nothing until its pass ends");
    });
}

#[test]
fn approval_of_other_transactions_is_refused() {
    block_on(async {
        let (bench, _) = at(ServiceRunStatus::AwaitingApproval).await;
        let error = bench.service.approve("run_1", Some("sha256:0"), "", "bob").await.unwrap_err();
        assert!(matches!(error, ServiceError::StaleDigest { .. }), "{error}");
        let shown = bench.service.get("run_1").await.unwrap().digest.unwrap();
        bench.service.approve("run_1", Some(&shown), "fine", "bob").await.unwrap();
    });
}

#[test]
fn requester_cannot_approve_where_actors_must_be_distinct() {
    block_on(async {
        let bench = Bench::with(|ports| ports, |config| config.distinct_actors = true);
        bench.run("send 5 USDC to 0xbeef").await;
        let error = bench.service.approve("run_1", None, "", "ada").await.unwrap_err();
        assert!(matches!(error, ServiceError::NotDistinct { .. }), "{error}");
        bench.service.approve("run_1", None, "", "bob").await.unwrap();
    });
}

#[test]
fn new_intent_while_answers_are_wanted_is_refused() {
    block_on(async {
        let (bench, _) = at(ServiceRunStatus::Paused).await;
        let answers = Answers { intent: Some("send 1 ETH".into()), ..Answers::default() };
        let error = bench.service.resume("run_1", &answers, "ada").await.unwrap_err();
        assert!(matches!(error, ServiceError::IntentWhileInputIsNeeded { .. }), "{error}");
    });
}

#[test]
fn unusable_content_is_refused_with_its_field() {
    block_on(async {
        let bench = Bench::new();
        let field = |result: Result<_, ServiceError>| match result.map(|_: ()| ()).unwrap_err() {
            ServiceError::Invalid { field, .. } => field,
            other => panic!("{other}"),
        };
        let service = &bench.service;
        let new = |intent: &str| bench.new_run("run_1", intent);
        assert_eq!(field(service.create(new(""), "ada").await.map(drop)), "intent");
        assert_eq!(field(service.create(new(&"x".repeat(5_001)), "ada").await.map(drop)), "intent");
        assert_eq!(field(service.create(new("x"), " ").await.map(drop)), "actor");
        let wallet = NewServiceRun { wallet: Some("0xyz".into()), ..new("x") };
        assert_eq!(field(service.create(wallet, "ada").await.map(drop)), "wallet");
        let chain = NewServiceRun { chain_id: Some(0), ..new("x") };
        assert_eq!(field(service.create(chain, "ada").await.map(drop)), "chain_id");
        bench.run("send 5 USDC to 0xbeef").await;
        let notes = "x".repeat(2_001);
        assert_eq!(field(service.approve("run_1", None, &notes, "bob").await.map(drop)), "notes");
        assert_eq!(field(service.reject("run_1", &notes, "bob").await.map(drop)), "reason");
        service.approve("run_1", None, "", "bob").await.unwrap();
        assert_eq!(
            field(service.tx_submitted("run_1", &[], SubmittedBy::Manual, "ada").await.map(drop)),
            "tx_hashes"
        );
        let taken = service.create(new("x"), "ada").await.unwrap_err();
        assert!(matches!(taken, ServiceError::Store(ServiceStoreError::Taken { .. })), "{taken}");
    });
}

#[test]
fn other_transaction_than_the_approved_one_never_confirms() {
    block_on(async {
        let bench = Bench::new();
        bench.run("send 5 USDC to 0xbeef").await;
        bench.service.approve("run_1", None, "", "bob").await.unwrap();
        let other = TxRequest {
            kind: TxKind::Transfer,
            chain_id: bench.chain.id(),
            from: SimChain::WALLET.into(),
            to: "0xbad".into(),
            value: Units(1),
            data: "0x".into(),
        };
        let hash = bench.chain.send(&other);
        bench.service.tx_submitted("run_1", &[hash], SubmittedBy::Manual, "ada").await.unwrap();
        bench.chain.mine();
        let poll = bench.service.poll_tx("run_1", "ada").await.unwrap();
        assert_eq!((poll.mined, poll.status), (true, ServiceRunStatus::Submitted));
        assert_eq!(poll.mismatches[0].field, "to");
        let steps = bench.store.steps("run_1", 0, 99).await.unwrap();
        assert!(steps.last().unwrap().row.summary.contains("another to than the approved transaction"));
    });
}

#[test]
fn unreachable_chain_leaves_a_submitted_run_as_it_is() {
    block_on(async {
        let (bench, _) = at(ServiceRunStatus::Submitted).await;
        let before = bench.store.load("run_1").await.unwrap();
        bench.chain.set_reachable(false);
        let error = bench.service.poll_tx("run_1", "ada").await.unwrap_err();
        assert!(matches!(error, ServiceError::Port(_)), "{error}");
        assert_eq!(bench.store.load("run_1").await.unwrap(), before);
    });
}

/// Each run is decided by two threads at once.
#[test]
fn one_of_approve_and_reject_wins() {
    const RUNS: usize = 1_000;
    let clock = SetClock::at(T);
    let chain = SimChain::example();
    let store = Arc::new(MemoryServiceStore::with_clock(clock.clone()));
    let service = Service::new(
        Arc::clone(&store) as Arc<dyn ServiceStore>,
        chain.ports(),
        chain.config(),
        Arc::new(clock),
        "test",
    );
    block_on(async {
        for run in 0..RUNS {
            let new = NewServiceRun {
                id: format!("run_{run}"),
                intent: "send 5 USDC to 0xbeef".into(),
                wallet: Some(SimChain::WALLET.into()),
                chain_id: Some(chain.id()),
            };
            let run = service.create(new, "ada").await.unwrap();
            service.start(&run.run_id, "ada").await.unwrap();
            service.drive(&run.run_id).await.unwrap();
        }
    });
    let barrier = std::sync::Barrier::new(2);
    let decide = |approves: bool| {
        let mut won = Vec::new();
        for run in 0..RUNS {
            let run = format!("run_{run}");
            barrier.wait();
            let result = block_on(async {
                match approves {
                    true => service.approve(&run, None, "", "bob").await,
                    false => service.reject(&run, "no", "eve").await,
                }
            });
            match result {
                Ok(_) => won.push(true),
                Err(ServiceError::Conflict(_)) => won.push(false),
                Err(other) => panic!("{other}"),
            }
        }
        won
    };
    let (approved, rejected) = std::thread::scope(|scope| {
        let approved = scope.spawn(|| decide(true));
        let rejected = decide(false);
        (approved.join().unwrap(), rejected)
    });
    for run in 0..RUNS {
        assert!(approved[run] ^ rejected[run], "run {run}: one wins");
    }
    block_on(async {
        for (run, approved) in approved.iter().enumerate() {
            let status = service.get(&format!("run_{run}")).await.unwrap().status;
            let expected =
                if *approved { ServiceRunStatus::ApprovedReady } else { ServiceRunStatus::Rejected };
            assert_eq!(status, expected);
            let steps = store.steps(&format!("run_{run}"), 0, 99).await.unwrap();
            let decided = steps.iter().filter(|step| step.row.step == RunStep::HumanApproval.into());
            assert_eq!(decided.count(), 1);
        }
    });
}
