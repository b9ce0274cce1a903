//! Files of other tools: the document's own example, fields that nobody here knows, states without what the types own.

use std::path::Path;

use runstate::governed_run::GovernedRunStatus;
use runstate_governed::*;
use runstate_runtime::files::{Disk, replace};
use serde_json::{Value, json};

use super::judge::judge;
use super::world::{RUN, Reply, Script, Tool, World, folders};

/// "RUN_STATE.json Schema", to the letter.
pub(super) const EXAMPLE: &str = r#"{
  "run_id": "RUN-PROJECT-20260131-120000",
  "project_id": "PROJECT",
  "current_state": "EXECUTING",
  "previous_state": "PLANNING",
  "state_history": [
    {"state": "INIT", "entered_at": "2026-01-31T12:00:00Z", "exited_at": "2026-01-31T12:00:01Z"},
    {"state": "PLANNING", "entered_at": "2026-01-31T12:00:01Z", "exited_at": "2026-01-31T12:00:05Z"},
    {"state": "EXECUTING", "entered_at": "2026-01-31T12:00:05Z", "exited_at": null}
  ],
  "tools_planned": ["tool_inspector", "tool_browser", "tool_reporter"],
  "tools_completed": ["tool_inspector"],
  "tools_remaining": ["tool_browser", "tool_reporter"],
  "current_tool": "tool_browser",
  "approvals_pending": [],
  "approvals_granted": [],
  "created_at": "2026-01-31T12:00:00Z",
  "updated_at": "2026-01-31T12:00:30Z"
}"#;

/// A world in which a run left this file.
pub(super) fn with_state(file: &[u8], tools: Vec<Tool>) -> World {
    let auto = tools.iter().map(|tool| tool.name).collect();
    let world = World::new(Script { tools, auto, ..Script::default() });
    for folder in ["/runs".into(), folders().run(&RUN.parse().unwrap())] {
        world.disk.create_folder(&folder).unwrap();
    }
    replace(&world.disk, &folders().state(&RUN.parse().unwrap()), file).unwrap();
    world
}

fn tools(read_only: bool) -> Vec<Tool> {
    ["tool_inspector", "tool_browser", "tool_reporter"]
        .map(|name| Tool { read_only, ..Tool::new(name, [Reply::Pass]) })
        .into()
}

/// A run that another tool left behind goes on; what it did is not done again, and its fields stay.
#[tokio::test(start_paused = true)]
async fn the_documents_example_is_driven_to_its_end() {
    let mut file: Value = serde_json::from_str(EXAMPLE).unwrap();
    file["owner"] = json!({"team": "becca", "tags": [1, 2.5, null]});
    file["state_history"][1]["note"] = json!("it took long");
    let world = with_state(file.to_string().as_bytes(), tools(true));
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    let run = RUN.parse().unwrap();
    let progressed = world.governor().resume(&run).await.unwrap();
    assert_eq!(progressed.status, GovernedRunStatus::Completed);
    assert_eq!((progressed.repairs.log_lines, progressed.repairs.ledger_lines), (3, 3));
    let called: Vec<String> =
        world.outside.lock().unwrap().calls.iter().map(|(tool, ..)| tool.clone()).collect();
    assert_eq!(called, ["tool_browser", "tool_reporter"]);
    let now: Value = serde_json::from_str(&world.file(folders().state(&run))).unwrap();
    assert_eq!(now["owner"], file["owner"]);
    assert_eq!(now["state_history"][1], file["state_history"][1]);
    assert_eq!(now["created_at"], file["created_at"]);
    for field in ["run_id", "project_id", "tools_planned"] {
        assert_eq!(now[field], file[field]);
    }
    judge(&world, &run).await;
}

/// A tool of another tool's run may have had effects: it is in doubt, unless it only reads (B10).
#[tokio::test(start_paused = true)]
async fn a_tool_that_was_under_way_is_in_doubt() {
    let world = with_state(EXAMPLE.as_bytes(), tools(false));
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    let status = world.governor().resume(&RUN.parse().unwrap()).await.unwrap().status;
    assert_eq!(status, GovernedRunStatus::HaltedUnsafe);
    assert!(world.outside.lock().unwrap().calls.is_empty());
}

/// Every state of another tool, without what our types own.
#[tokio::test(start_paused = true)]
async fn every_state_is_taken_up_or_left_alone() {
    use GovernedRunStatus as S;
    let way = ["INIT", "PLANNING", "EXECUTING", "VERIFYING", "AUDITING", "COMPLETE"];
    let ends = [S::Completed; 6];
    for (last, end) in ends.into_iter().enumerate() {
        let history: Vec<Value> = way[..=last]
            .iter()
            .enumerate()
            .map(|(i, state)| {
                let exited = if i == last { Value::Null } else { json!("2026-01-31T12:00:00Z") };
                json!({"state": state, "entered_at": "2026-01-31T12:00:00Z", "exited_at": exited})
            })
            .collect();
        let planned = if last < 2 { json!([]) } else { json!(["build"]) };
        let completed = if last < 3 { json!([]) } else { json!(["build"]) };
        let remaining = if last == 2 { json!(["build"]) } else { json!([]) };
        let file = json!({
            "run_id": RUN, "project_id": "PROJECT", "current_state": way[last],
            "previous_state": last.checked_sub(1).map(|at| way[at]), "state_history": history,
            "tools_planned": planned, "tools_completed": completed, "tools_remaining": remaining,
            "current_tool": null, "approvals_pending": [], "approvals_granted": [],
            "created_at": "2026-01-31T12:00:00Z", "updated_at": "2026-01-31T12:00:00Z",
        });
        let world = with_state(file.to_string().as_bytes(), vec![Tool::new("build", [Reply::Pass])]);
        let run = RUN.parse().unwrap();
        assert_eq!(world.governor().resume(&run).await.unwrap().status, end, "{}", way[last]);
        let now: Value = serde_json::from_str(&world.file(folders().state(&run))).unwrap();
        assert_eq!(now == file, last == 5, "a run that is over is not written");
        assert!(world.file(folders().report(&run)).contains("## States"));
        assert!(world.governor().resume(&run).await.unwrap().repairs.is_empty());
    }
}

