//! Files that are not ours, not ours any more, or not well.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use runstate::turn::{CallRequest, Turn};
use runstate_sqlite::SqliteStore;
use runstate_store::{
    ChangeCursor, Claim, NewRun, Release, RunData, RunLists, RunQuery, RunQueue, RunStore, StoreError,
    expire_due,
};
use rusqlite::Connection;

use crate::drive::{Plot, approve_all, commits, create, drive};

fn refused(path: &Path) -> (String, String) {
    match SqliteStore::open(path).unwrap_err() {
        StoreError::Unusable { what, help } => (what, help),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("photos.db");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE photos (id INTEGER PRIMARY KEY); PRAGMA user_version = 1;").unwrap();
    drop(theirs);
    let before = fs::read(&path).unwrap();
    let (what, help) = refused(&path);
    assert!(what.contains("photos.db is a SQLite database of another program"), "{what}");
    assert!(help.starts_with("name another file"), "{help}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// What it has committed may stand in its log alone.
#[test]
fn the_log_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("photos.db");
    let theirs = Connection::open(&path).unwrap();
    theirs.pragma_update(None, "journal_mode", "wal").unwrap();
    theirs
        .execute_batch("CREATE TABLE photos (id INTEGER PRIMARY KEY); INSERT INTO photos VALUES (7);")
        .unwrap();
    // As it is when that program is killed.
    let copy = folder.path().join("copy.db");
    let of_copy = |end: &str| folder.path().join(format!("copy.db{end}"));
    fs::copy(&path, &copy).unwrap();
    fs::copy(folder.path().join("photos.db-wal"), of_copy("-wal")).unwrap();
    let before = ["", "-wal"].map(|end| fs::read(of_copy(end)).unwrap());
    assert!(!before[1].is_empty());
    let (what, _) = refused(&copy);
    assert!(what.contains("copy.db is a SQLite database of another program"), "{what}");
    assert_eq!(["", "-wal"].map(|end| fs::read(of_copy(end)).unwrap()), before);
}

#[test]
fn a_file_of_ours_without_its_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    drop(SqliteStore::open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 0).unwrap();
    let before = fs::read(&path).unwrap();
    let (what, help) = refused(&path);
    assert!(what.contains("has tables but no version (user_version 0)"), "{what}");
    assert!(help.starts_with("restore it from a backup"), "{help}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, "remember the milk\n".repeat(100)).unwrap();
    let (what, help) = refused(&path);
    assert!(what.contains("notes.txt is no SQLite database"), "{what}");
    assert!(help.starts_with("name another file"), "{help}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "remember the milk\n".repeat(100));
}

#[test]
fn tables_of_a_newer_version_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    drop(SqliteStore::open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 10).unwrap();
    let (what, help) = refused(&path);
    assert!(what.contains("has version 10 of the tables, and this program knows versions up to 9"), "{what}");
    assert!(help.starts_with("use a newer version"), "{help}");
}

#[test]
fn a_version_that_is_none_is_told_with_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    drop(SqliteStore::open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", -1).unwrap();
    let (what, help) = refused(&path);
    assert!(what.contains("has user_version -1, expected 1 to 9"), "{what}");
    assert!(help.starts_with("another program wrote it"), "{help}");
}

/// A text has another type in the place of a column of it.
#[tokio::test]
async fn a_value_of_another_type_is_told_with_table_row_and_column() {
    for (table, sql, place) in [
        (
            "messages",
            "UPDATE messages SET json = x'00' WHERE seq = 1",
            "messages.json of the row \"1\" of the run \"r1\"",
        ),
        (
            "calls",
            "UPDATE calls SET snapshot = x'00' WHERE id = 'call_1_0'",
            "calls.snapshot of the row \"call_1_0\" of the run \"r1\"",
        ),
        ("specs", "UPDATE specs SET json = x'00'", "specs.json of the run \"r1\""),
        ("runs", "UPDATE runs SET core = x'00'", "runs.core of the run \"r1\""),
        (
            "trace",
            "UPDATE trace SET json = x'00' WHERE seq = 2",
            "trace.json of the row \"2\" of the run \"r1\"",
        ),
        ("events", "UPDATE events SET seq = 'x' WHERE seq = 2", "events.seq of the run \"r1\""),
        (
            "runs",
            "INSERT INTO runs (id, title, status, created_at_ms, changed_at_ms) VALUES (x'00ff', '', 'Running', 0, 0)",
            "runs.id of the run \"x'00ff'\": expected Text, got Blob",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        kept(&path).await;
        force(&path, table, sql);
        let store = SqliteStore::open(&path).unwrap();
        let told = match table {
            "trace" => store.trace("r1", 0, 9).await.unwrap_err().to_string(),
            "events" => store.events("r1", 0, 9).await.unwrap_err().to_string(),
            _ if sql.starts_with("INSERT") => {
                store.runs(&RunQuery::all(9)).await.unwrap();
                store.corrupt_entries().await.unwrap().remove(0).what
            }
            _ => store.load("r1").await.unwrap_err().to_string(),
        };
        assert!(told.contains(place), "{sql}: {told}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let error = SqliteStore::open(folder.path().join("none/runs.db")).unwrap_err();
    assert!(matches!(error, StoreError::Failed(_)), "{error:?}");
    let told = error.to_string();
    assert!(told.contains("none/runs.db") && told.contains("its folder must be there"), "{told}");
}

#[tokio::test]
async fn an_empty_file_is_a_new_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    fs::write(&path, "").unwrap();
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.runs(&RunQuery::all(1)).await.unwrap(), []);
}

/// A file with one run, and no log beside it.
async fn kept(path: &Path) {
    let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open(path).unwrap());
    create(&store, "r1").await;
    drive(&store, "r1", Plot::of(30, 2)).await;
    drop(store);
    assert!(
        !path.with_extension("db-wal").exists(),
        "the log is written back when the last one closes the file"
    );
}

#[tokio::test]
async fn a_page_that_is_overwritten_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    kept(&path).await;
    let page: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'messages'", [], |row| row.get(0))
        .unwrap();
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start((u64::try_from(page).unwrap() - 1) * 4096)).unwrap();
    file.write_all(&[0xA5; 4096]).unwrap();
    drop(file);

    let store = SqliteStore::open(&path).unwrap();
    let StoreError::Unusable { what, help } = store.load("r1").await.unwrap_err() else { panic!() };
    assert!(what.contains("runs.db is damaged"), "{what}");
    assert!(help.contains("backup") && help.contains(".recover"), "{help}");
    // What is whole can still be read.
    assert_eq!(store.runs(&RunQuery::all(2)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn edited_row_is_named_in_the_error() {
    for (sql, place) in [
        ("UPDATE messages SET json = 'x' WHERE seq = 3", "messages.3"),
        ("UPDATE calls SET snapshot = '{}' WHERE id = 'call_1_0'", "__tool_call_states.call_1_0"),
        ("UPDATE runs SET status = 'Asleep'", "runs.status of the run \"r1\""),
        ("UPDATE runs SET core = NULL", "runs.core"),
        ("UPDATE specs SET json = ''", "specs.json of the run \"r1\""),
        ("DELETE FROM specs", "specs"),
        ("INSERT INTO run_values VALUES ('r1', 'moon', 'k', '1')", "run_values.scope of the run \"r1\""),
        ("DELETE FROM messages WHERE seq = 3", "messages"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        kept(&path).await;
        assert_eq!(Connection::open(&path).unwrap().execute(sql, []).unwrap(), 1, "{sql}");
        let store = SqliteStore::open(&path).unwrap();
        match store.load("r1").await {
            Err(StoreError::Unusable { what, .. }) => assert!(what.contains(place), "{sql}: {what}"),
            // What agrees with itself is found out when it is to go on.
            Ok(loaded) => drop(loaded.stored.unwrap().restore().unwrap_err()),
            Err(other) => panic!("{sql}: {other:?}"),
        }
    }
}

/// The file, and what SQLite puts beside it.
#[cfg(unix)]
#[tokio::test]
async fn new_file_is_private_and_an_existing_one_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    for (there, expected) in [(None, 0o600), (Some(0o640), 0o640)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        if let Some(modes) = there {
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(modes)).unwrap();
        }
        let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open(&path).unwrap());
        create(&store, "r1").await;
        for name in ["runs.db", "runs.db-wal", "runs.db-shm"] {
            let mode = fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, expected, "{name}: {mode:o}");
        }
    }
}

