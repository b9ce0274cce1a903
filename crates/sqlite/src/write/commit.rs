//! Commits.

use runstate::decision::Decision;
use runstate_store::{CallRow, Commit, Lease, MessageRow, RunRow, StoreError, TraceRow, ValueRow};
use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::leases::{fenced, no_run};
use super::mail;
use crate::error::{Fault, Outcome};
use crate::number::{column, number};
use crate::read::load::message;
use crate::time::Now;

pub(crate) fn commit(conn: &Connection, lease: &Lease, commit: &Commit, now: Now) -> Outcome<()> {
    let has_mail = check(conn, lease, commit)?;
    let run = &lease.run;
    // Before the calls: a waiting call with a decision is not open.
    for decision in &commit.decisions {
        mail::insert(conn, run, decision, true)?;
        mail::close(conn, run, &decision.suspension_id)?;
    }
    put_run(conn, lease, commit)?;
    put_messages(conn, run, &commit.messages)?;
    commit.calls.iter().try_for_each(|row| put_call(conn, run, row, commit.at_ms, now))?;
    commit.values.iter().try_for_each(|row| put_value(conn, run, row))?;
    put_trace(conn, run, &commit.trace)?;
    put_events(conn, run, commit)?;
    if has_mail { mail::count(conn, run, commit.version) } else { Ok(()) }
}

struct Head {
    fence: i64,
    version: i64,
    committed_under: i64,
    /// Whether the run has input that no commit took.
    has_mail: bool,
}

/// Checks that the commit is allowed. Returns whether the run has input that no earlier commit took.
fn check(conn: &Connection, lease: &Lease, commit: &Commit) -> Outcome<bool> {
    let mut head =
        conn.prepare_cached("SELECT fence, version, committed_under, mail <> 0 FROM runs WHERE id = ?1")?;
    let head = head
        .query_row([&lease.run], |row| {
            Ok(Head {
                fence: row.get(0)?,
                version: row.get(1)?,
                committed_under: row.get(2)?,
                has_mail: row.get(3)?,
            })
        })
        .optional()?
        .ok_or_else(|| no_run(&lease.run))?;
    if head.fence != column(lease.fence) {
        return Err(fenced(lease, head.fence));
    }
    let version = number(head.version);
    let is_there = commit.again && commit.version == version && head.committed_under == head.fence;
    let next = version.saturating_add(1);
    if commit.version != next && !is_there {
        let (run, got, expected) = (lease.run.clone(), commit.version, next);
        return Err(Fault::Store(StoreError::Version { run, got, expected }));
    }
    if !is_there && head.has_mail {
        let message = message(conn, &lease.run)?;
        message.map_or(Ok(()), |message| commit.holds(&lease.run, &message)).map_err(Fault::Store)?;
    }
    commit.decisions.iter().try_for_each(|decision| is_undecided(conn, lease, decision))?;
    Ok(head.has_mail)
}

/// Checks that the suspension has no decision other than this one.
fn is_undecided(conn: &Connection, lease: &Lease, decision: &Decision) -> Outcome<()> {
    let mut first =
        conn.prepare_cached("SELECT decision FROM decisions WHERE run = ?1 AND suspension = ?2")?;
    let first: Option<String> =
        first.query_row([&lease.run, &decision.suspension_id], |row| row.get(0)).optional()?;
    match first {
        Some(first) if first != decision.decision_id => Err(Fault::Store(StoreError::Decided {
            run: lease.run.clone(),
            suspension: decision.suspension_id.clone(),
            decision: first,
        })),
        _ => Ok(()),
    }
}

fn put_run(conn: &Connection, lease: &Lease, commit: &Commit) -> Outcome<()> {
    // After the maximum the count restarts: a cursor beyond the count lists all runs.
    conn.prepare_cached(
        "UPDATE news SET commits = CASE WHEN CAST(commits AS INTEGER) BETWEEN 0 AND 9223372036854775806 \
         THEN CAST(commits AS INTEGER) + 1 ELSE 1 END",
    )?
    .execute([])?;
    let RunRow { status, reason, thread, steps, waiting, snapshot, core, .. } = &commit.run;
    let mut update = conn.prepare_cached(
        "UPDATE runs SET reason = :reason, version = :version, steps = :steps, waiting = :waiting, \
             thread = :thread, committed_under = :fence, changed_at_ms = :at, snapshot = :snapshot, core = :core, \
             changed = coalesce((SELECT commits FROM news), 1) \
         WHERE id = :run",
    )?;
    update.execute(named_params! {
        ":run": lease.run, ":reason": reason, ":version": column(commit.version), ":steps": steps,
        ":waiting": waiting, ":thread": thread, ":fence": column(lease.fence), ":at": column(commit.at_ms),
        ":snapshot": snapshot, ":core": core,
    })?;
    // A separate statement, since setting the status always writes its index. Most commits do not change the status.
    let mut status_changed = conn.prepare_cached(
        "UPDATE runs SET status = ?2, cancel = iif(?2 = 'Done', NULL, cancel) WHERE id = ?1 AND status <> ?2",
    )?;
    status_changed.execute([&*lease.run, status.name()])?;
    Ok(())
}