/// A question of another tool that left no record can be answered by nobody; it expires.
#[tokio::test(start_paused = true)]
async fn a_question_without_a_record_expires() {
    let mut file: Value = serde_json::from_str(EXAMPLE).unwrap();
    file["current_state"] = json!("AWAITING_APPROVAL");
    file["previous_state"] = json!("EXECUTING");
    file["state_history"][2]["exited_at"] = json!("2026-01-31T12:00:30Z");
    let waits =
        json!({"state": "AWAITING_APPROVAL", "entered_at": "2026-01-31T12:00:30Z", "exited_at": null});
    file["state_history"].as_array_mut().unwrap().push(waits);
    file["approvals_pending"] = json!(["APPROVAL-7"]);
    let world = with_state(file.to_string().as_bytes(), tools(false));
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    let (run, id) = (RUN.parse().unwrap(), "APPROVAL-7".parse().unwrap());
    let governor = world.governor();
    let Some(AwaitedInput::Approval(pending)) = governor.resume(&run).await.unwrap().waits else { panic!() };
    assert_eq!((&pending.id, &pending.request), (&id, &None));
    let refused = governor.approve(&run, &id, "ada", "").await.unwrap_err();
    assert!(matches!(refused, GovernedError::NotAsked { .. }), "{refused}");
    tokio::time::advance(std::time::Duration::from_secs(24 * 60 * 60)).await;
    assert_eq!(governor.status(&run).unwrap().state, GovernedRunStatus::AwaitingApproval, "it is only read");
    assert_eq!(governor.expire(&run).await.unwrap(), Some(GovernedRunStatus::HaltedUnsafe));
    assert_eq!(governor.status(&run).unwrap().state, GovernedRunStatus::HaltedUnsafe);
    assert!(world.disk.list(Path::new("/runs/command-center/PENDING")).unwrap().is_empty());
}

/// A record in the form of ours makes the question answerable.
#[tokio::test(start_paused = true)]
async fn a_question_with_a_record_is_answered() {
    let mut ours = World::new(Script::default());
    let waiting = ours.governor().start("PROJECT").await.unwrap();
    let mut file: Value = serde_json::from_str(&ours.file(folders().state(&waiting.run))).unwrap();
    file.as_object_mut().unwrap().remove("runstate");
    replace(&ours.disk, &folders().state(&waiting.run), file.to_string().as_bytes()).unwrap();
    assert_eq!(ours.live_on(&waiting.run).await, GovernedRunStatus::Completed);
    judge(&ours, &waiting.run).await;
}

/// Times are read as other tools write them.
#[test]
fn times_are_read_in_any_zone_and_written_in_one() {
    let rows = [
        ("1970-01-01T00:00:00Z", Some(0)),
        ("2026-01-31T12:00:00Z", Some(1_769_860_800_000)),
        ("2026-01-31 12:00:00z", Some(1_769_860_800_000)),
        ("2026-01-31T12:00:00.123456789Z", Some(1_769_860_800_123)),
        ("2026-01-31T12:00:00.1Z", Some(1_769_860_800_100)),
        ("2026-01-31T17:30:00+05:30", Some(1_769_860_800_000)),
        ("2026-01-31T04:00:00-08:00", Some(1_769_860_800_000)),
        ("2024-02-29T23:59:60Z", Some(1_709_251_200_000)),
        ("9999-12-31T23:59:59.999Z", Some(253_402_300_799_999)),
        ("2023-02-29T00:00:00Z", None),
        ("1969-12-31T23:59:59Z", None),
        ("1970-01-01T00:00:00+00:01", None),
        ("2026-01-31T24:00:00Z", None),
        ("2026-01-31T12:00:00", None),
        ("2026-01-31T12:00:00.Z", None),
        ("2026-01-31T12:00:00+5:30", None),
        ("2026-1-31T12:00:00Z", None),
        ("2026-01-31T12:00:00Zé", None),
        ("é", None),
        ("", None),
    ];
    for (text, ms) in rows {
        assert_eq!(text.parse::<Timestamp>().ok().map(Timestamp::ms), ms, "{text}");
        if let Some(ms) = ms {
            let written = Timestamp::from_ms(ms).to_string();
            assert_eq!(written.parse::<Timestamp>().unwrap().ms(), ms, "{written}");
        }
    }
}
