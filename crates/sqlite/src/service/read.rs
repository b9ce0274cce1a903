//! Reads of service runs. An error names the run and the column.

use std::collections::BTreeMap;
use std::fmt;

use runstate::service_run::{FinalStatus, ServiceRunStatus};
use runstate::snapshot::Snapshot;
use runstate_service::{
    Change, KeyedAnswer, ListSort, Numbered, RequestKey, RunInfo, RunPosition, ServiceChanges, ServiceCursor,
    StepName, StoredRun, UnreadableRun,
};
use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::change::over_until;
use super::{Kept, no_run};
use crate::error::{Fault, Outcome, unreadable};
use crate::number::{column, limit, narrow, number};
use crate::read::lists::{bounded, key, misplaced, optional, text};
use crate::read::load::{all, json};

/// The limit of a count. A larger one was written by another program.
const MOST_COUNTED: u64 = 1 << 62;

/// A row of `service_runs` whose first column is the id.
pub(super) struct RunRow<'r> {
    row: &'r Row<'r>,
    run: String,
}

impl<'r> RunRow<'r> {
    pub(super) fn of(row: &'r Row<'r>) -> Outcome<Self> {
        Ok(RunRow { row, run: key(row, 0)? })
    }

    fn get<T: FromSql>(&self, index: usize) -> Outcome<T> {
        self.row.get(index).map_err(|error| misplaced(self.row, &self.run, error))
    }

    fn number(&self, index: usize) -> Outcome<u64> {
        self.get(index).map(number)
    }

    /// Returns a count that can be raised.
    fn count(&self, index: usize) -> Outcome<u64> {
        let count = self.get::<i64>(index)?;
        let usable = u64::try_from(count).ok().filter(|count| *count <= MOST_COUNTED);
        usable.ok_or_else(|| self.wrong(index, format_args!("{count} is no count")))
    }

    fn wrong(&self, index: usize, why: impl fmt::Display) -> Fault {
        let column = self.row.as_ref().column_name(index).unwrap_or("a column");
        unreadable(format_args!("{column} of the run {:?}: {why}", self.run)).into()
    }

    /// Returns the text of a column that is [`bounded`].
    fn text(&self, index: usize) -> Outcome<String> {
        Ok(text(self.row, index)?)
    }

    pub(super) fn status(&self, index: usize) -> Outcome<ServiceRunStatus> {
        self.text(index)?.parse().map_err(|error| self.wrong(index, error))
    }

    fn final_status(&self, index: usize) -> Outcome<Option<FinalStatus>> {
        let Some(name) = optional(self.row, index)? else { return Ok(None) };
        let known = FinalStatus::ALL.into_iter().find(|status| status.name() == name);
        known.map(Some).ok_or_else(|| self.wrong(index, format_args!("{name:?} is no final status")))
    }

    fn step(&self, index: usize) -> Outcome<Option<StepName>> {
        let Some(name) = optional(self.row, index)? else { return Ok(None) };
        let step = serde_json::from_value(Value::String(name.clone()));
        step.map(Some).map_err(|_| self.wrong(index, format_args!("{name:?} is no step")))
    }

    fn snapshot(&self, index: usize) -> Outcome<Option<Snapshot>> {
        let Some(text) = self.get::<Option<String>>(index)? else { return Ok(None) };
        Snapshot::from_json(text.as_bytes()).map(Some).map_err(|error| self.wrong(index, error))
    }

    fn json<T: DeserializeOwned>(&self, index: usize) -> Outcome<T> {
        let text: String = self.get(index)?;
        runstate::json::from_str(&text).map_err(|error| self.wrong(index, error))
    }

    /// The entry of the run in lists, from the columns [`INFO`].
    pub(super) fn info(&self) -> Outcome<RunInfo> {
        Ok(RunInfo {
            id: self.get(0)?,
            version: self.count(1)?,
            created_at_ms: self.number(2)?,
            updated_at_ms: self.number(3)?,
            status: self.status(4)?,
            final_status: self.final_status(5)?,
            current_step: self.step(6)?,
            intent: self.text(7)?,
        })
    }

    /// The entry of a run that cannot be read.
    pub(super) fn unreadable(&self, reason: String) -> UnreadableRun {
        UnreadableRun::new(&self.run, reason)
    }

