//! Connections to the file.

use std::fs;
#[cfg(unix)]
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use runstate_store::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Fault, Outcome};
use crate::options::Options;

/// The number of compiled statements in the cache of a connection.
const STATEMENTS: usize = 64;

/// The number of pages in the log at which it is copied into the file: 16 MiB. This costs a few syncs for some
/// hundred commits.
const CHECKPOINT: i64 = 4096;
/// The size limit of a value and of a row, in bytes. Larger ones are neither read nor written.
pub(crate) const MOST_BYTES: i32 = 64 << 20;
/// The size of the log after that, in bytes. Overwriting a log costs less than growing it.
const KEPT: i64 = 32 << 20;

/// Opens the connection that writes. Creates the file if it does not exist.
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

/// Creates the file with mode 0600 if it does not exist: SQLite would let other users read it. SQLite gives its other
/// files the mode of this one. It also reports the error if the file cannot be created.
#[cfg(unix)]
fn make(path: &Path) {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).ok();
}

/// Sets whether the log is left as it is when the last connection closes. Otherwise it is copied into the file.
pub(crate) fn leave_log(conn: &Connection, is_left: bool) -> Outcome<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_left)?;
    Ok(())
}

/// Resolves the folder of the file, which may be reached through links. The file itself must not be a link: another
/// user may have created it to choose the file that is written.
fn resolved(path: &Path) -> Outcome<PathBuf> {
    let unusable =
        |error: io::Error| StoreError::failed(format!("the path {} cannot be used: {error}", path.display()));
    // A relative path may be `:memory:`, or begin with `file:`, which SQLite reads as a URI with options of its own.
    let whole = std::path::absolute(path).map_err(unusable)?;
    if fs::symlink_metadata(&whole).is_ok_and(|about| about.is_symlink()) {
        return Err(Fault::Store(StoreError::unusable(
            format_args!("{} is a link, and links are not followed", path.display()),
            "name the file itself",
        )));
    }
    match (whole.parent().map(Path::canonicalize), whole.file_name()) {
        (Some(Ok(folder)), Some(name)) => Ok(folder.join(name)),
        // The open reports the error.
        _ => Ok(whole),
    }
}

/// Refuses pipes and folders. SQLite would wait forever for a pipe in the place of one of its files, and its error
/// for a folder is unclear.
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

/// Enables the write-ahead log and a sync with each commit, so that an acknowledged commit is durable.
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

/// Enables the log. SQLite does not wait for other processes here, whatever its timeout: two processes that create a
/// file at the same time could otherwise wait for each other.
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

/// Opens a connection that reads committed data concurrently with the writer.
pub(crate) fn reader(path: &Path, options: &Options) -> Outcome<Connection> {
    open(path, options, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn open(path: &Path, options: &Options, flags: OpenFlags) -> Outcome<Connection> {
    let path = resolved(path)?;
    are_files(&path)?;
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_BYTES)?;
    // Code in the schema of another program is never executed: a trigger or a view may contain an endless query.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // With plans that depend on parameters, statements about a partial index would be compiled at each execution.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.busy_timeout(options.busy)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(conn)
}
