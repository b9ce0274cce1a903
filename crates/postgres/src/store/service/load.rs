//! Rows of service runs as values. An error names the run and the column.

use std::collections::BTreeMap;
use std::fmt;

use runstate::service_run::{FinalStatus, ServiceRunStatus};
use runstate::snapshot::Snapshot;
use runstate_service::{
    Change, KeyedAnswer, ListSort, Numbered, RequestKey, RunInfo, RunPosition, ServiceChanges, ServiceCursor,
    ServiceLease, ServiceStoreError, StepName, StoredRun, UnreadableRun,
};
use runstate_store::StoreError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::sql::Sql;
use super::{Stored, failure, no_run};
use crate::error::{chain, damaged};
use crate::pool::Connections;
use crate::text::{Key, MOST_BYTES, TOO_LONG, int, nat, untext};

/// The limit of a count. A larger one was written by another program.
const MOST_COUNTED: u64 = 1 << 62;

/// A row with its place for errors: the table and the run.
pub(super) struct Placed<'r> {
    row: &'r Row,
    table: &'r str,
    run: &'r str,
}

impl<'r> Placed<'r> {
    pub(super) fn of(row: &'r Row, table: &'r str, run: &'r str) -> Self {
        Placed { row, table, run }
    }

    fn wrong(&self, index: usize, why: impl fmt::Display) -> ServiceStoreError {
        let (table, run) = (self.table, self.run);
        let column = self.row.columns().get(index).map_or("a column", |column| column.name());
        failure(damaged(format_args!("{table}.{column} of the run {run:?}: {why}")))
    }

    fn get<T: FromSql<'r>>(&self, index: usize) -> Stored<T> {
        self.row.try_get(index).map_err(|error| self.wrong(index, chain(&error)))
    }

    fn optional(&self, index: usize) -> Stored<Option<&'r str>> {
        match self.get(index)? {
            Some(TOO_LONG) => Err(self.wrong(index, format_args!("it has more than {MOST_BYTES} bytes"))),
            kept => Ok(kept),
        }
    }

    /// Returns a text as it is stored.
    fn stored(&self, index: usize) -> Stored<&'r str> {
        self.optional(index)?.ok_or_else(|| self.wrong(index, "it is NULL"))
    }

    fn text(&self, index: usize) -> Stored<String> {
        self.stored(index).map(|kept| untext(kept.to_owned()))
    }

    fn number(&self, index: usize) -> Stored<u64> {
        self.get(index).map(nat)
    }

    /// Returns a count that can be raised.
    fn count(&self, index: usize) -> Stored<u64> {
        let count = self.get::<i64>(index)?;
        let usable = u64::try_from(count).ok().filter(|count| *count <= MOST_COUNTED);
        usable.ok_or_else(|| self.wrong(index, format_args!("{count} is no count")))
    }

    pub(super) fn status(&self, index: usize) -> Stored<ServiceRunStatus> {
        self.stored(index)?.parse().map_err(|error| self.wrong(index, error))
    }

    fn final_status(&self, index: usize) -> Stored<Option<FinalStatus>> {
        let Some(name) = self.optional(index)? else { return Ok(None) };
        let known = FinalStatus::ALL.into_iter().find(|status| status.name() == name);
        known.map(Some).ok_or_else(|| self.wrong(index, format_args!("{name:?} is no final status")))
    }

    fn step(&self, index: usize) -> Stored<Option<StepName>> {
        let Some(name) = self.optional(index)? else { return Ok(None) };
        let step = serde_json::from_value(Value::String(name.to_owned()));
        step.map(Some).map_err(|_| self.wrong(index, format_args!("{name:?} is no step")))
    }

    fn snapshot(&self, index: usize) -> Stored<Option<Snapshot>> {
        let Some(text) = self.optional(index)? else { return Ok(None) };
        Snapshot::from_json(text.as_bytes()).map(Some).map_err(|error| self.wrong(index, error))
    }

    fn json<T: DeserializeOwned>(&self, index: usize) -> Stored<T> {
        runstate::json::from_str(self.stored(index)?).map_err(|error| self.wrong(index, error))
    }
}