#[tokio::test]
async fn a_value_has_64_mib_and_no_more() {
    const MOST: usize = 64 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = SqliteStore::open(&path).unwrap();
    // The row has the id of the run beside it, and a header that says how long both are.
    const ROW: usize = 4 + 6;
    // Two quotes.
    let of = |bytes: usize| serde_json::Value::from("x".repeat(bytes - 2));
    store.create(&NewRun::new("most", of(MOST - ROW), 0)).await.unwrap();
    assert_eq!(store.load("most").await.unwrap().spec.as_str().unwrap().len(), MOST - ROW - 2);
    let refused = store.create(&NewRun::new("more", of(MOST - ROW + 1), 0)).await.unwrap_err();
    assert!(matches!(refused, StoreError::TooLarge { .. }), "{refused:?}");
    assert!(refused.to_string().contains("a value has more than the 67108864 bytes"), "{refused}");
    assert!(matches!(store.load("more").await, Err(StoreError::NoRun { .. })));
    // As another program writes it.
    let theirs = Connection::open(&path).unwrap();
    theirs
        .execute("UPDATE specs SET json = CAST(zeroblob(67108865) AS TEXT) WHERE run = 'most'", [])
        .unwrap();
    let refused = store.load("most").await.unwrap_err();
    assert!(matches!(refused, StoreError::Unusable { .. }), "{refused:?}");
    assert_eq!(store.runs(&RunQuery::all(9)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_id_that_is_no_text_holds_up_no_other_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open(&path).unwrap());
    for (run, at_ms) in [("r1", 1), ("r2", 2), ("r3", 3)] {
        store.create(&NewRun::new(run, serde_json::Value::Null, at_ms)).await.unwrap();
    }
    let theirs = Connection::open(&path).unwrap();
    theirs
        .execute_batch(
            "PRAGMA foreign_keys = OFF; UPDATE runs SET id = CAST(x'66ff' AS TEXT) WHERE id = 'r1'",
        )
        .unwrap();
    // A counter at its end, and one that is gone.
    theirs.execute("UPDATE news SET count = 9223372036854775807", []).unwrap();
    for expected in [Some("r2"), Some("r3"), None] {
        let claim = Claim::any("w", std::time::Duration::MAX);
        let lease = store.claim(&claim).await.unwrap();
        assert_eq!(lease.as_ref().map(|lease| &*lease.run), expected);
        if let Some(lease) = lease {
            store.release(&lease, &Release::set_aside("seen")).await.unwrap();
        }
        theirs.execute("DELETE FROM news", []).unwrap();
    }
    assert_eq!(store.runs(&RunQuery::all(9)).await.unwrap().len(), 2);
    assert_eq!(store.corrupt_entries().await.unwrap().len(), 1);
}

/// Makes a change that the tables do not allow: the schema is loosened for it, and put back.
pub(crate) fn force(path: &Path, table: &str, sql: &str) {
    let theirs = Connection::open(path).unwrap();
    let made: String =
        theirs.query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [table], |row| row.get(0)).unwrap();
    let loose = made
        .replace("IS NOT NULL", "NOTNULL")
        .replace("NOT NULL", "")
        .replace(" INTEGER ", " BLOB ")
        .replace(") STRICT", ")");
    let put = |sql: &str| {
        let theirs = Connection::open(path).unwrap();
        theirs.execute_batch("PRAGMA writable_schema = ON").unwrap();
        theirs.execute("UPDATE sqlite_schema SET sql = ?1 WHERE name = ?2", [sql, table]).unwrap();
        let version: i64 = theirs.pragma_query_value(None, "schema_version", |row| row.get(0)).unwrap();
        theirs.pragma_update(None, "schema_version", version + 1).unwrap();
    };
    put(&loose);
    let changed = Connection::open(path).unwrap().execute(sql, []).unwrap();
    assert!(changed > 0, "{sql}");
    put(&made);
}

