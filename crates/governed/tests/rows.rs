//! One scenario or more for each row of what was decided where the document is silent, B1 to B14, as snapshots.

use runstate::approval::Risk;
use runstate::governed_run::{AnyGovernedRun, GovernedRunStatus};
use runstate_governed::*;
use runstate_runtime::files::{Disk, Survives};

use super::judge::{judge, told_of};
use super::world::{Answer, RUN, Reply, Script, Tool, World, folders};

pub(crate) fn assert_told(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap();
    settings.set_snapshot_path(root.join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("governed__{name}"), text));
}

/// Lives the script to its end, judges it and pins how it went.
async fn lived(name: &str, script: Script) -> (World, GovernedRunStatus) {
    let mut world = World::new(script);
    let (run, status) = world.live().await;
    judge(&world, &run).await;
    assert_told(name, &told_of(&world, &run));
    (world, status)
}

macro_rules! rows {
    ($($name:ident ends $status:ident: $script:expr;)+) => { $(
        #[tokio::test(start_paused = true)]
        async fn $name() {
            let (_, status) = lived(stringify!($name), $script).await;
            assert_eq!(status, GovernedRunStatus::$status);
        }
    )+ };
}

fn tools(tools: impl IntoIterator<Item = Tool>) -> Script {
    Script { tools: tools.into_iter().collect(), ..Script::default() }
}

fn deploy(replies: impl IntoIterator<Item = Reply>) -> Script {
    tools([Tool::new("build", [Reply::Pass]), Tool::new("deploy", replies)])
}

fn build(replies: impl IntoIterator<Item = Reply>) -> Script {
    tools([Tool::new("build", replies)])
}

const MINUTE: u64 = 60_000;

fn after(ms: u64, reply: Reply) -> Reply {
    Reply::After(ms, Box::new(reply))
}