/// The number of columns of an entry in lists.
const INFO: usize = 9;

/// Returns the entry of a run in lists.
pub(super) fn info(row: &Row) -> Stored<RunInfo> {
    let key: &str = row.try_get(INFO - 1).unwrap_or_default();
    let row = Placed::of(row, "service_runs", key);
    let id = row.text(0)?;
    // A text of another key would make a list begin at one position again and again.
    if Key::of(&id).key != key {
        return Err(row.wrong(0, "it is the text of another key"));
    }
    Ok(RunInfo {
        id,
        version: row.count(1)?,
        created_at_ms: row.number(2)?,
        updated_at_ms: row.number(3)?,
        status: row.status(4)?,
        final_status: row.final_status(5)?,
        current_step: row.step(6)?,
        intent: row.text(7)?,
    })
}

/// Returns the entry of a run in a list; or its name with the reason why it cannot be read, and its position. Without a
/// position no page can begin behind the run, so its entry cannot be read either.
pub(super) fn placed(row: &Row, sort: ListSort) -> Result<RunInfo, (UnreadableRun, Option<RunPosition>)> {
    let (at, key) =
        (if sort == ListSort::Changed { 3 } else { 2 }, row.try_get(INFO - 1).unwrap_or_default());
    let place = Placed::of(row, "service_runs", key);
    let is_of_key = |id: &String| Key::of(id).key == key;
    let id = place.text(0).ok().filter(is_of_key).or_else(|| Some(untext(key.to_owned())).filter(is_of_key));
    let time = place.get::<i64>(at).ok().and_then(|at_ms| u64::try_from(at_ms).ok());
    let position = time.zip(id).map(|(at_ms, id)| RunPosition { at_ms, id });
    let info = info(row).and_then(|info| match &position {
        Some(_) => Ok(info),
        None => Err(place.wrong(at, "it is no time")),
    });
    info.map_err(|error| {
        let what = match &error {
            ServiceStoreError::Failed(cause) => match cause.downcast_ref() {
                Some(StoreError::Unusable { what, .. }) => {
                    what.strip_prefix("a row cannot be read: ").unwrap_or(what).to_owned()
                }
                _ => cause.to_string(),
            },
            _ => error.to_string(),
        };
        (UnreadableRun::new(untext(key.to_owned()), what), position)
    })
}

pub(super) async fn load(connections: &Connections, sql: &Sql, run: &str) -> Stored<StoredRun> {
    let tables = connections.moment(&sql.load, &[&Key::of(run).key]).await.map_err(failure)?;
    let [runs, artifacts] = <[Vec<Row>; 2]>::try_from(tables)
        .map_err(|tables| failure(damaged(format_args!("{} tables", tables.len()))))?;
    let row = runs.first().ok_or_else(|| no_run(run))?;
    let RunInfo { id, version, created_at_ms, updated_at_ms, status, final_status, current_step, intent } =
        info(row)?;
    let row = Placed::of(row, "service_runs", run);
    let lost: i64 = row.get(INFO + 2)?;
    Ok(StoredRun {
        id,
        version,
        created_at_ms,
        updated_at_ms,
        status,
        final_status,
        current_step,
        intent,
        requested_by: row.json(INFO)?,
        trace_lines: row.count(INFO + 1)?,
        lost: u32::try_from(lost.max(0)).unwrap_or(u32::MAX),
        machine: row.snapshot(INFO + 3)?.ok_or_else(|| row.wrong(INFO + 3, "it is NULL"))?,
        pass: row.snapshot(INFO + 4)?,
        artifacts: artifacts.iter().map(|row| artifact(row, run)).collect::<Stored<BTreeMap<_, _>>>()?,
    })
}

