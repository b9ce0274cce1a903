//! Whose file it is, and of which version.

use std::collections::BTreeMap;
use std::path::Path;

use runstate::store::StoreError;
use rusqlite::{Connection, TransactionBehavior};

use crate::error::{Fault, Outcome};

/// Marks a file as one of ours, for `PRAGMA application_id` and for `file`: "RuSt".
pub(crate) const APPLICATION: i32 = 0x5275_5374;

/// What leads from each version to the next, from an empty file on.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("schema.sql"),
    include_str!("fences.sql"),
    include_str!("passes.sql"),
    include_str!("removed.sql"),
    include_str!("lost.sql"),
    include_str!("boots.sql"),
    include_str!("events.sql"),
    include_str!("threads.sql"),
];

/// Makes the tables of an empty file, and those of an older version into today's.
pub(crate) fn prepare(conn: &mut Connection, path: &Path, migrations: &[&str]) -> Outcome<()> {
    let newest = migrations.len();
    if check(conn, path, migrations)? == newest {
        return Ok(());
    }
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited.
    let version = look(&transaction, path, migrations)?;
    for migration in &migrations[version..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", i64::try_from(newest).unwrap_or(i64::MAX))?;
    Ok(transaction.commit()?)
}

/// The version of a file: 0 is an empty one. It is read at one moment, while another process may make the tables.
pub(crate) fn check(conn: &Connection, path: &Path, migrations: &[&str]) -> Outcome<usize> {
    let moment = conn.unchecked_transaction()?;
    let version = look(&moment, path, migrations)?;
    moment.commit()?;
    Ok(version)
}

fn look(conn: &Connection, path: &Path, migrations: &[&str]) -> Outcome<usize> {
    let newest = migrations.len();
    let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application == 0 && version == 0 && tables == 0 {
        return Ok(0);
    }
    let at = path.display();
    if application != i64::from(APPLICATION) {
        return Err(unusable(
            format!(
                "{at} is a SQLite database of another program (application_id {application}, expected {APPLICATION})"
            ),
            "name another file; nothing was changed in this one",
        ));
    }
    if version == 0 && tables > 0 {
        return Err(unusable(
            format!(
                "{at} is marked as a file of this program, and has tables but no version (user_version 0)"
            ),
            "restore it from a backup, or name another file; nothing was changed in this one",
        ));
    }
    match usize::try_from(version) {
        Ok(version) if version <= newest => {
            is_as_made(conn, path, &migrations[..version])?;
            Ok(version)
        }
        Err(_) => Err(unusable(
            format!(
                "{at} is marked as a file of this program, and has user_version {version}, expected 1 to {newest}"
            ),
            "another program wrote it: restore it from a backup, or name another file; nothing was changed in this one",
        )),
        Ok(_) => Err(unusable(
            format!(
                "{at} has version {version} of the tables, and this program knows versions up to {newest}"
            ),
            "use a newer version of this program; nothing was changed in the file",
        )),
    }
}

/// Nothing in the schema is executed that this program has not put there: a trigger, a generated column or an index of another program
/// may have a query without an end, or be in the place of a table.
fn is_as_made(conn: &Connection, path: &Path, migrations: &[&str]) -> Outcome<()> {
    let made = Connection::open_in_memory()?;
    migrations.iter().try_for_each(|migration| made.execute_batch(migration))?;
    let (made, found) = (parts(&made)?, parts(conn)?);
    let refuse = |what: String| {
        Err(unusable(
            format!("{}: {what}", path.display()),
            "nothing was changed; undo what another program has changed there, or restore the file from a backup",
        ))
    };
    for (key, sql) in &made {
        let (kind, name) = key;
        match found.get(key) {
            None => return refuse(format!("its schema lacks the {kind} {name:?}")),
            Some(other) if other != sql => {
                return refuse(format!("its schema has another {kind} {name:?} than this program makes"));
            }
            Some(_) => {}
        }
    }
    for ((kind, name), sql) in found.iter().filter(|(key, _)| !made.contains_key(key)) {
        let is_harmless = match &**kind {
            "table" => sql.starts_with("create table") && !is_bound(conn, name)?,
            "index" => is_of_columns(sql),
            _ => false,
        };
        if !is_harmless {
            return refuse(format!("its schema has the {kind} {name:?}, which this program does not make"));
        }
    }
    Ok(())
}

/// Has the table a key of another one? The rows of that one could not be removed, or were removed with its own.
fn is_bound(conn: &Connection, table: &str) -> Outcome<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM pragma_foreign_key_list(?1))";
    Ok(conn.query_row(sql, [table], |row| row.get(0))?)
}

/// Is it an index of plain columns, as one is made for the queries of other programs? Its rows are made by this program, when it writes.
fn is_of_columns(sql: &str) -> bool {
    let columns = sql.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    let is_column = |column: &str| {
        let mut words = column.split_whitespace();
        let is_name = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '"'));
        words.next().is_some_and(is_name)
            && matches!(words.next(), None | Some("asc" | "desc"))
            && words.next().is_none()
    };
    sql.starts_with("create index ") && columns.is_some_and(|columns| columns.split(',').all(is_column))
}

/// The parts of a schema, by kind and name, each without comments and spaces.
fn parts(conn: &Connection) -> Outcome<BTreeMap<(String, String), String>> {
    let mut parts = conn.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let parts = parts.query_map([], |row| {
        let sql: String = row.get(2)?;
        let lines = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        // The case of a text in the schema counts, that of all else does not.
        let parts = words.join(" ");
        let parts = parts.split('\'').enumerate();
        let parts: Vec<String> =
            parts.map(|(at, part)| if at % 2 == 0 { part.to_lowercase() } else { part.to_owned() }).collect();
        Ok(((row.get(0)?, row.get(1)?), parts.join("'")))
    })?;
    Ok(parts.collect::<Result<_, _>>()?)
}

fn unusable(what: String, help: &str) -> Fault {
    Fault::Store(StoreError::unusable(what, help))
}
