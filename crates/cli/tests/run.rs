use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::Value;

use crate::session::{ROOT, Session, assert_shown};
use crate::stores;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tidy-folder.yaml");

/// Two deletions that nothing decides.
const UNDECIDED: &str = "\
name: undecided
message: tidy up
approve: [delete_file]
model:
  - calls:
      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}
      - {id: rm_a, tool: delete_file, arguments: {path: a.txt}}
      - {id: rm_b, tool: delete_file, arguments: {path: b.txt}}
  - text: done
";

/// The names and contents of a folder's files.
fn files(folder: &std::path::Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_example_runs_twice_and_leaves_its_folder_as_it_was() {
    let session = Session::new();
    let template = std::path::Path::new(ROOT).join("examples/tidy-folder");
    let before = files(&template);
    let first = session.run(&["run", EXAMPLE]);
    let second = session.run(&["run", EXAMPLE]);
    assert_eq!((first.code, second.code), (Some(0), Some(0)));
    assert_shown("run_example", &first.shown());
    assert_eq!(second.shown(), first.shown().replace("tidy-folder-1", "tidy-folder-2"));
    assert_eq!(files(&template), before);

    let runs = session.path("home/runstate/runs");
    let worked = files(&runs.join("tidy-folder-1/work"));
    let names: Vec<&str> = worked.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["SUMMARY.md", "old-notes.txt", "reports/harvest.md"], "denied is not deleted");
    assert_eq!(files(&runs.join("tidy-folder-2/work")), worked);
    session.assert_complete("tidy-folder-1", &[]);
    session.assert_complete("tidy-folder-2", &[]);
}

#[test]
fn the_result_can_be_read_by_programs() {
    let session = Session::new();
    let said = session.run(&["run", EXAMPLE, "--json"]);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_shown("run_json", &format!("{json:#}"));
}

#[test]
fn a_run_without_decisions_parks_and_is_resumed_call_by_call() {
    let session = Session::new();
    session.write("s.yaml", UNDECIDED);
    let parked = session.run(&["run", "s.yaml", "--state-dir", "runs"]);
    assert_eq!(parked.code, Some(3));
    let mut shown = parked.shown();

    let resume = |more: &[&str]| {
        let mut args = vec!["resume", "undecided-1", "--state-dir", "runs"];
        args.extend(more);
        session.run(&args)
    };
    let again = resume(&["--json"]);
    assert_eq!(again.code, Some(3), "nothing was decided");
    assert_eq!(serde_json::from_str::<Value>(&again.stdout).unwrap()["waiting"][0]["call"], "rm_a");

    let half = resume(&["--approve", "rm_a"]);
    assert_eq!(half.code, Some(3), "{}", half.shown());
    let done = resume(&["--deny", "rm_b"]);
    assert_eq!(done.code, Some(0), "{}", done.shown());
    let over = resume(&["--approve", "rm_b"]);
    assert_eq!(over.code, Some(2), "{}", over.shown());
    for said in [half, done, over] {
        shown.push('\n');
        shown.push_str(&said.shown());
    }
    assert_shown("resume", &shown);
    assert_eq!(files(&session.path("runs/undecided-1/work")), []);
}

/// Reads what the process says until it asks.
fn read_until(from: &mut impl Read, end: &str) -> String {
    let mut said = Vec::new();
    let mut byte = [0];
    while !said.ends_with(end.as_bytes()) {
        assert_eq!(from.read(&mut byte).unwrap(), 1, "ended with {:?}", String::from_utf8_lossy(&said));
        said.push(byte[0]);
    }
    String::from_utf8(said).unwrap()
}

