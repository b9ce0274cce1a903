//! Halts by a person: in each state, and over a rollback that was broken off.

use std::time::Duration;

use runstate::governed_run::GovernedRunStatus as S;
use runstate_governed::GovernedError;

use super::judge::judge;
use super::limits::{run, stop_in, stuck};
use super::world::{Answer, RUN, Reply, Script, Tool, World, folders};

const HALTED: &str = "ada halted the run: not today";
const ROLLED_BACK: &str = "ada halted the run (not today); everything was rolled back";

/// The run is over, and its status and its report say `why`.
async fn assert_over(world: &World, state: S, why: &str) {
    let status = world.governor().status(&run()).unwrap();
    assert_eq!((status.state, status.why.as_deref()), (state, Some(why)));
    let report = world.file(folders().report(&run()));
    assert!(report.contains(&format!("\n**{why}**\n")), "{report}");
    judge(world, &run()).await;
}

async fn halted(world: &World) -> S {
    world.governor().halt(&run(), "ada", "not today").await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn halted_run_names_the_person_and_the_reason() {
    for state in [S::Planning, S::Executing, S::AwaitingApproval, S::Verifying, S::Auditing] {
        let (script, leads_to) = stuck(state);
        let world = World::new(script);
        stop_in(&world, state).await;
        assert_eq!(halted(&world).await, leads_to, "{state}");
        let why = if leads_to == S::RolledBack { ROLLED_BACK } else { HALTED };
        assert_over(&world, leads_to, why).await;
    }
    let world = World::new(Script::default());
    world.governor().create("PROJECT").unwrap();
    assert_eq!(halted(&world).await, S::HaltedUnsafe);
    assert_over(&world, S::HaltedUnsafe, HALTED).await;
}

#[tokio::test(start_paused = true)]
async fn halted_run_reports_an_interrupted_rollback() {
    let slow = || vec![Reply::After(60_000, Box::new(Reply::Pass)), Reply::Pass];
    let build = vec![Tool::new("build", [Reply::Fail])];
    for (script, cause) in [
        (
            Script { rollback: slow(), tools: build, ..Script::default() },
            "build failed 3 times, the last time: build found no compiler",
        ),
        (Script { rollback: slow(), answers: vec![Answer::Reject], ..Script::default() }, "too risky"),
    ] {
        for by_timeout in [false, true] {
            let mut world = World::new(script.clone());
            assert!(tokio::time::timeout(Duration::from_secs(5), world.live()).await.is_err());
            if by_timeout {
                tokio::time::advance(Duration::from_secs(30 * 60)).await;
                if world.governor().resume(&run()).await.unwrap().status == S::RolledBack {
                    // A rejection has no time to be finished in.
                    continue;
                }
            } else {
                assert_eq!(halted(&world).await, S::HaltedUnsafe);
            }
            let said = if by_timeout { "EXECUTING lasted too long" } else { HALTED };
            let why = format!("the rollback for '{cause}' failed: it was not finished: {said}");
            assert_over(&world, S::HaltedUnsafe, &why).await;
            assert_eq!(world.outside.lock().unwrap().rollbacks, 1, "it is not gone on with");
        }
    }
}

/// The rollback of a halt is finished after a crash, at any time, and the person is still the cause.
#[tokio::test(start_paused = true)]
async fn halt_survives_a_crash_during_its_rollback() {
    for state in [S::Verifying, S::Auditing] {
        let (script, _) = stuck(state);
        let slow = vec![Reply::After(60_000, Box::new(Reply::Pass)), Reply::Pass];
        let world = World::new(Script { rollback: slow, ..script });
        stop_in(&world, state).await;
        assert!(tokio::time::timeout(Duration::from_secs(5), halted(&world)).await.is_err());
        tokio::time::advance(Duration::from_secs(24 * 60 * 60)).await;
        assert_eq!(world.governor().resume(&run()).await.unwrap().status, S::RolledBack);
        assert_over(&world, S::RolledBack, ROLLED_BACK).await;
    }
}

/// A rejection with a rollback that was broken off asks nothing any more, refuses each answer, and is finished by a sweep once its time is over.
#[tokio::test(start_paused = true)]
async fn a_broken_off_rejection_asks_nothing_and_is_swept() {
    let slow = vec![Reply::After(60_000, Box::new(Reply::Pass)), Reply::Pass];
    let mut world = World::new(Script { rollback: slow, answers: vec![Answer::Reject], ..Script::default() });
    assert!(tokio::time::timeout(Duration::from_secs(5), world.live()).await.is_err());
    let (governor, id) = (world.governor(), format!("{RUN}-A1").parse().unwrap());
    let status = governor.status(&run()).unwrap();
    assert_eq!((status.state, status.pending, status.is_rolling_back), (S::AwaitingApproval, None, true));
    assert_eq!(governor.waits(&run()).unwrap(), None);
    for refused in [
        governor.approve(&run(), &id, "bob", "").await,
        governor.reject(&run(), &id, "bob", "").await.map(drop),
        governor.escalate(&run(), &id, "bob", "").await.map(drop),
    ] {
        assert!(matches!(refused, Err(GovernedError::RollbackUnfinished { .. })), "{refused:?}");
    }
    assert_eq!(governor.expire(&run()).await.unwrap(), None, "it has time left");
    tokio::time::advance(Duration::from_secs(24 * 60 * 60)).await;
    assert_eq!(governor.expire(&run()).await.unwrap(), Some(S::RolledBack));
    assert!(!governor.status(&run()).unwrap().is_rolling_back);
    judge(&world, &run()).await;
}