fn put_messages(conn: &Connection, run: &str, rows: &[MessageRow]) -> Outcome<()> {
    let mut put = conn.prepare_cached(
        "INSERT INTO messages (run, seq, role, json) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (run, seq) DO UPDATE SET role = excluded.role, json = excluded.json",
    )?;
    for row in rows {
        put.execute(params![run, column(row.seq), row.role, row.json])?;
    }
    Ok(())
}

fn put_call(conn: &Connection, run: &str, row: &CallRow, at_ms: u64, now: Now) -> Outcome<()> {
    let mut put = conn.prepare_cached(
        "INSERT INTO calls (run, name, id, step, ordinal, tool, status, passes, open, suspension, action, \
             question, expires_at_ms, lapses_at_ms, arguments, asked, snapshot) \
         VALUES (:run, :name, :id, :step, :ordinal, :tool, :status, :passes, \
             :suspension IS NOT NULL \
                 AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.run = :run AND d.suspension = :suspension), \
             :suspension, :action, :question, :expires, :lapses, :arguments, :asked, :snapshot) \
         ON CONFLICT (run, name) DO UPDATE SET id = excluded.id, step = excluded.step, \
             ordinal = excluded.ordinal, tool = excluded.tool, status = excluded.status, \
             passes = excluded.passes, open = excluded.open, suspension = excluded.suspension, \
             action = excluded.action, question = excluded.question, expires_at_ms = excluded.expires_at_ms, \
             lapses_at_ms = excluded.lapses_at_ms, arguments = excluded.arguments, asked = excluded.asked, snapshot = excluded.snapshot",
    )?;
    let waits = row.waits.as_ref();
    let suspension = waits.map(|waits| &waits.suspension);
    let asked = suspension.map(serde_json::to_string).transpose().map_err(StoreError::failed)?;
    put.execute(named_params! {
        ":run": run, ":name": row.name, ":id": row.id, ":step": row.key.step, ":ordinal": row.key.ordinal,
        ":tool": row.tool, ":status": row.status.name(), ":passes": row.passes,
        ":suspension": suspension.map(|asked| &asked.id), ":action": suspension.map(|asked| &asked.action),
        ":question": suspension.map(|asked| &asked.message),
        ":expires": suspension.and_then(|asked| asked.expires_at_ms).map(column),
        ":lapses": waits.and_then(|waits| waits.left_at(at_ms)).map(|left| now.after(left)),
        ":arguments": waits.map(|waits| &waits.arguments), ":asked": asked, ":snapshot": row.snapshot,
    })?;
    Ok(())
}

fn put_value(conn: &Connection, run: &str, row: &ValueRow) -> Outcome<()> {
    let scope = row.scope.to_string();
    match &row.json {
        Some(json) => {
            let mut put = conn.prepare_cached(
                "INSERT INTO run_values (run, scope, key, json) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (run, scope, key) DO UPDATE SET json = excluded.json",
            )?;
            put.execute(params![run, scope, row.key, json])?;
        }
        None => {
            let mut delete =
                conn.prepare_cached("DELETE FROM run_values WHERE run = ?1 AND scope = ?2 AND key = ?3")?;
            delete.execute(params![run, scope, row.key])?;
        }
    }
    Ok(())
}

fn put_trace(conn: &Connection, run: &str, rows: &[TraceRow]) -> Outcome<()> {
    let mut put = conn.prepare_cached(
        "INSERT INTO trace (run, seq, json) VALUES (?1, ?2, ?3) \
         ON CONFLICT (run, seq) DO UPDATE SET json = excluded.json",
    )?;
    for row in rows {
        put.execute(params![run, column(row.seq), row.json])?;
    }
    Ok(())
}

fn put_events(conn: &Connection, run: &str, commit: &Commit) -> Outcome<()> {
    if let Some(first) = commit.events.first().filter(|_| commit.again) {
        let mut delete = conn.prepare_cached("DELETE FROM events WHERE run = ?1 AND last >= ?2")?;
        delete.execute(params![run, column(first.seq)])?;
    }
    let mut put = conn.prepare_cached(
        "INSERT INTO events (run, seq, last, json) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (run, last) DO UPDATE SET seq = excluded.seq, json = excluded.json",
    )?;
    for row in &commit.events {
        put.execute(params![run, column(row.seq), column(row.last), row.json])?;
    }
    Ok(())
}
