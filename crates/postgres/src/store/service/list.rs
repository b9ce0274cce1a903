//! Lists of service runs.

use std::collections::BTreeMap;

use runstate::service_run::{FinalStatus, ServiceRunStatus};
use runstate_service::{ListQuery, ListSort, RunInfo, RunPage};
use tokio_postgres::Row;

use super::load::{Placed, info};
use super::sql::Sql;
use super::{Stored, failure};
use crate::error::damaged;
use crate::pool::Connections;
use crate::store::limit_of;
use crate::store::list::Wanted;
use crate::text::{Key, int};

pub(super) async fn page(connections: &Connections, sql: &Sql, query: &ListQuery) -> Stored<RunPage> {
    let statuses: Vec<&str> = query.statuses.iter().map(|status| status.name()).collect();
    let final_status = query.final_status.map(FinalStatus::name);
    let text = query.text.as_ref().map(|text| text.to_lowercase().into_bytes());
    let (since, until) = (query.since_ms.map(int), query.until_ms.map(int));
    let after = query.after.as_ref().map(|after| (int(after.at_ms), Key::of(&after.id).key));
    // One more row shows whether another page follows.
    let size = limit_of(query.limit.saturating_add(1));

    let mut wanted = Wanted::default();
    match &*statuses {
        [] => {}
        [one] => {
            let status = wanted.param(one);
            wanted.conditions.push(format!("r.status = {status}"));
        }
        _ => {
            let statuses = wanted.param(&statuses);
            wanted.conditions.push(format!("r.status = ANY ({statuses})"));
        }
    }
    if let Some(status) = &final_status {
        let status = wanted.param(status);
        wanted.conditions.push(format!("r.final_status = {status}"));
    }
    if let Some(text) = &text {
        let text = wanted.param(text);
        let within = |column: &str| format!("position({text}::bytea IN r.{column}) > 0");
        wanted.conditions.push(format!("({} OR {})", within("intent_lower"), within("id_lower")));
    }
    if let Some(since) = &since {
        let since = wanted.param(since);
        wanted.conditions.push(format!("r.created_at >= {since}"));
    }
    if let Some(until) = &until {
        let until = wanted.param(until);
        wanted.conditions.push(format!("r.created_at < {until}"));
    }
    let counts = format!("{}{} GROUP BY r.status", sql.counts, wanted.all());
    let of_counts = wanted.params.clone();

    let (time, direction, behind) = match query.sort {
        ListSort::Newest => ("created_at", "DESC", "<"),
        ListSort::Oldest => ("created_at", "ASC", ">"),
        ListSort::Changed => ("updated_at", "DESC", "<"),
    };
    if let Some((at, id)) = &after {
        let (at, id) = (wanted.param(at), wanted.param(id));
        wanted.conditions.push(format!("(r.{time}, r.id) {behind} ({at}, {id})"));
    }
    let conditions = wanted.all();
    let size = wanted.param(&size);
    let page =
        format!("{}{conditions} ORDER BY r.{time} {direction}, r.id {direction} LIMIT {size}", sql.list);

    let tables = connections.moment_of(&[(&*counts, &*of_counts), (&*page, &*wanted.params)]).await;
    let [counts, page] = <[Vec<Row>; 2]>::try_from(tables.map_err(failure)?)
        .map_err(|tables| failure(damaged(format_args!("{} tables", tables.len()))))?;
    let counts = counts.iter().map(count).collect::<Stored<BTreeMap<_, _>>>()?;
    // The row beyond the page may be unreadable: it belongs to the next page.
    let runs = page.iter().take(query.limit).map(info).collect::<Stored<Vec<RunInfo>>>()?;
    let next = runs.last().filter(|_| page.len() > runs.len()).map(|run| query.position(run));
    Ok(RunPage { runs, next, counts })
}

fn count(row: &Row) -> Stored<(ServiceRunStatus, usize)> {
    // With a run, for the error of an unknown status.
    let run: &str = row.try_get(0).unwrap_or_default();
    let count: i64 = row.try_get(2).unwrap_or(0);
    Ok((Placed::of(row, "service_runs", run).status(1)?, usize::try_from(count).unwrap_or(0)))
}
