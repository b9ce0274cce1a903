//! Runs in lists.

use runstate::kernel::status_from_name;
use runstate::run::RunStatus;
use runstate::store::{Holder, RunInfo, RunQuery, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::error::Outcome;
use crate::number::{column, limit, narrow, number};

const COLUMNS: &str = "id, title, status, reason, version, steps, waiting, holder, held_until_ms, not_before_ms, \
     problem, cancel, created_at_ms, changed_at_ms, lost";

fn info(row: &Row<'_>) -> rusqlite::Result<Result<RunInfo, StoreError>> {
    let created = number(row.get(12)?);
    let mut info = RunInfo::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?, created);
    let status: String = row.get(2)?;
    info.reason = row.get(3)?;
    info.version = number(row.get(4)?);
    info.steps = narrow(row.get(5)?);
    info.waiting = narrow(row.get(6)?);
    let holder: Option<String> = row.get(7)?;
    let until_ms = row.get::<_, Option<i64>>(8)?.map_or(0, number);
    info.holder = holder.map(|name| Holder { name, until_ms });
    info.not_before_ms = row.get::<_, Option<i64>>(9)?.map(number);
    info.problem = row.get(10)?;
    info.cancel = row.get(11)?;
    info.changed_at_ms = number(row.get(13)?);
    info.lost = narrow(row.get(14)?);
    Ok(match status_from_name(&status) {
        Ok(status) => {
            info.status = status;
            Ok(info)
        }
        Err(error) => Err(StoreError::unusable(
            format_args!("runs.status of the run {:?}: {error}", info.id),
            "some other program wrote it; restore the file from a backup",
        )),
    })
}

/// A page, through the index that fits what is asked.
pub(crate) fn page_sql(has_status: bool, has_behind: bool) -> String {
    let status = if has_status { "status = :status" } else { "(:status IS NULL)" };
    let behind = if has_behind {
        "(created_at_ms, id) < (:created, :id)"
    } else {
        "(:created IS NULL AND :id IS NULL)"
    };
    format!(
        "SELECT {COLUMNS} FROM runs WHERE {status} AND {behind} \
         AND (:changed IS NULL OR changed_at_ms < :changed) ORDER BY created_at_ms DESC, id DESC LIMIT :limit"
    )
}

pub(crate) fn page(conn: &Connection, query: &RunQuery) -> Outcome<Vec<RunInfo>> {
    let mut page = conn.prepare_cached(&page_sql(query.status.is_some(), query.behind.is_some()))?;
    let behind = query.behind.as_ref();
    let rows = page.query_map(
        named_params! {
            ":status": query.status.map(RunStatus::name),
            ":created": behind.map(|(created, _)| column(*created)), ":id": behind.map(|(_, id)| id),
            ":changed": query.changed_before_ms.map(column), ":limit": limit(query.limit),
        },
        info,
    )?;
    let mut found = Vec::new();
    for row in rows {
        found.push(row??);
    }
    Ok(found)
}

pub(super) fn one(conn: &Connection, run: &str) -> Outcome<Option<RunInfo>> {
    let mut one = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"))?;
    Ok(one.query_row([run], info).optional()?.transpose()?)
}
