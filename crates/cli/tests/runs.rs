//! Runs at rest: what is in a store, and what is taken out of it.

use serde_json::Value;

use crate::session::{Session, assert_shown};
use crate::stores;

const DONE: &str = "name: done\nmessage: go\nmodel:\n  - text: done\n";
const WAITS: &str = "\
name: waits
message: go
approve: [pay]
tools: {pay: {}}
model:
  - calls: [{id: p, tool: pay}]
  - text: done
";

#[test]
fn runs_are_listed_in_pages() {
    let session = Session::new();
    session.write("done.yaml", DONE).write("waits.yaml", WAITS);
    for scenario in ["done.yaml", "waits.yaml", "done.yaml"] {
        session.run(&["run", scenario, "--state-dir", "runs"]);
    }
    let store = stores::open(&session, "runs/runs.db");
    // Runs of one millisecond are in the order of their names.
    store.execute_batch("UPDATE runs SET created_at_ms = rowid * 1000").unwrap();
    let mut shown = String::new();
    for args in [
        &["runs"] as &[&str],
        &["runs", "--status", "waiting"],
        &["runs", "--limit", "2"],
        &["runs", "--limit", "2", "--after", "2000/waits-1"],
        &["runs", "--after", "1000/done-1"],
        // It need not be there.
        &["runs", "--after", "2500/nobody-1"],
        &["runs", "--after", "waits-1"],
        &["runs", "--status", "sleeping"],
    ] {
        shown.push_str(&session.run(&[args, &["--state-dir", "runs"]].concat()).shown());
        shown.push('\n');
    }
    assert_shown("runs", &shown);
    let said = session.run(&["runs", "--json", "--limit", "1", "--state-dir", "runs"]);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["next"], "3000/done-2");
    let run = &json["runs"][0];
    assert_eq!(
        (&run["run"], &run["status"], &run["reason"]),
        (&"done-2".into(), &"Done".into(), &"natural_end".into())
    );
}

/// A run's name is that of whoever made it.
#[test]
fn approvals_of_runs_with_slashes_in_ids_are_paged() {
    let session = Session::new();
    session.write("waits.yaml", WAITS);
    for _ in 0..4 {
        session.run(&["run", "waits.yaml", "--state-dir", "runs"]);
    }
    let names =
        "CASE run WHEN 'waits-1' THEN 'a' WHEN 'waits-2' THEN 'a/b' WHEN 'waits-3' THEN 'a/b/c' ELSE 'z' END";
    let store = stores::open(&session, "runs/runs.db");
    store
        .execute_batch(&format!(
            "PRAGMA foreign_keys = OFF; UPDATE calls SET run = {names}; UPDATE runs SET id = {}",
            names.replace("CASE run", "CASE id")
        ))
        .unwrap();
    let (mut listed, mut next) = (Vec::new(), None::<String>);
    while listed.len() <= 4 {
        let mut args = vec!["approvals", "--limit", "1", "--json", "--state-dir", "runs"];
        args.extend(next.iter().flat_map(|next| ["--after", next]));
        let said = session.run(&args);
        let json: Value = serde_json::from_str(&said.stdout).unwrap();
        listed.extend(json["approvals"].as_array().unwrap().iter().map(|one| one["run"].clone()));
        match json["next"].as_str() {
            Some(behind) => next = Some(behind.to_owned()),
            None => break,
        }
    }
    assert_eq!(listed, ["a", "a/b", "a/b/c", "z"]);
}

