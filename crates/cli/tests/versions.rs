//! Stores that an earlier version of the program has left.

use rusqlite::Connection;

use crate::session::Session;

const VERSIONS: [(i64, &str); 2] =
    [(7, include_str!("stores/version-7.sql")), (8, include_str!("stores/version-8.sql"))];

/// The workers of the earlier version go on with the file.
#[test]
fn reading_commands_leave_a_file_of_an_earlier_version() {
    for (older, dump) in VERSIONS {
        is_left(older, dump);
    }
}

fn is_left(older: i64, dump: &str) {
    let session = Session::new();
    std::fs::create_dir(session.path("runs")).unwrap();
    let file = Connection::open(session.path("runs/runs.db")).unwrap();
    file.execute_batch(dump).unwrap();
    let version = || file.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).unwrap();
    let export = ["export", "pay-1", "--scenario"];
    for args in [&["runs"] as &[&str], &["approvals"], &["show", "pay-1"], &["watch", "pay-1"], &export] {
        let said = session.run(&[args, &["--state-dir", "runs"]].concat());
        assert_eq!((said.code, version()), (Some(2), older), "{}", said.shown());
        let told = format!("has version {older} of the tables, and this program reads version 9");
        assert!(said.stderr.contains(&told), "{}", said.shown());
        assert!(
            said.stderr.contains("`runstate worker --once`, `run` or `resume` migrates"),
            "{}",
            said.shown()
        );
    }
    let said = session.run(&["worker", "--once", "--state-dir", "runs"]);
    assert_eq!((said.code, version()), (Some(0), 9), "{}", said.shown());
    assert_eq!(session.run(&["runs", "--state-dir", "runs"]).code, Some(0));
}

/// Runs that wait, that were decided and that have not begun go on under this version.
#[test]
fn runs_of_a_file_of_an_earlier_version_go_on() {
    for (_, dump) in VERSIONS {
        go_on(dump);
    }
}

fn go_on(dump: &str) {
    let session = Session::new();
    std::fs::create_dir(session.path("runs")).unwrap();
    let file = session.path("runs/runs.db");
    Connection::open(&file).unwrap().execute_batch(dump).unwrap();
    let does = |args: &[&str], code: i32| {
        let said = session.run(&[args, &["--state-dir", "runs"]].concat());
        assert_eq!(said.code, Some(code), "{}", said.shown());
        said.stdout
    };
    let status = |run: &str| {
        let shown: serde_json::Value =
            serde_json::from_str(&does(&["show", run, "--format", "json"], 0)).unwrap();
        shown["run"]["status"].as_str().unwrap().to_owned()
    };
    does(&["worker", "--once"], 0);
    let version: i64 =
        Connection::open(&file).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 9);
    let all = ["pay-1", "pay-2", "pay-3", "pay-4"];
    assert_eq!(all.map(status), ["Waiting", "Done", "Waiting", "Waiting"]);
    does(&["approve", "pay-1/q/1"], 0);
    does(&["send", "pay-3", "forget the bills", "--supersede"], 0);
    does(&["send", "pay-2", "pay again"], 0);
    does(&["worker", "--once"], 0);
    assert_eq!(all.map(status), ["Done", "Done", "Done", "Waiting"]);
    assert_eq!(status("pay-5"), "Waiting", "the run behind pay-2");
    for run in ["pay-1", "pay-2", "pay-3"] {
        let trace = does(&["show", run, "--format", "jsonl"], 0);
        let checked = session.run_with(&["check", "-", "--complete"], trace);
        assert_eq!(checked.code, Some(0), "{}", checked.shown());
    }
    // The program of the earlier version leaves the file alone, as this one leaves one of the next version.
    Connection::open(&file).unwrap().pragma_update(None, "user_version", 10).unwrap();
    let refused = session.run(&["runs", "--state-dir", "runs"]);
    assert_eq!(refused.code, Some(2), "{}", refused.shown());
    assert!(
        refused.stderr.contains("version 10 of the tables, and this program knows versions up to 9"),
        "{}",
        refused.shown()
    );
}