#[tokio::test]
async fn a_column_of_another_type_holds_up_no_other_run() {
    let values = [
        "version = x'00'",
        "steps = NULL",
        "waiting = 1.5",
        "mail = 1.5",
        "cancel = CAST(x'fffe' AS TEXT)",
        "fence = NULL",
        "fence = 'x'",
        "lost = NULL",
        "claimed_steps = x'00'",
        "committed_under = NULL",
        "holder = x'00', held_until_ms = 0",
        "not_before_ms = x''",
    ];
    for value in values {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let store = SqliteStore::open(&path).unwrap();
        for (run, at_ms) in [("r1", 1), ("r2", 2)] {
            store.create(&NewRun::new(run, serde_json::Value::Null, at_ms)).await.unwrap();
        }
        drop(store);
        force(&path, "runs", &format!("UPDATE runs SET {value} WHERE id = 'r1'"));
        let store = SqliteStore::open(&path).unwrap();
        let claim = Claim::any("w", std::time::Duration::from_secs(9));
        let lease = store.claim(&claim).await.unwrap();
        assert_eq!(lease.map(|lease| lease.run).as_deref(), Some("r2"), "{value}");
        assert_eq!(store.claim(&claim).await.unwrap(), None, "{value}");
        let runs = store.runs(&RunQuery::all(9)).await.unwrap();
        assert_eq!(runs.iter().map(|run| &*run.id).collect::<Vec<_>>(), ["r2"], "{value}");
        let damaged = store.corrupt_entries().await.unwrap();
        assert!(damaged[0].what.contains("of the run \"r1\""), "{value}: {damaged:?}");
        let refused = store.load("r1").await.unwrap_err();
        assert!(matches!(refused, StoreError::Unusable { .. }), "{value}: {refused:?}");
    }
}

