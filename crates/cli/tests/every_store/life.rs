//! A run from its beginning to its removal, each step by a process of its own, and what each of them says.

use super::in_every_store;
use crate::place::Place;
use crate::session::assert_shown;

/// It makes a file, and asks before it removes one.
const TIDY: &str = "\
name: tidy
message: tidy up
approve: [delete_file]
model:
  - calls:
      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}
      - {id: rm_a, tool: delete_file, arguments: {path: a.txt}}
      - {id: rm_b, tool: delete_file, arguments: {path: b.txt}}
  - text: done
";

in_every_store! {
    each_step_of_a_life_is_told,
    missing_runs_and_calls_are_reported,
}

fn each_step_of_a_life_is_told(place: &dyn Fn() -> Place) {
    let place = place();
    place.session.write("s.yaml", TIDY);
    let mut shown = String::new();
    let is_there = || place.session.path("runs/tidy-1/work/a.txt").exists();
    for args in [
        &["run", "--detach", "s.yaml"] as &[&str],
        &["runs"],
        &["show", "tidy-1"],
        &["worker", "--once"],
        &["runs", "--status", "waiting"],
        &["approvals", "--run", "tidy-1"],
        &["approve", "tidy-1/rm_a/1", "--actor", "ada"],
        &["approvals"],
        // It waits for the other call.
        &["worker", "--once"],
        &["deny", "tidy-1/rm_b/1", "--actor", "grace", "--reason", "keep it"],
        &["worker", "--once"],
        &["worker", "--once"],
        &["runs"],
        &["show", "tidy-1", "--format", "timeline", "--lifecycle", "tool_call"],
        &["prune", "--older-than", "7d"],
        &["prune", "--older-than", "1ms", "--dry-run"],
    ] {
        shown.push_str(&place.does(args, 0).untimed().shown());
        shown.push('\n');
    }
    assert!(!is_there(), "what was approved is done");
    place.conforms("tidy-1", &["--complete"]);
    assert!(place.session.path("runs/tidy-1/work").exists());
    for args in [&["prune", "--older-than", "1ms"] as &[&str], &["runs"]] {
        shown.push_str(&place.does(args, 0).untimed().shown());
        shown.push('\n');
    }
    assert!(!place.session.path("runs/tidy-1").exists(), "its folder went with it");
    assert_shown("life", &shown);
}

fn missing_runs_and_calls_are_reported(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(TIDY);
    let mut shown = String::new();
    for (args, code) in [
        (&["show", "tidy-2"] as &[&str], 2),
        (&["resume", "tidy-2"], 2),
        (&["send", "tidy-2", "go on"], 2),
        (&["export", "tidy-2", "--scenario"], 2),
        (&["watch", "tidy-2"], 2),
        (&["cancel", "tidy-2"], 2),
        (&["runs", "--after", "tidy-2"], 2),
        (&["approvals", "--after", "tidy-2"], 2),
        (&["approve", "rm_a"], 2),
        (&["approve", "tidy-2/rm_a/1"], 2),
        (&["approve", "rm_a", "--run", "tidy-2"], 2),
        (&["approvals", "--run", "tidy-2"], 2),
    ] {
        shown.push_str(&place.does(args, code).shown());
        shown.push('\n');
    }
    assert_shown("life_absent", &shown);
}
