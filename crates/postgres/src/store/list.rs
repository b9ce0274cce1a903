//! Pages of runs, of waiting calls and of timers. Each page begins where the previous one ended, in the order of an
//! index. So the cost of a page does not depend on its position. An unreadable row hides no other.

use std::collections::BTreeSet;

use runstate::decision::Suspension;
use runstate_store::{Approval, ApprovalFilter, ApprovalQuery, RunInfo, RunQuery, StoreError, Timer, Unread};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::sql::Sql;
use super::{limit_of, load};
use crate::pool::Connections;
use crate::row::{column, told};
use crate::text::{Key, int};
use crate::time::left_until;

/// Conditions and their parameters, numbered in the order of their addition.
#[derive(Default)]
pub(super) struct Wanted<'a> {
    pub(super) conditions: Vec<String>,
    pub(super) params: Vec<&'a (dyn ToSql + Sync)>,
}

impl<'a> Wanted<'a> {
    /// Adds a parameter and returns its placeholder.
    pub(super) fn param(&mut self, value: &'a (dyn ToSql + Sync)) -> String {
        self.params.push(value);
        format!("${}", self.params.len())
    }

    /// Returns the placeholders of the size and the offset of a page, which come last.
    pub(super) fn page(&self) -> (String, String) {
        let count = self.params.len();
        (format!("${}::bigint", count + 1), format!("${}::bigint", count + 2))
    }

    pub(super) fn all(&self) -> String {
        if self.conditions.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", self.conditions.join(" AND "))
        }
    }
}

/// The run, and the name of the call for a row of a call.
type Name = (String, Option<String>);

/// Returns the readable rows of a page. Further rows take the places of unreadable ones. The last two parameters of
/// the statement are the size and the offset of a page.
async fn page<T>(
    connections: &Connections,
    statement: &str,
    params: &[&(dyn ToSql + Sync)],
    limit: usize,
    unread: &Unread,
    read: impl Fn(&Row) -> (Name, Result<T, StoreError>),
) -> Result<Vec<T>, StoreError> {
    // A statement may add the two.
    let limit = limit_of(limit).min(i64::MAX >> 1);
    // Rows may change between two statements, so one row may be returned twice.
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let mut offset = 0_i64;
    loop {
        let left = limit - i64::try_from(found.len()).unwrap_or(i64::MAX);
        let size = left.max(offset);
        let rows = connections.rows(statement, &[params, &[&size, &offset]].concat()).await?;
        for row in &rows {
            let (name, read) = read(row);
            let read = unread.note(&name.0, name.1.as_deref(), read)?;
            found.extend(read.filter(|_| seen.insert(name)));
            if i64::try_from(found.len()).is_ok_and(|found| found == limit) {
                return Ok(found);
            }
        }
        let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        offset = offset.saturating_add(count);
        if count < size || count == 0 {
            return Ok(found);
        }
    }
}

/// Returns the name of a row, for any spelling.
fn name(row: &Row, run: usize, call: Option<usize>) -> Name {
    let text = |index| told(row, index).unwrap_or_default();
    (text(run), call.map(text))
}

pub(super) async fn runs(
    connections: &Connections,
    sql: &Sql,
    query: &RunQuery,
    unread: &Unread,
) -> Result<Vec<RunInfo>, StoreError> {
    let (status, changed) = (query.status.map(|status| status.name()), query.changed_before_ms.map(int));
    let behind = query.after.as_ref().map(|(at, run)| (int(*at), Key::of(run).key));
    let mut wanted = Wanted::default();
    if let Some(status) = &status {
        let status = wanted.param(status);
        wanted.conditions.push(format!("r.status = {status}"));
    }
    if let Some(changed) = &changed {
        let changed = wanted.param(changed);
        wanted.conditions.push(format!("r.changed_at < {changed}"));
    }
    if query.held {
        wanted.conditions.push("r.holder IS NOT NULL".to_owned());
    }
    if let Some((at, run)) = &behind {
        let (at, run) = (wanted.param(at), wanted.param(run));
        wanted.conditions.push(format!("(r.created_at, r.id) < ({at}, {run})"));
    }
    let conditions = wanted.all();
    let (size, place) = wanted.page();
    let statement =
        format!("{}{conditions} ORDER BY r.created_at DESC, r.id DESC LIMIT {size} OFFSET {place}", sql.runs);
    let read = |row: &Row| (name(row, 0, None), load::info(row));
    page(connections, &statement, &wanted.params, query.limit, unread, read).await
}

