//! External input for runs.

use runstate::decision::{Decision, DecisionAction};
use runstate::run::RunStatus;
use runstate_store::{Posted, StoreError, Superseded, UserMessage};
use rusqlite::{Connection, OptionalExtension, params};

use super::bring_news;
use super::leases::no_run;
use crate::error::Outcome;
use crate::number::column;
use crate::read::load::is_given;
use crate::read::threads;

pub(crate) fn post(conn: &Connection, decision: &Decision) -> Outcome<Posted> {
    let run = &decision.run_id;
    status(conn, run)?;
    let mut same = conn.prepare_cached("SELECT 1 FROM decisions WHERE run = ?1 AND decision = ?2")?;
    if same.exists(params![run, decision.decision_id])? {
        return Ok(Posted::Duplicate);
    }
    let mut decided = conn.prepare_cached("SELECT 1 FROM decisions WHERE run = ?1 AND suspension = ?2")?;
    if decided.exists(params![run, decision.suspension_id])? {
        return Ok(Posted::Conflict);
    }
    let mut waits = conn.prepare_cached(
        "SELECT 1 FROM calls WHERE run = ?1 AND name = ?2 AND open = 1 AND suspension = ?3",
    )?;
    if !waits.exists(params![run, decision.call, decision.suspension_id])? {
        return Ok(Posted::NotWaiting);
    }
    insert(conn, run, decision, false)?;
    close(conn, run, &decision.suspension_id)?;
    let count = "UPDATE runs SET mail = max(min(mail, 9223372036854775806), 0) + 1 WHERE id = ?1";
    conn.prepare_cached(count)?.execute([run])?;
    bring_news(conn)?;
    Ok(Posted::Accepted)
}

/// Stores a message for a waiting run.
pub(crate) fn supersede(conn: &Connection, run: &str, message: &UserMessage) -> Outcome<Superseded> {
    let status = threads::status(conn, run)?;
    if is_given(conn, &message.id)? {
        return Ok(Superseded::Duplicate);
    }
    if status == RunStatus::Done {
        return Ok(Superseded::Over);
    }
    let json = serde_json::to_string(message).map_err(StoreError::failed)?;
    let mut post = conn.prepare_cached(
        "INSERT OR REPLACE INTO posts (run, version, json) SELECT id, version, ?2 FROM runs \
             WHERE id = ?1 AND status = 'Waiting' AND mail = 0 AND cancel IS NULL",
    )?;
    if post.execute([run, &json])? == 0 {
        return Ok(Superseded::Busy);
    }
    conn.prepare_cached("INSERT INTO removed (run) VALUES (?1)")?.execute([&message.id])?;
    recount(conn, run)?;
    bring_news(conn)?;
    Ok(Superseded::Accepted)
}

/// Updates the count of pending input after the commit with that number, which has taken an earlier message. A
/// pending message closes all questions.
pub(super) fn count(conn: &Connection, run: &str, version: u64) -> Outcome<()> {
    conn.prepare_cached("DELETE FROM posts WHERE run = ?1 AND version <> ?2")?
        .execute(params![run, column(version)])?;
    recount(conn, run)
}

fn recount(conn: &Connection, run: &str) -> Outcome<()> {
    if conn.prepare_cached("SELECT 1 FROM posts WHERE run = ?1")?.exists([run])? {
        conn.prepare_cached("UPDATE calls SET open = 0 WHERE run = ?1 AND open = 1")?.execute([run])?;
    }
    let count = "UPDATE runs SET mail = (SELECT count(*) FROM decisions WHERE run = ?1 AND taken = 0) \
             + (SELECT count(*) FROM posts WHERE run = ?1) WHERE id = ?1";
    conn.prepare_cached(count)?.execute([run])?;
    Ok(())
}

/// Adds a decision, or marks a stored one as taken.
pub(super) fn insert(conn: &Connection, run: &str, decision: &Decision, is_taken: bool) -> Outcome<()> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO decisions (run, suspension, decision, call, action, actor, reason, decided_at_ms, taken, json) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) \
         ON CONFLICT (run, decision) DO UPDATE SET taken = max(taken, excluded.taken)",
    )?;
    let action = match decision.action {
        DecisionAction::Resume => "resume",
        DecisionAction::Cancel => "cancel",
    };
    insert.execute(params![
        run,
        decision.suspension_id,
        decision.decision_id,
        decision.call,
        action,
        decision.actor,
        decision.reason,
        column(decision.decided_at_ms),
        is_taken,
        serde_json::to_string(decision).map_err(StoreError::failed)?,
    ])?;
    Ok(())
}

/// Closes the calls that wait on that suspension.
pub(super) fn close(conn: &Connection, run: &str, suspension: &str) -> Outcome<()> {
    conn.prepare_cached(CLOSE)?.execute([run, suspension])?;
    Ok(())
}

/// The statement uses an index, since a run may have many calls.
pub(crate) const CLOSE: &str = "UPDATE calls INDEXED BY calls_open_by_suspension SET open = 0 \
     WHERE run = ?1 AND suspension = ?2 AND open = 1";

pub(crate) fn cancel(conn: &Connection, run: &str, reason: &str) -> Outcome<bool> {
    status(conn, run)?;
    let mut note = conn.prepare_cached(
        "UPDATE runs SET cancel = ?2, not_before_ms = CASE WHEN problem IS NULL THEN not_before_ms END \
         WHERE id = ?1 AND status <> 'Done' AND cancel IS NULL",
    )?;
    let is_new = note.execute([run, reason])? > 0;
    if is_new {
        bring_news(conn)?;
    }
    Ok(is_new)
}

fn status(conn: &Connection, run: &str) -> Outcome<String> {
    let mut status = conn.prepare_cached("SELECT status FROM runs WHERE id = ?1")?;
    let status = status.query_row([run], |row| row.get(0)).optional()?;
    status.ok_or_else(|| no_run(run))
}
