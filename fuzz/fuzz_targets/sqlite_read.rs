//! No value in a row of a SQLite file makes a reader of it panic, whatever type it has. Machines that were changed are sealed again, so that
//! what reads behind their checksums is reached.

#![no_main]

mod hostile;

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use hostile::runs::{RUNS, RUNTIME, changed, fill, read};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use runstate_store::{ApprovalFilter, ApprovalQuery, NewRun, RunData, RunLists, RunQuery};
use runstate_sqlite::SqliteStore;
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::Value;

/// In memory where the machine has such a folder: each input writes a file.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = base.join(format!("runstate-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
});

/// A table, the columns of its key, and a column.
type Place = (String, String, String);

/// A file with runs to change and a run that stays as it is. Its tables take any value.
struct Stored {
    file: Vec<u8>,
    columns: Vec<Place>,
    /// The tables as they are made.
    tables: Vec<(String, String)>,
}

static STORED: LazyLock<Stored> = LazyLock::new(|| {
    // Made before, in a runtime of its own.
    LazyLock::force(&RUNS);
    let path = FOLDER.join("stored.db");
    RUNTIME.block_on(async {
        let store = SqliteStore::open(&path).expect("a store");
        fill(&store, |_, commit| Some(commit.clone())).await.expect("the runs");
        store.create(&NewRun::new("sound", Value::Null, 2)).await.expect("a run");
    });
    let conn = Connection::open(&path).expect("the file");
    let _: String = conn.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0)).expect("one file");
    let mut table_columns = conn
        .prepare(
            "SELECT t.name, (SELECT group_concat(k.name, ' || char(31) || ') FROM pragma_table_info(t.name) k WHERE k.pk > 0), c.name
             FROM pragma_table_list t, pragma_table_info(t.name) c WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite%'",
        )
        .expect("the tables");
    let columns = table_columns.query_map([], |row| {
        let key: Option<String> = row.get(1)?;
        Ok((row.get(0)?, key.unwrap_or_else(|| "rowid".to_owned()), row.get(2)?))
    });
    let columns = columns.expect("columns");
    let columns = columns.collect::<rusqlite::Result<Vec<_>>>().expect("names");
    drop(table_columns);
    let strict = tables(&conn).expect("tables");
    let any: Vec<_> = strict.iter().map(|(name, sql)| (name.clone(), loose(sql))).collect();
    put(&conn, &any).expect("a schema");
    drop(conn);
    Stored { file: fs::read(&path).expect("the file"), columns, tables: strict }
});

fn hostile(old: &Cell, from: &mut Unstructured<'_>) -> Result<Cell> {
    if let Cell::Text(text) = old
        && from.ratio(2, 3)?
        && let Some(text) = changed(text, from)
    {
        return Ok(Cell::Text(text));
    }
    Ok(match from.int_in_range(0..=5)? {
        0 => Cell::Null,
        1 => Cell::Integer(*from.choose(&[i64::MIN, -1, 0, 1, 253_402_300_799_999, i64::MAX])?),
        2 => Cell::Integer(from.arbitrary()?),
        3 => Cell::Real(from.arbitrary()?),
        4 => Cell::Blob(from.arbitrary()?),
        _ => Cell::Text(hostile::value(from)?.as_str().unwrap_or("null").to_owned()),
    })
}

/// The tables of a file as the schema has them, with their names.
fn tables(conn: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut tables = conn.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")?;
    tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Writes them into the schema.
fn put(conn: &Connection, tables: &[(String, String)]) -> rusqlite::Result<()> {
    conn.execute_batch("PRAGMA writable_schema = ON")?;
    for (name, sql) in tables {
        conn.execute("UPDATE sqlite_schema SET sql = ?1 WHERE name = ?2", [sql, name])?;
    }
    let version: i64 = conn.pragma_query_value(None, "schema_version", |row| row.get(0))?;
    conn.pragma_update(None, "schema_version", version + 1)?;
    conn.execute_batch("PRAGMA writable_schema = RESET")
}

/// The same table, which takes a value of any type in any column.
fn loose(sql: &str) -> String {
    let kept = sql.replace("INTEGER PRIMARY KEY", "KEY OF ITS OWN").replace("IS NOT NULL", "NOTNULL");
    let loose = kept.replace("NOT NULL", "").replace("INTEGER", "BLOB").replace("TEXT", "BLOB");
    loose.replace("STRICT, ", "").replace("STRICT", "").replace("KEY OF ITS OWN", "INTEGER PRIMARY KEY")
}

/// Changes some cells, as a program does that knows the tables. What a rule of a table does not allow stays.
fn change(conn: &Connection, columns: &[Place], from: &mut Unstructured<'_>) -> Option<()> {
    for _ in 0..from.int_in_range(1..=4).ok()? {
        let (table, key, column) = from.choose(columns).ok()?;
        let rows: i64 = conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).ok()?;
        if rows == 0 {
            continue;
        }
        let at = from.int_in_range(0..=rows - 1).ok()?;
        let one = format!("SELECT {key}, {column} FROM {table} LIMIT 1 OFFSET {at}");
        let Ok((row, old)) = conn.query_row(&one, [], |row| Ok((row.get::<_, Cell>(0)?, row.get::<_, Cell>(1)?))) else {
            continue;
        };
        if matches!(&row, Cell::Text(name) if name.starts_with("sound")) {
            continue;
        }
        let new = hostile(&old, from).ok()?;
        // What is no UTF-8 is written as text, too.
        let to = if from.ratio(1, 4).ok()? { "CAST(?1 AS TEXT)" } else { "?1" };
        drop(conn.execute(&format!("UPDATE {table} SET {column} = {to} WHERE {key} IS ?2"), (&new, row)));
    }
    Some(())
}

fuzz_target!(|data: &[u8]| {
    let stored = &*STORED;
    let mut from = Unstructured::new(data);
    let path = FOLDER.join("runs.db");
    for beside in ["runs.db", "runs.db-wal", "runs.db-shm"] {
        drop(fs::remove_file(FOLDER.join(beside)));
    }
    fs::write(&path, &stored.file).expect("the file");
    {
        let conn = Connection::open(&path).expect("the file");
        // Rows of a run may be there without it.
        conn.execute_batch("PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
            .expect("an own file");
        if change(&conn, &stored.columns, &mut from).is_none() {
            return;
        }
        put(&conn, &stored.tables).expect("the schema again");
    }
    RUNTIME.block_on(async {
        if let Ok(store) = SqliteStore::open(&path) {
            // This one is listed beside the damaged rows.
            let runs = store.runs(&RunQuery::all(100)).await.expect("a list");
            assert!(runs.iter().any(|run| run.id == "sound"), "{runs:?}");
            drop(store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 9)).await.expect("a list of what waits"));
            drop(store.due(9).await.expect("a list of what is due"));
            read(&store, &mut from).await;
        }
    });
});
