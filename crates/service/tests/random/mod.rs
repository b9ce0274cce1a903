//! Random replies of ports, failures, and crashes at each commit, against a judge that is written from the tables of the
//! source alone.

mod crash;
mod judge;
mod world;

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestCaseResult, TestRunner};
use runstate::service_run::ServiceRunStatus;
use runstate::trace::{Event, Verdict, check};
use runstate_runtime::clock::SetClock;
use runstate_service::sim::SimChain;
use runstate_service::{
    Answers, NewServiceRun, RunStep, Service, ServiceError, ServiceStore, ServiceStoreError, StepPhase,
    SubmittedBy,
};
use serde_json::json;

use super::fixture::{T, block_on};
use crash::{Crash, Crashing};
use judge::expected;
use world::World;

/// An operation of a person after a pass.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Approve,
    Reject,
    Execute,
    Send,
    Mine,
    Poll,
}

struct Played {
    world: World,
    clock: SetClock,
    chain: SimChain,
    store: Arc<Crashing>,
    service: Service,
    hashes: Vec<String>,
    executed: bool,
}

impl Played {
    fn new(world: World, crashes: Vec<Crash>) -> Self {
        let (clock, chain) = (SetClock::at(T), SimChain::example());
        let store = Arc::new(Crashing::new(clock.clone(), crashes));
        let config = world.config(&chain);
        let ports = world.ports(&chain);
        let as_store = Arc::clone(&store) as Arc<dyn ServiceStore>;
        let service = Service::new(as_store, ports, config, Arc::new(clock.clone()), "test");
        Played { world, clock, chain, store, service, hashes: Vec::new(), executed: false }
    }

    /// After a crash another process goes on when the lease of the dead one is over.
    fn restart_after(&self, error: &ServiceError) -> bool {
        let crashed = matches!(error, ServiceError::Store(ServiceStoreError::Unavailable(_)));
        if crashed {
            self.store.restart();
            let now = runstate_runtime::clock::Clock::now_ms(&self.clock);
            self.clock.set(now + 120_000);
        }
        crashed
    }

    async fn create(&self) {
        loop {
            let new = NewServiceRun {
                id: "run_1".into(),
                intent: "send 5 USDC to 0xbeef".into(),
                wallet: self.world.has_wallet.then(|| SimChain::WALLET.to_owned()),
                chain_id: Some(self.chain.id()),
            };
            match self.service.create(new, "ada").await {
                Ok(_) | Err(ServiceError::Store(ServiceStoreError::Taken { .. })) => return,
                Err(error) => assert!(self.restart_after(&error), "{error}"),
            }
        }
    }

    /// Starts or resumes the run, and drives it until its pass has ended, over all crashes.
    async fn pass(&self, answers: Option<&Answers>) {
        loop {
            let result = match answers {
                None => self.service.start("run_1", "ada").await,
                Some(answers) => self.service.resume("run_1", answers, "ada").await,
            };
            match result {
                // The change was durable before the crash.
                Ok(_) | Err(ServiceError::Conflict(_)) => break,
                Err(error) => assert!(self.restart_after(&error), "{error}"),
            }
        }
        loop {
            match self.service.drive("run_1").await {
                Ok(run) => return assert_ne!(run.status, ServiceRunStatus::Running),
                Err(error) => assert!(self.restart_after(&error), "{error}"),
            }
        }
    }

    async fn status(&self) -> ServiceRunStatus {
        self.service.get("run_1").await.unwrap().status
    }

    /// Checks the outcome of a pass against the judge.
    async fn judged(&self, answered: bool, pass: u32) -> TestCaseResult {
        let run = self.service.get("run_1").await.unwrap();
        let judged = expected(&self.world, answered);
        prop_assert_eq!(run.final_status, Some(judged.final_status));
        prop_assert_eq!(run.status, judged.status());
        let rows = self.store.timeline("run_1", 0, usize::MAX).await.unwrap();
        let of_pass = rows.iter().filter(|row| row.row.pass == pass);
        let nodes: Vec<_> = of_pass.map(|row| row.row.step.name()).collect();
        prop_assert_eq!(&nodes, &judged.nodes, "the nodes of pass {}", pass);
        // A node is noted once, however often a crash repeated it.
        let steps = self.store.steps("run_1", 0, usize::MAX).await.unwrap();
        let began = steps.iter().filter(|step| step.row.pass == pass && step.row.phase == StepPhase::Started);
        prop_assert_eq!(began.count(), rows.iter().filter(|row| row.row.pass == pass).count());
        prop_assert_eq!(run.artifacts.tx_plan_history.len(), judged.repairs);
        prop_assert!(judged.repairs <= 1);
        let failed_at = run.artifacts.fatal_error.map(|error| error.step.name());
        prop_assert_eq!(failed_at, judged.failed_at());
        prop_assert_eq!(run.digest.is_some(), judged.status() == ServiceRunStatus::AwaitingApproval);
        Ok(())
    }