/// Such a row can be read perhaps, and takes no change.
#[tokio::test]
async fn a_row_that_takes_no_change_holds_up_no_other() {
    let hour = std::time::Duration::from_secs(3_600);
    for value in ["thread = x'fffe'", "snapshot = x'00'", "core = x'00'", "changed = x'00'", "changed = 1.5"]
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open(&path).unwrap());
        for run in ["r1", "r2", "r3"] {
            create(&store, run).await;
        }
        for run in ["r1", "r2"] {
            let lease = store.claim(&Claim::of(run, "w", hour)).await.unwrap().unwrap();
            for mut commit in commits(Plot::asking(1, 1)).await {
                for waits in commit.calls.iter_mut().filter_map(|call| call.waits.as_mut()) {
                    waits.suspension.is_date = true;
                    waits.suspension.expires_at_ms = Some(1);
                }
                store.commit(&lease, &commit).await.unwrap();
            }
            store.release(&lease, &Release::clean()).await.unwrap();
        }
        force(&path, "runs", &format!("UPDATE runs SET {value}, mail = 1 WHERE id = 'r1'"));
        let lapsed = expire_due(&*store, 9, 9).await.unwrap();
        assert_eq!((lapsed.given_up, lapsed.damaged.len()), (1, 1), "{value}: {lapsed:?}");
        let mut claimed = Vec::new();
        while let Some(lease) = store.claim(&Claim::any("w", hour)).await.unwrap() {
            claimed.push(lease.run);
        }
        claimed.sort();
        assert_eq!(claimed, ["r2", "r3"], "{value}");
        for refused in [
            store.claim(&Claim::of("r1", "w", hour)).await.unwrap_err(),
            store.cancel("r1", "enough").await.unwrap_err(),
        ] {
            assert!(matches!(refused, StoreError::Unusable { .. }), "{value}: {refused:?}");
            assert!(refused.to_string().contains("takes no change: "), "{value}: {refused}");
        }
    }
}

