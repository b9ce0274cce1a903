//! Files that are not what they should be: a clear report, and nothing is written.

use runstate_governed::*;
use runstate_runtime::files::{Disk, replace};
use serde_json::{Value, json};

use super::foreign::{EXAMPLE, with_state};
use super::rows::assert_told;
use super::world::{RUN, Reply, Script, Tool, World, folders};

fn example(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut file: Value = serde_json::from_str(EXAMPLE).unwrap();
    change(&mut file);
    file.to_string().into_bytes()
}

/// What is said of a file, with every file as it was before.
async fn said_of(file: &[u8]) -> String {
    let world = with_state(file, vec![Tool::new("tool_inspector", [Reply::Pass])]);
    let before = world.disk.files();
    let (governor, run) = (world.governor(), RUN.parse().unwrap());
    let error = governor.resume(&run).await.unwrap_err();
    let id = "A1".parse().unwrap();
    // A run from behind the clock can be looked at.
    let status = governor.status(&run).map_err(|error| error.to_string());
    let is_future = error.to_string().contains("which is in the future");
    assert_eq!(
        status.map(|_| error.to_string()),
        if is_future { Ok(error.to_string()) } else { Err(error.to_string()) }
    );
    for other in [
        governor.approve(&run, &id, "ada", "").await.unwrap_err(),
        governor.reject(&run, &id, "ada", "").await.map(drop).unwrap_err(),
    ] {
        assert_eq!(other.to_string(), error.to_string());
    }
    let swept = world.sweep(&governor).await;
    assert_eq!(swept[0].1.as_ref().unwrap_err().to_string(), error.to_string());
    assert!(matches!(error, GovernedError::Damaged { .. }), "{error}");
    assert_eq!(world.disk.files(), before, "nothing is written");
    error.to_string()
}

/// The example, with an approval of that run that somebody changed without sealing it anew.
fn changed_approval(run: &str, was: &str, is: &str) -> Vec<u8> {
    use runstate::approval::*;
    let record = ApprovalRecord::new(
        "A1".parse().unwrap(),
        run.parse().unwrap(),
        Request::new("tool_browser", "browse", Risk::High),
        0,
    );
    let approval = Approval::new(record).submit(Submit::new(0, 10)).approve(Approve::new("ada", 1)).unwrap();
    let sound = runstate::snapshot::Snapshot::of(&approval).unwrap().to_json();
    let changed: Value = serde_json::from_str(&sound.replace(was, is)).unwrap();
    example(|file| {
        let notes = json!({"standing": {"at": "idle"}, "approvals": [changed], "tools": []});
        file["runstate"] = json!({"version": 1, "state": {"tries": 1}, "notes": notes});
    })
}

#[tokio::test(start_paused = true)]
async fn impossible_state_files_are_refused() {
    let visit =
        |state: &str| json!({"state": state, "entered_at": "2026-01-31T12:00:05Z", "exited_at": null});
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("empty", b"".to_vec()),
        ("no JSON", b"RUN_STATE".to_vec()),
        ("another type", b"[1, 2]".to_vec()),
        ("cut short", EXAMPLE.as_bytes()[..400].to_vec()),
        ("no field", example(|file| drop(file.as_object_mut().unwrap().remove("tools_planned")))),
        ("text for a list", example(|file| file["tools_planned"] = json!("tool_inspector"))),
        ("number for a time", example(|file| file["created_at"] = json!(5))),
        ("no such day", example(|file| file["created_at"] = json!("2026-02-30T00:00:00Z"))),
        ("unknown state", example(|file| file["current_state"] = json!("FLYING"))),
        ("no run id", example(|file| file["run_id"] = json!("RUN-1"))),
        ("another run's", example(|file| file["run_id"] = json!("RUN-OTHER-20260131-120000"))),
        ("another project's", example(|file| file["project_id"] = json!("OTHER"))),
        ("path as an approval", example(|file| file["approvals_granted"] = json!(["../../x"]))),
        (
            "impossible history",
            example(|file| {
                file["state_history"][2] = visit("COMPLETE");
                file["current_state"] = json!("COMPLETE");
            }),
        ),
        (
            "leaves a terminal state",
            example(|file| {
                file["state_history"][1]["state"] = json!("HALTED_UNSAFE");
                file["previous_state"] = json!("HALTED_UNSAFE");
            }),
        ),
        (
            "begins in the middle",
            example(|file| drop(file["state_history"].as_array_mut().unwrap().remove(0))),
        ),
        ("no history", example(|file| file["state_history"] = json!([]))),
        ("two truths", example(|file| file["current_state"] = json!("PLANNING"))),
        ("gap", example(|file| file["state_history"][1]["entered_at"] = json!("2026-01-31T12:00:02Z"))),
        (
            "backwards",
            example(|file| {
                file["state_history"][1]["exited_at"] = json!("2026-01-31T12:00:00Z");
            }),
        ),
        ("never left", example(|file| file["state_history"][1]["exited_at"] = json!(null))),
        ("future", example(|file| file["updated_at"] = json!("2026-02-01T12:00:00Z"))),
        ("wrong current tool", example(|file| file["current_tool"] = json!("tool_reporter"))),
        ("tools lost", example(|file| file["tools_remaining"] = json!(["tool_browser"]))),
        ("waits for nothing", example(|file| file["approvals_pending"] = json!(["A1", "A2"]))),
        ("granted twice", example(|file| file["approvals_granted"] = json!(["A1", "A1"]))),
        ("newer version", example(|file| file["runstate"] = json!({"version": 2, "more": true}))),
        ("extension of another shape", example(|file| file["runstate"] = json!({"version": 1}))),
        ("an approval that was changed", changed_approval(RUN, "browse\"", "brows3\"")),
        ("an approval of another run", changed_approval("RUN-OTHER-20260131-120000", "A1", "A1")),
        (
            "an approval that is not there",
            example(|file| {
                let standing = json!({"at": "granted", "approval": "A1", "purpose": "begin"});
                let notes = json!({"standing": standing, "approvals": [], "tools": []});
                file["runstate"] = json!({"version": 1, "state": {"tries": 1}, "notes": notes});
            }),
        ),
        (
            "too many tries",
            example(|file| {
                let notes = json!({"standing": {"at": "idle"}, "approvals": [], "tools": []});
                file["runstate"] = json!({"version": 1, "state": {"tries": 9}, "notes": notes});
            }),
        ),
    ];
    let mut said = String::new();
    for (name, file) in files {
        said.push_str(&format!("{name}: {}\n", said_of(&file).await));
    }
    assert_told("hostile_states", &said);
}

