//! A crash at every place where one can come, in runs through every state: what is left is mended, and mended once.

use std::collections::BTreeSet;

use runstate::approval::Risk;
use runstate::governed_run::GovernedRunStatus;
use runstate_runtime::files::{Crash, Survives};

use super::judge::judge;
use super::world::{Answer, Reply, Script, Tool, World};

/// The survivals to try at the crash of that number: each in its turn, so that all of them are tried many times over. With
/// `GOVERNED_SEEDS` in the environment it is all of them at each, and as many with a coin.
fn survivals(number: usize) -> Vec<Survives> {
    let seeds = std::env::var("GOVERNED_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let all: Vec<Survives> = Survives::cases(seeds.unwrap_or(3)).collect();
    if seeds.is_some() { all } else { vec![all[number % all.len()]] }
}

/// Before each operation is between each two of them. That one is done and its caller not told of it differs in nothing but
/// what happens outside in between, and is tried as well with `GOVERNED_SEEDS`.
fn places(number: usize) -> Vec<Crash> {
    match std::env::var_os("GOVERNED_SEEDS") {
        Some(_) => vec![Crash::Before(number), Crash::After(number)],
        None => vec![Crash::Before(number)],
    }
}

/// Crashes a run at each of its operations and lives it to its end. Gives the ends that it came to.
pub(super) async fn crash_everywhere(script: Script) -> BTreeSet<String> {
    let mut whole = World::new(script.clone());
    whole.live().await;
    let operations = whole.disk.operations();
    let mut ends = BTreeSet::new();
    for number in 0..operations {
        for place in places(number) {
            for survives in survivals(number) {
                let mut world = World::new(script.clone());
                world.survives = survives;
                world.disk.crash_at(place);
                let (run, status) = world.live().await;
                assert_eq!(world.crashes, 1, "{place:?}");
                let judged = tokio::spawn(async move {
                    judge(&world, &run).await;
                    world
                });
                if let Err(panic) = judged.await {
                    println!("{place:?} of {operations}, {survives:?}");
                    std::panic::resume_unwind(panic.into_panic());
                }
                ends.insert(status.to_string());
            }
        }
    }
    ends
}

fn ends(states: &[GovernedRunStatus]) -> BTreeSet<String> {
    states.iter().map(ToString::to_string).collect()
}

use GovernedRunStatus::{Completed, HaltedUnsafe, RolledBack};

/// Through all states that lead to COMPLETE, with two approvals. A crash during a call leaves it in doubt.
#[tokio::test(start_paused = true)]
async fn completing_run_survives_a_crash_at_every_write() {
    let tools = vec![Tool::new("build", [Reply::Risky(Risk::High)]), Tool::new("deploy", [Reply::Pass])];
    let reached = crash_everywhere(Script { tools, ..Script::default() }).await;
    assert_eq!(reached, ends(&[Completed, HaltedUnsafe]));
}

/// Without effects nothing is ever in doubt.
#[tokio::test(start_paused = true)]
async fn read_only_run_survives_a_crash_at_every_write() {
    let tools = vec![
        Tool::new("build", [Reply::Fail, Reply::Pass]).read_only(),
        Tool::new("deploy", [Reply::Ask("look closer"), Reply::Pass]).read_only(),
    ];
    let reached = crash_everywhere(Script { tools, ..Script::default() }).await;
    assert_eq!(reached, ends(&[Completed]));
}

#[tokio::test(start_paused = true)]
async fn rejected_run_survives_a_crash_at_every_write() {
    let tools = vec![Tool::new("deploy", [Reply::Pass])];
    let reached =
        crash_everywhere(Script { tools, answers: vec![Answer::Reject], ..Script::default() }).await;
    assert_eq!(reached, ends(&[RolledBack]));
}

#[tokio::test(start_paused = true)]
async fn unanswered_or_escalated_run_halts_after_any_crash() {
    for answer in [Answer::Never, Answer::Escalate] {
        let tools = vec![Tool::new("deploy", [Reply::Pass])];
        let reached = crash_everywhere(Script { tools, answers: vec![answer], ..Script::default() }).await;
        assert_eq!(reached, ends(&[HaltedUnsafe]));
    }
}

#[tokio::test(start_paused = true)]
async fn rollback_from_every_state_survives_any_crash() {
    let tools = || vec![Tool::new("build", [Reply::Pass]).read_only()];
    let scripts = [
        Script { tools: vec![Tool::new("build", [Reply::Fail]).read_only()], ..Script::default() },
        Script { verify: vec![Reply::Fail], tools: tools(), ..Script::default() },
        Script { audits: vec![("security", vec![Reply::Fail])], tools: tools(), ..Script::default() },
    ];
    for script in scripts {
        assert_eq!(crash_everywhere(script).await, ends(&[RolledBack]));
    }
}

/// A full disk is no crash: the error says so, and the run goes on once there is room.
#[tokio::test(start_paused = true)]
async fn a_disk_that_is_full_stops_the_run_and_loses_nothing() {
    let script = Script { tools: vec![Tool::new("build", [Reply::Pass]).read_only()], ..Script::default() };
    let whole = World::new(script.clone());
    let run = whole.governor().start("PROJECT").await.unwrap().run;
    for number in 0..whole.disk.operations() {
        let world = World::new(script.clone());
        world.disk.fail_at(number, std::io::ErrorKind::StorageFull);
        if let Err(error) = world.governor().start("PROJECT").await {
            assert!(error.to_string().contains("no storage space"), "{number}: {error}");
            let begun = world.governor().resume(&run).await;
            match begun {
                Ok(progressed) => assert_eq!(progressed.status, Completed, "{number}"),
                // It failed before the run left a state: there is none to go on with.
                Err(error) => {
                    assert!(error.to_string().starts_with("there is no run"), "{number}: {error}");
                    continue;
                }
            }
        }
        judge(&world, &run).await;
    }
}
