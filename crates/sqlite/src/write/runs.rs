//! Runs that come and go.

use runstate::store::{NewRun, StoreError};
use rusqlite::{Connection, OptionalExtension, named_params};

use super::bring_news;
use crate::error::{Fault, Outcome};
use crate::number::{column, number};

pub(crate) fn create(conn: &Connection, run: &NewRun) -> Outcome<()> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO runs (id, title, status, created_at_ms, changed_at_ms, spec) \
         VALUES (:id, :title, 'Running', :at, :at, :spec) ON CONFLICT (id) DO NOTHING",
    )?;
    let spec = serde_json::to_string(&run.spec).map_err(StoreError::failed)?;
    let inserted = insert.execute(named_params! {
        ":id": run.id, ":title": run.title, ":at": column(run.at_ms), ":spec": spec,
    })?;
    if inserted == 0 {
        return Err(Fault::Store(StoreError::Taken { run: run.id.clone() }));
    }
    bring_news(conn)
}

pub(crate) fn remove(conn: &Connection, run: &str, now_ms: u64) -> Outcome<bool> {
    let mut held = conn.prepare_cached("SELECT holder, held_until_ms FROM runs WHERE id = ?1")?;
    let held =
        held.query_row([run], |row| Ok((row.get::<_, Option<String>>(0)?, row.get::<_, Option<i64>>(1)?)));
    match held.optional()? {
        None => return Ok(false),
        Some((Some(holder), Some(until))) if until > column(now_ms) => {
            let (run, until_ms) = (run.to_owned(), number(until));
            return Err(Fault::Store(StoreError::Held { run, holder, until_ms }));
        }
        Some(_) => {}
    }
    conn.prepare_cached("DELETE FROM runs WHERE id = ?1")?.execute([run])?;
    Ok(true)
}
