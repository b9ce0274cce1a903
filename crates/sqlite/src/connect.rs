//! Connections to the file.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::error::Outcome;
use crate::options::Options;

/// Statements that each connection keeps compiled.
const STATEMENTS: usize = 64;

/// The one that writes. It makes the file if there is none.
pub(crate) fn writer(path: &Path, options: &Options) -> Outcome<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(options.busy)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(conn)
}

/// Write-ahead log, and each commit synced: what is acknowledged is durable.
pub(crate) fn durable(conn: &Connection) -> Outcome<()> {
    conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0))?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "journal_size_limit", 16 << 20)?;
    Ok(())
}

/// One that reads what is committed, beside the writer.
pub(crate) fn reader(path: &Path, options: &Options) -> Outcome<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(options.busy)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(conn)
}
