//! Creations and changes of service runs.

use runstate::service_run::ServiceRunStatus;
use runstate_service::{Change, ChangeTexts, RequestKey, ServiceStoreError, StoredRun};
use rusqlite::{Connection, named_params, params};

use super::read::head;
use super::{Kept, Stored};
use crate::number::column;

pub(super) fn create(conn: &Connection, run: &str, change: &Change, texts: &ChangeTexts) -> Kept<()> {
    let mut used = conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM service_runs WHERE id = ?1) OR EXISTS (SELECT 1 FROM service_removed WHERE run = ?1)",
    )?;
    if used.query_row([run], |row| row.get(0))? {
        return Err(ServiceStoreError::Taken { run: run.to_owned() }.into());
    }
    is_new_key(conn, change)?;
    let mut insert = conn.prepare_cached(
        "INSERT INTO service_runs (id, status, final_status, current_step, version, created_at_ms, updated_at_ms, \
             change, trace_lines, lost, requested_by, intent, id_lower, intent_lower, machine, pass) \
         VALUES (:run, :status, :final, :step, :version, :created, :updated, \
             :change, :lines, :lost, :actors, :intent, :id_lower, :intent_lower, :machine, :pass)",
    )?;
    let row = change.first_row(run);
    let change_number = next(conn)?;
    insert.execute(named_params! {
        ":run": run, ":status": row.status.name(), ":final": row.final_status.map(|status| status.name()),
        ":step": row.current_step.map(|step| step.to_string()), ":version": column(row.version),
        ":created": column(row.created_at_ms), ":updated": column(row.updated_at_ms), ":change": change_number,
        ":lines": column(row.trace_lines), ":lost": row.lost, ":actors": ChangeTexts::written(&row.requested_by)?,
        ":intent": row.intent, ":id_lower": run.to_lowercase(), ":intent_lower": row.intent.to_lowercase(),
        ":machine": texts.machine, ":pass": texts.pass,
    })?;
    add_rows(conn, run, None, change, texts)
}

/// Applies a change to the run of that version. Returns the new version.
pub(super) fn apply(
    conn: &Connection,
    run: &str,
    version: u64,
    change: &Change,
    texts: &ChangeTexts,
) -> Kept<u64> {
    let mut row = head(conn, run, change)?;
    let (status, current) = (row.status, row.version);
    if current != version {
        return Err(ServiceStoreError::Version { run: run.to_owned(), got: version, current }.into());
    }
    is_new_key(conn, change)?;
    take_hashes(conn, run, change)?;
    change.apply_to(&mut row);
    put(conn, &row, next(conn)?, texts)?;
    add_rows(conn, run, Some(status), change, texts)?;
    Ok(row.version)
}

fn put(conn: &Connection, row: &StoredRun, change_number: i64, texts: &ChangeTexts) -> Kept<()> {
    let mut update = conn.prepare_cached(
        "UPDATE service_runs SET status = :status, final_status = :final, current_step = :step, version = :version, \
             updated_at_ms = :updated, change = :change, trace_lines = :lines, lost = :lost, requested_by = :actors, \
             intent = :intent, intent_lower = :intent_lower, machine = :machine, pass = :pass \
         WHERE id = :run",
    )?;
    update.execute(named_params! {
        ":run": row.id, ":status": row.status.name(), ":final": row.final_status.map(|status| status.name()),
        ":step": row.current_step.map(|step| step.to_string()), ":version": column(row.version),
        ":updated": column(row.updated_at_ms), ":change": change_number, ":lines": column(row.trace_lines),
        ":lost": row.lost, ":actors": ChangeTexts::written(&row.requested_by)?, ":intent": row.intent,
        ":intent_lower": row.intent.to_lowercase(), ":machine": texts.machine, ":pass": texts.pass,
    })?;
    Ok(())
}

/// Counts a change. After the maximum the count restarts: a cursor beyond the count lists all runs.
fn next(conn: &Connection) -> Kept<i64> {
    let mut next = conn.prepare_cached(
        "INSERT INTO service_news (one, changes) VALUES (1, 1) ON CONFLICT (one) DO UPDATE SET changes = \
             CASE WHEN CAST(changes AS INTEGER) BETWEEN 0 AND 9223372036854775806 THEN CAST(changes AS INTEGER) + 1 ELSE 1 END \
         RETURNING changes",
    )?;
    Ok(next.query_row([], |row| row.get(0))?)
}

