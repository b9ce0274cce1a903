//! What cannot be run, and runs that were damaged.

use std::fs;

use super::UNDECIDED;
use crate::session::{Session, assert_shown};
use crate::stores;

#[test]
fn refused_run_leaves_no_files_behind() {
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
        ("no token", "UPDATE specs SET json = json_remove(json, '$.token')"),
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
fn edited_snapshot_with_a_new_checksum_resumes() {
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
