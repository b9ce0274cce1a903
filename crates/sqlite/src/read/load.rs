//! The rows of one run.

use runstate::decision::Decision;
use runstate_agent::keys::Scope;
use runstate_store::{EventRow, Parts, PendingSignals, StoreError, TraceRow, UserMessage};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::lists::misplaced;
use super::{runs, threads};
use crate::error::{Outcome, unreadable};
use crate::number::{column, limit, narrow, number};
use crate::time::Now;
use crate::write::leases::no_run;

pub(crate) fn parts(conn: &Connection, run: &str, now: Now) -> Outcome<Parts> {
    let info = runs::one(conn, run, now)?.ok_or_else(|| no_run(run))?;
    let own = own(conn, run)?;
    let mut traced = conn.prepare_cached("SELECT max(seq) FROM trace WHERE run = ?1")?;
    let traced: Option<i64> = traced.query_row([run], |row| row.get(0))?;
    if own.machine.is_none() && info.version > 0 {
        return Err(unreadable(format!("runs.snapshot or runs.core of the run {run:?} is not there")).into());
    }
    Ok(Parts {
        info,
        spec: own.spec,
        thread: threads::place(conn, run)?,
        traced: traced.map_or(0, number),
        run: own.machine,
        calls: all(conn, run, CALLS, [run], |row| Ok((row.get(0)?, narrow(row.get(1)?), row.get(2)?)))?,
        decisions: decisions(conn, run, TAKEN)?,
        messages: all(conn, run, MESSAGES, [run], |row| row.get(1))?,
        values: values(conn, run)?,
    })
}

const CALLS: &str = "SELECT name AS \"calls.name\", passes AS \"calls.passes\", snapshot AS \"calls.snapshot\" \
     FROM calls WHERE run = ?1";
const MESSAGES: &str =
    "SELECT seq AS \"messages.seq\", json AS \"messages.json\" FROM messages WHERE run = ?1 ORDER BY seq";

/// Returns whether the id was used for a run, including removed ones, or for a message.
pub(crate) fn is_given(conn: &Connection, run: &str) -> Outcome<bool> {
    let mut given = conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?1) OR EXISTS (SELECT 1 FROM removed WHERE run = ?1)",
    )?;
    Ok(given.query_row([run], |row| row.get(0))?)
}

struct Own {
    spec: Value,
    machine: Option<(String, String)>,
}

fn own(conn: &Connection, run: &str) -> Outcome<Own> {
    let mut own = conn.prepare_cached(
        "SELECT id AS \"runs.id\", specs.json AS \"specs.json\", snapshot AS \"runs.snapshot\", core AS \"runs.core\" FROM runs LEFT JOIN specs ON specs.run = runs.id WHERE runs.id = ?1",
    )?;
    type Columns = (Option<String>, Option<String>, Option<String>);
    let mut rows = own.query([run])?;
    let row = rows.next()?.ok_or_else(|| no_run(run))?;
    let columns = || Ok((row.get(1)?, row.get(2)?, row.get(3)?));
    let (spec, snapshot, core): Columns = columns().map_err(|error| misplaced(row, run, error))?;
    let spec = spec.ok_or_else(|| unreadable(format!("specs has no row of the run {run:?}")))?;
    let spec = json(&spec, || format!("specs.json of the run {run:?}"))?;
    Ok(Own { spec, machine: snapshot.zip(core) })
}

fn values(conn: &Connection, run: &str) -> Outcome<Vec<(Scope, String, String)>> {
    let sql = "SELECT key AS \"run_values.key\", scope AS \"run_values.scope\", json AS \"run_values.json\" FROM run_values WHERE run = ?1";
    let rows: Vec<(String, String, String)> =
        all(conn, run, sql, [run], |row| Ok((row.get(1)?, row.get(0)?, row.get(2)?)))?;
    let scoped = rows.into_iter().map(|(scope, key, json)| {
        let scope = [Scope::Run, Scope::Thread].into_iter().find(|known| known.to_string() == scope);
        scope.map(|scope| (scope, key, json)).ok_or_else(|| {
            unreadable(format!("run_values.scope of the run {run:?} is neither run nor thread"))
        })
    });
    Ok(scoped.collect::<Result<_, _>>()?)
}

