//! Runs that were parked by every released version go on in this one.

use std::fs;
use std::path::{Path, PathBuf};

use runstate::kernel::Fingerprint;
use runstate::snapshot::Snapshot;
use serde_json::Value;

use crate::place::{Kind, Place};
use crate::session::{Session, assert_shown};
use crate::stores;

#[path = "../src/migrations.rs"]
mod migrations;

const FORMATS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats");
const RUNS: [&str; 5] = ["parked-1", "parked-2", "parked-3", "doubt-1", "keys-1"];

/// The folders, one for each version that stored something else than the one before.
fn formats() -> Vec<PathBuf> {
    let mut formats: Vec<PathBuf> =
        fs::read_dir(FORMATS).unwrap().map(|entry| entry.unwrap().path()).collect();
    formats.sort();
    assert!(!formats.is_empty());
    formats
}

/// A store as that version left it, with the folders of its runs. None where the store's server is not installed.
fn restored(format: &Path, kind: Kind) -> Option<Place> {
    let place = kind.place()?;
    let session = &place.session;
    for run in RUNS {
        session.write(&format!("runs/{run}/work/a.txt"), "one");
        session.write(&format!("runs/{run}/owner"), TOKEN);
    }
    // The place of a folder, which that version stored, is not read any more; the token of a folder is.
    let here = |text: String| {
        RUNS.iter().fold(text, |text, run| {
            let folder = format!("\"STATE_DIR/{run}/work\"");
            text.replace(&folder, &format!("{folder},\"token\":\"{TOKEN}\""))
        })
    };
    let dump = |name: &str| here(fs::read_to_string(format.join(name)).unwrap());
    match kind {
        Kind::Sqlite => stores::open(session, RUNS_DB).execute_batch(&dump("runs.sql")).unwrap(),
        #[cfg(unix)]
        Kind::Postgres => crate::server::shared()?.make_in(&place.url, &dump("runs.postgres.sql")),
        Kind::Files => put_files(format, session, here),
    }
    Some(place)
}

/// The token that each of these runs has in common with its folder.
const TOKEN: &str = "00112233445566778899aabbccddeeff";
const RUNS_DB: &str = "runs/runs.db";

fn put_files(format: &Path, session: &Session, here: impl Fn(String) -> String) {
    let folder = format.join("store");
    let mut open = vec![folder.clone()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let inside = path.strip_prefix(&folder).unwrap().to_str().unwrap();
            let text = fs::read_to_string(&path).unwrap();
            // The lengths of the logs count: what is in them is as it was.
            let text = if inside.ends_with("spec.json") { here(text) } else { text };
            session.write(&format!("runs/store/{inside}"), text);
        }
    }
}

fn runs_parked_by_every_version_resume(kind: Kind) {
    for format in formats() {
        let Some(place) = restored(&format, kind) else { return };
        let say = |args: &[&str], code| place.does(args, code).shown();
        // What was decided before is taken; the rest is decided now.
        say(&["deny", "rm_b", "--run", "parked-1"], 0);
        // The decision migrated the store, which a list does not.
        let listed = say(&["runs", "--json"], 0);
        for run in RUNS {
            assert!(listed.contains(run), "{kind:?}: {listed}");
            let shown = say(&["show", run], 0);
            assert!(!shown.contains("cannot be restored"), "{kind:?}: {shown}");
        }
        say(&["approve", "p", "--run", "keys-1", "--result", "\"seven\""], 1);
        say(&["approve", "p", "--run", "keys-1", "--result", "7"], 0);
        say(&["worker", "--once"], 0);
        let doubts = say(&["approvals", "--run", "doubt-1"], 0);
        assert!(doubts.contains("in doubt"), "{kind:?}: {doubts}");
        say(&["approve", "p", "--run", "doubt-1"], 0);
        for call in ["rm_a", "rm_b"] {
            say(&["approve", call, "--run", "parked-2"], 0);
        }
        say(&["worker", "--once"], 0);
        let listed = say(&["runs", "--status", "done", "--json"], 0);
        assert_eq!(listed.matches("\"reason\": \"natural_end\"").count(), RUNS.len(), "{kind:?}: {listed}");
        for run in RUNS {
            place.conforms(run, &[]);
        }
        assert!(!place.session.path("runs/parked-1/work/a.txt").exists(), "{kind:?}");
    }
}

#[test]
fn runs_parked_by_every_version_resume_in_sqlite() {
    runs_parked_by_every_version_resume(Kind::Sqlite);
}

#[test]
fn runs_parked_by_every_version_resume_in_files() {
    runs_parked_by_every_version_resume(Kind::Files);
}

#[cfg(unix)]
#[test]
fn runs_parked_by_every_version_resume_in_postgres() {
    runs_parked_by_every_version_resume(Kind::Postgres);
}