pub(super) async fn approvals(
    connections: &Connections,
    sql: &Sql,
    query: &ApprovalQuery,
    unread: &Unread,
) -> Result<Vec<Approval>, StoreError> {
    let columns: &[&str] = match &query.about {
        ApprovalFilter::All => &[""],
        ApprovalFilter::Run(_) => &["run_id"],
        // Two indexes, each in the order of the page.
        ApprovalFilter::Call(_) => &["call", "call_id"],
        ApprovalFilter::Suspension(_) => &["suspension"],
    };
    let about = match &query.about {
        ApprovalFilter::All => None,
        ApprovalFilter::Run(id) | ApprovalFilter::Call(id) | ApprovalFilter::Suspension(id) => {
            Some(Key::of(id).key)
        }
    };
    let behind = query.after.as_ref().map(|(run, call)| (Key::of(run).key, Key::of(call).key));
    let mut wanted = Wanted::default();
    let about = about.as_ref().map(|about| wanted.param(about));
    if let Some((run, call)) = &behind {
        let (run, call) = (wanted.param(run), wanted.param(call));
        wanted.conditions.push(format!("(a.run_id, a.call) > ({run}, {call})"));
    }
    let (size, place) = wanted.page();
    let pages = columns.iter().map(|column| {
        let mut conditions = wanted.conditions.clone();
        conditions.extend(about.as_ref().map(|about| format!("a.{column} = {about}")));
        let all = if conditions.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", conditions.join(" AND "))
        };
        format!("{}{all} ORDER BY a.run_id, a.call", sql.approvals)
    });
    let pages: Vec<_> = pages.collect();
    let all = match &*pages {
        [page] => page.clone(),
        pages => {
            let pages: Vec<_> = pages.iter().map(|page| format!("({page} LIMIT {size} + {place})")).collect();
            format!("{} ORDER BY 1, 2", pages.join(" UNION "))
        }
    };
    let statement = format!("{all} LIMIT {size} OFFSET {place}");
    let read = |row: &Row| (name(row, 2, Some(3)), approval(row));
    page(connections, &statement, &wanted.params, query.limit, unread, read).await
}

fn approval(row: &Row) -> Result<Approval, StoreError> {
    let arguments = load::parsed(row, 5, "approvals.arguments")?;
    let suspension = load::parsed(row, 6, "approvals.json")?;
    let (expires, now): (Option<i64>, i64) = (column(row, 7)?, column(row, 8)?);
    let left = expires.map(|at| left_until(now, at));
    let run = load::whole(row, 2, 0, "approvals.long_run_id")?;
    let call = load::whole(row, 3, 1, "approvals.long_call")?;
    Ok(Approval::new(run, call, told(row, 4)?, arguments, suspension).leaving(left))
}

pub(super) async fn due(
    connections: &Connections,
    sql: &Sql,
    limit: usize,
    unread: &Unread,
) -> Result<Vec<Timer>, StoreError> {
    let timer = |row: &Row| {
        let suspension: Suspension = load::parsed(row, 2, "approvals.json")?;
        let run = load::whole(row, 0, 3, "approvals.long_run_id")?;
        Ok(Timer::new(run, load::whole(row, 1, 4, "approvals.long_call")?, suspension.id))
    };
    page(connections, &sql.due, &[], limit, unread, |row| (name(row, 0, Some(1)), timer(row))).await
}