    /// The entry of the run in a list, and its position. Without a position no page can begin behind the run, so its
    /// entry cannot be read either.
    pub(super) fn placed(&self, sort: ListSort) -> (Outcome<RunInfo>, Option<RunPosition>) {
        let at = if sort == ListSort::Changed { 3 } else { 2 };
        let time = self.row.get::<_, i64>(at).ok().filter(|at_ms| *at_ms >= 0);
        let id = self.row.get::<_, String>(0).ok();
        let position = time.zip(id).map(|(at_ms, id)| RunPosition { at_ms: number(at_ms), id });
        let info = self.info().and_then(|info| match &position {
            Some(_) => Ok(info),
            None => Err(self.wrong(at, "it is no time")),
        });
        (info, position)
    }
}

/// The columns of an entry in lists.
pub(super) const INFO: [&str; 8] =
    ["id", "version", "created_at_ms", "updated_at_ms", "status", "final_status", "current_step", "intent"];

/// The columns of a run behind those of its entry.
const REST: [&str; 5] = ["requested_by", "trace_lines", "lost", "machine", "pass"];

/// The columns that are read by [`RunRow::text`].
const TEXTS: [&str; 4] = ["status", "final_status", "current_step", "intent"];

/// Returns the SQL of columns, with names for errors.
pub(super) fn named(columns: &[&str]) -> String {
    let named = columns.iter().map(|column| {
        let value = if TEXTS.contains(column) { bounded(column) } else { (*column).to_owned() };
        format!("{value} AS \"service_runs.{column}\"")
    });
    named.collect::<Vec<_>>().join(", ")
}

pub(super) fn load(conn: &Connection, run: &str) -> Kept<StoredRun> {
    let mut whole = conn.prepare_cached(&format!(
        "SELECT {} FROM service_runs WHERE id = ?1",
        named(&[&INFO[..], &REST[..]].concat())
    ))?;
    let mut rows = whole.query([run])?;
    let row = RunRow::of(rows.next()?.ok_or_else(|| no_run(run))?)?;
    let RunInfo { id, version, created_at_ms, updated_at_ms, status, final_status, current_step, intent } =
        row.info()?;
    let at = INFO.len();
    Ok(StoredRun {
        id,
        version,
        created_at_ms,
        updated_at_ms,
        status,
        final_status,
        current_step,
        intent,
        requested_by: row.json(at)?,
        trace_lines: row.count(at + 1)?,
        lost: narrow(row.get(at + 2)?),
        machine: row.snapshot(at + 3)?.ok_or_else(|| row.wrong(at + 3, "it is NULL"))?,
        pass: row.snapshot(at + 4)?,
        artifacts: artifacts(conn, run)?,
    })
}