rows! {
    // B1: approved goes on executing; no re-planning, no verification straight from the approval.
    b1_approved_goes_on_executing ends Completed: Script::default();
    // B3, B4: nobody answers.
    b4_nobody_answers ends HaltedUnsafe: Script { answers: vec![Answer::Never], ..Script::default() };
    b4_escalated ends HaltedUnsafe: Script { answers: vec![Answer::Escalate], ..Script::default() };
    b5_rejected ends RolledBack: Script { answers: vec![Answer::Reject], ..Script::default() };
    // B6: attempted, and failed: the approval is used up, the next try wants another.
    b6_each_attempt_uses_an_approval_up ends Completed: deploy([Reply::Fail, Reply::Pass]);
    // B7.
    b7_critical_risk_in_the_plan ends HaltedUnsafe: Script { plan_risk: Some(Risk::Critical), ..Script::default() };
    b7_high_risk_in_the_plan_goes_on ends Completed: Script { plan_risk: Some(Risk::High), ..Script::default() };
    b7_high_risk_on_a_good_output ends Completed: build([Reply::Risky(Risk::High)]);
    b7_medium_risk_on_a_good_output ends Completed: build([Reply::Risky(Risk::Medium)]);
    b7_high_risk_that_nobody_wants ends RolledBack:
        Script { answers: vec![Answer::Reject], ..build([Reply::Risky(Risk::Critical)]) };
    b7_a_risk_that_was_shown_is_not_asked_about_again ends Completed: deploy([Reply::Risky(Risk::High)]);
    b7_a_higher_risk_than_was_shown_is ends Completed: deploy([Reply::Risky(Risk::Critical)]);
    b7_a_tool_asks ends Completed: build([Reply::Ask("delete the cache"), Reply::Pass]);
    b7_a_tool_asks_again_for_the_same ends RolledBack: build([Reply::Ask("delete the cache")]);
    b7_halted_by_a_tool ends HaltedUnsafe: build([Reply::Halt]);
    b7_a_tool_crashes ends HaltedUnsafe: build([Reply::Crash]);
    b7_a_tool_panics ends HaltedUnsafe: build([Reply::Panic]);
    b7_an_approved_tool_crashes ends HaltedUnsafe: deploy([Reply::Crash]);
    b7_two_failures_and_a_pass ends Completed: build([Reply::Fail, Reply::Invalid, Reply::Pass]);
    b7_three_failures ends RolledBack: build([Reply::Fail]);
    b7_an_output_that_is_none ends RolledBack: build([Reply::Invalid]);
    b7_a_rollback_that_fails_while_executing ends HaltedUnsafe:
        Script { rollback: vec![Reply::Fail], ..build([Reply::Fail]) };
    b7_a_rollback_that_panics_after_a_rejection ends HaltedUnsafe:
        Script { rollback: vec![Reply::Panic], answers: vec![Answer::Reject], ..Script::default() };
    b7_a_rollback_that_fails_while_verifying ends RolledBack:
        Script { rollback: vec![Reply::Fail], verify: vec![Reply::Fail], ..Script::default() };
    b7_a_rollback_that_takes_too_long ends RolledBack:
        Script { rollback: vec![after(11 * MINUTE, Reply::Pass)], verify: vec![Reply::Fail], ..Script::default() };
    a_verification_fails ends RolledBack: Script { verify: vec![Reply::Fail], ..Script::default() };
    a_verification_shows_nothing ends RolledBack: Script { verify: vec![Reply::Invalid], ..Script::default() };
    a_verifier_panics ends RolledBack: Script { verify: vec![Reply::Panic], ..Script::default() };
    an_audit_fails ends RolledBack:
        Script { audits: vec![("security", vec![Reply::Fail]), ("quality", vec![Reply::Pass])], ..Script::default() };
    an_auditor_cannot_tell ends RolledBack:
        Script { audits: vec![("security", vec![Reply::Pass]), ("quality", vec![Reply::Crash])], ..Script::default() };
    an_auditor_panics ends RolledBack: Script { audits: vec![("quality", vec![Reply::Panic])], ..Script::default() };
    a_planner_finds_nothing ends HaltedUnsafe: Script { plans: vec![Reply::Fail], ..Script::default() };
    a_planner_finds_a_plan_at_last ends Completed:
        Script { plans: vec![Reply::Panic, Reply::Ask("no_such_tool"), Reply::Pass], ..Script::default() };
    a_plan_without_tools ends Completed: tools([]);
}

/// B1: what the drawing has and the list does not is refused when it is read, too.
#[tokio::test(start_paused = true)]
async fn b1_the_edges_of_the_drawing_are_refused() {
    for (from, to) in [("AWAITING_APPROVAL", "VERIFYING"), ("VERIFYING", "PLANNING")] {
        let (from, to): (GovernedRunStatus, GovernedRunStatus) = (from.parse().unwrap(), to.parse().unwrap());
        let graph = <AnyGovernedRun as runstate::kernel::Stateful>::GRAPH;
        assert!(!graph.edges.iter().any(|edge| edge.from == from.to_string() && edge.to == to.to_string()));
    }
}

/// B2: INIT is left for HALTED_UNSAFE by its time limit, and the run says so. What time that is: `limits`, with B3.
#[tokio::test(start_paused = true)]
async fn b2_a_run_that_is_never_planned_halts_by_its_time_limit_alone() {
    let world = World::new(tools([]));
    let run = world.governor().create("PROJECT").unwrap();
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    world.governor().expire(&run).await.unwrap();
    let status = world.governor().status(&run).unwrap();
    assert_eq!(status.state, GovernedRunStatus::HaltedUnsafe);
    assert_eq!(status.why.unwrap(), "the state lasted too long");
    assert!(world.outside.lock().unwrap().turns.is_empty(), "nobody was asked for anything");
    judge(&world, &run).await;
}

