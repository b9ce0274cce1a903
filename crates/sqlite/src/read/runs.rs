//! Runs in lists.

use std::time::Duration;

use runstate::kernel::status_from_name;
use runstate::run::RunStatus;
use runstate_store::{CorruptEntry, Holder, RunInfo, RunQuery, StoreError, Unread};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params};

use super::lists::{self, Key, bounded, int, key, optional, optional_int, text};
use crate::error::{Outcome, unreadable};
use crate::number::{column, limit, narrow, number};
use crate::time::Now;

const COLUMNS: [&str; 19] = [
    "id",
    "title",
    "status",
    "reason",
    "version",
    "steps",
    "waiting",
    "holder",
    "held_until_ms",
    "not_before_ms",
    "problem",
    "cancel",
    "created_at_ms",
    "changed_at_ms",
    "lost",
    "fence",
    "mail",
    "claimed_steps",
    "committed_under",
];

/// The columns that another program can fill with a text of any length.
const TEXTS: [&str; 6] = ["title", "status", "reason", "holder", "problem", "cancel"];

fn columns() -> String {
    let column = |name: &str| {
        let value = if TEXTS.contains(&name) { bounded(name) } else { name.to_owned() };
        format!("{value} AS \"runs.{name}\"")
    };
    COLUMNS.map(column).join(", ")
}

fn info(row: &Row<'_>, now: Now) -> rusqlite::Result<(Key, Result<RunInfo, StoreError>)> {
    let id = key(row, 0)?;
    let info = || {
        let [version, steps, waiting, created, changed, lost] =
            [int(row, 4)?, int(row, 5)?, int(row, 6)?, int(row, 12)?, int(row, 13)?, int(row, 14)?];
        // A list does not use these columns. The driver of the run needs them, and only a run without errors here is
        // driven.
        (15..COLUMNS.len()).try_for_each(|index| int(row, index).map(drop))?;
        let fence = number(int(row, 15)?);
        let (until_ms, not_before_ms) = (optional_int(row, 8)?, optional_int(row, 9)?);
        let mut info = RunInfo::new(text(row, 0)?, text(row, 1)?, number(created));
        let status = text(row, 2)?;
        info.status = status_from_name(&status)
            .map_err(|error| unreadable(format_args!("runs.status of the run {:?}: {error}", info.id)))?;
        info.reason = optional(row, 3)?;
        info.version = number(version);
        (info.steps, info.waiting) = (narrow(steps), narrow(waiting));
        let held = until_ms.map_or(Duration::ZERO, |until| now.held(number(until)));
        info.holder = optional(row, 7)?.map(|name| Holder { name, left: held, fence });
        let not_before = not_before_ms.map(|at| now.left(number(at)));
        info.not_before = not_before.filter(|left| !left.is_zero());
        info.problem = optional(row, 10)?;
        info.cancel = optional(row, 11)?;
        (info.changed_at_ms, info.lost) = (number(changed), narrow(lost));
        Ok(info)
    };
    Ok(((id, None), info()))
}

/// Returns the query of a page. It uses the index that fits the filter.
pub(crate) fn page_sql(has_status: bool, has_behind: bool) -> String {
    let status = if has_status { "status = :status" } else { "(:status IS NULL)" };
    let behind = if has_behind {
        "(created_at_ms, id) < (:created, :id)"
    } else {
        "(:created IS NULL AND :id IS NULL)"
    };
    format!(
        "SELECT {} FROM runs WHERE {status} AND {behind} \
         AND (:changed IS NULL OR changed_at_ms < :changed) AND (NOT :held OR holder IS NOT NULL) ORDER BY created_at_ms DESC, id DESC \
         LIMIT :limit OFFSET :offset",
        columns()
    )
}

pub(crate) fn page(conn: &Connection, query: &RunQuery, unread: &Unread, now: Now) -> Outcome<Vec<RunInfo>> {
    let sql = page_sql(query.status.is_some(), query.after.is_some());
    let behind = query.after.as_ref();
    let params: &[(&str, &dyn ToSql)] = named_params! {
        ":created": behind.map(|(created, _)| column(*created)), ":id": behind.map(|(_, id)| id),
        ":changed": query.changed_before_ms.map(column), ":held": query.held,
    };
    let status = query.status.map(RunStatus::name);
    let of_status: [(&str, &dyn ToSql); 1] = [(":status", &status)];
    lists::page(conn, &sql, &[params, &of_status].concat(), limit(query.limit), unread, |row| info(row, now))
}

/// Runs with an unknown status, which no list shows, by the index of statuses.
pub(crate) const UNKNOWN: &str = "SELECT id, status FROM runs INDEXED BY runs_by_status WHERE status < 'Done' \
     UNION ALL SELECT id, status FROM runs INDEXED BY runs_by_status WHERE status > 'Done' AND status < 'Running' \
     UNION ALL SELECT id, status FROM runs INDEXED BY runs_by_status WHERE status > 'Running' AND status < 'Waiting' \
     UNION ALL SELECT id, status FROM runs INDEXED BY runs_by_status WHERE status > 'Waiting' LIMIT 1000";

/// Returns the corrupt entries.
pub(crate) fn damaged(conn: &Connection, unread: &Unread, now: Now) -> Outcome<Vec<CorruptEntry>> {
    let mut unknown = conn.prepare_cached(&format!(
        "SELECT {} FROM runs WHERE id IN (SELECT id FROM ({UNKNOWN}))",
        columns()
    ))?;
    let mut rows = unknown.query([])?;
    while let Some(row) = rows.next()? {
        let ((run, call), read) = info(row, now)?;
        unread.note(&run, call.as_deref(), read)?;
    }
    Ok(unread.all())
}

pub(crate) fn one(conn: &Connection, run: &str, now: Now) -> Outcome<Option<RunInfo>> {
    let mut one = conn.prepare_cached(&format!("SELECT {} FROM runs WHERE id = ?1", columns()))?;
    let found = one.query_row([run], |row| Ok(info(row, now)?.1)).optional()?;
    Ok(found.transpose()?)
}
