//! Calls that wait for a decision, and when they lapse.

use runstate::store::{About, Approval, ApprovalQuery, Timer};
use rusqlite::{Connection, named_params, params};

use super::load::{all, json};
use crate::error::Outcome;
use crate::number::{column, limit, number};

const COLUMNS: &str = "run, name, tool, arguments, asked";

/// A page of those that are asked about; each goes through the index of its own.
pub(crate) fn page_sql(about: &About, has_behind: bool) -> String {
    let behind = if has_behind { "(run, name) > (:run, :name)" } else { "(:run IS NULL AND :name IS NULL)" };
    let part = |index: &str, which: &str| {
        format!(
            "SELECT {COLUMNS} FROM calls INDEXED BY {index} WHERE open = 1 AND {which} AND {behind} \
             ORDER BY run, name LIMIT :limit"
        )
    };
    match about {
        About::All => part("calls_open", "(:about IS NULL)"),
        About::Run(_) => part("calls_open", "run = :about"),
        About::Suspension(_) => part("calls_open_by_suspension", "suspension = :about"),
        About::Call(_) => format!(
            "SELECT * FROM ({}) UNION SELECT * FROM ({}) ORDER BY run, name LIMIT :limit",
            part("calls_open_by_name", "name = :about"),
            part("calls_open_by_id", "id = :about")
        ),
    }
}

pub(crate) fn page(conn: &Connection, query: &ApprovalQuery) -> Outcome<Vec<Approval>> {
    let about = match &query.about {
        About::All => None,
        About::Run(text) | About::Call(text) | About::Suspension(text) => Some(text),
    };
    let (run, name) = query.behind.as_ref().map(|(run, name)| (run, name)).unzip();
    let sql = page_sql(&query.about, query.behind.is_some());
    let params = named_params! { ":about": about, ":run": run, ":name": name, ":limit": limit(query.limit) };
    type Columns = (String, String, String, String, String);
    let rows: Vec<Columns> =
        all(conn, &sql, params, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))?;
    let approvals = rows.into_iter().map(|(run, call, tool, arguments, asked)| {
        let place = |column: &str| format!("calls.{column} of the call {call:?} of the run {run:?}");
        let arguments = json(&arguments, || place("arguments"))?;
        let suspension = json(&asked, || place("asked"))?;
        Ok(Approval::new(run, call, tool, arguments, suspension))
    });
    approvals.collect()
}

pub(crate) const DUE: &str = "SELECT run, name, suspension, expires_at_ms FROM calls INDEXED BY calls_due \
     WHERE open = 1 AND expires_at_ms IS NOT NULL AND expires_at_ms <= ?1 ORDER BY expires_at_ms, run, name LIMIT ?2";

pub(crate) fn due(conn: &Connection, now_ms: u64, most: usize) -> Outcome<Vec<Timer>> {
    all(conn, DUE, params![column(now_ms), limit(most)], |row| {
        Ok(Timer::new(row.get(0)?, row.get(1)?, row.get(2)?, number(row.get(3)?)))
    })
}
