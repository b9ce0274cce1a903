//! Who answers for the calls that wait.

use serde_json::Value;

use super::{EXAMPLE, UNDECIDED};
use crate::session::{Session, assert_shown};
use crate::stores;

#[test]
fn answers_are_asked_for() {
    let session = Session::new();
    session.write("s.yaml", UNDECIDED);
    let said = session
        .run_with(&["run", "s.yaml", "--ask", "--actor", "tester"], "what?\nY it is a copy\nn keep it\n");
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
fn ambiguous_call_id_is_refused_with_its_candidates() {
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
        said.stderr.contains("makes 2 calls with the id \"a\"")
            && said.stderr.contains("name one call: a#1, a#2")
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
fn the_way_on_can_be_copied_into_a_shell() {
    let session = Session::new();
    session.write("s.yaml", UNDECIDED.replace("rm_a", "'$(rm);rm_a'"));
    let said = session.run(&["run", "s.yaml", "--state-dir", "my runs"]);
    let way_on = "continue with: runstate resume undecided-1 --state-dir 'my runs' --approve 'undecided-1/$(rm);rm_a/1' (or";
    assert!(said.stdout.contains(way_on), "{}", said.shown());
}
