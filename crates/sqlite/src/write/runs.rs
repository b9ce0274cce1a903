//! Runs that come and go.

use runstate::store::{NewRun, StoreError};
use rusqlite::{Connection, OptionalExtension, params};

use super::bring_news;
use crate::error::{Fault, Outcome};
use crate::number::{column, number};

pub(crate) fn create(conn: &Connection, run: &NewRun) -> Outcome<()> {
    let spec = serde_json::to_string(&run.spec).map_err(StoreError::failed)?;
    let mut insert = conn.prepare_cached(
        "INSERT INTO runs (id, title, status, created_at_ms, changed_at_ms, not_before_ms) \
         SELECT ?1, ?2, 'Running', ?3, ?3, ?4 WHERE NOT EXISTS (SELECT 1 FROM removed WHERE run = ?1) \
         ON CONFLICT (id) DO NOTHING",
    )?;
    let not_before = run.not_before_ms.map(column);
    if insert.execute(params![run.id, run.title, column(run.at_ms), not_before])? == 0 {
        return Err(Fault::Store(StoreError::Taken { run: run.id.clone() }));
    }
    conn.prepare_cached("INSERT INTO specs (run, json) VALUES (?1, ?2)")?.execute([&run.id, &spec])?;
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
    conn.prepare_cached("INSERT INTO removed (run) VALUES (?1) ON CONFLICT (run) DO NOTHING")?
        .execute([run])?;
    conn.prepare_cached("DELETE FROM runs WHERE id = ?1")?.execute([run])?;
    Ok(true)
}