#[test]
fn a_run_that_was_killed_while_a_call_is_suspended_goes_on() {
    let session = Session::new();
    session.write("s.yaml", UNDECIDED);
    let mut child = session
        .command(&["run", "s.yaml", "--state-dir", "runs", "--ask", "--lease", "1s"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let asked = read_until(&mut stderr, "leave it waiting: ");
    assert!(asked.contains("rm_a waits: delete_file"), "{asked}");

    // Another process cannot drive the run meanwhile.
    let meanwhile = session.run(&["resume", "undecided-1", "--state-dir", "runs", "--approve", "rm_a"]);
    assert_eq!(meanwhile.code, Some(2));
    assert!(
        meanwhile.stderr.contains("another process drives the run \"undecided-1\": "),
        "{}",
        meanwhile.stderr
    );

    child.kill().unwrap();
    child.wait().unwrap();
    let resumed =
        session.run(&["resume", "undecided-1", "--state-dir", "runs", "--approve", "rm_a", "--deny", "rm_b"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.shown());
    session.assert_complete("undecided-1", &["--state-dir", "runs"]);
}

#[test]
fn answers_are_asked_for() {
    let session = Session::new();
    session.write("s.yaml", UNDECIDED);
    let said = session.run_with(&["run", "s.yaml", "--ask"], "what?\ny it is a copy\nn keep it\n");
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert_shown("ask", &said.stderr);

    // The end of the input is no answer.
    let said = session.run_with(&["run", "s.yaml", "--ask"], "yes\n");
    assert_eq!(said.code, Some(3), "{}", said.shown());
}

#[test]
fn the_command_line_overrules_the_scenario() {
    let session = Session::new();
    let said =
        session.run(&["run", EXAMPLE, "--deny", "rm_draft", "--approve", "rm_notes", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let work = session.path("runs/tidy-folder-1/work");
    assert!(work.join("report-draft.md").exists());
    assert!(!work.join("old-notes.txt").exists());
}

#[test]
fn an_id_that_names_several_calls_is_refused_with_the_candidates() {
    let session = Session::new();
    session.write(
        "s.yaml",
        "\
name: lives
message: go
approve: [delete_file]
model:
  - calls: [{id: a, tool: delete_file, arguments: {path: x}}]
  - calls: [{id: a, tool: delete_file, arguments: {path: y}}]
  - text: done
",
    );
    let said = session.run(&["run", "s.yaml", "--approve", "a"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(
        said.stderr.contains("makes 2 calls of the id \"a\"") && said.stderr.contains("say which: a#1, a#2")
    );
    let said = session.run(&["run", "s.yaml", "--approve", "a#1", "--deny", "a#2", "--json"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    let calls: Vec<_> =
        json["calls"].as_array().unwrap().iter().map(|call| (&call["call"], &call["status"])).collect();
    assert_eq!(
        format!("{calls:?}"),
        r#"[(String("a"), String("Succeeded")), (String("a#2"), String("Cancelled"))]"#
    );
    let said = session.run(&["run", "s.yaml", "--approve", "a#3"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
}

#[cfg(unix)]
#[test]
fn an_interrupt_cancels_the_run_and_its_end_is_committed() {
    let session = Session::new();
    session.write(
        "s.yaml",
        "\
name: endless
message: go
tools: {slow: {does: [{takes_ms: 3600000, progress: [{at_ms: 1, value: 1}]}]}}
model:
  - calls: [{id: a, tool: slow}]
  - text: done
",
    );
    let args = ["run", "s.yaml", "--state-dir", "runs", "--real-time"];
    let mut child = session.command(&args).spawn().unwrap();
    // The store says when the tool has been started.
    stores::wait_for(&session, "runs/runs.db", "SELECT status FROM calls WHERE name = 'a'", "Running");
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(1));
    let said = session.run(&["resume", "endless-1", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    assert!(said.stderr.contains("it is over"), "{}", said.shown());
}

#[test]
fn a_crash_of_a_scenario_ends_the_process_and_the_run_is_resumed() {
    let session = Session::new();
    session.write(
        "s.yaml",
        "\
name: crashing
message: go
tools: {read: {effect: repeatable, does: [{takes_ms: 50}]}}
model:
  - calls: [{id: a, tool: read}]
  - text: done
outside:
  - {when: {at_ms: 20}, do: crash}
",
    );
    let said = session.run(&["run", "s.yaml", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(1), "{}", said.shown());
    assert!(said.stderr.contains("it crashed, as its scenario says"), "{}", said.shown());
    let said = session.run(&["resume", "crashing-1", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

#[test]
fn a_supplied_result_stands_for_the_tool() {
    let session = Session::new();
    let decided = "decisions:\n  - {call: rm_a, action: approve, result: {kept: true}}\n  - {call: rm_b, action: deny}\n";
    session.write("s.yaml", format!("{UNDECIDED}{decided}"));
    let said = session.run(&["run", "s.yaml", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(session.path("runs/undecided-1/work/a.txt").exists(), "the tool did not execute");
    let store = stores::open(&session, "runs/runs.db");
    assert_eq!(stores::number(&store, "SELECT count(*) FROM messages WHERE json LIKE '%\"kept\":true%'"), 1);
}

#[test]
fn mistakes_of_the_model_are_answered_and_the_run_goes_on() {
    let session = Session::new();
    session.write(
        "s.yaml",
        "\
name: mistakes
message: go
model:
  - calls:
      - {id: unknown, tool: format_disk}
      - {id: wrong, tool: read_file, arguments: {file: x}}
      - {id: outside, tool: read_file, arguments: {path: ../../secret}}
      - {id: fine, tool: list_files}
  - text: done
",
    );
    let said = session.run(&["run", "s.yaml", "--json"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    let statuses: Vec<&str> =
        json["calls"].as_array().unwrap().iter().map(|call| call["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["Failed", "Failed", "Failed", "Succeeded"]);
}

#[test]
fn the_way_on_can_be_copied_into_a_shell() {
    let session = Session::new();
    session.write("s.yaml", UNDECIDED.replace("rm_a", "'$(rm);rm_a'"));
    let said = session.run(&["run", "s.yaml", "--state-dir", "my runs"]);
    let way_on = "go on with: runstate resume undecided-1 --state-dir 'my runs' --approve '$(rm);rm_a' (or";
    assert!(said.stdout.contains(way_on), "{}", said.shown());
}

#[test]
fn a_run_that_does_not_end_naturally_exits_with_1() {
    let session = Session::new();
    let stopped = "name: stopped\nmessage: go\nmodel:\n  - calls: [{id: a, tool: list_files}]\nlimits: {max_rounds: 1}\n";
    session.write("s.yaml", stopped);
    let said = session.run(&["run", "s.yaml"]);
    assert_eq!(said.code, Some(1), "{}", said.shown());
    assert!(said.stdout.starts_with("stopped-1 is done: stopped:max_rounds"), "{}", said.stdout);
}

#[test]
fn what_cannot_be_run_leaves_nothing_behind() {
    let session = Session::new();
    session.write("s.yaml", UNDECIDED).write("bad.yaml", "name: bad\nmessage: x\nmodel: 7\n");
    session.write("folder.yaml", UNDECIDED.replace("message:", "folder: absent\nmessage:"));
    let mut shown = String::new();
    for args in [
        &["run", "absent.yaml"] as &[&str],
        &["run", "."],
        &["run", "bad.yaml"],
        &["run", "folder.yaml"],
        &["run", "s.yaml", "--approve", "rm_c"],
        &["run", "s.yaml", "--approve", "rm_a", "--deny", "rm_a"],
        &["run", "s.yaml", "--state-dir", "s.yaml"],
        &["resume", "undecided-1"],
        &["resume", "../etc"],
        &["resume", ""],
    ] {
        let said = session.run(args);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    assert_shown("run_errors", &shown);
    assert!(!session.path("home").exists(), "no half-made run");
}

#[test]
fn a_damaged_run_is_refused_and_left_alone() {
    let session = Session::new();
    session.write("s.yaml", UNDECIDED);
    assert_eq!(session.run(&["run", "s.yaml", "--state-dir", "runs"]).code, Some(3));
    let whole = fs::read(session.path("runs/runs.db")).unwrap();
    let resume = ["resume", "undecided-1", "--state-dir", "runs", "--approve", "rm_a", "--deny", "rm_b"];
    let cases = [
        ("changed by hand", "UPDATE calls SET snapshot = replace(snapshot, 'a.txt', 'b.txt')"),
        ("unknown status", "UPDATE runs SET snapshot = replace(snapshot, '\"Waiting\"', '\"Resting\"')"),
        ("no snapshot", "UPDATE calls SET snapshot = '[]' WHERE name = 'rm_a'"),
        ("a call is gone", "DELETE FROM calls WHERE name = 'rm_b'"),
        ("a message is gone", "DELETE FROM messages WHERE seq = 2"),
        ("of another program", "UPDATE specs SET json = '{\"kind\": \"batch\"}'"),
        ("no scenario", "UPDATE specs SET json = json_set(json, '$.scenario', 'name: 7')"),
        ("no folder", "UPDATE specs SET json = json_set(json, '$.folder', '/nowhere/work')"),
        ("a newer version", "UPDATE runs SET snapshot = replace(snapshot, '\"version\":1', '\"version\":9')"),
        ("deep nesting", "UPDATE runs SET core = replace(hex(zeroblob(50000)), '00', '{\"a\":')"),
        ("a trace of something else", "UPDATE trace SET json = '{}'"),
    ];
    let mut shown = String::new();
    for (case, damage) in cases {
        {
            let store = stores::open(&session, "runs/runs.db");
            store.execute_batch(damage).unwrap();
        }
        let commits = |session: &Session| {
            stores::number(&stores::open(session, "runs/runs.db"), "SELECT version FROM runs")
        };
        let before = commits(&session);
        let said = session.run(&resume);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{case}: {}", said.shown());
        assert_eq!(commits(&session), before, "{case}");
        assert!(session.path("runs/undecided-1/work/a.txt").exists(), "{case}");
        shown.push_str(&format!("== {case}\n{}\n", said.stderr));
        for file in ["runs.db-wal", "runs.db-shm"] {
            drop(fs::remove_file(session.path(&format!("runs/{file}"))));
        }
        session.write("runs/runs.db", &whole);
    }
    assert_shown("state_errors", &shown);

    // What was refused was not harmed.
    let said = session.run(&resume);
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

#[test]
fn a_snapshot_that_was_changed_and_sealed_goes_on() {
    let session = Session::new();
    session.write("s.yaml", UNDECIDED);
    session.run(&["run", "s.yaml", "--state-dir", "runs"]);
    let resume = ["resume", "undecided-1", "--state-dir", "runs"];
    let store = stores::open(&session, "runs/runs.db");
    let snapshot = stores::text(&store, "SELECT snapshot FROM calls WHERE name = 'rm_a'").unwrap();
    let put = |snapshot: &str| {
        store.execute("UPDATE calls SET snapshot = ?1 WHERE name = 'rm_a'", [snapshot]).unwrap();
    };
    let changed = snapshot.replace("may delete_file execute?", "really?");
    assert_ne!(changed, snapshot);
    put(&changed);
    assert_eq!(session.run(&resume).code, Some(2));
    let sealed = session.run_with(&["seal", "-"], &changed);
    assert_eq!(sealed.code, Some(0), "{}", sealed.shown());
    put(sealed.stdout.trim());
    let said = session.run(&resume);
    assert_eq!(said.code, Some(3), "{}", said.shown());
    assert!(said.stdout.contains("really?"), "{}", said.stdout);
}

#[test]
fn progress_is_plain_where_there_is_no_terminal() {
    let session = Session::new();
    let mut child = session.command(&["run", EXAMPLE]).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
    child.wait().unwrap();
    assert!(!first.contains('\u{1b}'), "{first:?}");
    std::io::stdout().flush().unwrap();
}
