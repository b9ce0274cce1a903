//! The origin and the version of a file.

use std::collections::BTreeMap;
use std::path::Path;

use runstate_store::StoreError;
use rusqlite::{Connection, TransactionBehavior};

use crate::error::{Fault, Outcome};

/// Marks a file as one of this program, for `PRAGMA application_id` and for the `file` tool: "RuSt".
pub(crate) const APPLICATION: i32 = 0x5275_5374;

/// The migrations from each version to the next, starting from an empty file.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("schema.sql"),
    include_str!("fences.sql"),
    include_str!("passes.sql"),
    include_str!("removed.sql"),
    include_str!("lost.sql"),
    include_str!("boots.sql"),
    include_str!("events.sql"),
    include_str!("threads.sql"),
    include_str!("services.sql"),
];

/// Creates the tables of an empty file, and migrates those of an older version.
pub(crate) fn prepare(conn: &mut Connection, path: &Path, migrations: &[&str]) -> Outcome<()> {
    let newest = migrations.len();
    if check(conn, path, migrations)? == newest {
        return Ok(());
    }
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated the file during the wait.
    let version = look(&transaction, path, migrations)?;
    for migration in &migrations[version..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", i64::try_from(newest).unwrap_or(i64::MAX))?;
    Ok(transaction.commit()?)
}

/// Refuses a file of an earlier version. An empty file has none.
pub(crate) fn is_current(path: &Path, version: usize) -> Outcome<()> {
    let newest = MIGRATIONS.len();
    if version == 0 || version == newest {
        return Ok(());
    }
    Err(unusable(
        format!(
            "{} has version {version} of the tables, and this program reads version {newest}",
            path.display()
        ),
        "nothing was changed; `runstate worker --once`, `run` or `resume` migrates the file, which an earlier version of the program cannot \
         open then: stop the workers of that version first",
    ))
}

/// Returns the version of a file; 0 for an empty one. It reads in one transaction, since another process may be
/// creating the tables.
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

/// Checks that the schema contains no code of other programs. A trigger, a generated column or an index of another
/// program may contain an endless query, or replace a table.
fn is_as_made(conn: &Connection, path: &Path, migrations: &[&str]) -> Outcome<()> {
    let made = Connection::open_in_memory()?;
    migrations.iter().try_for_each(|migration| made.execute_batch(migration))?;
    let (made, found) = (parts(&made)?, parts(conn)?);
    let refuse = |what: String| {
        Err(unusable(
            format!("{}: {what}", path.display()),
            "nothing was changed; undo the changes of the other program there, or restore the file from a backup",
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

/// Returns whether a table has a foreign key. Such a key could block the removal of rows in the other table, or
/// remove rows with it.
fn is_bound(conn: &Connection, table: &str) -> Outcome<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM pragma_foreign_key_list(?1))";
    Ok(conn.query_row(sql, [table], |row| row.get(0))?)
}

/// Returns whether an index covers plain columns only, as other programs create it for their queries. This program
/// adds its rows on each write.
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

/// Returns the parts of a schema by kind and name, each without comments and spaces.
fn parts(conn: &Connection) -> Outcome<BTreeMap<(String, String), String>> {
    let mut parts = conn.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let parts = parts.query_map([], |row| {
        let sql: String = row.get(2)?;
        let lines = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        // String literals in a schema are case-sensitive, all else is not.
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
