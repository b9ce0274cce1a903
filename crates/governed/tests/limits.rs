//! Every time limit at one less, at, and one more (B3); checked by whoever looks, by a sweeper, and while a part works.

use std::time::Duration;

use runstate::governed_run::{GovernedRunStatus, RunId, TimeLimits};
use runstate_governed::*;

use super::judge::judge;
use super::world::{RUN, Reply, Script, Tool, World};

/// A part that takes for ever, in that state; and where the state leads when it expires.
pub(super) fn stuck(state: GovernedRunStatus) -> (Script, GovernedRunStatus) {
    use GovernedRunStatus as S;
    let never = || vec![Reply::After(u64::MAX / 4, Box::new(Reply::Pass))];
    let script = Script { tools: vec![], ..Script::default() };
    match state {
        S::Planning => (Script { plans: never(), ..script }, S::HaltedUnsafe),
        S::Executing => (Script { tools: vec![Tool::new("build", never())], ..script }, S::HaltedUnsafe),
        S::AwaitingApproval => {
            (Script { tools: vec![Tool::new("deploy", never())], ..script }, S::HaltedUnsafe)
        }
        S::Verifying => (Script { verify: never(), ..script }, S::RolledBack),
        S::Auditing => (Script { audits: vec![("security", never())], ..script }, S::RolledBack),
        other => panic!("{other}"),
    }
}

const LIMITED: [(GovernedRunStatus, u64); 5] = [
    (GovernedRunStatus::Planning, 5 * 60_000),
    (GovernedRunStatus::Executing, 30 * 60_000),
    (GovernedRunStatus::AwaitingApproval, 24 * 60 * 60_000),
    (GovernedRunStatus::Verifying, 10 * 60_000),
    (GovernedRunStatus::Auditing, 15 * 60_000),
];

pub(super) fn run() -> RunId {
    RUN.parse().unwrap()
}

pub(super) async fn stop_in(world: &World, state: GovernedRunStatus) {
    let governor = world.governor();
    // The process is ended while the part works; what it waited is no time.
    drop(tokio::time::timeout(Duration::ZERO, governor.start("PROJECT")).await);
    assert_eq!(world.governor().status(&run()).unwrap().state, state);
}

/// The sweeper, and whoever looks, take a run that is stuck where its timeout leads: not one millisecond early.
#[tokio::test(start_paused = true)]
async fn time_limits_are_exact_to_the_millisecond() {
    for (state, limit) in LIMITED {
        for (ms, is_over) in [(limit - 1, false), (limit, true), (limit + 1, true)] {
            for by_sweeper in [true, false] {
                let (script, leads_to) = stuck(state);
                let world = World::new(script);
                stop_in(&world, state).await;
                tokio::time::advance(Duration::from_millis(ms)).await;
                let expected = if is_over { leads_to } else { state };
                if by_sweeper {
                    let swept = world.sweep(&world.governor()).await;
                    assert_eq!(swept.len(), usize::from(is_over), "{state} after {ms}");
                    assert!(swept.iter().all(|(_, went)| *went.as_ref().unwrap() == leads_to));
                    assert!(world.sweep(&world.governor()).await.is_empty(), "once");
                } else {
                    let before = world.disk.files();
                    assert_eq!(world.governor().status(&run()).unwrap().state, state);
                    assert_eq!(world.disk.files(), before, "a look changes nothing");
                    let went = world.governor().expire(&run()).await.unwrap();
                    assert_eq!(went, is_over.then_some(leads_to), "{state} after {ms}");
                }
                assert_eq!(world.governor().status(&run()).unwrap().state, expected, "{state} after {ms}");
                if is_over {
                    judge(&world, &run()).await;
                }
            }
        }
    }
}

/// INIT is left at once by this driver; a run that was made and never driven expires there.
#[tokio::test(start_paused = true)]
async fn time_limit_of_init_is_exact_to_the_millisecond() {
    for (ms, is_over) in [(59_999, false), (60_000, true), (60_001, true)] {
        let world = World::new(Script { tools: vec![], ..Script::default() });
        let run = world.governor().create("PROJECT").unwrap();
        tokio::time::advance(Duration::from_millis(ms)).await;
        let expected = if is_over { GovernedRunStatus::HaltedUnsafe } else { GovernedRunStatus::Completed };
        assert_eq!(world.governor().resume(&run).await.unwrap().status, expected, "after {ms}");
        judge(&world, &run).await;
    }
}