/// B8: whoever says that a run is verified while tools remain, or counts its tools otherwise, is not believed.
#[tokio::test(start_paused = true)]
async fn b8_no_verification_while_tools_remain() {
    let world = World::new(Script { verify: vec![after(MINUTE, Reply::Pass)], ..build([Reply::Pass]) });
    let run = RUN.parse().unwrap();
    let governor = world.governor();
    let start = governor.start("PROJECT");
    assert!(tokio::time::timeout(std::time::Duration::from_secs(5), start).await.is_err());
    let sound: serde_json::Value = serde_json::from_str(&world.file(folders().state(&run))).unwrap();
    assert_eq!(
        (&sound["current_state"], &sound["tools_remaining"]),
        (&"VERIFYING".into(), &serde_json::json!([]))
    );
    for (completed, remaining, fault) in [
        (serde_json::json!([]), serde_json::json!(["build"]), "in VERIFYING no tool may remain"),
        (serde_json::json!([]), serde_json::json!([]), "tools_planned must be tools_completed and then"),
        (
            serde_json::json!(["build", "build"]),
            serde_json::json!([]),
            "tools_planned must be tools_completed and then",
        ),
    ] {
        let mut file = sound.clone();
        (file["tools_completed"], file["tools_remaining"]) = (completed, remaining);
        runstate_runtime::files::replace(&world.disk, &folders().state(&run), file.to_string().as_bytes())
            .unwrap();
        let error = world.governor().resume(&run).await.unwrap_err();
        assert!(error.to_string().contains(fault), "{error}");
    }
}

/// B9: wherever a crash comes, no file tells of more than the one before it: the state, the log, the ledger.
#[tokio::test(start_paused = true)]
async fn b9_the_files_are_written_in_their_order() {
    let script = build([Reply::Pass]);
    let whole = World::new(script.clone());
    let run = whole.governor().start("PROJECT").await.unwrap().run;
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..whole.disk.operations() {
        let world = World::new(script.clone());
        world.disk.crash_at(runstate_runtime::files::Crash::Before(number));
        assert!(world.governor().start("PROJECT").await.is_err());
        world.disk.restart(Survives::Everything);
        let read = |path: std::path::PathBuf| world.disk.read(&path, 1 << 20).unwrap_or_default();
        let history = serde_json::from_slice::<serde_json::Value>(&read(folders().state(&run)))
            .map_or(0, |state| state["state_history"].as_array().unwrap().len());
        let lines = |path| read(path).iter().filter(|byte| **byte == b'\n').count();
        let (log, ledger) = (lines(folders().log(&run)), lines(folders().ledger()));
        assert!(
            history >= log && log >= ledger && history <= ledger + 1,
            "{number}: {history}, {log}, {ledger}"
        );
        seen.insert((history - log, log - ledger));
    }
    assert_eq!(seen, [(0, 0), (1, 0), (0, 1)].into(), "each of the moments between is among them");
}

/// B10: a crash while a tool is called.
#[tokio::test(start_paused = true)]
async fn b10_interrupted_call_is_in_doubt_unless_read_only() {
    for read_only in [false, true] {
        let tool = Tool::new("build", [after(MINUTE, Reply::Pass), Reply::Pass]);
        let script = tools([if read_only { tool.read_only() } else { tool }]);
        let mut world = World::new(script);
        {
            // The process is gone in the middle of the call; the files and the folder stay.
            let governor = world.governor();
            let started = governor.start("PROJECT");
            assert!(tokio::time::timeout(std::time::Duration::from_secs(5), started).await.is_err());
        }
        world.disk.restart(Survives::Nothing);
        let run = RUN.parse().unwrap();
        let status = world.governor().resume(&run).await.unwrap().status;
        let expected = if read_only { GovernedRunStatus::Completed } else { GovernedRunStatus::HaltedUnsafe };
        assert_eq!(status, expected);
        judge(&world, &run).await;
        let name = if read_only { "b10_a_read_only_call_is_made_again" } else { "b10_a_call_in_doubt_halts" };
        assert_told(name, &told_of(&world, &run));
        world.sweep_after(MINUTE).await;
    }
}