/// The greatest number of decisions, and the least one of lost claims.
#[tokio::test]
async fn numbers_of_another_program_stop_no_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open(&path).unwrap());
    create(&store, "r1").await;
    let lease = store.claim(&Claim::of("r1", "w", std::time::Duration::ZERO)).await.unwrap().unwrap();
    for commit in commits(Plot::asking(1, 1)).await {
        store.commit(&lease, &commit).await.unwrap();
    }
    let set = |sql: &str| Connection::open(&path).unwrap().execute(sql, []).unwrap();
    for lost in [-1_000, i64::MIN] {
        set(&format!("UPDATE runs SET lost = {lost}"));
        let claim = Claim::of("r1", "w", std::time::Duration::ZERO);
        assert_eq!(store.claim(&claim).await.unwrap().unwrap().lost, 1, "{lost}");
    }
    set(&format!("UPDATE runs SET mail = {}", i64::MAX));
    assert_eq!(approve_all(&store).await, 1);
    assert_eq!(store.pending_signals("r1").await.unwrap().decisions.len(), 1);
}

/// The first process of a boot changes rows of all runs.
#[tokio::test]
async fn a_column_of_another_type_holds_up_no_boot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let open = |boot: &str| {
        let clock = runstate_runtime::clock::SetClock::at(9).booted(boot, 9);
        SqliteStore::open_by(&path, runstate_sqlite::Options::default(), clock).unwrap()
    };
    let store = open("b1");
    let hour = std::time::Duration::from_secs(3_600);
    for run in ["r1", "r2", "r3"] {
        store.create(&NewRun::new(run, serde_json::Value::Null, 0).not_before(hour)).await.unwrap();
        store.claim(&Claim::of(run, "gone", hour)).await.unwrap().unwrap();
    }
    drop(store);
    force(&path, "runs", "UPDATE runs SET claimed_steps = 1.5 WHERE id = 'r1'");
    let store = open("b2");
    assert_eq!(store.due(9).await.unwrap(), []);
    for run in ["r2", "r3"] {
        assert_eq!(
            store.claim(&Claim::any("w", hour)).await.unwrap().map(|lease| lease.run).as_deref(),
            Some(run)
        );
    }
    assert_eq!(store.claim(&Claim::any("w", hour)).await.unwrap(), None);
}

/// The same of calls: the questions of the others lapse at their dates.
#[tokio::test]
async fn a_call_of_another_type_holds_up_no_boot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let open = |boot: &str| -> Arc<dyn RunStore> {
        let clock = runstate_runtime::clock::SetClock::at(9).booted(boot, 9);
        Arc::new(SqliteStore::open_by(&path, runstate_sqlite::Options::default(), clock).unwrap())
    };
    let hour = std::time::Duration::from_secs(3_600);
    let store = open("b1");
    for run in ["r1", "r2", "r3"] {
        create(&store, run).await;
        let lease = store.claim(&Claim::of(run, "w", hour)).await.unwrap().unwrap();
        for mut commit in commits(Plot::asking(1, 1)).await {
            commit.at_ms = 9;
            for waits in commit.calls.iter_mut().filter_map(|call| call.waits.as_mut()) {
                waits.suspension.expires_at_ms = Some(60_009);
            }
            store.commit(&lease, &commit).await.unwrap();
        }
    }
    drop(store);
    let by_clock = || -> Vec<String> {
        let theirs = Connection::open(&path).unwrap();
        let mut calls = theirs
            .prepare("SELECT run FROM calls WHERE open = 1 AND lapses_at_ms IS NOT NULL ORDER BY run")
            .unwrap();
        calls.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(by_clock(), ["r1", "r2", "r3"]);
    force(&path, "calls", "UPDATE calls SET step = 1.5 WHERE run = 'r1'");
    assert!(open("b2").claim(&Claim::any("w", hour)).await.is_ok());
    assert_eq!(by_clock(), ["r1"]);
}