#[tokio::test(start_paused = true)]
async fn state_file_of_100_megabytes_is_refused() {
    let mut file = EXAMPLE.as_bytes()[..EXAMPLE.len() - 1].to_vec();
    file.extend(b", \"padding\": \"");
    file.resize(100_000_000, b'x');
    file.extend(b"\"}");
    let said = said_of(&file).await;
    assert!(said.contains("has 100000002 bytes, more than the 16777216"), "{said}");
    assert!(check_state(&file, None).is_err());
}

#[tokio::test(start_paused = true)]
async fn deeply_nested_state_file_is_refused() {
    let mut file = EXAMPLE.as_bytes()[..EXAMPLE.len() - 1].to_vec();
    file.extend(b", \"deep\": ");
    file.extend(vec![b'['; 1_000_000]);
    let said = said_of(&file).await;
    assert!(said.contains("recursion limit exceeded"), "{said}");
}

/// A log that is ahead of the state, tells of something else, or is no log is set aside and told anew; of the ledger every line
/// stays, and what it does not tell of is told behind them.
#[tokio::test(start_paused = true)]
async fn contradicting_logs_are_rebuilt_and_ledgers_completed() {
    let mut said = String::new();
    let log = |world: &World| world.file(folders().log(&RUN.parse().unwrap()));
    for (name, change) in [
        (
            "ahead",
            &(|log: &str| {
                let more = log.lines().last().unwrap().replace("\"seq\":4", "\"seq\":5");
                format!("{log}{more}\n")
            }) as &dyn Fn(&str) -> String,
        ),
        ("another transition", &|log| log.replace("\"to\":\"EXECUTING\"", "\"to\":\"VERIFYING\"")),
        ("another time", &|log| log.replacen("\"at_ms\":1769860800000", "\"at_ms\":1769860800001", 1)),
        ("a line taken out", &|log| log.lines().skip(1).map(|line| format!("{line}\n")).collect()),
        ("garbage between", &|log| format!("garbage\n{log}")),
        ("binary", &|log| format!("\0\u{1}\n{log}")),
        ("another type", &|log| format!("[1]\n{log}")),
        ("a number for a state", &|log| log.replace("\"to\":\"EXECUTING\"", "\"to\":5")),
    ] {
        for which in ["log", "ledger"] {
            let world = World::new(Script::default());
            let run = world.governor().start("PROJECT").await.unwrap().run;
            let path = if which == "log" { folders().log(&run) } else { folders().ledger() };
            let changed = change(&world.file(&path));
            replace(&world.disk, &path, changed.as_bytes()).unwrap();
            let repairs = world.governor().resume(&run).await.unwrap().repairs;
            let now = world.file(&path);
            if which == "log" {
                assert_eq!(world.file("/runs/RUN-PROJECT-20260131-120000/RUN_LOG.jsonl.damaged-1"), changed);
                assert!(now.lines().all(|line| line.contains("\"recovered\":true")), "{now}");
            } else {
                assert!(now.starts_with(&changed), "{now}");
            }
            let error = match verify_ledger(changed.as_bytes(), None) {
                Ok(report) => format!("{} lines", report.lines),
                Err(fault) => fault.to_string(),
            };
            let error = format!(
                "{error}; {} log lines, {} ledger lines, {} set aside",
                repairs.log_lines,
                repairs.ledger_lines,
                repairs.set_aside.len()
            );
            assert!(world.governor().resume(&run).await.unwrap().repairs.set_aside.is_empty());
            said.push_str(&format!("{name}: {error}\n"));
        }
    }
    assert_told("hostile_logs", &said);
    // What others log in a form of their own is no contradiction.
    let world = World::new(Script::default());
    let run = world.governor().start("PROJECT").await.unwrap().run;
    let mixed = format!("{{\"event\":\"theirs\",\"seq\":\"one\",\"run\":{{}}}}\n{}", log(&world));
    replace(&world.disk, &folders().log(&run), mixed.as_bytes()).unwrap();
    assert!(world.governor().resume(&run).await.unwrap().repairs.is_empty());
}

