use std::fs;
use std::path::Path;

use crate::session::{ROOT, Session, assert_shown};

const GREETING: &str = "name: greeting\nmessage: hello\nmodel:\n  - text: hello to you\n";

#[test]
fn repository_scenarios_pass_and_cover_every_transition() {
    let session = Session::new();
    let scenarios = Path::new(ROOT).join("scenarios").display().to_string();
    let said = session.run(&["test", &scenarios, "--coverage", "--min-coverage", "100"]);
    print!("{}", said.stdout);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    for lifecycle in ["run", "tool_call", "run_flow", "resume_tool_call", "tool_execution", "stream_session"]
    {
        let line = format!("{lifecycle}: ");
        let covered = said.stdout.lines().find(|shown| shown.starts_with(&line));
        let covered = covered.unwrap_or_else(|| panic!("nothing is told of {lifecycle}: {}", said.stdout));
        assert!(covered.contains("100.0 %"), "{covered}");
    }
}

#[test]
fn every_stream_flow_and_decision_has_a_scenario() {
    let folder = Path::new(ROOT).join("scenarios/streams");
    let names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let flows = [
        "normal",
        "retry",
        "fallback",
        "error",
        "continuation",
        "abort",
        "timeout",
        "guardrail",
        "combined",
        "timestamps",
    ];
    let flows = flows.iter().map(|flow| format!("flow-{flow}"));
    for begins in flows.chain((1..=16).map(|row| format!("c{row:02}-"))) {
        let is_one = |name: &&String| name.starts_with(&begins) && name.ends_with(".stream.yaml");
        assert!(names.iter().any(|name| is_one(&name)), "{begins} has none");
    }
    for name in names.iter().filter_map(|name| name.strip_suffix(".stream.yaml")) {
        assert!(names.contains(&format!("{name}.trace")), "nothing is expected of {name}");
    }
}

