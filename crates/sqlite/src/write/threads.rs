//! Positions of runs on threads.

use runstate::run::RunStatus;
use runstate_store::{StoreError, ThreadPlace};
use rusqlite::{Connection, OptionalExtension, params};

use super::leases::no_run;
use crate::error::{Fault, Outcome};
use crate::read::threads::{last, status};

/// Checks that a new run may take that position.
pub(super) fn is_free(conn: &Connection, run: &str, place: &ThreadPlace) -> Outcome<()> {
    let ThreadPlace { thread, after } = place;
    match (last(conn, thread, Some(run))?, after) {
        (None, None) => Ok(()),
        (None, Some(after)) => Err(no_run(after)),
        (Some(last), after) => {
            let status = status(conn, &last)?;
            if after.as_ref() == Some(&last) && status == RunStatus::Done {
                return Ok(());
            }
            Err(Fault::Store(StoreError::Busy { thread: thread.clone(), run: last, status }))
        }
    }
}

/// Stores the position of a new run.
pub(super) fn enter(conn: &Connection, run: &str, place: &ThreadPlace) -> Outcome<()> {
    conn.prepare_cached("INSERT INTO threads (run, thread, follows) VALUES (?1, ?2, ?3)")?
        .execute(params![run, place.thread, place.after])?;
    Ok(())
}

/// Checks that no run follows that one.
pub(super) fn is_last(conn: &Connection, run: &str) -> Outcome<()> {
    let mut behind = conn.prepare_cached("SELECT run FROM threads WHERE follows = ?1")?;
    match behind.query_row([run], |row| row.get(0)).optional()? {
        Some(by) => Err(Fault::Store(StoreError::Continued { run: run.to_owned(), by })),
        None => Ok(()),
    }
}
