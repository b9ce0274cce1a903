//! Threads.

use runstate::kernel::status_from_name;
use runstate::run::RunStatus;
use runstate_store::ThreadPlace;
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::{Outcome, unreadable};
use crate::write::leases::no_run;

/// Returns the last run of a thread, other than the new one.
pub(crate) fn last(conn: &Connection, thread: &str, new: Option<&str>) -> Outcome<Option<String>> {
    let mut last = conn.prepare_cached(
        "SELECT run FROM threads one WHERE thread = ?1 AND run IS NOT ?2 \
             AND NOT EXISTS (SELECT 1 FROM threads other WHERE other.follows = one.run) \
         UNION ALL \
         SELECT id FROM runs one WHERE id = ?1 AND id IS NOT ?2 \
             AND NOT EXISTS (SELECT 1 FROM threads other WHERE other.run = one.id OR other.follows = one.id) LIMIT 1",
    )?;
    Ok(last.query_row(params![thread, new], |row| row.get(0)).optional()?)
}

pub(crate) fn status(conn: &Connection, run: &str) -> Outcome<RunStatus> {
    let mut status = conn.prepare_cached("SELECT status FROM runs WHERE id = ?1")?;
    let status: Option<String> = status.query_row([run], |row| row.get(0)).optional()?;
    let status = status.ok_or_else(|| no_run(run))?;
    let read = status_from_name(&status);
    Ok(read.map_err(|error| unreadable(format_args!("runs.status of the run {run:?}: {error}")))?)
}

/// Returns the position of a run on its thread.
pub(super) fn place(conn: &Connection, run: &str) -> Outcome<Option<ThreadPlace>> {
    let mut place = conn.prepare_cached("SELECT thread, follows FROM threads WHERE run = ?1")?;
    let place = place.query_row([run], |row| Ok(ThreadPlace { thread: row.get(0)?, after: row.get(1)? }));
    Ok(place.optional()?)
}