#[tokio::test]
async fn counters_of_another_type_count_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    drop(SqliteStore::open(&path).unwrap());
    for count in ["x'00'", "'many'", "NULL", "1.5"] {
        force(&path, "news", &format!("UPDATE news SET count = {count}"));
        let store = SqliteStore::open(&path).unwrap();
        let run = format!("run with {count}");
        store.create(&NewRun::new(&run, serde_json::Value::Null, 0)).await.unwrap();
        // The least fence is one as well.
        let theirs = Connection::open(&path).unwrap();
        theirs.execute("UPDATE runs SET fence = -9223372036854775807 - 1 WHERE id = ?1", [&run]).unwrap();
        let claim = Claim::of(&run, "w", std::time::Duration::from_secs(9));
        let lease = store.claim(&claim).await.unwrap().unwrap();
        store.renew(&lease, std::time::Duration::from_secs(9)).await.unwrap();
        force(&path, "news", &format!("UPDATE news SET commits = {count}"));
        let played = runstate_store_conformance::Played::new(&run, &[]).await;
        store.commit(&lease, played.commits().next().unwrap()).await.unwrap();
        force(
            &path,
            "runs",
            &format!("UPDATE runs SET version = {count} WHERE id = '{}'", run.replace('\'', "''")),
        );
        store.changes(&ChangeCursor::default(), std::time::Duration::ZERO).await.unwrap();
    }
}

#[tokio::test]
async fn commits_are_told_behind_the_greatest_count_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = SqliteStore::open(&path).unwrap();
    store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await.unwrap();
    let hour = std::time::Duration::from_secs(3_600);
    let lease = store.claim(&Claim::of("r1", "w", hour)).await.unwrap().unwrap();
    let calls = vec![CallRequest::new("c", "say", serde_json::json!(1))];
    let played = runstate_store_conformance::Played::new("r1", &[Turn { calls, ..Turn::default() }]).await;
    let mut cursor = ChangeCursor::default();
    for (commit, count) in played.commits().zip([i64::MAX - 1, i64::MAX, -1, i64::MIN]) {
        Connection::open(&path).unwrap().execute("UPDATE news SET commits = ?1", [count]).unwrap();
        cursor = store.changes(&cursor, std::time::Duration::ZERO).await.unwrap().cursor;
        store.commit(&lease, commit).await.unwrap();
        let changes = store.changes(&cursor, std::time::Duration::ZERO).await.unwrap();
        assert_eq!(changes.runs, [("r1".to_owned(), commit.version)], "{count}");
    }
    assert!(played.commits().count() >= 4);
}

/// A page has as many rows as are asked for, also with bad rows between them.
#[tokio::test]
async fn rows_that_cannot_be_read_leave_pages_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store: Arc<dyn RunStore> = Arc::new(SqliteStore::open(&path).unwrap());
    for number in 0..9 {
        store.create(&NewRun::new(format!("r{number}"), serde_json::Value::Null, number)).await.unwrap();
    }
    let theirs = Connection::open(&path).unwrap();
    theirs.execute("UPDATE runs SET status = 'Bogus' WHERE id IN ('r8', 'r6', 'r5', 'r0')", []).unwrap();
    let mut query = RunQuery::all(2);
    let mut seen = Vec::new();
    loop {
        let page = store.runs(&query).await.unwrap();
        seen.extend(page.iter().map(|run| run.id.clone()));
        match page.last() {
            Some(last) if page.len() == 2 => query = query.after(last),
            _ => break,
        }
    }
    assert_eq!(seen, ["r7", "r4", "r3", "r2", "r1"]);
    // A handle that has made no list knows as well.
    for store in [&store, &(Arc::new(SqliteStore::open(&path).unwrap()) as Arc<dyn RunStore>)] {
        let damaged = store.corrupt_entries().await.unwrap();
        assert_eq!(damaged.len(), 4, "{damaged:?}");
        assert!(damaged[0].what.contains("runs.status of the run \"r0\""), "{damaged:?}");
    }
    theirs.execute("UPDATE runs SET status = 'Running'", []).unwrap();
    assert_eq!(store.runs(&RunQuery::all(20)).await.unwrap().len(), 9);
    assert_eq!(store.corrupt_entries().await.unwrap(), []);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_a_link_is_refused_and_its_folder_may_be_one() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    fs::create_dir(at("real")).unwrap();
    symlink(at("real"), at("there")).unwrap();
    drop(SqliteStore::open(at("there/runs.db")).unwrap());
    assert!(at("real/runs.db").is_file());
    for target in ["real/runs.db", "nothing"] {
        symlink(at(target), at("link.db")).unwrap();
        let (what, help) = refused(&at("link.db"));
        assert!(what.contains("links are not followed") && help == "name the file itself", "{what}; {help}");
        fs::remove_file(at("link.db")).unwrap();
    }
    assert!(!at("nothing").exists());
}

