//! Whole random runs: plans with failures, risks, approvals, slow parts and crashes, by virtual time.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use runstate::approval::Risk;
use runstate_runtime::files::{Crash, Survives};

use super::judge::judge;
use super::keyed::keys;
use super::world::{Answer, Reply, Script, Tool, World};

fn reply() -> impl Strategy<Value = Reply> {
    let plain = prop_oneof![
        12 => Just(Reply::Pass),
        4 => Just(Reply::Fail),
        1 => Just(Reply::Invalid),
        1 => Just(Reply::Halt),
        1 => Just(Reply::Crash),
        2 => Just(Reply::Ask("go further")),
        2 => Just(Reply::Risky(Risk::Medium)),
        2 => Just(Reply::Risky(Risk::High)),
        1 => Just(Reply::Risky(Risk::Critical)),
    ];
    let minutes = prop_oneof![8 => Just(0_u64), 3 => 1..10_u64, 1 => 10..40_u64];
    (minutes, plain).prop_map(|(minutes, reply)| match minutes {
        0 => reply,
        minutes => Reply::After(minutes * 60_000, Box::new(reply)),
    })
}

fn replies() -> impl Strategy<Value = Vec<Reply>> {
    prop::collection::vec(reply(), 1..4)
}

fn script() -> impl Strategy<Value = Script> {
    let names = ["lint", "build", "deploy"];
    let tools =
        (0..4_usize, prop::collection::vec((replies(), any::<bool>()), 3)).prop_map(move |(most, tools)| {
            let tools = names.into_iter().zip(tools).take(most);
            tools.map(|(name, (replies, read_only))| Tool { name, replies, read_only }).collect::<Vec<_>>()
        });
    let answer = prop_oneof![
        8 => Just(Answer::Approve), 1 => Just(Answer::Reject), 1 => Just(Answer::Escalate), 1 => Just(Answer::Never)
    ];
    let risk = prop_oneof![9 => Just(None), 1 => Just(Some(Risk::High)), 1 => Just(Some(Risk::Critical))];
    let review = || prop_oneof![6 => Just(vec![Reply::Pass]), 1 => replies()];
    let answers = prop::collection::vec(answer, 1..4);
    (
        tools,
        risk,
        review(),
        review(),
        review(),
        review(),
        answers,
        any::<[bool; 3]>(),
        prop::bool::weighted(0.25),
        any::<bool>(),
    )
        .prop_map(
            move |(tools, plan_risk, plans, verify, audit, rollback, answers, auto, plan_asks, keyed)| {
                Script {
                    plan_asks,
                    auto: names
                        .into_iter()
                        .zip(auto)
                        .filter(|(_, auto)| *auto)
                        .map(|(name, _)| name)
                        .collect(),
                    tools,
                    plan_risk,
                    plans,
                    verify,
                    audits: vec![("security", audit), ("quality", vec![Reply::Pass])],
                    rollback,
                    answers,
                    keys: keyed.then(|| keys("k1")),
                }
            },
        )
}

#[derive(Debug, Clone)]
struct Case {
    script: Script,
    crashes: Vec<(usize, bool, u64)>,
}

fn cases() -> impl Strategy<Value = Case> {
    let crash = (1..120_usize, any::<bool>(), any::<u64>());
    (script(), prop::collection::vec(crash, 0..4)).prop_map(|(script, crashes)| Case { script, crashes })
}

async fn live(case: Case) -> (String, usize) {
    let mut world = World::new(case.script);
    let mut run = None;
    for (after, before, seed) in case.crashes {
        let number = world.disk.operations() + after;
        world.disk.crash_at(if before { Crash::Before(number) } else { Crash::After(number) });
        world.survives = Survives::Some(seed);
        let crashed = world.crashes;
        run = match world.live_until_crash(run).await {
            Ok(done) => {
                assert_eq!(world.crashes, crashed);
                // The crash that was to come is called off.
                world.disk.restart(Survives::Everything);
                judge(&world, &done.0).await;
                return (done.1.to_string(), world.crashes);
            }
            Err(run) => run,
        };
    }
    let (run, status) = world.live_from(run).await;
    judge(&world, &run).await;
    (status.to_string(), world.crashes)
}

/// More with `PROPTEST_CASES` in the environment.
#[test]
fn any_run_keeps_its_promises() {
    let mut config = Config {
        source_file: Some(file!()),
        test_name: Some("any_governed_run_keeps_its_promises"),
        ..Config::default()
    };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(0);
    }
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 100;
    }
    let seen = std::cell::RefCell::new(std::collections::BTreeMap::<String, usize>::new());
    let outcome = TestRunner::new(config).run(&cases(), |case| {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (status, crashes) = runtime.block_on(live(case));
        *seen.borrow_mut().entry(status).or_default() += 1;
        *seen.borrow_mut().entry("crashes".to_owned()).or_default() += crashes;
        Ok(())
    });
    println!("{:?}", seen.borrow());
    outcome.unwrap_or_else(|error| panic!("{error}"));
    for end in ["COMPLETE", "ROLLED_BACK", "HALTED_UNSAFE", "crashes"] {
        assert!(
            seen.borrow().get(end).is_some_and(|count| *count >= 10),
            "too few {end}: {:?}",
            seen.borrow()
        );
    }
}
