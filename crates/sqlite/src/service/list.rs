//! Lists of service runs.

use runstate::service_run::FinalStatus;
use runstate_service::{ListQuery, ListSort, PageRows, RunPage};
use runstate_store::StoreError;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::Kept;
use super::read::{INFO, RunRow, named};
use crate::error::Fault;
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

/// Returns the query of a page, and its parameters without the last two: the size and the offset.
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
    let sql = format!(
        "SELECT {} FROM service_runs{} ORDER BY {time} {direction}, id {direction} LIMIT ?{} OFFSET ?{}",
        named(&INFO),
        wanted.all(),
        wanted.params.len() + 1,
        wanted.params.len() + 2,
    );
    (sql, wanted.params)
}

pub(super) fn page(conn: &Connection, query: &ListQuery) -> Kept<RunPage> {
    let wanted = Wanted::by(query);
    let counts = if query.counts { Some(counts(conn, &wanted)?) } else { None };
    let (sql, params) = page_of(query, wanted);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut page = PageRows::new(query);
    // One more row shows whether another page follows.
    let (mut size, mut offset) = (limit(query.limit.saturating_add(1)), 0_i64);
    loop {
        let place = [Value::from(size), Value::from(offset)];
        let mut rows = statement.query(params_from_iter(params.iter().chain(&place)))?;
        let mut seen = 0;
        while let Some(row) = rows.next()? {
            seen += 1;
            let row = RunRow::of(row)?;
            let has_room = match row.placed(query.sort) {
                (Ok(info), _) => page.push(info),
                (Err(Fault::Store(StoreError::Unusable { what, .. })), position) => {
                    page.push_unreadable(row.unreadable(what), position)
                }
                (Err(fault), _) => return Err(fault.into()),
            };
            if !has_room {
                return Ok(page.finish(counts));
            }
        }
        offset = offset.saturating_add(seen);
        if seen < size {
            return Ok(page.finish(counts));
        }
        // Rows without a position take no place. So more rows follow.
        size = size.max(offset);
    }
}

/// The number of runs on all pages, by status. None for a status that is no text, or a long one.
fn counts(conn: &Connection, wanted: &Wanted) -> Kept<Vec<(Option<String>, usize)>> {
    // Without the limit SQLite would merge the two queries, and sort by the whole of a long text.
    let sql = format!(
        "SELECT name, count(*) FROM (SELECT iif(octet_length(status) > 64, NULL, status) AS name \
         FROM service_runs{} LIMIT -1) GROUP BY name",
        wanted.all()
    );
    let mut counted = conn.prepare_cached(&sql)?;
    let mut rows = counted.query(params_from_iter(&wanted.params))?;
    let mut counts = Vec::new();
    while let Some(row) = rows.next()? {
        counts.push((row.get(0).ok(), usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0)));
    }
    Ok(counts)
}
