//! A store that is an older copy, or that lacks a part.

use std::fs;

use crate::session::{Said, Session};

const SCENARIO: &str = "\
name: copied
message: tidy up
approve: [delete_file]
model:
  - calls: [{id: make, tool: write_file, arguments: {path: a.txt, content: one}}]
  - calls: [{id: rm, tool: delete_file, arguments: {path: a.txt}}]
  - text: done
";

const PLACE: [&str; 2] = ["--state-dir", "runs"];

#[track_caller]
fn does(session: &Session, args: &[&str], code: i32) -> Said {
    let said = session.run(&[args, &PLACE].concat());
    assert_eq!(said.code, Some(code), "{}", said.shown());
    said
}

#[test]
fn restored_older_store_is_not_driven_until_accepted() {
    let session = Session::new();
    session.write("s.yaml", SCENARIO);
    let does = |args: &[&str], code| does(&session, args, code);
    let database = session.path("runs/runs.db");
    does(&["run", "--detach", "s.yaml"], 0);
    let older = fs::read(&database).unwrap();
    does(&["worker", "--once"], 0);
    let newer = fs::read(&database).unwrap();

    fs::write(&database, &older).unwrap();
    does(&["worker", "--once"], 1);
    let runs = does(&["runs"], 0);
    let told = "problem: this machine made commit ";
    assert!(runs.stdout.contains(told), "{}", runs.shown());
    assert!(runs.stdout.contains("`runstate resume copied-1 --restored --detach`"), "{}", runs.shown());
    let refused = does(&["resume", "copied-1"], 2);
    assert!(refused.stderr.contains("of the run, and the store has commit 0"), "{}", refused.shown());
    assert!(
        refused
            .stderr
            .contains("`runstate resume copied-1 --restored --state-dir runs` continues from this one"),
        "{}",
        refused.shown()
    );
    // A refused command keeps the problem, and no worker takes the run.
    let detached = does(&["resume", "copied-1", "--detach", "--approve", "no-such-question"], 1);
    assert!(detached.stderr.contains("no-such-question"), "{}", detached.shown());
    let runs = does(&["runs"], 0);
    assert!(runs.stdout.contains(told), "{}", runs.shown());
    // To look at it, and to end it, changes nothing that was done.
    does(&["show", "copied-1"], 0);

    // The newer store is as it was.
    fs::write(&database, &newer).unwrap();
    does(&["resume", "copied-1"], 3);

    fs::write(&database, &older).unwrap();
    does(&["resume", "copied-1", "--restored", "--detach"], 0);
    does(&["worker", "--once"], 0);
    does(&["resume", "copied-1", "--approve", "copied-1/rm/1"], 0);
    session.assert_complete("copied-1", &PLACE);
}

/// The last commits of a killed process stand in that file alone.
#[test]
fn a_database_without_its_log_is_behind() {
    let session = Session::new();
    session.write("s.yaml", SCENARIO);
    let does = |args: &[&str], code| does(&session, args, code);
    does(&["run", "--detach", "s.yaml"], 0);
    let (log, kept) = (session.path("runs/runs.db-wal"), session.path("kept-wal"));
    // As after a kill: a reader holds the file open, so that the last to leave it does not tidy it up.
    let reader = crate::stores::open(&session, "runs/runs.db");
    reader.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0)).unwrap();
    does(&["worker", "--once"], 0);
    fs::copy(&log, &kept).unwrap();
    let database = fs::read(session.path("runs/runs.db")).unwrap();
    drop(reader);
    fs::write(session.path("runs/runs.db"), database).unwrap();
    drop(fs::remove_file(&log));
    drop(fs::remove_file(session.path("runs/runs.db-shm")));
    assert!(fs::metadata(&kept).unwrap().len() > 0);
    let refused = does(&["resume", "copied-1"], 2);
    assert!(refused.stderr.contains("a SQLite file without its -wal"), "{}", refused.shown());
}