fn artifact(row: &Row, run: &str) -> Stored<(String, Value)> {
    let row = Placed::of(row, "service_artifacts", run);
    let name = row.text(0)?;
    let value = runstate::json::from_str(row.stored(1)?);
    let value = value.map_err(|error| row.wrong(1, format_args!("the artifact {name:?}: {error}")))?;
    Ok((name, value))
}

/// A run before a change.
pub(super) struct Head {
    /// The columns that the change does not replace.
    pub(super) row: StoredRun,
    pub(super) fence: i64,
    pub(super) is_held: bool,
}

pub(super) async fn head(connections: &Connections, sql: &Sql, run: &str, change: &Change) -> Stored<Head> {
    let rows = connections.rows(&sql.head, &[&Key::of(run).key]).await.map_err(failure)?;
    let row = Placed::of(rows.first().ok_or_else(|| no_run(run))?, "service_runs", run);
    let (fence, is_held) = (row.get(6)?, row.get(7)?);
    let row = StoredRun {
        status: row.status(0)?,
        version: row.count(1)?,
        created_at_ms: row.number(2)?,
        updated_at_ms: row.number(3)?,
        trace_lines: row.count(4)?,
        requested_by: row.json(5)?,
        ..change.first_row(run)
    };
    Ok(Head { row, fence, is_held })
}

/// Returns the lease of a claimed run.
pub(super) fn lease(row: &Row) -> Stored<ServiceLease> {
    let row = Placed::of(row, "service_runs", "");
    Ok(ServiceLease { run: untext(row.get(0)?), fence: row.number(1)? })
}

/// Returns a row of a run with its number.
pub(super) fn numbered<T: DeserializeOwned>(row: &Row, table: &str, run: &str) -> Stored<Numbered<T>> {
    let row = Placed::of(row, table, run);
    let seq = row.number(0)?;
    let value = runstate::json::from_str(row.stored(1)?);
    Ok(Numbered { seq, row: value.map_err(|error| row.wrong(1, format_args!("the row {seq}: {error}")))? })
}

/// Returns a line of a trace.
pub(super) fn line(row: &Row, table: &str, run: &str) -> Stored<String> {
    Placed::of(row, table, run).text(1)
}

pub(super) fn answer(row: &Row, key: &RequestKey) -> Stored<KeyedAnswer> {
    let wrong = |why: &dyn fmt::Display| {
        let RequestKey { principal, key } = key;
        failure(damaged(format_args!("service_answers.json of the key {key:?} of {principal:?}: {why}")))
    };
    let row = Placed::of(row, "service_answers", "");
    let answer = runstate::json::from_str(row.stored(1)?).map_err(|error| wrong(&error))?;
    Ok(KeyedAnswer { key: key.clone(), digest: row.text(0)?, answer })
}

/// Returns the number of changes, from the first column.
pub(super) fn counted(rows: &[Row]) -> Stored<u64> {
    rows.first().map_or(Ok(0), |row| Placed::of(row, "service_news", "").number(0))
}

/// Returns the runs that changed after a cursor. None without a change. Without runs there is one row, which has only
/// the number of changes.
pub(super) fn changes(rows: &[Row], cursor: ServiceCursor, most: usize) -> Stored<Option<ServiceChanges>> {
    let counted = counted(rows)?;
    if counted == nat(int(cursor.number())) {
        return Ok(None);
    }
    let mut runs = Vec::new();
    for row in rows {
        let row = Placed::of(row, "service_runs", "");
        if let Some(change) = row.get::<Option<i64>>(2)? {
            runs.push((row.text(1)?, nat(change)));
        }
    }
    let last = if runs.len() > most {
        runs.truncate(most);
        runs.last().map_or(cursor.number(), |(_, change)| *change)
    } else {
        counted
    };
    let runs = runs.into_iter().map(|(run, _)| run).collect();
    Ok(Some(ServiceChanges { runs, cursor: ServiceCursor::new(last) }))
}
