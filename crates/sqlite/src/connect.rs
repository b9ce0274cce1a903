//! Connections to the file.

use std::fs;
#[cfg(unix)]
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use runstate::store::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Fault, Outcome};
use crate::options::Options;

/// Statements that each connection keeps compiled.
const STATEMENTS: usize = 64;

/// The log is written back into the file once it has so many pages, 16 MiB: a few syncs for some hundred commits.
const CHECKPOINT: i64 = 4096;
/// The most bytes of a value, and of a row. Larger ones are not read, and not written.
pub(crate) const MOST_BYTES: i32 = 64 << 20;
/// What the log keeps of its size then. Writing over what is there costs less than growing it.
const KEPT: i64 = 32 << 20;

/// The one that writes. It makes the file if there is none.
pub(crate) fn writer(path: &Path, options: &Options) -> Outcome<Connection> {
    #[cfg(unix)]
    make(&resolved(path)?);
    let conn = open(path, options, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    if conn.is_readonly("main")? {
        return Err(Fault::Store(StoreError::failed(format!(
            "{} may not be written; this user must be allowed to write the file and its folder",
            path.display()
        ))));
    }
    Ok(conn)
}

/// Makes the file for its user alone, if there is none: SQLite would let others read it. What it puts beside the file it gives
/// the modes of the file, and what keeps the file from being made it says itself.
#[cfg(unix)]
fn make(path: &Path) {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).ok();
}

/// Is the log written back into the file when the connection is the last one to close it?
pub(crate) fn leave_log(conn: &Connection, is_left: bool) -> Outcome<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_left)?;
    Ok(())
}

/// The file in its folder, which may be reached through links. The file itself may not be one: another user may have put it there, and
/// would choose the file that is written.
fn resolved(path: &Path) -> Outcome<PathBuf> {
    let unusable =
        |error: io::Error| StoreError::failed(format!("the path {} cannot be used: {error}", path.display()));
    // A relative one may be `:memory:`, or begin with `file:`, which SQLite reads as a URI with options of its own.
    let whole = std::path::absolute(path).map_err(unusable)?;
    if fs::symlink_metadata(&whole).is_ok_and(|about| about.is_symlink()) {
        return Err(Fault::Store(StoreError::unusable(
            format_args!("{} is a link, and links are not followed", path.display()),
            "name the file itself",
        )));
    }
    match (whole.parent().map(Path::canonicalize), whole.file_name()) {
        (Some(Ok(folder)), Some(name)) => Ok(folder.join(name)),
        // What opens it says what is the matter.
        _ => Ok(whole),
    }
}

/// SQLite would wait for ever for a pipe in the place of one of its files, and says little of a folder.
fn are_files(path: &Path) -> Outcome<()> {
    for beside in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(beside);
        if fs::symlink_metadata(&name).is_ok_and(|about| !about.is_file()) {
            return Err(Fault::Store(StoreError::unusable(
                format_args!(
                    "{} is no file: a pipe, a folder or a link is in its place",
                    Path::new(&name).display()
                ),
                "nothing was changed; take it away, or name another file",
            )));
        }
    }
    Ok(())
}

/// Write-ahead log, and each commit synced: what is acknowledged is durable.
pub(crate) fn durable(conn: &Connection, path: &Path, options: &Options) -> Outcome<()> {
    let mode = log(conn, options.busy)?;
    if mode != "wal" {
        return Err(Fault::Store(StoreError::unusable(
            format_args!("{} cannot have a write-ahead log, only {mode:?}", path.display()),
            "put the file on a disk of this machine: network file systems have no memory that processes share",
        )));
    }
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT)?;
    conn.pragma_update(None, "journal_size_limit", KEPT)?;
    if let Some(bytes) = options.largest {
        let page: i64 = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
        conn.pragma_update(None, "max_page_count", pages.clamp(1, i64::from(u32::MAX - 1)))?;
    }
    Ok(())
}

/// Turns the log on. SQLite does not wait for others here, whatever its timeout: two processes that make a file at the same
/// time would else wait for each other.
fn log(conn: &Connection, busy: Duration) -> Outcome<String> {
    const PAUSE: Duration = Duration::from_millis(5);
    let mut left = busy;
    loop {
        let mode = conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0));
        match mode.map_err(Fault::from) {
            Err(fault) if fault.is_busy() && left > PAUSE => {
                thread::sleep(PAUSE);
                left -= PAUSE;
            }
            mode => return mode,
        }
    }
}

/// One that reads what is committed, beside the writer.
pub(crate) fn reader(path: &Path, options: &Options) -> Outcome<Connection> {
    open(path, options, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn open(path: &Path, options: &Options, flags: OpenFlags) -> Outcome<Connection> {
    let path = resolved(path)?;
    are_files(&path)?;
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_BYTES)?;
    // What another program puts into the schema is executed by nobody: a trigger or a view may have a query without an end.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.busy_timeout(options.busy)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(conn)
}
