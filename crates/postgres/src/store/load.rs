//! A run, read whole.

use runstate::agent::keys::Scope;
use runstate::decision::Decision;
use runstate::store::{Holder, Parts, RunInfo, StoreError};
use tokio_postgres::Row;

use super::no_run;
use super::sql::Sql;
use crate::error::{damaged, of_client};
use crate::pool::Connections;
use crate::text::{Key, nat, untext};
use crate::time::left_until;

pub(super) async fn load(connections: &Connections, sql: &Sql, run: &str) -> Result<Parts, StoreError> {
    let tables = connections.moment(&sql.load, &[&Key::of(run).key]).await?;
    let [runs, messages, calls, decisions, values, traced] = <[Vec<Row>; 6]>::try_from(tables)
        .map_err(|tables| damaged(format_args!("{} tables", tables.len())))?;
    let Some(row) = runs.first() else { return Err(no_run(run)) };
    parts(row, &messages, &calls, &decisions, &values, &traced)
}

fn parts(
    row: &Row,
    messages: &[Row],
    calls: &[Row],
    decisions: &[Row],
    values: &[Row],
    traced: &[Row],
) -> Result<Parts, StoreError> {
    let spec: &str = row.try_get(INFO).map_err(of_client)?;
    let snapshot: Option<String> = row.try_get(INFO + 1).map_err(of_client)?;
    let core: Option<String> = row.try_get(INFO + 2).map_err(of_client)?;
    Ok(Parts {
        info: info(row)?,
        spec: runstate::json::from_str(spec).map_err(|error| damaged(format_args!("runs.spec: {error}")))?,
        traced: traced.first().map_or(0, |row| nat(row.get(0))),
        run: snapshot.zip(core),
        calls: calls.iter().map(call).collect::<Result<_, _>>()?,
        decisions: decisions.iter().map(|row| decision(row.get(0))).collect::<Result<_, _>>()?,
        messages: messages.iter().map(|row| row.get(0)).collect(),
        values: values.iter().map(value).collect::<Result<_, _>>()?,
    })
}

/// How many columns lists have of a run.
const INFO: usize = 16;

/// What lists say of a run.
pub(super) fn info(row: &Row) -> Result<RunInfo, StoreError> {
    let status: &str = row.get(2);
    let status = status.parse().map_err(|error| damaged(format_args!("runs.status: {error}")))?;
    let holder = row.get::<_, Option<String>>(7).zip(row.get::<_, Option<i64>>(8));
    let optional = |column| row.get::<_, Option<String>>(column).map(untext);
    let small = |column, name: &str| {
        let number: i64 = row.get(column);
        u32::try_from(number).map_err(|error| damaged(format_args!("runs.{name}: {number}: {error}")))
    };
    let mut info = RunInfo::new(untext(row.get(0)), untext(row.get(1)), nat(row.get(12)));
    info.status = status;
    info.reason = optional(3);
    info.version = nat(row.get(4));
    info.steps = small(5, "steps")?;
    info.waiting = small(6, "waiting")?;
    let now: i64 = row.get(15);
    info.holder = holder.map(|(name, until)| Holder { name: untext(name), left: left_until(now, until) });
    let put_off = row.get::<_, Option<i64>>(9).map(|at| left_until(now, at));
    info.put_off = put_off.filter(|left| !left.is_zero());
    info.problem = optional(10);
    info.cancel = optional(11);
    info.changed_at_ms = nat(row.get(13));
    info.lost = small(14, "lost")?;
    Ok(info)
}

fn call(row: &Row) -> Result<(String, u32, String), StoreError> {
    let passes: i64 = row.get(1);
    let passes =
        u32::try_from(passes).map_err(|error| damaged(format_args!("calls.passes: {passes}: {error}")))?;
    Ok((untext(row.get(0)), passes, row.get(2)))
}

pub(super) fn decision(json: &str) -> Result<Decision, StoreError> {
    runstate::json::from_str(json).map_err(|error| damaged(format_args!("decisions.json: {error}")))
}

fn value(row: &Row) -> Result<(Scope, String, String), StoreError> {
    let scope = match row.get(0) {
        "run" => Scope::Run,
        "thread" => Scope::Thread,
        other => return Err(damaged(format_args!("state.scope: {other:?}"))),
    };
    Ok((scope, untext(row.get(1)), row.get(2)))
}