    /// Takes an operation, and checks that the run permits it only in its place.
    async fn deed(&mut self, deed: Deed) -> TestCaseResult {
        let before = self.status().await;
        let result = match deed {
            Deed::Approve => self.service.approve("run_1", None, "", "bob").await.map(drop),
            Deed::Reject => self.service.reject("run_1", "no", "eve").await.map(drop),
            Deed::Execute => {
                let handout = self.service.execute("run_1", "ada").await;
                if let Ok(handout) = &handout {
                    prop_assert_eq!(
                        before,
                        ServiceRunStatus::ApprovedReady,
                        "nothing unapproved is executed"
                    );
                    prop_assert!(self.approvals().await == (1, 0));
                    self.executed = true;
                    if self.hashes.is_empty() {
                        let send = |tx: &serde_json::Value| {
                            self.chain.send(&serde_json::from_value(tx.clone()).unwrap())
                        };
                        self.hashes = handout.tx_requests.iter().map(send).collect();
                    }
                }
                handout.map(drop)
            }
            Deed::Send => {
                let hashes = self.hashes.clone();
                self.service.tx_submitted("run_1", &hashes, SubmittedBy::Manual, "ada").await.map(drop)
            }
            Deed::Mine => {
                self.chain.mine();
                Ok(())
            }
            Deed::Poll => self.service.poll_tx("run_1", "ada").await.map(drop),
        };
        match result {
            Ok(()) | Err(ServiceError::Conflict(_) | ServiceError::Invalid { .. }) => {}
            Err(error) => prop_assert!(self.restart_after(&error), "{}", error),
        }
        let after = self.status().await;
        let (approved, rejected) = self.approvals().await;
        prop_assert!(approved + rejected <= 1, "one approval or one rejection");
        let sent = [ServiceRunStatus::Submitted, ServiceRunStatus::Confirmed, ServiceRunStatus::Reverted];
        if sent.contains(&after) || after == ServiceRunStatus::ApprovedReady {
            prop_assert_eq!((approved, rejected), (1, 0));
        }
        if sent.contains(&after) {
            prop_assert!(self.executed, "what was sent was handed out before");
        }
        Ok(())
    }

    /// The numbers of approvals and rejections among the steps.
    async fn approvals(&self) -> (usize, usize) {
        let steps = self.store.steps("run_1", 0, usize::MAX).await.unwrap();
        let decided = |what: &str| {
            let of_persons = steps.iter().filter(|step| step.row.step == RunStep::HumanApproval.into());
            of_persons.filter(|step| step.row.data["decision"] == what).count()
        };
        (decided("approved"), decided("rejected"))
    }

    /// The transitions of run and passes are those of the diagrams, without a gap.
    async fn conforms(&self) -> TestCaseResult {
        let lines = self.store.trace("run_1", 0, usize::MAX).await.unwrap();
        let events: Vec<Event<'_>> = lines.iter().map(|line| Event::from_json(line).unwrap()).collect();
        let report = check(&events, &runstate::rulebook());
        prop_assert_ne!(report.verdict, Verdict::Violates, "{}", report);
        let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
        prop_assert_eq!(numbers, (1..=lines.len() as u64).collect::<Vec<_>>());
        Ok(())
    }
}

async fn play(world: World, crashes: Vec<Crash>, deeds: Vec<Deed>) -> TestCaseResult {
    let mut played = Played::new(world, crashes);
    played.create().await;
    played.pass(None).await;
    played.judged(false, 1).await?;
    let mut pass = 1;
    let mut given = serde_json::Map::new();
    let answers = [("wallet_address", json!(SimChain::WALLET)), ("recipient", json!("0xbeef"))];
    for (slot, answer) in answers {
        if played.status().await != ServiceRunStatus::Paused || !played.world.wants(slot) {
            continue;
        }
        given.insert(slot.to_owned(), answer.clone());
        played
            .pass(Some(&Answers { answers: [(slot.to_owned(), answer)].into(), ..Answers::default() }))
            .await;
        pass += 1;
        if slot == "wallet_address" {
            played.world.has_wallet = true;
        }
        played.judged(slot == "recipient", pass).await?;
        // Answers are never lost.
        let inputs = played.service.get("run_1").await.unwrap().artifacts.user_inputs;
        prop_assert_eq!(json!(inputs), json!(given));
    }
    for deed in deeds {
        played.deed(deed).await?;
    }
    played.conforms().await
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        2 => Just(Deed::Approve),
        1 => Just(Deed::Reject),
        2 => Just(Deed::Execute),
        2 => Just(Deed::Send),
        1 => Just(Deed::Mine),
        2 => Just(Deed::Poll),
    ];
    vec(deed, 0..14)
}

#[test]
fn random_runs_with_crashes_agree_with_the_tables() {
    let config = Config { failure_persistence: None, ..Config::default() };
    let config = Config { cases: config.cases.max(500), ..config };
    let strategy = (world::worlds(), crash::crashes(), deeds());
    let result = TestRunner::new(config)
        .run(&strategy, |(world, crashes, deeds)| block_on(play(world, crashes, deeds)));
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// Each commit of a pass with a repair, lost and not lost.
#[test]
fn crash_at_each_commit_changes_nothing_in_the_end() {
    for at in 0..12 {
        for applied in [false, true] {
            let deeds = vec![Deed::Approve, Deed::Execute, Deed::Send, Deed::Mine, Deed::Poll];
            let crashes = vec![Crash { at, applied }];
            block_on(play(World::with_repair(), crashes, deeds)).unwrap();
        }
    }
}

/// The judge's own table, so that random worlds are known to come to each outcome.
#[test]
fn worlds_come_to_every_outcome() {
    let mut seen = std::collections::BTreeSet::new();
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(1), ..Config::default() });
    for _ in 0..600 {
        let world = world::worlds().new_tree(&mut runner).unwrap().current();
        seen.insert(expected(&world, false).final_status.name());
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["BLOCKED", "FAILED", "NEEDS_INPUT", "NOOP", "READY"]);
}
