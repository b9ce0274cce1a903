use serde_json::Value;

use crate::session::{Session, assert_shown};
use crate::traces::{bad, good, parked, violating};

const OLD: &str = "stateDiagram-v2\n[*] --> A\nA --> B : go\nB --> C : end\nC --> [*]\n";
const NEW: &str = "stateDiagram-v2\n[*] --> A\nA --> B : run\nA --> D : leave\nB --> [*]\nD --> [*]\n";

#[test]
fn changes_of_graphs_are_graded() {
    let session = Session::new();
    session.write("old.mmd", OLD).write("new.mmd", NEW);
    session
        .write("label.mmd", OLD.replace("go", "run"))
        .write("more.mmd", OLD.replace("A --> B", "A --> C : skip\nA --> B"));
    let mut shown = String::new();
    for (old, new, code) in [
        ("old.mmd", "new.mmd", 1),
        ("old.mmd", "label.mmd", 0),
        ("old.mmd", "more.mmd", 0),
        ("old.mmd", "old.mmd", 0),
    ] {
        let said = session.run(&["diff", old, new]);
        assert_eq!(said.code, Some(code), "{}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    assert_shown("diff_graphs", &shown);
    let json: Value =
        serde_json::from_str(&session.run(&["diff", "old.mmd", "new.mmd", "--format", "json"]).stdout)
            .unwrap();
    assert_eq!((&json["exit"], &json["changes"][0]["severity"]), (&1.into(), &"breaking".into()));
    assert_eq!(json["needs_migration"], true);
}

#[test]
fn names_of_graphs_do_not_count() {
    let session = Session::new();
    let section = |heading: &str| format!("# {heading}\n\n```mermaid\n{OLD}```\n");
    session.write("old.md", section("Order")).write("new.md", section("The life of an order"));
    let said = session.run(&["diff", "--parked", "old.md", "new.md"]);
    assert_eq!((said.code, &*said.stdout), (Some(0), "no difference\n"), "{}", said.shown());
    // Each built-in lifecycle, and the page that documents it.
    for document in runstate::documents() {
        session.write("page.md", document.text);
        let said = session.run(&["diff", "--parked", document.graph.name, "page.md"]);
        assert_eq!((said.code, &*said.stdout), (Some(0), "no difference\n"), "{}", said.shown());
    }
    assert_eq!(runstate::documents().len(), 10);
}

/// A change may be legal for parked runs, and still they are refused without a migration.
#[test]
fn in_ci_a_change_that_parked_runs_need_a_migration_for_fails() {
    let session = Session::new();
    session
        .write("old.mmd", OLD)
        .write("label.mmd", OLD.replace("go", "run"))
        .write("more.mmd", OLD.replace("A --> B", "A --> C : skip\nA --> B"))
        .write("less.mmd", OLD.replace("B --> C : end\nC", "B"));
    let mut shown = String::new();
    for (new, code, migrates) in
        [("old.mmd", 0, false), ("label.mmd", 1, false), ("more.mmd", 1, true), ("less.mmd", 1, true)]
    {
        let said = session.run(&["diff", "--parked", "old.mmd", new]);
        assert_eq!(said.code, Some(code), "{}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
        let json = session.run(&["diff", "--parked", "old.mmd", new, "--format", "json"]);
        let json: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!((&json["exit"], &json["needs_migration"]), (&code.into(), &migrates.into()), "{new}");
    }
    session.write("good.jsonl", good());
    let said = session.run(&["diff", "--parked", "good.jsonl", "good.jsonl"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.shown());
    shown.push_str(&said.shown());
    assert_shown("diff_parked", &shown);
}

#[test]
fn graphs_in_json_are_compared_too() {
    let session = Session::new();
    session.write("run.json", session.run(&["diagram", "run", "--format", "json"]).stdout);
    let said = session.run(&["diff", "run", "run.json"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "no difference\n"));
    session.write(
        "less.json",
        r#"{"name":"run","states":["Running","Done"],"edges":[{"from":"Running","to":"Done"}]}"#,
    );
    let said = session.run_with(&["diff", "-", "less.json"], session.read("run.json"));
    assert_eq!(said.code, Some(1), "{}", said.shown());
    assert!(said.stdout.contains("breaking: state removed: Waiting"), "{}", said.stdout);
}

#[test]
fn diff_shows_the_first_difference_of_two_traces() {
    let session = Session::new();
    let renamed =
        good().replace("\"r\"", "\"other\"").replace("\"a\"", "\"b\"").replace("\"at_ms\":", "\"at_ms\":7");
    session
        .write("good.jsonl", good())
        .write("same.jsonl", renamed)
        .write("short.jsonl", parked())
        .write("bad.jsonl", violating());
    let mut shown = String::new();
    for (new, code) in [("same.jsonl", 0), ("bad.jsonl", 1), ("short.jsonl", 1)] {
        let said = session.run(&["diff", "good.jsonl", new]);
        assert_eq!(said.code, Some(code), "{}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    let json = session.run(&["diff", "good.jsonl", "short.jsonl", "--format", "json"]);
    shown.push_str(&json.shown());
    assert_shown("diff_traces", &shown);
    // Each difference is in the JSON.
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let kinds: Vec<_> =
        json["differences"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["removed"; 5]);
    session.write("cost.jsonl", good().replacen("\"seq\":3,", "\"seq\":3,\"cost\":null,", 1));
    let json = session.run(&["diff", "good.jsonl", "cost.jsonl", "--format", "json"]);
    assert_eq!(json.code, Some(0), "{}", json.shown());
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(json["difference"].is_null(), "{json}");
    let [field] = &json["differences"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!((&field["kind"], &field["field"]), (&"field".into(), &"cost".into()));
    // An absent field is not null.
    assert!(
        field.get("old_value").is_none() && field["new_value"].is_null() && field.get("new_value").is_some()
    );
}

#[test]
fn incomparable_inputs_of_diff_are_bad_input() {
    let session = Session::new();
    session.write("good.jsonl", good()).write("old.mmd", OLD);
    session
        .write("cut.json", "{\"name\": \"x\",\n \"states\": [")
        .write("list.json", "[]")
        .write("other.json", "{\"name\": 1}");
    session.write("edge.json", r#"{"name":"x","states":["A"],"edges":[{"from":"A","to":"B"}]}"#);
    session
        .write("deep.json", format!("{{\"states\":{}", "[".repeat(100_000)))
        .write("empty", "")
        .write("arrow.mmd", "stateDiagram-v2\nA -> B\n");
    let mut shown = String::new();
    for (old, new) in [
        ("good.jsonl", "old.mmd"),
        ("old.mmd", "good.jsonl"),
        ("old.mmd", "cut.json"),
        ("old.mmd", "list.json"),
        ("old.mmd", "other.json"),
        ("edge.json", "old.mmd"),
        ("deep.json", "old.mmd"),
        ("old.mmd", "empty"),
        ("old.mmd", "arrow.mmd"),
        ("old.mmd", "absent"),
        ("-", "-"),
    ] {
        let said = session.run(&["diff", old, new]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    session.write("empty.jsonl", "\n");
    let said = session.run(&["diff", "good.jsonl", "empty.jsonl"]);
    assert!(said.code == Some(2) && said.stderr.contains("got no events at all"), "{}", said.shown());
    // A trace of another version is no graph in JSON, and a log is no diagram.
    session.write("other.jsonl", "{\"version\":2}\n").write("log.jsonl", "panicked at src/main.rs\n");
    for (name, expected) in [
        ("other.jsonl", "other.jsonl:1:13: missing field `seq`; an event has seq, "),
        ("log.jsonl", "log.jsonl:1:1: not JSON: "),
        ("-", "<stdin>: expected a trace, a diagram or a graph, got nothing"),
    ] {
        let said = session.run(&["diff", "good.jsonl", name]);
        assert!(said.code == Some(2) && said.stderr.contains(expected), "{}", said.shown());
    }
    for (case, content) in bad().into_iter().filter(|(_, content)| content.starts_with(b"{")) {
        session.write("trace.jsonl", content);
        let said = session.run(&["diff", "good.jsonl", "trace.jsonl"]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{case}: {}", said.shown());
        shown.push_str(&format!("== {case}\n{}\n", said.stderr));
    }
    assert_shown("diff_errors", &shown);
}