#[test]
fn accepted_trace_is_expected_by_later_tests() {
    let session = Session::new();
    fs::create_dir(session.path("s")).unwrap();
    session.write("s/greeting.yaml", GREETING);
    let mut shown = String::new();
    let mut step = |args: &[&str], code: i32| {
        let said = session.run(args);
        assert_eq!(said.code, Some(code), "{}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
    };
    step(&["test", "s"], 1);
    step(&["test", "s", "--accept"], 0);
    step(&["test", "s"], 0);
    session.write("s/greeting.yaml", GREETING.replace("hello to you", "hello to both of you"));
    step(&["test", "s"], 1);
    step(&["test", "s", "--accept"], 0);
    step(&["test", "s/greeting.yaml"], 0);
    session.write("s/broken.yaml", "name: broken\nmessage: hello\nmodel: 7\n");
    step(&["test", "s"], 2);
    step(&["test", "s", "--filter", "greet"], 0);
    step(&["test", "s", "--filter", "nothing"], 2);
    fs::remove_file(session.path("s/broken.yaml")).unwrap();
    session.write("s/gone.trace", "");
    step(&["test", "s"], 1);
    step(&["test", "absent"], 2);
    assert_shown("test", &shown);
    assert_shown("test_trace", &session.read("s/greeting.trace"));
}

/// The line of an unusable scenario has the file and the reason, and standard error has the place.
#[test]
fn an_unusable_scenario_is_told_with_its_file_and_reason() {
    let session = Session::new();
    session.write("broken.yaml", "name: broken\nmessage: hello\nmodel: 7\n");
    let said = session.run(&["test", "broken.yaml"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    let told = "unusable  broken.yaml: model: expected a list, got 7\n\n1 scenario: ";
    assert!(said.stdout.starts_with(told), "{}", said.shown());
    assert!(said.stderr.contains("--> broken.yaml:3:8"), "{}", said.shown());
    fs::create_dir(session.path("empty")).unwrap();
    let said = session.run(&["test", "empty"]);
    assert_eq!((said.code, &*said.stdout), (Some(2), ""), "{}", said.shown());
    assert!(said.stderr.starts_with("error: there is no scenario in empty\n"), "{}", said.shown());
}

/// A wrong value is told with its field, the value and the expected one.
#[test]
fn a_wrong_value_is_told_with_its_field() {
    let session = Session::new();
    let scenario = |does: &str| {
        format!(
            "name: s\nmessage: go\ntools:\n  t:\n    does:\n      - {does}\nmodel: [{{calls: [{{id: c, tool: t}}]}}, {{text: done}}]\n"
        )
    };
    for (does, told) in [
        (
            "takes_ms: soon",
            "takes_ms: expected whole milliseconds from 0 to 18446744073709551615, got \"soon\"\n",
        ),
        (
            "{takes_ms: \"soon\", gives: arguments}",
            "takes_ms: expected whole milliseconds from 0 to 18446744073709551615, got \"soon\"\n",
        ),
        ("takes_ms: [1]", "takes_ms: expected whole milliseconds, got a list\n"),
        ("takes_sm: 1", "  = help: did you mean `takes_ms`?\n"),
    ] {
        session.write("s.yaml", scenario(does));
        let said = session.run(&["run", "s.yaml"]);
        assert_eq!((said.code, &*said.stdout), (Some(2), ""), "{}", said.shown());
        assert!(said.stderr.contains(told), "{does}: {}", said.shown());
    }
}

/// A call of an undefined tool fails, which a scenario may want: it is told, and played.
#[test]
fn a_call_of_an_undefined_tool_is_told() {
    let session = Session::new();
    let scenario = |tool: &str| {
        format!(
            "name: s\nmessage: go\ntools: {{pay: {{}}}}\nmodel: [{{calls: [{{id: c, tool: {tool}}}]}}, {{text: done}}]\n"
        )
    };
    session.write("s.yaml", scenario("pya"));
    let told = "warning: s.yaml: the call \"c\" names the tool \"pya\", which the scenario does not define: the call fails; did you mean \"pay\"?\n";
    for args in [&["run", "s.yaml"] as &[&str], &["test", "s.yaml", "--accept"]] {
        let said = session.run(args);
        assert_eq!(said.code, Some(0), "{}", said.shown());
        assert!(said.stderr.starts_with(told), "{}", said.shown());
    }
    session.write("s.yaml", scenario("teleport"));
    let said = session.run(&["run", "s.yaml"]);
    assert!(
        said.stderr.starts_with("warning: s.yaml: the call \"c\" names the tool \"teleport\""),
        "{}",
        said.shown()
    );
    // A suite may play such a mistake of a model on purpose.
    let said = session.run(&["test", "s.yaml", "--accept"]);
    assert_eq!((said.code, &*said.stderr), (Some(0), ""), "{}", said.shown());
    session.write("s.yaml", scenario("pay"));
    assert!(!session.run(&["run", "s.yaml"]).stderr.contains("warning"));
}

#[test]
fn a_suite_with_real_file_tools_leaves_nothing_behind() {
    let session = Session::new();
    fs::create_dir(session.path("s")).unwrap();
    session.write(
        "s/files.yaml",
        "\
name: files
message: go
model:
  - calls: [{id: w, tool: write_file, arguments: {path: a.txt, content: one}}]
  - calls: [{id: l, tool: list_files}]
  - text: done
",
    );
    let said = session.run(&["test", "s", "--accept"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(session.read("s/files.trace").contains(r#"{"bytes":3,"kind":"file","name":"a.txt"}"#));
    assert_eq!(session.run(&["test", "s"]).code, Some(0), "the second time it is the same");
    let left: Vec<_> =
        fs::read_dir(session.path("s")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn the_schema_is_json() {
    let said = Session::new().run(&["schema"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    let schema: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(schema["title"], "runstate scenario");
}

#[test]
fn scenario_step_that_never_occurs_fails_and_is_not_accepted() {
    let session = Session::new();
    fs::create_dir(session.path("s")).unwrap();
    let late = format!("{GREETING}outside:\n  - {{when: {{at_ms: 5000}}, do: cancel}}\n");
    session.write("s/late.yaml", &late);
    for args in [&["test", "s"][..], &["test", "s", "--accept"], &["test", "s"]] {
        let said = session.run(args);
        assert_eq!(said.code, Some(1), "{}", said.shown());
        assert!(said.stdout.contains("missed    s/late: these steps never happened"), "{}", said.shown());
        assert!(said.stdout.contains("  outside[0]: cancel, at 5000 ms"), "{}", said.shown());
    }
    assert!(!session.path("s/late.trace").exists());
}

/// A table has a row for each transition: of thousands of calls the end is shown.
#[test]
fn a_run_of_many_calls_shows_its_last_transitions() {
    let session = Session::new();
    let calls: Vec<String> = (0..41).map(|call| format!("{{id: c{call}, tool: t}}")).collect();
    let text = format!(
        "name: many\nmessage: go\ntools: {{t: {{}}}}\nmodel:\n  - calls: [{}]\n  - text: done\n",
        calls.join(", ")
    );
    session.write("many.yaml", &text);
    let said = session.run(&["run", "many.yaml", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(said.stdout.contains("65 transitions before these\n"), "{}", said.shown());
    assert_eq!(said.stdout.matches(" tool_call c").count(), 59, "{}", said.shown());
}

#[test]
fn accepted_trace_has_no_raw_control_characters() {
    let session = Session::new();
    session
        .write("suite/odd.yaml", "name: odd\nmessage: \"a\\u202ec\"\nmodel:\n  - text: \"d\\e[2J\\u200b\"\n");
    for more in [&["--accept"][..], &[]] {
        let said = session.run(&[&["test", "suite"], more].concat());
        assert_eq!(said.code, Some(0), "{}", said.shown());
    }
    let accepted = session.read("suite/odd.trace");
    let is_raw = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202e}' | '\u{200b}');
    assert!(!accepted.contains(is_raw), "{accepted:?}");
    assert!(accepted.contains("\\u{1b}[2J"), "{accepted}");
}

#[test]
fn an_emptied_folder_is_refused_and_capitals_are_played() {
    let session = Session::new();
    session.write("suite/greeting.YAML", GREETING).write("empty/readme.txt", "");
    let said = session.run(&["test", "suite", "--accept"]);
    assert!(said.code == Some(0) && said.stdout.contains("1 scenario"), "{}", said.shown());
    // Before anything is played.
    session.write("suite/new.yaml", GREETING);
    let said = session.run(&["test", "suite", "empty", "--accept"]);
    assert!(
        said.code == Some(2) && said.stderr.contains("there is no scenario in empty"),
        "{}",
        said.shown()
    );
    assert!(said.stdout.is_empty() && !session.path("suite/new.trace").exists(), "{}", said.shown());
    let said = session.run(&["test", "suite", "--filter", "gretin"]);
    let told = "there is no scenario with \"gretin\" in its path";
    assert!(said.code == Some(2) && said.stderr.contains(told), "{}", said.shown());
}

#[test]
fn a_summary_in_markdown_has_results_differences_and_missed_edges() {
    let session = Session::new();
    let scenario =
        |name: &str, answer: &str| format!("name: {name}\nmessage: go\nmodel:\n  - text: {answer}\n");
    session
        .write("suite/same.yaml", scenario("same", "done"))
        .write("suite/other.yaml", scenario("other", "done"));
    assert_eq!(session.run(&["test", "suite", "--accept"]).code, Some(0));
    session
        .write("suite/other.yaml", scenario("other", "changed"))
        .write("suite/new.yaml", scenario("new", "done"))
        .write("suite/broken.yaml", "name: [\n")
        .write("suite/stale.trace", "");
    let said = session.run(&["test", "suite", "--format", "markdown", "--min-coverage", "100"]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
    for part in [
        "| `suite/same` | ✅ as expected | ",
        "| `suite/other` | ❌ differs | ",
        "| `suite/new` | ❌ new | ",
        "| `suite/broken` | ❌ unusable | | | |",
        "stale.trace` | ❌ stale | | | |",
        "```diff\n--- expected\n+++ played\n",
        "- ❌ run&#58; 100 &#37; of the edges: got ",
        "<details><summary>Not taken: run</summary>",
    ] {
        assert!(said.stdout.contains(part), "{part}: {}", said.shown());
    }
    assert!(!said.stdout.contains("scenarios:") && said.stderr.contains("broken.yaml"), "{}", said.shown());
}
