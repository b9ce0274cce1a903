//! Lists of service runs.

use runstate::service_run::FinalStatus;
use runstate_service::{ListQuery, ListSort, PageRows, RunPage};
use tokio_postgres::Row;

use super::load::placed;
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
    let counts = format!("{}{} GROUP BY 1", sql.counts, wanted.all());
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
    let (size, offset) = wanted.page();
    let page = format!(
        "{}{conditions} ORDER BY r.{time} {direction}, r.id {direction} LIMIT {size} OFFSET {offset}",
        sql.list
    );
    let mut entries = PageRows::new(query);
    // One more row shows whether another page follows.
    let (mut size, mut offset) = (limit_of(query.limit.saturating_add(1)), 0_i64);
    let mut counted = None;
    loop {
        let params = [&*wanted.params, &[&size, &offset]].concat();
        let rows = if query.counts && counted.is_none() {
            let tables = connections.moment_of(&[(&*counts, &*of_counts), (&*page, &*params)]).await;
            let [counts, rows] = <[Vec<Row>; 2]>::try_from(tables.map_err(failure)?)
                .map_err(|tables| failure(damaged(format_args!("{} tables", tables.len()))))?;
            counted = Some(counts.iter().map(count).collect());
            rows
        } else {
            connections.rows(&page, &params).await.map_err(failure)?
        };
        for row in &rows {
            let has_room = match placed(row, query.sort) {
                Ok(info) => entries.push(info),
                Err((run, position)) => entries.push_unreadable(run, position),
            };
            if !has_room {
                return Ok(entries.finish(counted));
            }
        }
        let seen = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        offset = offset.saturating_add(seen);
        if seen < size {
            return Ok(entries.finish(counted));
        }
        // Rows without a position take no place. So more rows follow.
        size = size.max(offset);
    }
}

/// A status with the number of its runs. None for a status that is NULL, or a long one.
fn count(row: &Row) -> (Option<String>, usize) {
    let count: i64 = row.try_get(1).unwrap_or(0);
    (row.try_get(0).ok().flatten(), usize::try_from(count).unwrap_or(0))
}