/// Appends the rows of a change, and stores its artifacts and its answer.
fn add_rows(
    conn: &Connection,
    run: &str,
    before: Option<ServiceRunStatus>,
    change: &Change,
    texts: &ChangeTexts,
) -> Kept<()> {
    let mut put_artifact = conn.prepare_cached(
        "INSERT INTO service_artifacts (run, name, json) VALUES (?1, ?2, ?3) \
         ON CONFLICT (run, name) DO UPDATE SET json = excluded.json",
    )?;
    let mut remove_artifact =
        conn.prepare_cached("DELETE FROM service_artifacts WHERE run = ?1 AND name = ?2")?;
    for (name, json) in &texts.artifacts {
        match json {
            Some(json) => put_artifact.execute([run, name, json])?,
            None => remove_artifact.execute([run, name])?,
        };
    }
    let events = change.events(before);
    let events: Vec<String> = events.iter().map(ChangeTexts::written).collect::<Stored<_>>()?;
    append(conn, "service_steps", run, &texts.steps)?;
    append(conn, "service_timeline", run, &texts.timeline)?;
    append(conn, "service_events", run, &events)?;
    append(conn, "service_trace", run, &change.trace)?;
    note_answer(conn, change, texts)
}

/// Appends lines to a table, behind the last number of the run.
fn append(conn: &Connection, table: &str, run: &str, lines: &[String]) -> Kept<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let last = format!("SELECT coalesce(max(seq), 0) FROM {table} WHERE run = ?1");
    let last: i64 = conn.prepare_cached(&last)?.query_row([run], |row| row.get(0))?;
    let mut put =
        conn.prepare_cached(&format!("INSERT INTO {table} (run, seq, json) VALUES (?1, ?2, ?3)"))?;
    for (place, line) in (1_i64..).zip(lines) {
        put.execute(params![run, last.saturating_add(place), line])?;
    }
    Ok(())
}

/// The time up to which answers are over.
pub(super) fn over_until(now_ms: u64) -> i64 {
    column(now_ms).saturating_sub(column(RequestKey::TERM_MS))
}

/// Checks that no answer is stored under the key of the change's request.
fn is_new_key(conn: &Connection, change: &Change) -> Kept<()> {
    let Some(answer) = &change.answer else { return Ok(()) };
    let RequestKey { principal, key } = &answer.key;
    let mut taken = conn
        .prepare_cached("SELECT 1 FROM service_answers WHERE principal = ?1 AND key = ?2 AND at_ms > ?3")?;
    if taken.exists(params![principal, key, over_until(change.at_ms)])? {
        return Err(ServiceStoreError::KeyTaken { principal: principal.clone(), key: key.clone() }.into());
    }
    Ok(())
}

/// Takes the hashes of the change for the run. None is taken before all are known to be free.
fn take_hashes(conn: &Connection, run: &str, change: &Change) -> Kept<()> {
    let mut other = conn.prepare_cached("SELECT 1 FROM service_hashes WHERE hash = ?1 AND run <> ?2")?;
    for hash in &change.hashes {
        if other.exists([hash, run])? {
            return Err(ServiceStoreError::HashTaken { hash: hash.clone() }.into());
        }
    }
    let mut take = conn.prepare_cached(
        "INSERT INTO service_hashes (hash, run) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING",
    )?;
    for hash in &change.hashes {
        take.execute([hash, run])?;
    }
    Ok(())
}

/// Stores the answer of the change's request, and removes the answers that are over.
fn note_answer(conn: &Connection, change: &Change, texts: &ChangeTexts) -> Kept<()> {
    let (Some(answer), Some(json)) = (&change.answer, &texts.answer) else { return Ok(()) };
    conn.prepare_cached("DELETE FROM service_answers WHERE at_ms <= ?1")?
        .execute([over_until(change.at_ms)])?;
    let mut put = conn.prepare_cached(
        "INSERT INTO service_answers (principal, key, digest, json, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let RequestKey { principal, key } = &answer.key;
    put.execute(params![principal, key, answer.digest, json, column(change.at_ms)])?;
    Ok(())
}