/// A torn end is no contradiction: it is cut, and what it lacks is written again.
#[tokio::test(start_paused = true)]
async fn a_torn_end_is_cut_and_mended() {
    for torn in 1..200 {
        let world = World::new(Script { tools: vec![], ..Script::default() });
        let run = world.governor().start("PROJECT").await.unwrap().run;
        let whole = (world.file(folders().log(&run)), world.file(folders().ledger()));
        for path in [folders().log(&run), folders().ledger()] {
            let text = world.file(&path);
            replace(&world.disk, &path, &text.as_bytes()[..text.len() - torn]).unwrap();
        }
        let repairs = world.governor().resume(&run).await.unwrap().repairs;
        assert_eq!((repairs.log_lines, repairs.ledger_lines), (1, 1));
        let mended = (world.file(folders().log(&run)), world.file(folders().ledger()));
        assert_eq!(mended.0.replace(",\"recovered\":true", ""), whole.0);
        assert_eq!(mended.1.lines().count(), whole.1.lines().count());
        verify_ledger(mended.1.as_bytes(), None).unwrap();
        assert!(world.governor().resume(&run).await.unwrap().repairs.is_empty());
    }
}

/// Records that were moved, changed, doubled, or belong to nobody are brought in line with the state.
#[tokio::test(start_paused = true)]
async fn records_of_approvals_follow_the_state() {
    let world = World::new(Script::default());
    let run = world.governor().start("PROJECT").await.unwrap().run;
    let name = format!("{run}-A1.json");
    let at =
        |folder: &str, name: &str| std::path::PathBuf::from(format!("/runs/command-center/{folder}/{name}"));
    let sound = world.file(at("PENDING", &name));
    let forged = sound.replace("AWAITING_HUMAN", "APPROVED");
    replace(&world.disk, &at("APPROVED", &name), forged.as_bytes()).unwrap();
    replace(&world.disk, &at("REJECTED", &name), b"garbage").unwrap();
    replace(&world.disk, &at("PENDING", &name), b"{}").unwrap();
    replace(&world.disk, &at("PENDING", &format!("{run}-A2.json")), sound.as_bytes()).unwrap();
    let others = ["RUN-PROJECT-20260131-120001-A1.json", "notes.txt"];
    for other in others {
        replace(&world.disk, &at("PENDING", other), b"not this run's").unwrap();
    }
    let repairs = world.governor().resume(&run).await.unwrap().repairs;
    assert_eq!(repairs.approvals, 4);
    assert_eq!(world.file(at("PENDING", &name)), sound);
    let mut left = vec![name.clone()];
    left.extend(others.map(str::to_owned));
    left.sort();
    assert_eq!(world.disk.list(std::path::Path::new("/runs/command-center/PENDING")).unwrap(), left);
    for folder in ["APPROVED", "REJECTED"] {
        let folder = format!("/runs/command-center/{folder}");
        assert!(world.disk.list(std::path::Path::new(&folder)).unwrap().is_empty());
    }
}

/// Whatever is changed in a state: it is read or refused, never a panic; refused, nothing is written.
#[test]
fn any_damage_is_read_or_refused() {
    use proptest::prelude::*;
    let runtime =
        || tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let state = runtime().block_on(async {
        let world = World::new(Script::default());
        let run = world.governor().start("PROJECT").await.unwrap().run;
        world.file(folders().state(&run)).into_bytes()
    });
    let words = [
        "null",
        "\"EXECUTING\"",
        "\"COMPLETE\"",
        "[]",
        "{}",
        "-1",
        "1e99",
        "\"\"",
        "\"2026-01-31T12:00:00Z\"",
        "}",
        "\0",
    ];
    let edit = (any::<prop::sample::Index>(), 0..40_usize, prop::sample::select(words.to_vec()));
    let mut config = proptest::test_runner::Config { source_file: Some(file!()), ..Default::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 200;
    }
    let outcome =
        proptest::test_runner::TestRunner::new(config).run(&prop::collection::vec(edit, 1..4), |edits| {
            let mut file = state.clone();
            for (at, length, word) in edits {
                let at = at.index(file.len());
                let end = (at + length).min(file.len());
                file.splice(at..end, word.bytes());
            }
            let checked = check_state(&file, None);
            runtime().block_on(async {
                let world = with_state(&file, vec![Tool::new("build", [Reply::Pass])]);
                let before = world.disk.files();
                let resumed = world.governor().resume(&RUN.parse().unwrap()).await;
                match resumed {
                    Ok(_) => assert!(checked.is_ok_and(|report| report.faults.is_empty())),
                    Err(GovernedError::Damaged { .. }) => assert_eq!(world.disk.files(), before),
                    Err(error) => panic!("{error}"),
                }
            });
            Ok(())
        });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
