//! Creation and removal of runs.

use runstate_store::{NewRun, StoreError};
use rusqlite::{Connection, params};

use super::bring_news;
use super::leases::is_free;
use super::threads;
use crate::error::{Fault, Outcome};
use crate::number::column;
use crate::read::load::is_given;
use crate::read::threads::last;
use crate::time::Now;

pub(crate) fn create(conn: &Connection, run: &NewRun, now: Now) -> Outcome<()> {
    let spec = serde_json::to_string(&run.spec).map_err(StoreError::failed)?;
    let taken = |id: &String| Err(Fault::Store(StoreError::Taken { run: id.clone() }));
    // All checks come first: a refusal without a change does not affect the other requests of the transaction.
    let message = run.begins_with.as_ref().filter(|message| **message != run.id);
    if message.is_some() || run.thread.is_some() {
        if is_given(conn, &run.id)? {
            return taken(&run.id);
        }
        if let Some(message) = message
            && is_given(conn, message)?
        {
            return taken(message);
        }
    }
    match &run.thread {
        Some(place) => threads::is_free(conn, &run.id, place)?,
        // A run with another id may have begun the thread with this id.
        None if last(conn, &run.id, Some(&run.id))?.is_some() => return taken(&run.id),
        None => {}
    }
    let mut insert = conn.prepare_cached(
        "INSERT INTO runs (id, title, status, created_at_ms, changed_at_ms, not_before_ms) \
         SELECT ?1, ?2, 'Running', ?3, ?3, ?4 WHERE NOT EXISTS (SELECT 1 FROM removed WHERE run = ?1) \
         ON CONFLICT (id) DO NOTHING",
    )?;
    let not_before = run.not_before.map(|time| now.after(time));
    if insert.execute(params![run.id, run.title, column(run.at_ms), not_before])? == 0 {
        return taken(&run.id);
    }
    if let Some(message) = message {
        conn.prepare_cached("INSERT INTO removed (run) VALUES (?1)")?.execute([message])?;
    }
    if let Some(place) = &run.thread {
        threads::enter(conn, &run.id, place)?;
    }
    conn.prepare_cached("INSERT INTO specs (run, json) VALUES (?1, ?2)")?.execute([&run.id, &spec])?;
    bring_news(conn)
}

pub(crate) fn remove(conn: &Connection, run: &str, now: Now) -> Outcome<bool> {
    match is_free(conn, run, now) {
        Err(Fault::Store(StoreError::NoRun { .. })) => return Ok(false),
        free => free?,
    }
    threads::is_last(conn, run)?;
    conn.prepare_cached("INSERT INTO removed (run) VALUES (?1) ON CONFLICT (run) DO NOTHING")?
        .execute([run])?;
    conn.prepare_cached("DELETE FROM runs WHERE id = ?1")?.execute([run])?;
    Ok(true)
}