const ENDLESS: &str =
    "SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n)";

#[test]
fn schema_with_foreign_executable_objects_is_refused() {
    for (hostile, told) in [
        (&*format!("CREATE TRIGGER x AFTER UPDATE ON runs BEGIN {ENDLESS}; END"), "has the trigger \"x\""),
        (&*format!("DROP TABLE news; CREATE VIEW news AS {ENDLESS}"), "lacks the table \"news\""),
        ("CREATE VIEW more AS SELECT 1", "has the view \"more\""),
        ("CREATE INDEX slow ON runs (hex(zeroblob(1000000000)))", "has the index \"slow\""),
        (
            "CREATE INDEX some ON runs (id) WHERE length(hex(zeroblob(1000000000))) > 1",
            "has the index \"some\"",
        ),
        ("CREATE INDEX joined ON runs (title || id)", "has the index \"joined\""),
        ("CREATE UNIQUE INDEX one ON runs (title)", "has the index \"one\""),
        ("CREATE INDEX cased ON runs (title COLLATE NOCASE)", "has the index \"cased\""),
        (
            "CREATE TABLE theirs (run TEXT REFERENCES runs (id) ON DELETE SET NULL)",
            "has the table \"theirs\"",
        ),
        (
            "CREATE TABLE theirs (run TEXT REFERENCES\"runs\"(id) ON DELETE RESTRICT)",
            "has the table \"theirs\"",
        ),
        (
            "CREATE TABLE theirs (note TEXT DEFAULT '--', run TEXT REFERENCES runs (id) ON DELETE RESTRICT)",
            "has the table \"theirs\"",
        ),
        ("CREATE VIRTUAL TABLE words USING fts5(word)", "has the table \"words\""),
        ("ALTER TABLE runs ADD COLUMN slow TEXT AS (hex(zeroblob(1000000000)))", "another table \"runs\""),
        ("DROP INDEX runs_free", "lacks the index \"runs_free\""),
        // No run is ready then.
        (
            "PRAGMA writable_schema = ON; \
             UPDATE sqlite_schema SET sql = replace(sql, '''Running'' OR', '''running'' OR') WHERE name = 'runs'",
            "another table \"runs\"",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        drop(SqliteStore::open(&path).unwrap());
        Connection::open(&path).unwrap().execute_batch(hostile).unwrap();
        let before = fs::read(&path).unwrap();
        let (what, help) = refused(&path);
        assert!(what.contains("runs.db: its schema ") && what.contains(told), "{hostile}: {what}");
        assert!(help.starts_with("nothing was changed"), "{help}");
        assert_eq!(fs::read(&path).unwrap(), before, "{hostile}");
    }
}

#[test]
fn a_table_and_an_index_that_a_person_added_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    drop(SqliteStore::open(&path).unwrap());
    let mine = "CREATE TABLE mine (note TEXT); CREATE TABLE preferences (name TEXT); CREATE INDEX by_title ON runs (title, id DESC); ANALYZE";
    Connection::open(&path).unwrap().execute_batch(mine).unwrap();
    SqliteStore::open(&path).unwrap();
}

#[tokio::test]
async fn a_trigger_that_comes_later_is_not_executed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let store = SqliteStore::open(&path).unwrap();
    store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await.unwrap();
    let trigger = format!("CREATE TRIGGER x AFTER UPDATE ON runs BEGIN {ENDLESS}; END");
    Connection::open(&path).unwrap().execute_batch(&trigger).unwrap();
    let cancelled = store.cancel("r1", "enough");
    assert!(tokio::time::timeout(std::time::Duration::from_secs(60), cancelled).await.unwrap().unwrap());
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_of_the_store_holds_nothing_up() {
    for beside in ["", "-journal", "-wal", "-shm"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        drop(SqliteStore::open(&path).unwrap());
        let pipe = folder.path().join(format!("runs.db{beside}"));
        drop(fs::remove_file(&pipe));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let (what, help) = refused(&path);
        assert!(what.contains(&format!("runs.db{beside} is no file")), "{what}");
        assert!(help.ends_with("take it away, or name another file"), "{help}");
    }
}
