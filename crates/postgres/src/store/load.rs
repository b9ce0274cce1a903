//! Load of a complete run.

use runstate_agent::keys::Scope;
use runstate_store::{Holder, Parts, RunInfo, StoreError, ThreadPlace};
use serde::de::DeserializeOwned;
use tokio_postgres::Row;

use super::no_run;
use super::sql::Sql;
use crate::error::damaged;
use crate::pool::Connections;
use crate::row::{column, json, optional, told};
use crate::text::{Key, nat};
use crate::time::left_until;

pub(super) async fn load(connections: &Connections, sql: &Sql, run: &str) -> Result<Parts, StoreError> {
    let tables = connections.moment(&sql.load, &[&Key::of(run).key]).await?;
    let [runs, messages, calls, decisions, values, traced, places] = <[Vec<Row>; 7]>::try_from(tables)
        .map_err(|tables| damaged(format_args!("{} tables", tables.len())))?;
    let Some(row) = runs.first() else { return Err(no_run(run)) };
    let parts = parts(row, &messages, &calls, &decisions, &values, &traced)?;
    Ok(Parts { thread: places.first().map(place).transpose()?, ..parts })
}

fn place(row: &Row) -> Result<ThreadPlace, StoreError> {
    Ok(ThreadPlace { thread: told(row, 0)?, after: optional(row, 1)? })
}

fn parts(
    row: &Row,
    messages: &[Row],
    calls: &[Row],
    decisions: &[Row],
    values: &[Row],
    traced: &[Row],
) -> Result<Parts, StoreError> {
    let spec = parsed(row, INFO, "runs.spec")?;
    let snapshot = optional(row, INFO + 1)?.zip(optional(row, INFO + 2)?);
    Ok(Parts {
        info: info(row)?,
        spec,
        thread: None,
        traced: traced.first().map_or(Ok(0), |row| number(row, 0))?,
        run: snapshot,
        calls: calls.iter().map(call).collect::<Result<_, _>>()?,
        decisions: decisions.iter().map(|row| parsed(row, 0, "decisions.json")).collect::<Result<_, _>>()?,
        messages: messages.iter().map(|row| json(row, 0).map(str::to_owned)).collect::<Result<_, _>>()?,
        values: values.iter().map(value).collect::<Result<_, _>>()?,
    })
}

/// The number of columns of a run in lists.
const INFO: usize = 18;

/// Returns the entry of a run in lists.
pub(super) fn info(row: &Row) -> Result<RunInfo, StoreError> {
    let status: &str = column(row, 2)?;
    let status = status.parse().map_err(|error| damaged(format_args!("runs.status: {error}")))?;
    let holder = optional(row, 7)?.zip(column::<Option<i64>>(row, 8)?);
    let mut info = RunInfo::new(whole(row, 0, 17, "runs.long_id")?, told(row, 1)?, number(row, 12)?);
    info.status = status;
    info.reason = optional(row, 3)?;
    info.version = number(row, 4)?;
    info.steps = small(row, 5, "runs.steps")?;
    info.waiting = small(row, 6, "runs.waiting")?;
    let now: i64 = column(row, 15)?;
    let fence = number(row, 16)?;
    info.holder = holder.map(|(name, until)| Holder { name, left: left_until(now, until), fence });
    let not_before = column::<Option<i64>>(row, 9)?.map(|at| left_until(now, at));
    info.not_before = not_before.filter(|left| !left.is_zero());
    info.problem = optional(row, 10)?;
    info.cancel = optional(row, 11)?;
    info.changed_at_ms = number(row, 13)?;
    info.lost = small(row, 14, "runs.lost")?;
    Ok(info)
}

/// Returns a text and checks its key. A text with a wrong key would make a list begin at one position again and
/// again.
pub(super) fn whole(row: &Row, index: usize, key: usize, name: &str) -> Result<String, StoreError> {
    let text = told(row, index)?;
    let is_its_own = Key::of(&text).key == column::<&str>(row, key)?;
    is_its_own.then_some(text).ok_or_else(|| damaged(format_args!("{name} is the text of another key")))
}

/// Returns a number.
pub(super) fn number(row: &Row, index: usize) -> Result<u64, StoreError> {
    column(row, index).map(nat)
}

pub(super) fn small(row: &Row, index: usize, name: &str) -> Result<u32, StoreError> {
    let number: i64 = column(row, index)?;
    u32::try_from(number).map_err(|error| damaged(format_args!("{name}: {number}: {error}")))
}

/// Returns the parsed value of a JSON column.
pub(super) fn parsed<T: DeserializeOwned>(row: &Row, index: usize, name: &str) -> Result<T, StoreError> {
    parse(json(row, index)?, name)
}

pub(super) fn parse<T: DeserializeOwned>(json: &str, name: &str) -> Result<T, StoreError> {
    runstate::json::from_str(json).map_err(|error| damaged(format_args!("{name}: {error}")))
}

fn call(row: &Row) -> Result<(String, u32, String), StoreError> {
    Ok((told(row, 0)?, small(row, 1, "calls.passes")?, json(row, 2)?.to_owned()))
}

fn value(row: &Row) -> Result<(Scope, String, String), StoreError> {
    let scope = match column(row, 0)? {
        "run" => Scope::Run,
        "thread" => Scope::Thread,
        other => return Err(damaged(format_args!("state.scope: {other:?}"))),
    };
    Ok((scope, told(row, 1)?, json(row, 2)?.to_owned()))
}
