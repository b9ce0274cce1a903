//! Files of older and newer versions, with migrations for this test.

use std::path::Path;
use std::thread;
use std::time::Duration;

use runstate_store::{Claim, NewRun, RunData, RunLists, RunQueue, StoreError};
use rusqlite::Connection;

use crate::SqliteStore;

use crate::schema::{MIGRATIONS, prepare};

const FIRST: &str = MIGRATIONS[0];
const SECOND: &str = "ALTER TABLE runs ADD COLUMN colour TEXT; UPDATE runs SET colour = 'of ' || id;";
const BROKEN: &str = "ALTER TABLE runs ADD COLUMN shape TEXT; UPDATE nothing SET a = 1;";

fn connect(path: &Path) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.busy_timeout(Duration::from_secs(5)).unwrap();
    conn
}

fn prepared(path: &Path, migrations: &[&str]) -> Result<Connection, StoreError> {
    let mut conn = connect(path);
    prepare(&mut conn, path, migrations).map_err(|fault| fault.at(path))?;
    Ok(conn)
}

fn version(conn: &Connection) -> i64 {
    conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

fn columns(conn: &Connection) -> Vec<String> {
    let mut columns = conn.prepare("SELECT name FROM pragma_table_info('runs')").unwrap();
    let columns = columns.query_map([], |row| row.get(0)).unwrap();
    columns.collect::<Result<_, _>>().unwrap()
}

/// Creates a file of version 1 with one run.
fn first(path: &Path) {
    let conn = prepared(path, &[FIRST]).unwrap();
    let run = "INSERT INTO runs (id, title, status, created_at_ms, changed_at_ms) VALUES ('r1', '', 'Running', 1, 1)";
    assert_eq!(conn.execute(run, []).unwrap(), 1);
}

#[test]
fn an_older_file_is_migrated_with_what_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    first(&path);
    let conn = prepared(&path, &[FIRST, SECOND]).unwrap();
    assert_eq!(version(&conn), 2);
    let colour: String = conn.query_row("SELECT colour FROM runs", [], |row| row.get(0)).unwrap();
    assert_eq!(colour, "of r1");
    // No migration runs twice.
    assert_eq!(version(&prepared(&path, &[FIRST, SECOND]).unwrap()), 2);
}

#[test]
fn an_empty_file_gets_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let conn = prepared(&folder.path().join("runs.db"), &[FIRST, SECOND]).unwrap();
    assert_eq!(version(&conn), 2);
    assert!(columns(&conn).contains(&"colour".to_owned()));
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    first(&path);
    prepared(&path, &[FIRST, SECOND, BROKEN]).unwrap_err();
    let conn = connect(&path);
    assert_eq!(version(&conn), 1);
    let columns = columns(&conn);
    assert!(!columns.contains(&"colour".to_owned()) && !columns.contains(&"shape".to_owned()), "{columns:?}");
}

#[test]
fn two_that_migrate_at_once_do_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    first(&path);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(version(&prepared(&path, &[FIRST, SECOND]).unwrap()), 2));
        }
    });
}

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    drop(prepared(&path, &[FIRST, SECOND]).unwrap());
    let error = prepared(&path, &[FIRST]).unwrap_err();
    let StoreError::Unusable { what, help } = error else { panic!("{error:?}") };
    assert!(what.contains("has version 2 of the tables, and this program knows versions up to 1"), "{what}");
    assert!(help.starts_with("use a newer version"), "{help}");
    assert_eq!(version(&connect(&path)), 2);
}

/// A file of version 1 keeps its content.
#[tokio::test]
async fn a_file_of_version_1_is_migrated_with_its_leases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    first(&path);
    connect(&path).execute("UPDATE runs SET fence = 7", []).unwrap();
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(version(&connect(&path)), 9);
    let lease = store.claim(&Claim::of("r1", "w", Duration::ZERO)).await.unwrap().unwrap();
    assert_eq!(lease.fence, 8);
    assert!(store.remove("r1").await.unwrap());
    let again = store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await;
    assert!(matches!(again, Err(StoreError::Taken { .. })), "{again:?}");
}

/// A file as the version before left it, with runs in it.
#[tokio::test]
async fn a_file_of_version_8_keeps_its_runs_and_takes_service_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let conn = prepared(&path, &MIGRATIONS[..8]).unwrap();
    let run = "INSERT INTO runs (id, title, status, created_at_ms, changed_at_ms, fence, holder, held_until_ms) \
         VALUES ('r1', '', 'Running', 1, 1, 7, 'w', 0); INSERT INTO specs VALUES ('r1', '5')";
    conn.execute_batch(run).unwrap();
    drop(conn);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(version(&connect(&path)), 9);
    assert_eq!(store.load("r1").await.unwrap().spec, 5);
    assert_eq!(store.claim(&Claim::any("w", Duration::ZERO)).await.unwrap().unwrap().fence, 8);
    #[cfg(feature = "service")]
    {
        use runstate::service_run::{AnyServiceRun, ServiceRun, ServiceRunRecord, ServiceRunStatus};
        use runstate_service::{Change, ServiceCursor, ServiceStore};

        let machine = AnyServiceRun::from(ServiceRun::new(ServiceRunRecord::new("r1", "send 5")));
        let change = Change {
            at_ms: 1,
            status: ServiceRunStatus::Created,
            final_status: None,
            current_step: None,
            intent: "send 5".to_owned(),
            machine: runstate::snapshot::Snapshot::of(&machine).unwrap(),
            pass: None,
            artifacts: Default::default(),
            steps: Vec::new(),
            timeline: Vec::new(),
            trace: Vec::new(),
            requested_by: None,
            answer: None,
            hashes: Vec::new(),
        };
        ServiceStore::create(&store, "r1", &change).await.unwrap();
        assert_eq!(ServiceStore::load(&store, "r1").await.unwrap(), change.first_row("r1"));
        let changes =
            ServiceStore::changes(&store, ServiceCursor::default(), 9, Duration::ZERO).await.unwrap();
        assert_eq!((changes.runs, changes.cursor.number()), (vec!["r1".to_owned()], 1));
    }
}