/// While a part works, nobody has to look: the driver stops it itself, at the very end.
#[tokio::test(start_paused = true)]
async fn time_limit_interrupts_a_working_part() {
    for (state, limit) in
        LIMITED.into_iter().filter(|(state, _)| *state != GovernedRunStatus::AwaitingApproval)
    {
        let (script, leads_to) = stuck(state);
        let world = World::new(script);
        let before = world.now();
        let status = world.governor().start("PROJECT").await.unwrap().status;
        assert_eq!((status, world.now() - before), (leads_to, limit), "{state}");
        judge(&world, &run()).await;
    }
}

/// A part that is done when the limit comes is done; one that takes a millisecond less is not even late.
#[tokio::test(start_paused = true)]
async fn work_ending_before_its_time_limit_counts() {
    for (over, expected) in [(1, GovernedRunStatus::Completed), (0, GovernedRunStatus::HaltedUnsafe)] {
        let takes = 30 * 60_000 - over;
        let tools = vec![Tool::new("build", [Reply::After(takes, Box::new(Reply::Pass))])];
        let world = World::new(Script { tools, ..Script::default() });
        assert_eq!(world.governor().start("PROJECT").await.unwrap().status, expected);
        judge(&world, &run()).await;
        let completed = world.governor().status(&run()).unwrap().completed;
        assert_eq!(completed, 1, "what was done in time is noted, even where the run then halts");
    }
}

/// A late decision is refused as expired, and the run has gone where its timeout leads (B3).
#[tokio::test(start_paused = true)]
async fn decision_after_the_time_limit_is_expired() {
    for (ms, is_late) in [(-1_i64, false), (0, true), (1, true)] {
        for decision in ["approve", "reject", "escalate"] {
            let (script, _) = stuck(GovernedRunStatus::AwaitingApproval);
            let world = World::new(script);
            stop_in(&world, GovernedRunStatus::AwaitingApproval).await;
            let day = 24 * 60 * 60_000_i64;
            tokio::time::advance(Duration::from_millis(u64::try_from(day + ms).unwrap())).await;
            let (governor, id) = (world.governor(), format!("{RUN}-A1").parse().unwrap());
            let decided = match decision {
                "approve" => governor.approve(&run(), &id, "ada", "").await,
                "reject" => governor.reject(&run(), &id, "ada", "").await.map(drop),
                _ => governor.escalate(&run(), &id, "ada", "").await.map(drop),
            };
            assert_eq!(
                matches!(decided, Err(GovernedError::Expired { .. })),
                is_late,
                "{decision}: {decided:?}"
            );
            assert_eq!(decided.is_ok(), !is_late);
            if is_late {
                let state = governor.status(&run()).unwrap().state;
                assert_eq!(state, GovernedRunStatus::HaltedUnsafe);
                judge(&world, &run()).await;
                let again = governor.approve(&run(), &id, "ada", "").await.unwrap_err();
                assert!(matches!(again, GovernedError::NotAsked { .. }), "{again}");
            }
        }
    }
}

/// They may be configured; a run keeps its own.
#[tokio::test(start_paused = true)]
async fn run_keeps_the_time_limits_of_its_creation() {
    let (script, _) = stuck(GovernedRunStatus::AwaitingApproval);
    let mut world = World::new(script);
    world.rules.limits = TimeLimits::default().with(GovernedRunStatus::AwaitingApproval, 2_000).unwrap();
    stop_in(&world, GovernedRunStatus::AwaitingApproval).await;
    world.rules.limits = TimeLimits::default();
    tokio::time::advance(Duration::from_millis(1_999)).await;
    assert!(world.sweep(&world.governor()).await.is_empty());
    tokio::time::advance(Duration::from_millis(1)).await;
    let status = world.governor().resume(&run()).await.unwrap().status;
    assert_eq!(status, GovernedRunStatus::HaltedUnsafe);
    judge(&world, &run()).await;
}

/// Entering a state again starts its clock anew.
#[tokio::test(start_paused = true)]
async fn time_limit_restarts_when_a_state_is_reentered() {
    let tools = vec![
        Tool::new("build", [Reply::After(29 * 60_000, Box::new(Reply::Pass))]),
        Tool::new("deploy", [Reply::After(29 * 60_000, Box::new(Reply::Pass))]),
    ];
    let mut world = World::new(Script { tools, ..Script::default() });
    assert_eq!(world.live().await.1, GovernedRunStatus::Completed);
}