#[test]
fn a_run_is_shown_in_all_formats_of_a_trace() {
    let session = Session::new();
    session.write("waits.yaml", WAITS);
    session.run(&["run", "waits.yaml"]);
    let mut shown = String::new();
    for format in ["text", "timeline", "mermaid"] {
        let said =
            session.run(&["show", "waits-1", "--format", format, "--lifecycle", "tool_call"]).untimed();
        assert_eq!(said.code, Some(0), "{}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    shown.push_str(&session.run(&["show", "waits-2"]).shown());
    assert_shown("show_run", &shown);
    let said = session.run(&["show", "waits-1", "--format", "json"]);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["run"]["status"], "Waiting");
    assert_eq!(json["run"]["calls"][0]["status"], "Suspended");
    assert_eq!(json["run"]["waiting"][0]["call"], "p");
    assert_eq!(json["report"]["verdict"], "incomplete");
    assert!(!json["events"].as_array().unwrap().is_empty());
}

#[test]
fn show_prints_the_outcome_of_a_run_and_its_calls() {
    let session = Session::new();
    session.write(
        "ends.yaml",
        "\
name: ends
message: go
approve: [pay]
tools: {pay: {}, bad: {does: [{gives: {error: no such account}}]}}
model:
  - calls: [{id: b, tool: bad}, {id: p, tool: pay}, {id: q, tool: pay}, {id: long, tool: list_files}]
  - text: The first was paid.
decisions:
  - {call: p, action: approve}
  - {call: q, action: deny, reason: too much}
",
    );
    session.run(&["run", "ends.yaml"]);
    assert_shown("show_ends", &session.run(&["show", "ends-1"]).shown());
    let said = session.run(&["show", "ends-1", "--format", "json"]);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    let calls = json["run"]["calls"].as_array().unwrap();
    let of = |call: &str| calls.iter().find(|one| one["call"] == call).unwrap().clone();
    assert_eq!(of("b")["error"], "no such account");
    assert_eq!(of("q")["reason"], "too much");
    assert!(of("long")["output"].is_object() || of("long")["output"].is_array(), "{}", of("long"));
    assert_eq!(json["run"]["answer"], "The first was paid.");
}

#[test]
fn finished_runs_are_removed_by_age_with_their_folders() {
    let session = Session::new();
    session.write("done.yaml", DONE).write("waits.yaml", WAITS);
    for scenario in ["done.yaml", "waits.yaml", "done.yaml", "done.yaml"] {
        session.run(&["run", scenario, "--state-dir", "runs"]);
    }
    let store = stores::open(&session, "runs/runs.db");
    // Two are old; one of them names a folder that is no run's, and has no token.
    session.write("precious.txt", "kept");
    let elsewhere = session.path("").display().to_string();
    store
        .execute_batch(
            "UPDATE runs SET changed_at_ms = 1000, created_at_ms = 1000 WHERE id IN ('done-1', 'done-3')",
        )
        .unwrap();
    store
        .execute("UPDATE specs SET json = json_remove(json_set(json, '$.folder', ?1), '$.token') WHERE run = 'done-3'", [&elsewhere])
        .unwrap();
    let there = |run: &str| session.path(&format!("runs/{run}/work")).exists();
    let dry = session.run(&["prune", "--older-than", "7d", "--dry-run", "--state-dir", "runs"]);
    assert!(dry.stdout.contains("would remove done-1") && there("done-1"), "{}", dry.shown());
    let said = session.run(&["prune", "--older-than", "7d", "--state-dir", "runs"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(said.stdout.ends_with("2 runs removed\n"), "{}", said.shown());
    assert!(said.stderr.starts_with("warning: the folder of done-3 stays: "), "{}", said.shown());
    assert_eq!(["done-1", "done-2", "done-3", "waits-1"].map(there), [false, true, true, true]);
    assert_eq!(session.read("precious.txt"), "kept");
    assert_eq!(stores::number(&store, "SELECT count(*) FROM runs"), 2);
    assert_eq!(stores::number(&store, "SELECT count(*) FROM trace WHERE run = 'done-1'"), 0);
    // One that waits is never removed.
    let said = session.run(&["prune", "--older-than", "1ms", "--state-dir", "runs"]);
    assert!(said.stdout.ends_with("1 run removed\n") && there("waits-1"), "{}", said.shown());
    let wrong = session.run(&["prune", "--older-than", "7", "--state-dir", "runs"]);
    assert_eq!(wrong.code, Some(2));
}

#[test]
fn prune_skips_unreadable_and_leased_runs() {
    let session = Session::new();
    session.write("done.yaml", DONE);
    for _ in 0..3 {
        session.run(&["run", "done.yaml", "--state-dir", "runs"]);
    }
    let store = stores::open(&session, "runs/runs.db");
    store
        .execute_batch(
            "UPDATE runs SET core = '{' WHERE id = 'done-1'; \
             UPDATE runs SET holder = 'ada', held_until_ms = 9999999999999 WHERE id = 'done-2'",
        )
        .unwrap();
    let prune = ["prune", "--older-than", "1ms", "--state-dir", "runs"];
    let dry = session.run(&[&prune as &[&str], &["--dry-run"]].concat());
    assert!(!dry.stdout.contains("done-1"), "{}", dry.shown());
    let said = session.run(&prune);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(said.stdout.ends_with("1 run removed\n"), "{}", said.shown());
    assert!(said.stderr.contains("warning: done-1 stays: "), "{}", said.shown());
    // A time that a person reads.
    let held = "warning: done-2 stays: ada has its lease, which ends in ";
    assert!(said.stderr.contains(held) && !said.stderr.contains("9999999999999"), "{}", said.shown());
    for run in ["done-1", "done-2"] {
        assert!(session.path(&format!("runs/{run}/work")).exists(), "{run}");
    }
    let said = session.run(&[&prune as &[&str], &["--json"]].concat());
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["runs"], Value::Array(vec![]));
    assert_eq!(json["left"].as_array().unwrap().len(), 2, "{json}");
    assert_eq!(stores::number(&store, "SELECT count(*) FROM runs"), 2);
}

#[test]
fn a_store_is_named_by_a_url() {
    let session = Session::new();
    session.write("done.yaml", DONE);
    let said = session.run(&["run", "done.yaml", "--store", "sqlite:here/store.db", "--json"]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(session.path("here/store.db").is_file() && !session.path("home/runstate/runs/runs.db").exists());
    let by_env = session.command(&["runs"]).env("RUNSTATE_STORE", "sqlite:here/store.db").output().unwrap();
    assert!(session.said(&["runs"], &by_env).stdout.contains("done-1"));

    session.write("foreign.db", "this is no database").write("empty/x", "").write("s.txt", "x");
    let mut shown = String::new();
    for store in [
        "runs.db",
        "s.txt",
        "empty",
        "absent",
        "mysql://db/runs",
        "sqlit:runs.db",
        "sqlite:",
        "sqlite:absent.db",
        "sqlite:foreign.db",
        "sqlite:empty",
        "file:s.txt",
    ] {
        let said = session.run(&["runs", "--store", store]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.shown());
        shown.push_str(&said.shown());
        shown.push('\n');
    }
    assert_shown("store_errors", &shown);
}

#[test]
fn two_stores_with_one_folder_do_not_share_a_run() {
    let session = Session::new();
    session.write("done.yaml", DONE);
    for (store, run) in [("sqlite:a.db", "done-1"), ("sqlite:b.db", "done-2")] {
        let said = session.run(&["run", "done.yaml", "--store", store, "--state-dir", "runs"]);
        assert!(said.stdout.starts_with(&format!("{run} is done")), "{}", said.shown());
    }
    // Where another machine took the number, the next one is taken.
    let said = session.run(&["run", "done.yaml", "--store", "sqlite:b.db", "--state-dir", "other"]);
    assert!(said.stdout.starts_with("done-1 is done"), "{}", said.shown());
    let said = session.run(&["run", "done.yaml", "--store", "sqlite:b.db", "--state-dir", "other"]);
    assert!(said.stdout.starts_with("done-3 is done"), "{}", said.shown());
}

/// A run that is damaged hides no other: it is told on standard error, and refused by its name.
#[test]
fn a_damaged_run_among_good_ones_is_told() {
    let session = Session::new();
    session.write("done.yaml", DONE).write("waits.yaml", WAITS);
    let place = ["--store", "file:kept", "--state-dir", "runs"];
    for scenario in ["done.yaml", "waits.yaml", "waits.yaml"] {
        session.run(&[&["run", scenario], &place as &[&str]].concat());
    }
    let state = std::fs::read_dir(session.path("kept/runs")).unwrap().map(|folder| folder.unwrap().path());
    let mut state = state.map(|folder| folder.join("state.json"));
    let state = state.find(|path| path.to_str().unwrap().contains("waits-2")).unwrap();
    std::fs::write(&state, "{").unwrap();
    let mut shown = String::new();
    for args in [
        &["runs"] as &[&str],
        &["approvals"],
        &["approve", "p", "--run", "waits-2"],
        &["approve", "nothing"],
        &["show", "waits-2"],
        &["show", "waits-3"],
        &["worker", "--once"],
        &["prune", "--older-than", "1ms", "--dry-run"],
        &["runs", "--json"],
    ] {
        let said = session.run(&[args, &place].concat());
        if args.contains(&"--json") {
            let json: Value = serde_json::from_str(&said.stdout).unwrap();
            assert_eq!(json["runs"].as_array().unwrap().len(), 2, "{json}");
            assert!(json["damaged"][0]["what"].as_str().unwrap().contains("state.json"), "{json}");
            assert!(json["damaged"][0]["help"].as_str().unwrap().contains("backup"), "{json}");
        } else {
            shown.push_str(&said.shown());
            shown.push('\n');
        }
    }
    assert_shown("damaged_run", &shown);
}

/// A wish is noted beside the logs of a run, and whoever has noted it cannot say that nothing was changed.
#[test]
fn a_run_is_cancelled_though_it_cannot_be_read() {
    let session = Session::new();
    session.write("waits.yaml", WAITS);
    let place = ["--store", "file:kept", "--state-dir", "runs"];
    session.run(&[&["run", "waits.yaml"], &place as &[&str]].concat());
    session.run(&[&["run", "waits.yaml"], &place as &[&str]].concat());
    for folder in std::fs::read_dir(session.path("kept/runs")).unwrap() {
        std::fs::write(folder.unwrap().path().join("messages.jsonl"), "{\n{\n").unwrap();
    }
    let cancel = |run: &str, more: &[&str]| session.run(&[&["cancel", run], more, &place].concat());
    let said = cancel("waits-1", &[]);
    assert_eq!(said.code, Some(0), "{}", said.shown());
    assert!(
        said.stdout.starts_with("waits-1 has a cancellation; the run is ended by a worker, or by: "),
        "{}",
        said.shown()
    );
    assert!(said.stderr.starts_with("warning: the status of waits-1 cannot be read: "), "{}", said.shown());
    assert!(!said.stderr.contains("nothing was changed"), "{}", said.shown());
    let said = cancel("waits-2", &["--json", "--reason", "enough"]);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.code, &json["reply"], &json["cancel"]), (Some(0), &"accepted".into(), &"enough".into()));
    assert_eq!((&json["status"], &json["holder"]), (&Value::Null, &Value::Null));
    // The second time nothing was changed.
    let said = cancel("waits-1", &[]);
    assert_eq!(said.code, Some(2), "{}", said.shown());
}