/// B10: planning, verifying and auditing begin anew; a run that waits goes on waiting.
#[tokio::test(start_paused = true)]
async fn b10_interrupted_work_without_effects_is_repeated() {
    let slow = || vec![after(MINUTE, Reply::Pass), Reply::Pass];
    let scripts = [
        Script { plans: slow(), ..tools([]) },
        Script { verify: slow(), ..tools([]) },
        Script { audits: vec![("security", slow())], ..tools([]) },
    ];
    for script in scripts {
        let world = World::new(script);
        {
            let governor = world.governor();
            let started = governor.start("PROJECT");
            assert!(tokio::time::timeout(std::time::Duration::from_secs(5), started).await.is_err());
        }
        world.disk.restart(Survives::Nothing);
        let run = RUN.parse().unwrap();
        assert_eq!(world.governor().resume(&run).await.unwrap().status, GovernedRunStatus::Completed);
        judge(&world, &run).await;
    }
    let world = World::new(Script::default());
    let waiting = world.governor().start("PROJECT").await.unwrap();
    world.disk.restart(Survives::Nothing);
    let files = world.disk.files();
    let again = world.governor().resume(&waiting.run).await.unwrap();
    assert_eq!((again.waits, again.status), (waiting.waits, waiting.status));
    assert_eq!(world.disk.files(), files, "a run that waits survives unchanged");
}

/// B10: a rollback that a crash cut short is done again.
#[tokio::test(start_paused = true)]
async fn b10_a_rollback_is_done_again() {
    let slow = || vec![after(MINUTE, Reply::Pass), Reply::Pass];
    let scripts = [
        ("executing", Script { rollback: slow(), ..build([Reply::Fail]) }),
        ("verifying", Script { rollback: slow(), verify: vec![Reply::Fail], ..Script::default() }),
        (
            "auditing",
            Script { rollback: slow(), audits: vec![("q", vec![Reply::Fail])], ..Script::default() },
        ),
        ("rejected", Script { rollback: slow(), answers: vec![Answer::Reject], ..Script::default() }),
    ];
    for (name, script) in scripts {
        let mut world = World::new(script);
        {
            let life = world.live();
            assert!(tokio::time::timeout(std::time::Duration::from_secs(5), life).await.is_err(), "{name}");
        }
        assert_eq!(world.outside.lock().unwrap().rollbacks, 1, "{name}: it was cut short");
        world.disk.restart(Survives::Nothing);
        if name == "rejected" {
            // The rejection came in time: it stands, however late its rollback is finished.
            tokio::time::advance(std::time::Duration::from_secs(48 * 60 * 60)).await;
        }
        let run = RUN.parse().unwrap();
        assert_eq!(
            world.governor().resume(&run).await.unwrap().status,
            GovernedRunStatus::RolledBack,
            "{name}"
        );
        judge(&world, &run).await;
        assert_eq!(world.outside.lock().unwrap().rollbacks, 2, "{name}");
    }
}

/// B11: two runs of one second.
#[tokio::test(start_paused = true)]
async fn b11_an_id_that_is_taken_takes_the_next_second() {
    let world = World::new(Script::default());
    let ids: Vec<String> = (0..3).map(|_| world.governor().create("PROJECT").unwrap().to_string()).collect();
    assert_eq!(
        ids,
        ["RUN-PROJECT-20260131-120000", "RUN-PROJECT-20260131-120001", "RUN-PROJECT-20260131-120002"]
    );
    for bad in ["", "project", "A B", "../A"] {
        assert!(matches!(world.governor().create(bad), Err(GovernedError::RunId(_))), "{bad:?}");
    }
    assert!(matches!(world.governor().create(&"A".repeat(120)), Err(GovernedError::Refused { .. })));
    let created = world.governor().create(&"A".repeat(80)).unwrap();
    let waiting = world.governor().resume(&created).await.unwrap();
    assert!(matches!(waiting.waits, Some(AwaitedInput::Approval(_))));
}

