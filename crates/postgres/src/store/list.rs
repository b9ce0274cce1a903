//! Pages of runs, of calls that wait, and of timers. Each begins where the one before ended, in the order of an index, so that
//! a page costs the same wherever it is.

use runstate::decision::Suspension;
use runstate::store::{About, Approval, ApprovalQuery, RunInfo, RunQuery, StoreError, Timer};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::sql::Sql;
use super::{limit_of, load};
use crate::error::damaged;
use crate::pool::Connections;
use crate::text::{Key, int, untext};
use crate::time::left_until;

/// Conditions and their parameters, numbered in the order in which they are added.
#[derive(Default)]
struct Wanted<'a> {
    conditions: Vec<String>,
    params: Vec<&'a (dyn ToSql + Sync)>,
}

impl<'a> Wanted<'a> {
    /// Adds a parameter, and gives how it is written.
    fn param(&mut self, value: &'a (dyn ToSql + Sync)) -> String {
        self.params.push(value);
        format!("${}", self.params.len())
    }

    fn all(&self) -> String {
        if self.conditions.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", self.conditions.join(" AND "))
        }
    }
}

pub(super) async fn runs(
    connections: &Connections,
    sql: &Sql,
    query: &RunQuery,
) -> Result<Vec<RunInfo>, StoreError> {
    let (status, changed) = (query.status.map(|status| status.name()), query.changed_before_ms.map(int));
    let behind = query.behind.as_ref().map(|(at, run)| (int(*at), Key::of(run).key));
    let limit = limit_of(query.limit);
    let mut wanted = Wanted::default();
    if let Some(status) = &status {
        let status = wanted.param(status);
        wanted.conditions.push(format!("r.status = {status}"));
    }
    if let Some(changed) = &changed {
        let changed = wanted.param(changed);
        wanted.conditions.push(format!("r.changed_at < {changed}"));
    }
    if let Some((at, run)) = &behind {
        let (at, run) = (wanted.param(at), wanted.param(run));
        wanted.conditions.push(format!("(r.created_at, r.id) < ({at}, {run})"));
    }
    let conditions = wanted.all();
    let limit = wanted.param(&limit);
    let statement = format!("{}{conditions} ORDER BY r.created_at DESC, r.id DESC LIMIT {limit}", sql.runs);
    connections.rows(&statement, &wanted.params).await?.iter().map(load::info).collect()
}

pub(super) async fn approvals(
    connections: &Connections,
    sql: &Sql,
    query: &ApprovalQuery,
) -> Result<Vec<Approval>, StoreError> {
    let columns: &[&str] = match &query.about {
        About::All => &[""],
        About::Run(_) => &["run_id"],
        // Two indexes, each in the order of the page.
        About::Call(_) => &["call", "call_id"],
        About::Suspension(_) => &["suspension"],
    };
    let about = match &query.about {
        About::All => None,
        About::Run(id) | About::Call(id) | About::Suspension(id) => Some(Key::of(id).key),
    };
    let behind = query.behind.as_ref().map(|(run, call)| (Key::of(run).key, Key::of(call).key));
    let limit = limit_of(query.limit);
    let mut wanted = Wanted::default();
    let about = about.as_ref().map(|about| wanted.param(about));
    if let Some((run, call)) = &behind {
        let (run, call) = (wanted.param(run), wanted.param(call));
        wanted.conditions.push(format!("(a.run_id, a.call) > ({run}, {call})"));
    }
    let limit = wanted.param(&limit);
    let pages = columns.iter().map(|column| {
        let mut conditions = wanted.conditions.clone();
        conditions.extend(about.as_ref().map(|about| format!("a.{column} = {about}")));
        let all = if conditions.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", conditions.join(" AND "))
        };
        format!("({}{all} ORDER BY a.run_id, a.call LIMIT {limit})", sql.approvals)
    });
    let pages: Vec<_> = pages.collect();
    let statement = match &*pages {
        [page] => page.clone(),
        pages => format!("{} ORDER BY 1, 2 LIMIT {limit}", pages.join(" UNION ")),
    };
    connections.rows(&statement, &wanted.params).await?.iter().map(approval).collect()
}

fn approval(row: &Row) -> Result<Approval, StoreError> {
    let arguments = runstate::json::from_str(row.get(5))
        .map_err(|error| damaged(format_args!("approvals.arguments: {error}")))?;
    let (run, call, tool) = (untext(row.get(2)), untext(row.get(3)), untext(row.get(4)));
    let (expires, now): (Option<i64>, i64) = (row.get(7), row.get(8));
    let left = expires.map(|at| left_until(now, at));
    Ok(Approval::new(run, call, tool, arguments, suspension(row.get(6))?).leaving(left))
}

fn suspension(json: &str) -> Result<Suspension, StoreError> {
    runstate::json::from_str(json).map_err(|error| damaged(format_args!("approvals.json: {error}")))
}

pub(super) async fn due(
    connections: &Connections,
    sql: &Sql,
    limit: usize,
) -> Result<Vec<Timer>, StoreError> {
    let rows = connections.rows(&sql.due, &[&limit_of(limit)]).await?;
    let timer = |row: &Row| {
        let suspension = suspension(row.get(2))?.id;
        Ok(Timer::new(untext(row.get(0)), untext(row.get(1)), suspension))
    };
    rows.iter().map(timer).collect()
}
