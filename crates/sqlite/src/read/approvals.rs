//! Calls that wait for a decision, and when they lapse.

use runstate::store::{About, Approval, ApprovalQuery, Timer};
use rusqlite::{Connection, ToSql, named_params};

use super::lists::{self, Unread, bounded, key, text};
use super::load::json;
use crate::error::Outcome;
use crate::number::{column, limit, number};

fn columns() -> String {
    let texts = ["tool", "arguments", "asked"].map(|name| format!("{} AS \"calls.{name}\"", bounded(name)));
    format!("run, name, {}", texts.join(", "))
}

/// A page of those that are asked about; each goes through the index of its own.
pub(crate) fn page_sql(about: &About, has_behind: bool) -> String {
    let behind = if has_behind { "(run, name) > (:run, :name)" } else { "(:run IS NULL AND :name IS NULL)" };
    let columns = columns();
    let part = |index: &str, which: &str, page: &str| {
        format!(
            "SELECT {columns} FROM calls INDEXED BY {index} WHERE open = 1 AND {which} AND {behind} \
             ORDER BY run, name LIMIT {page}"
        )
    };
    const PAGE: &str = ":limit OFFSET :offset";
    match about {
        About::All => part("calls_open", "(:about IS NULL)", PAGE),
        About::Run(_) => part("calls_open", "run = :about", PAGE),
        About::Suspension(_) => part("calls_open_by_suspension", "suspension = :about", PAGE),
        About::Call(_) => format!(
            "SELECT * FROM ({}) UNION SELECT * FROM ({}) ORDER BY run, name LIMIT {PAGE}",
            part("calls_open_by_name", "name = :about", ":limit + :offset"),
            part("calls_open_by_id", "id = :about", ":limit + :offset")
        ),
    }
}

pub(crate) fn page(conn: &Connection, query: &ApprovalQuery, unread: &Unread) -> Outcome<Vec<Approval>> {
    let about = match &query.about {
        About::All => None,
        About::Run(text) | About::Call(text) | About::Suspension(text) => Some(text),
    };
    let (run, name) = query.behind.as_ref().map(|(run, name)| (run, name)).unzip();
    let sql = page_sql(&query.about, query.behind.is_some());
    let params: &[(&str, &dyn ToSql)] = named_params! { ":about": about, ":run": run, ":name": name };
    lists::page(conn, &sql, params, limit(query.limit), unread, |row| {
        let (run, call) = (key(row, 0)?, key(row, 1)?);
        let read = || {
            let place = |column: &str| format!("calls.{column} of the call {call:?} of the run {run:?}");
            let arguments = json(&text(row, 3)?, || place("arguments"))?;
            let suspension = json(&text(row, 4)?, || place("asked"))?;
            Ok(Approval::new(text(row, 0)?, text(row, 1)?, text(row, 2)?, arguments, suspension))
        };
        let read = read();
        Ok(((run, Some(call)), read))
    })
}

pub(crate) const DUE: &str = "SELECT run, name, iif(octet_length(suspension) > 65536, x'', suspension), expires_at_ms \
     FROM calls INDEXED BY calls_due \
     WHERE open = 1 AND expires_at_ms IS NOT NULL AND expires_at_ms <= :now ORDER BY expires_at_ms, run, name \
     LIMIT :limit OFFSET :offset";

pub(crate) fn due(conn: &Connection, now_ms: u64, most: usize, unread: &Unread) -> Outcome<Vec<Timer>> {
    let params: &[(&str, &dyn ToSql)] = named_params! { ":now": column(now_ms) };
    lists::page(conn, DUE, params, limit(most), unread, |row| {
        let at_ms = number(row.get(3)?);
        let read = || Ok(Timer::new(text(row, 0)?, text(row, 1)?, text(row, 2)?, at_ms));
        Ok(((key(row, 0)?, Some(key(row, 1)?)), read()))
    })
}