/// The graphs of the newest format are those of now, or a migration leads from them here. That it does so is held by the
/// tests above, which resume the parked runs.
#[test]
fn no_change_since_strands_what_is_parked() {
    let newest = formats().pop().unwrap();
    let session = Session::new();
    let list: Value = serde_json::from_str(&session.run(&["list", "--format", "json"]).stdout).unwrap();
    for lifecycle in list.as_array().unwrap() {
        let name = lifecycle["name"].as_str().unwrap();
        let stored = newest.join(format!("graphs/{name}.json"));
        // A lifecycle that is newer than the format has nothing parked in it.
        if !stored.exists() {
            continue;
        }
        let stored = stored.to_str().unwrap();
        let said = session.run(&["diff", "--parked", stored, name]);
        if said.code == Some(0) {
            continue;
        }
        let (list, registered) = match name {
            "run" => ("OF_RUNS", migrations::OF_RUNS),
            "tool_call" => ("OF_CALLS", migrations::OF_CALLS),
            _ => panic!("{name} has no list in crates/cli/src/migrations.rs\n{}", said.shown()),
        };
        // A migration maps states, not the names of events in traces and in queues.
        let change = session.run(&["diff", "--format", "json", stored, name]);
        assert!(!change.stdout.contains("\"renames_event\": true"), "{}", said.shown());
        let fingerprint = session.run(&["diagram", stored, "--fingerprint"]).stdout;
        let before: Fingerprint = fingerprint.trim().parse().unwrap();
        if registered.iter().any(|migration| migration.from() == before) {
            continue;
        }
        let line = format!("Migration::only_grew(runstate::kernel::Fingerprint::from_hex(\"{before}\")),");
        let only_grew = change.code == Some(0);
        if only_grew && std::env::var_os("RUNSTATE_ACCEPT").is_some() {
            register(list, &line);
            continue;
        }
        panic!(
            "{name} has another graph than in {}. If states or transitions were only added, {list} of \
             crates/cli/src/migrations.rs needs this line, which RUNSTATE_ACCEPT=1 writes:\n\n    {line}\n\n\
             Else docs/migrations.md has the steps.\n{}",
            newest.display(),
            said.shown()
        );
    }
}

/// Adds a migration to a list of the command.
fn register(list: &str, line: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/migrations.rs");
    let text = fs::read_to_string(path).unwrap();
    let start = text.find(&format!("const {list}: ")).unwrap();
    let end = start + text[start..].find("];").unwrap();
    let before = text[..end].trim_end();
    let comma = if before.ends_with(['[', ',']) { "" } else { "," };
    fs::write(path, format!("{before}{comma}\n    {line}\n{}", &text[end..])).unwrap();
}

/// As `runstate diff` would tell it in CI, had the next version of a lifecycle a state less, or one more.
#[test]
fn a_change_that_strands_parked_runs_is_told() {
    let newest = formats().pop().unwrap();
    let mut shown = String::new();
    for (name, state) in [("run", "Waiting"), ("tool_call", "Suspended"), ("run_flow", "Suspended")] {
        let session = Session::new();
        let stored = fs::read_to_string(newest.join(format!("graphs/{name}.json"))).unwrap();
        let mut next: Value = serde_json::from_str(&stored).unwrap();
        next["states"].as_array_mut().unwrap().retain(|it| it != state && it["name"] != state);
        next["edges"].as_array_mut().unwrap().retain(|edge| edge["from"] != state && edge["to"] != state);
        session.write("stored.json", &stored).write("next.json", next.to_string());
        session.write("more.json", stored.replace("\"states\": [", "\"states\": [{\"name\": \"Archived\"},"));
        for next in ["next.json", "more.json"] {
            let said = session.run(&["diff", "--parked", "stored.json", next]);
            assert_eq!(said.code, Some(1), "{}", said.shown());
            shown.push_str(&said.shown());
            shown.push('\n');
        }
    }
    assert_shown("formats_diff", &shown);
}

/// A run of a version from which nothing leads here: it stays as it is, and what to do is said.
#[test]
fn snapshot_without_a_migration_is_refused_with_a_remedy() {
    let newest = formats().pop().unwrap();
    let mut shown = String::new();
    for (version, table, run) in [(0, "runs", "parked-1"), (9, "runs", "parked-1"), (0, "calls", "doubt-1")] {
        let place = restored(&newest, Kind::Sqlite).unwrap();
        let store = stores::open(&place.session, RUNS_DB);
        let column = if table == "runs" { "id" } else { "run" };
        let snapshot = format!("SELECT snapshot FROM {table} WHERE {column} = '{run}' LIMIT 1");
        let mut json: Value = serde_json::from_str(&stores::text(&store, &snapshot).unwrap()).unwrap();
        json["version"] = version.into();
        let mut older: Snapshot = serde_json::from_value(json).unwrap();
        older.recompute_checksum();
        let put = format!("UPDATE {table} SET snapshot = ?1 WHERE {column} = '{run}'");
        store.execute(&put, [older.to_json()]).unwrap();
        shown.push_str(&place.does(&["resume", run], 2).shown());
        // A worker goes on with the others.
        place.does(&["worker", "--once"], 1);
        let problem = stores::text(&store, &format!("SELECT problem FROM runs WHERE id = '{run}'")).unwrap();
        shown.push_str(&format!("worker: {problem}\n\n"));
        let ended = "SELECT count(*) FROM runs WHERE id = 'parked-2' AND status = 'Waiting'";
        assert_eq!(stores::number(&store, ended), 1);
    }
    assert_shown("formats_refused", &shown);
}