/// B12: a gate in both lists is shut.
#[tokio::test(start_paused = true)]
async fn b12_gates_in_neither_list_or_in_both_are_shut() {
    for (auto, required, is_asked) in [
        (vec!["build", "deploy"], vec![], false),
        (vec!["build"], vec![], true),
        (vec!["build", "deploy"], vec!["deploy"], true),
        (vec!["build"], vec!["deploy"], true),
    ] {
        let mut world = World::new(Script::default());
        world.rules.gates = Gates::new(auto.clone(), required.clone());
        let went = world.governor().start("PROJECT").await.unwrap();
        assert_eq!(went.waits.is_some(), is_asked, "{auto:?}, {required:?}");
    }
}

/// B13: an approval whose run halted before it was used stays APPROVED.
#[tokio::test(start_paused = true)]
async fn b13_unused_approval_stays_approved() {
    let mut world = World::new(Script::default());
    let waiting = world.governor().start("PROJECT").await.unwrap();
    let Some(AwaitedInput::Approval(pending)) = waiting.waits else { panic!() };
    world.governor().approve(&waiting.run, &pending.id, "ada", "").await.unwrap();
    world.sweep_after(30 * MINUTE).await;
    assert_eq!(world.governor().status(&waiting.run).unwrap().state, GovernedRunStatus::HaltedUnsafe);
    judge(&world, &waiting.run).await;
    assert_told("b13_unused_approval_stays_approved", &told_of(&world, &waiting.run));
}

/// B14: progress is written, and is no transition.
#[tokio::test(start_paused = true)]
async fn b14_progress_moves_the_time_of_the_last_change() {
    let world = World::new(build([after(MINUTE, Reply::Fail), after(MINUTE, Reply::Pass)]));
    let run = RUN.parse().unwrap();
    let look = || -> serde_json::Value { serde_json::from_str(&world.file(folders().state(&run))).unwrap() };
    let governor = world.governor();
    let mut seen = Vec::new();
    {
        let mut started = std::pin::pin!(governor.start("PROJECT"));
        for _ in 0..3 {
            let half = std::time::Duration::from_secs(45);
            if tokio::time::timeout(half, started.as_mut()).await.is_ok() {
                break;
            }
            let file = look();
            let history = file["state_history"].as_array().unwrap().len();
            seen.push((file["updated_at"].clone(), file["runstate"]["state"]["tries"].clone(), history));
        }
    }
    assert_eq!(
        seen,
        [("2026-01-31T12:00:00Z".into(), 1.into(), 3), ("2026-01-31T12:01:00Z".into(), 2.into(), 3),]
    );
}

/// The report names what was planned, done, approved by whom, verified, audited, and how long it took.
#[tokio::test(start_paused = true)]
async fn final_report_of_a_completed_run_matches_its_snapshot() {
    let mut world = World::new(tools([
        Tool::new("build", [after(1_500, Reply::Fail), after(90_000, Reply::Pass)]),
        Tool::new("deploy", [Reply::Risky(Risk::High)]),
    ]));
    let (run, _) = world.live().await;
    assert_told("report_complete", &world.file(folders().report(&run)));
}

#[tokio::test(start_paused = true)]
async fn final_report_of_a_rolled_back_run_matches_its_snapshot() {
    let script = Script { verify: vec![Reply::Fail], rollback: vec![Reply::Fail], ..Script::default() };
    let mut world = World::new(script);
    let (run, _) = world.live().await;
    assert_told("report_rolled_back", &world.file(folders().report(&run)));
    assert_told("state_rolled_back", &world.file(folders().state(&run)));
}
