//! Rows that a claim skips.

use std::time::Duration;

use runstate_runtime::clock::SetClock;
use runstate_store::Claim;
use rusqlite::{Connection, StatementStatus};

use crate::schema::MIGRATIONS;
use crate::time::Now;
use crate::write::leases::{FIRST_READY, claim};

/// Creates a file with that number of runs that can be read and not changed.
fn hostile(path: &std::path::Path, runs: u32) -> Connection {
    let conn = Connection::open(path).unwrap();
    MIGRATIONS.iter().for_each(|migration| conn.execute_batch(migration).unwrap());
    let made: String =
        conn.query_row("SELECT sql FROM sqlite_schema WHERE name = 'runs'", [], |row| row.get(0)).unwrap();
    let put = |sql: &str| {
        let conn = Connection::open(path).unwrap();
        conn.execute_batch("PRAGMA writable_schema = ON").unwrap();
        conn.execute("UPDATE sqlite_schema SET sql = ?1 WHERE name = 'runs'", [sql]).unwrap();
        let version: i64 = conn.pragma_query_value(None, "schema_version", |row| row.get(0)).unwrap();
        conn.pragma_update(None, "schema_version", version + 1).unwrap();
    };
    put(&made.replace(") STRICT", ")"));
    Connection::open(path)
        .unwrap()
        .execute_batch(&format!(
            "WITH RECURSIVE to_last(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM to_last WHERE n < {runs}) \
             INSERT INTO runs (id, title, status, thread, created_at_ms, changed_at_ms) \
             SELECT 'r' || n, '', 'Running', x'fffe', n, n FROM to_last"
        ))
        .unwrap();
    put(&made);
    Connection::open(path).unwrap()
}

#[test]
fn many_rows_that_take_no_change_cost_a_claim_once() {
    let steps = |runs: u32| {
        let folder = tempfile::tempdir().unwrap();
        let conn = hostile(&folder.path().join("runs.db"), runs);
        let found = claim(&conn, &Claim::any("w", Duration::from_secs(9)), Now::of(&SetClock::at(9)));
        let Ok(None) = found else { panic!("no run can be claimed") };
        let steps = conn.prepare_cached(FIRST_READY).unwrap().get_status(StatementStatus::VmStep);
        assert!(steps > 0);
        steps
    };
    let (few, many) = (steps(100), steps(1_600));
    assert!(many < 40 * few, "{many} steps for 16 times the rows of {few}");
}
