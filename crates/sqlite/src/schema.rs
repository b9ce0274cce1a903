//! Whose file it is, and of which version.

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
];

/// Makes the tables of an empty file, and those of an older version into today's.
pub(crate) fn prepare(conn: &mut Connection, path: &Path, migrations: &[&str]) -> Outcome<()> {
    let newest = migrations.len();
    if check(conn, path, newest)? == newest {
        return Ok(());
    }
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited.
    let version = look(&transaction, path, newest)?;
    for migration in &migrations[version..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", i64::try_from(newest).unwrap_or(i64::MAX))?;
    Ok(transaction.commit()?)
}

/// The version of a file: 0 is an empty one. It is read at one moment, while another process may make the tables.
pub(crate) fn check(conn: &Connection, path: &Path, newest: usize) -> Outcome<usize> {
    let moment = conn.unchecked_transaction()?;
    let version = look(&moment, path, newest)?;
    moment.commit()?;
    Ok(version)
}

fn look(conn: &Connection, path: &Path, newest: usize) -> Outcome<usize> {
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
        Ok(version) if version <= newest => Ok(version),
        _ => Err(unusable(
            format!(
                "{at} has version {version} of the tables, and this program knows versions up to {newest}"
            ),
            "use a newer version of this program; nothing was changed in the file",
        )),
    }
}

fn unusable(what: String, help: &str) -> Fault {
    Fault::Store(StoreError::unusable(what, help))
}
