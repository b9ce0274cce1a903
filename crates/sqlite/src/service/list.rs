//! Lists of service runs.

use std::collections::BTreeMap;

use runstate::service_run::{FinalStatus, ServiceRunStatus};
use runstate_service::{ListQuery, ListSort, RunInfo, RunPage};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::Kept;
use super::read::{INFO, RunRow, named};
use crate::number::{column, limit};

/// Conditions with their parameters, numbered in the order of their addition.
#[derive(Default)]
struct Wanted {
    conditions: Vec<String>,
    params: Vec<Value>,
}

impl Wanted {
    /// The conditions of a query, without the position of the page.
    fn by(query: &ListQuery) -> Self {
        let mut wanted = Wanted::default();
        // The names are constants of this program.
        let quoted = |name: &str| format!("'{name}'");
        if !query.statuses.is_empty() {
            let names: Vec<_> = query.statuses.iter().map(|status| quoted(status.name())).collect();
            wanted.conditions.push(format!("status IN ({})", names.join(", ")));
        }
        if let Some(status) = query.final_status.map(FinalStatus::name) {
            wanted.conditions.push(format!("final_status = {}", quoted(status)));
        }
        if let Some(text) = &query.text {
            let text = wanted.param(text.to_lowercase());
            wanted
                .conditions
                .push(format!("(instr(intent_lower, {text}) > 0 OR instr(id_lower, {text}) > 0)"));
        }
        if let Some(since) = query.since_ms {
            let since = wanted.param(column(since));
            wanted.conditions.push(format!("created_at_ms >= {since}"));
        }
        if let Some(until) = query.until_ms {
            let until = wanted.param(column(until));
            wanted.conditions.push(format!("created_at_ms < {until}"));
        }
        wanted
    }

    /// Adds a parameter and returns its placeholder.
    fn param(&mut self, value: impl Into<Value>) -> String {
        self.params.push(value.into());
        format!("?{}", self.params.len())
    }

    fn all(&self) -> String {
        if self.conditions.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", self.conditions.join(" AND "))
        }
    }
}

/// Returns the query of a page, for a test of its plan.
#[cfg(test)]
pub(crate) fn page_sql(query: &ListQuery) -> String {
    page_of(query, Wanted::by(query)).0
}

/// Returns the query of a page, and its parameters.
fn page_of(query: &ListQuery, mut wanted: Wanted) -> (String, Vec<Value>) {
    let (time, direction, behind) = match query.sort {
        ListSort::Newest => ("created_at_ms", "DESC", "<"),
        ListSort::Oldest => ("created_at_ms", "ASC", ">"),
        ListSort::Changed => ("updated_at_ms", "DESC", "<"),
    };
    if let Some(after) = &query.after {
        let (at, id) = (wanted.param(column(after.at_ms)), wanted.param(after.id.clone()));
        wanted.conditions.push(format!("({time}, id) {behind} ({at}, {id})"));
    }
    // One more row shows whether another page follows.
    let size = wanted.param(limit(query.limit.saturating_add(1)));
    let sql = format!(
        "SELECT {} FROM service_runs{} ORDER BY {time} {direction}, id {direction} LIMIT {size}",
        named(&INFO),
        wanted.all()
    );
    (sql, wanted.params)
}

pub(super) fn page(conn: &Connection, query: &ListQuery) -> Kept<RunPage> {
    let wanted = Wanted::by(query);
    let counts = counts(conn, &wanted)?;
    let (sql, params) = page_of(query, wanted);
    let mut page = conn.prepare_cached(&sql)?;
    let mut rows = page.query(params_from_iter(params))?;
    let mut runs: Vec<RunInfo> = Vec::new();
    while let Some(row) = rows.next()? {
        // The row beyond the page may be unreadable: it belongs to the next page.
        if runs.len() == query.limit {
            let next = runs.last().map(|run| query.position(run));
            return Ok(RunPage { runs, next, counts });
        }
        runs.push(RunRow::of(row)?.info()?);
    }
    Ok(RunPage { runs, next: None, counts })
}

/// The number of runs on all pages, by status.
fn counts(conn: &Connection, wanted: &Wanted) -> Kept<BTreeMap<ServiceRunStatus, usize>> {
    // With a run, for the error of an unknown status.
    let sql = format!(
        "SELECT min(id) AS \"service_runs.id\", status AS \"service_runs.status\", count(*) FROM service_runs{} GROUP BY status",
        wanted.all()
    );
    let mut counted = conn.prepare_cached(&sql)?;
    let mut rows = counted.query(params_from_iter(&wanted.params))?;
    let mut counts = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let count = usize::try_from(row.get::<_, i64>(2)?).unwrap_or(0);
        counts.insert(RunRow::of(row)?.status(1)?, count);
    }
    Ok(counts)
}
