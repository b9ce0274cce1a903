//! A process is gone right after each of its commits, and the run goes on in another.

use serde_json::Value;

use crate::session::Session;
use crate::stores;

const SCENARIO: &str = "\
name: crash
message: tidy up
approve: [delete_file]
model:
  - calls:
      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}
      - {id: rm_a, tool: delete_file, arguments: {path: a.txt}}
      - {id: rm_b, tool: delete_file, arguments: {path: b.txt}}
  - text: done
decisions:
  - {call: rm_a, action: approve}
  - {call: rm_b, action: deny}
";

#[test]
fn a_run_that_was_killed_after_any_commit_goes_on() {
    let session = Session::new();
    let mut in_doubt = 0;
    let mut commit = 0;
    loop {
        commit += 1;
        let what = format!("after commit {commit}");
        let dir = format!("runs-{commit}");
        let place = ["--state-dir", &*dir];
        session.write(
            "s.yaml",
            format!("{SCENARIO}outside:\n  - {{when: {{after_commit: {commit}}}, do: crash}}\n"),
        );
        let said = session.run(&["run", "s.yaml", "--state-dir", &dir]);
        let is_crashed = said.stderr.contains("it crashed, as its scenario says");
        let store = stores::open(&session, &format!("{dir}/runs.db"));
        let version = stores::number(&store, "SELECT version FROM runs");
        let is_over = stores::text(&store, "SELECT status FROM runs").as_deref() == Some("Done");
        drop(store);
        if !is_crashed {
            assert_eq!(said.code, Some(0), "{what}: {}", said.shown());
            break;
        }
        assert_eq!((said.code, version), (Some(1), commit), "{what}: {}", said.shown());

        let resume = |answers: &[&str]| {
            session.run(&[&["resume", "crash-1", "--json"] as &[&str], &place, answers].concat())
        };
        let mut is_made_again = false;
        let mut said = resume(&[]);
        // What was in doubt may ask what it was about to ask before.
        for _ in 0..4 {
            if said.code != Some(3) {
                break;
            }
            let json: Value = serde_json::from_str(&said.stdout).unwrap();
            let waiting = json["waiting"].as_array().unwrap();
            in_doubt += waiting.iter().filter(|call| call["in_doubt"] == true).count();
            let answer = |call: &'_ Value| {
                let name = call["call"].as_str().unwrap();
                is_made_again |= !name.starts_with("rm_");
                let action = if name == "rm_b" { "--deny" } else { "--approve" };
                [action.to_owned(), call["suspension"]["id"].as_str().unwrap().to_owned()]
            };
            let answers: Vec<String> = waiting.iter().flat_map(answer).collect();
            said = resume(&answers.iter().map(String::as_str).collect::<Vec<_>>());
        }
        assert!(
            said.code == Some(0) || is_over && said.stderr.contains("is over: expected"),
            "{what}: {}",
            said.shown()
        );
        let store = stores::open(&session, &format!("{dir}/runs.db"));
        assert_eq!(stores::text(&store, "SELECT reason FROM runs").as_deref(), Some("natural_end"), "{what}");
        let is_there = session.path(&format!("{dir}/crash-1/work/a.txt")).exists();
        assert!(!is_there || is_made_again, "{what}: what was approved is done");
        session.assert_complete("crash-1", &place);
    }
    assert!(commit > 8, "it has {commit} commits");
    assert!(in_doubt > 0, "no kill came while a call executed");
}

/// A call that never began has no transition to an end, and needs none once its run is over.
#[test]
fn a_run_cancelled_before_its_second_call_is_complete() {
    let session = Session::new();
    session.write(
        "s.yaml",
        "\
name: two
message: go
mode: sequential
tools:
  slow: {effect: repeatable, does: [{takes_ms: 3600000}]}
model:
  - calls: [{id: first, tool: slow}, {id: second, tool: slow}]
outside:
  - {when: {event: {type: checkpoint, nth: 3}}, do: cancel}
",
    );
    let place = ["--state-dir", "state"];
    let said = session.run(&["run", "s.yaml", "--state-dir", "state"]);
    assert_eq!(said.code, Some(1), "{}", said.shown());
    let shown = session.run(&["show", "two-1", "--state-dir", "state"]);
    assert!(shown.stdout.contains("second"), "{}", shown.shown());
    session.assert_complete("two-1", &place);
}