fn artifacts(conn: &Connection, run: &str) -> Kept<BTreeMap<String, Value>> {
    let sql = "SELECT name AS \"service_artifacts.name\", json AS \"service_artifacts.json\" FROM service_artifacts WHERE run = ?1";
    let rows: Vec<(String, String)> = all(conn, run, sql, [run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let read = rows.into_iter().map(|(name, text)| -> Outcome<(String, Value)> {
        let value = json(&text, || format!("service_artifacts.json of the row {name:?} of the run {run:?}"))?;
        Ok((name, value))
    });
    read.collect::<Outcome<_>>().map_err(Into::into)
}

/// Returns a run with the columns that its next change needs. The others have the values of the change.
pub(super) fn head(conn: &Connection, run: &str, change: &Change) -> Kept<StoredRun> {
    let columns =
        ["id", "status", "version", "created_at_ms", "updated_at_ms", "trace_lines", "requested_by"];
    let mut head =
        conn.prepare_cached(&format!("SELECT {} FROM service_runs WHERE id = ?1", named(&columns)))?;
    let mut rows = head.query([run])?;
    let row = RunRow::of(rows.next()?.ok_or_else(|| no_run(run))?)?;
    Ok(StoredRun {
        status: row.status(1)?,
        version: row.count(2)?,
        created_at_ms: row.number(3)?,
        updated_at_ms: row.number(4)?,
        trace_lines: row.count(5)?,
        requested_by: row.json(6)?,
        ..change.first_row(run)
    })
}

pub(super) fn status(conn: &Connection, run: &str) -> Kept<ServiceRunStatus> {
    let sql = format!("SELECT {} FROM service_runs WHERE id = ?1", named(&["id", "status"]));
    let mut status = conn.prepare_cached(&sql)?;
    let mut rows = status.query([run])?;
    Ok(RunRow::of(rows.next()?.ok_or_else(|| no_run(run))?)?.status(1)?)
}

/// Returns lines of a run with their numbers.
pub(super) fn lines(
    conn: &Connection,
    table: &str,
    run: &str,
    after: u64,
    most: usize,
) -> Kept<Vec<(u64, String)>> {
    let sql = format!(
        "SELECT seq AS \"{table}.seq\", json AS \"{table}.json\" FROM {table} WHERE run = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3"
    );
    let rows = all(conn, run, &sql, params![run, column(after), limit(most)], |row| {
        Ok((number(row.get(0)?), row.get(1)?))
    })?;
    if rows.is_empty() {
        let mut there = conn.prepare_cached("SELECT 1 FROM service_runs WHERE id = ?1")?;
        if !there.exists([run])? {
            return Err(no_run(run).into());
        }
    }
    Ok(rows)
}

/// Returns rows of a run.
pub(super) fn rows<T: DeserializeOwned>(
    conn: &Connection,
    table: &str,
    run: &str,
    after: u64,
    most: usize,
) -> Kept<Vec<Numbered<T>>> {
    let rows = lines(conn, table, run, after, most)?.into_iter().map(|(seq, text)| -> Outcome<Numbered<T>> {
        let row = json(&text, || format!("{table}.json of the row {seq} of the run {run:?}"))?;
        Ok(Numbered { seq, row })
    });
    rows.collect::<Outcome<_>>().map_err(Into::into)
}

pub(super) fn answer(conn: &Connection, key: &RequestKey, now_ms: u64) -> Kept<Option<KeyedAnswer>> {
    let mut answer = conn.prepare_cached(
        "SELECT digest, json FROM service_answers WHERE principal = ?1 AND key = ?2 AND at_ms > ?3",
    )?;
    let params = params![key.principal, key.key, over_until(now_ms)];
    let kept = answer.query_row(params, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((digest, text)): Option<(String, String)> = kept else { return Ok(None) };
    let place = || format!("service_answers.json of the key {:?} of {:?}", key.key, key.principal);
    let answer = json(&text, place).map_err(Fault::Store)?;
    Ok(Some(KeyedAnswer { key: key.clone(), digest, answer }))
}

pub(crate) const CHANGES: &str = "SELECT id AS \"service_runs.id\", change AS \"service_runs.change\" \
     FROM service_runs INDEXED BY service_runs_by_change WHERE change > ?1 AND change <= ?2 ORDER BY change LIMIT ?3";

/// Returns the number of changes.
pub(super) fn counted(conn: &Connection) -> rusqlite::Result<i64> {
    let mut counted = conn.prepare_cached("SELECT CAST(changes AS INTEGER) FROM service_news")?;
    let counted: Option<i64> = counted.query_row([], |row| row.get(0)).optional()?.flatten();
    Ok(counted.unwrap_or(0))
}

/// Returns the runs that changed after a cursor. None without a change. A row with a number above the count of changes
/// was written by another program.
pub(super) fn changes(conn: &Connection, cursor: ServiceCursor, most: usize) -> Kept<Option<ServiceChanges>> {
    let (counted, after) = (counted(conn)?, column(cursor.number()));
    if counted == after {
        return Ok(None);
    }
    // A file that was restored from a backup has fewer changes: all runs are listed again.
    let after = if after > counted { 0 } else { after };
    let sized = params![after, counted, limit(most.saturating_add(1))];
    let mut rows: Vec<(String, i64)> = all(conn, "", CHANGES, sized, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let last = if rows.len() > most {
        rows.truncate(most);
        rows.last().map_or(after, |(_, change)| *change)
    } else {
        counted
    };
    let runs = rows.into_iter().map(|(run, _)| run).collect();
    Ok(Some(ServiceChanges { runs, cursor: ServiceCursor::new(number(last)) }))
}
