//! Runs that become tests.

use super::in_every_store;
use crate::place::Place;
use crate::session::assert_shown;

const TIDY: &str = "\
name: tidy
message: tidy up for ada@example.org
approve: [delete_file]
model:
  - calls:
      - {id: make, tool: write_file, arguments: {path: a.txt, content: for ada@example.org}}
      - {id: look, tool: read_file, arguments: {path: a.txt}}
      - {id: rm, tool: delete_file, arguments: {path: b.txt}}
  - text: done, ada@example.org
";

in_every_store! {
    a_run_becomes_a_test_without_its_tools,
    a_run_that_was_killed_becomes_a_test,
    a_cancelled_run_becomes_a_test,
    a_run_that_is_cancelled_before_its_message_becomes_a_test,
    a_waiting_run_becomes_a_test,
    a_run_whose_question_may_expire_becomes_a_test,
    run_on_a_thread_becomes_a_test,
    a_tool_that_asks_twice_becomes_a_test,
    a_redacted_test_has_no_trace_of_the_text,
    a_run_that_has_no_scenario_is_told_why,
}

/// The exported scenario is as expected, without the folder of the run and a store in it.
fn is_a_test(place: &Place) {
    std::fs::remove_dir_all(place.session.path("runs")).unwrap();
    let said = place.session.run(&["test", "t"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
}

fn exported(place: &Place, run: &str, more: &[&str]) -> String {
    let args = [&["export", run, "--scenario", "--output", "t/run.yaml"], more].concat();
    place.does(&args, 0);
    let said = place.does(&args, 0);
    assert!(said.stdout.starts_with("replaced: t/run.yaml"), "{}", said.shown());
    place.session.read("t/run.yaml")
}

fn a_run_becomes_a_test_without_its_tools(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(TIDY);
    place.work();
    place.does(&["deny", "tidy-1/rm/1", "--actor", "ada", "--reason", "it stays"], 0);
    place.work();
    let scenario = exported(&place, "tidy-1", &[]);
    assert_eq!(place.session.read("runs/tidy-1/work/a.txt"), "for ada@example.org");
    is_a_test(&place);
    assert!(scenario.contains("it stays") && !scenario.contains("\"folder\""), "{scenario}");
    let trace = place.session.read("t/run.trace");
    // The scripted tool gives what the file had, and there is no file.
    assert!(trace.contains("for ada@example.org"), "{trace}");
    let again = place.session.run(&["run", "t/run.yaml", "--state-dir", "other"]);
    assert_eq!(again.code, Some(0), "{}", again.shown());
    assert!(!place.session.path("other/tidy-1-1/work/a.txt").exists(), "{}", again.shown());
}

fn a_run_that_was_killed_becomes_a_test(place: &dyn Fn() -> Place) {
    let place = place();
    place.session.write("s.yaml", format!("{TIDY}outside:\n  - {{when: {{after_commit: 2}}, do: crash}}\n"));
    let crashed = place.say(&["run", "s.yaml"]);
    assert!(crashed.stderr.contains("it crashed, as its scenario says"), "{}", crashed.shown());
    place.does(&["resume", "tidy-1"], 3);
    place.does(&["approve", "tidy-1/rm/1", "--actor", "ada"], 0);
    place.work();
    let scenario = exported(&place, "tidy-1", &[]);
    assert!(scenario.contains("\"after_commit\": 2"), "{scenario}");
    is_a_test(&place);
}

fn a_cancelled_run_becomes_a_test(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(TIDY);
    place.work();
    place.does(&["cancel", "tidy-1"], 0);
    place.work();
    exported(&place, "tidy-1", &[]);
    is_a_test(&place);
}

fn a_run_that_is_cancelled_before_its_message_becomes_a_test(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(TIDY);
    place.work();
    place.does(&["send", "tidy-1", "leave it", "--supersede"], 0);
    place.does(&["cancel", "tidy-1"], 0);
    place.work();
    let scenario = exported(&place, "tidy-1", &[]);
    assert!(scenario.contains("\"write\": \"leave it\""), "{scenario}");
    is_a_test(&place);
}

fn a_waiting_run_becomes_a_test(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(TIDY);
    place.work();
    exported(&place, "tidy-1", &[]);
    is_a_test(&place);
}

/// Its question expires in an hour, and the record ends before.
fn a_run_whose_question_may_expire_becomes_a_test(place: &dyn Fn() -> Place) {
    let place = place();
    let asks = "plugins: [{ask: {tool: delete_file, ticket: {expires_after_ms: 3600000}}}]\n";
    place.detached(&TIDY.replace("approve: [delete_file]\n", asks));
    place.work();
    exported(&place, "tidy-1", &[]);
    is_a_test(&place);
}

/// The tool asks, and asks again; a worker has its second behaviour once the first question is answered.
fn run_on_a_thread_becomes_a_test(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(TIDY);
    place.work();
    place.does(&["deny", "tidy-1/rm/1", "--actor", "ada"], 0);
    place.work();
    place.does(&["send", "tidy-1", "and once more", "--id", "m2"], 0);
    place.work();
    place.does(&["deny", "tidy-2/rm/1", "--actor", "ada"], 0);
    place.work();
    let scenario = exported(&place, "tidy-2", &[]);
    assert!(scenario.contains("without the 6 messages of its thread before it"), "{scenario}");
    assert!(scenario.contains("and once more") && !scenario.contains("tidy up for"), "{scenario}");
    is_a_test(&place);
}

fn a_tool_that_asks_twice_becomes_a_test(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(
        "\
name: asks
message: go
tools:
  pay: {does: [{gives: {pending: {}}}, {gives: {pending: {}}}, {gives: {success: paid}}]}
plugins:
  - gate: {call: p, asked: 2, says: {set_result: by the gate}}
model:
  - calls: [{id: p, tool: pay}, {id: q, tool: pay}]
  - text: done
",
    );
    place.work();
    for question in ["asks-1/p/1", "asks-1/p/2", "asks-1/q/1", "asks-1/q/2"] {
        place.does(&["approve", question, "--actor", "ada"], 0);
        place.work();
    }
    assert_eq!(place.field("asks-1", "status"), "Done");
    let scenario = exported(&place, "asks-1", &[]);
    is_a_test(&place);
    let trace = place.session.read("t/run.trace");
    assert!(trace.contains("p: \"by the gate\"") && trace.contains("q: \"paid\""), "{scenario}\n{trace}");
}

fn a_redacted_test_has_no_trace_of_the_text(place: &dyn Fn() -> Place) {
    let place = place();
    place.detached(TIDY);
    place.work();
    place.does(
        &["approve", "tidy-1/rm/1", "--actor", "ada@example.org", "--reason", "so says ada@example.org"],
        0,
    );
    place.work();
    let scenario = exported(&place, "tidy-1", &["--redact", "ada@example.org", "--redact", "b.txt"]);
    is_a_test(&place);
    let trace = place.session.read("t/run.trace");
    // The id of a decision is made from its reason, among others.
    assert!(scenario.contains("\"decision-1\""), "{scenario}");
    for text in ["ada@", "example", "b.txt"] {
        assert!(!scenario.contains(text) && !trace.contains(text), "{text}");
    }
    assert!(scenario.contains("so says redacted-1") && scenario.contains("redacted-2"), "{scenario}");
}

fn a_run_that_has_no_scenario_is_told_why(place: &dyn Fn() -> Place) {
    let place = place();
    place.session.write("s.yaml", format!("{TIDY}outside:\n  - {{when: {{after_commit: 3}}, do: crash}}\n"));
    let crashed = place.say(&["run", "s.yaml"]);
    assert!(crashed.stderr.contains("it crashed, as its scenario says"), "{}", crashed.shown());
    let mut shown = String::new();
    let mut does = |args: &[&str], code: i32| {
        shown.push_str(&place.does(args, code).untimed().shown());
        shown.push('\n');
    };
    does(&["export", "tidy-1", "--scenario"], 1);
    // The first call may have executed.
    does(&["resume", "tidy-1"], 3);
    does(&["export", "tidy-1", "--scenario"], 1);
    does(&["export", "tidy-2", "--scenario"], 2);
    does(&["export", "tidy-1"], 2);
    does(&["export", "tidy-1", "--scenario", "--output", "t.stream.yaml"], 2);
    does(&["export", "tidy-1", "--scenario", "--redact", ""], 2);
    assert_shown("export-refused", &shown);
}