pub(crate) fn mail(conn: &Connection, run: &str) -> Outcome<PendingSignals> {
    let sql = "SELECT mail AS \"runs.mail\", cancel AS \"runs.cancel\" FROM runs WHERE id = ?1";
    let own: Vec<(i64, Option<String>)> = all(conn, run, sql, [run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (untaken, cancel) = own.into_iter().next().ok_or_else(|| no_run(run))?;
    let decisions = if untaken > 0 { decisions(conn, run, UNTAKEN)? } else { Vec::new() };
    let message = if untaken > 0 { message(conn, run)? } else { None };
    Ok(PendingSignals::new(decisions, cancel).with_message(message))
}

/// Returns the message of a run that no commit has taken.
pub(crate) fn message(conn: &Connection, run: &str) -> Outcome<Option<UserMessage>> {
    let mut message = conn.prepare_cached(
        "SELECT posts.json FROM posts JOIN runs ON id = run WHERE run = ?1 AND posts.version = runs.version",
    )?;
    let message: Option<String> = message.query_row([run], |row| row.get(0)).optional()?;
    Ok(message.map(|message| json(&message, || format!("posts.json of the run {run:?}"))).transpose()?)
}

const TAKEN: &str = "SELECT no AS \"decisions.no\", json AS \"decisions.json\" FROM decisions WHERE run = ?1 AND taken = 1 ORDER BY no";
pub(crate) const UNTAKEN: &str = "SELECT no AS \"decisions.no\", json AS \"decisions.json\" FROM decisions INDEXED BY decisions_untaken \
     WHERE run = ?1 AND taken = 0 ORDER BY no";

/// Returns decisions in the order of their arrival.
fn decisions(conn: &Connection, run: &str, sql: &str) -> Outcome<Vec<Decision>> {
    let rows: Vec<String> = all(conn, run, sql, [run], |row| row.get(1))?;
    let read = rows.iter().map(|row| json(row, || format!("decisions.json of the run {run:?}")));
    Ok(read.collect::<Result<_, _>>()?)
}

pub(crate) fn trace(conn: &Connection, run: &str, after: u64, most: usize) -> Outcome<Vec<TraceRow>> {
    let sql = "SELECT seq AS \"trace.seq\", json AS \"trace.json\" FROM trace WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let rows = all(conn, run, sql, params![run, column(after), limit(most)], |row| {
        Ok(TraceRow { seq: number(row.get(0)?), json: row.get(1)? })
    })?;
    of_a_run(conn, run, rows)
}

pub(crate) fn events(conn: &Connection, run: &str, after: u64, most: usize) -> Outcome<Vec<EventRow>> {
    let sql = "SELECT seq AS \"events.seq\", last AS \"events.last\", json FROM events WHERE run = ?1 AND last > ?2 ORDER BY last LIMIT ?3";
    let rows = all(conn, run, sql, params![run, column(after), limit(most)], |row| {
        // A text of another program in invalid UTF-8 is one unreadable event, and hides no other.
        let json = match row.get_ref(2)? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => String::new(),
        };
        Ok(EventRow { seq: number(row.get(0)?), last: number(row.get(1)?), json })
    })?;
    of_a_run(conn, run, rows)
}

/// The number up to which commits are known, and committed runs, each with its version.
pub(crate) type Committed = (u64, Vec<(String, u64)>);

/// Returns the number of commits.
pub(crate) fn counted(conn: &Connection) -> rusqlite::Result<i64> {
    let mut counted = conn.prepare_cached("SELECT CAST(commits AS INTEGER) FROM news")?;
    let counted: Option<i64> = counted.query_row([], |row| row.get(0)).optional()?.flatten();
    Ok(counted.unwrap_or(0))
}

/// Returns the first runs that were committed after a number. A row with a number above the count of commits was
/// written by another program.
pub(crate) fn changes(conn: &Connection, after: u64, most: usize) -> Outcome<Committed> {
    let counted = counted(conn)?;
    // A file that was restored from a backup has fewer commits: all runs are listed again.
    let after = if column(after) > counted { 0 } else { column(after) };
    let sql = "SELECT id, version, changed FROM runs INDEXED BY runs_changed \
         WHERE changed > 0 AND changed > ?1 AND changed <= ?2 ORDER BY changed LIMIT ?3";
    // A run with an unreadable id is in no list either.
    let rows = all(conn, "", sql, params![after, counted, limit(most)], |row| {
        let id: Option<String> = row.get(0).ok();
        let version: Option<i64> = row.get(1).ok();
        // A value of another type is not the number of a commit.
        Ok((id, version.map(number), number(row.get(2).unwrap_or(0))))
    })?;
    let at = rows.iter().map(|(.., changed)| *changed).max().unwrap_or(0).max(number(after));
    let named = rows.into_iter().filter_map(|(id, version, _)| Some((id?, version?)));
    Ok((at, named.collect()))
}

/// Checks that the run exists if it has no rows.
fn of_a_run<T>(conn: &Connection, run: &str, rows: Vec<T>) -> Outcome<Vec<T>> {
    if rows.is_empty() {
        let mut there = conn.prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?;
        there.query_row([run], |_| Ok(())).optional()?.ok_or_else(|| no_run(run))?;
    }
    Ok(rows)
}

pub(crate) fn all<T>(
    conn: &Connection,
    run: &str,
    sql: &str,
    params: impl Params,
    row: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Outcome<Vec<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(next) = rows.next()? {
        found.push(row(next).map_err(|error| misplaced(next, run, error))?);
    }
    Ok(found)
}

pub(crate) fn json<T: DeserializeOwned>(text: &str, place: impl FnOnce() -> String) -> Result<T, StoreError> {
    runstate::json::from_str(text).map_err(|error| unreadable(format!("{} cannot be read: {error}", place())))
}
