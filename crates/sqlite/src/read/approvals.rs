//! Waiting calls and their expiries.

use runstate_store::{Approval, ApprovalFilter, ApprovalQuery, Timer, Unread};
use rusqlite::{Connection, ToSql, named_params};

use super::lists::{self, bounded, key, optional_int, text};
use super::load::json;
use crate::error::Outcome;
use crate::number::{column, limit, number};
use crate::time::Now;

fn columns() -> String {
    let texts = ["tool", "arguments", "asked"].map(|name| format!("{} AS \"calls.{name}\"", bounded(name)));
    format!("run, name, {}, lapses_at_ms, expires_at_ms", texts.join(", "))
}

/// Returns the query of a page of waiting calls. Each filter uses an index of its own.
pub(crate) fn page_sql(about: &ApprovalFilter, has_behind: bool) -> String {
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
        ApprovalFilter::All => part("calls_open", "(:about IS NULL)", PAGE),
        ApprovalFilter::Run(_) => part("calls_open", "run = :about", PAGE),
        ApprovalFilter::Suspension(_) => part("calls_open_by_suspension", "suspension = :about", PAGE),
        ApprovalFilter::Call(_) => format!(
            "SELECT * FROM ({}) UNION SELECT * FROM ({}) ORDER BY run, name LIMIT {PAGE}",
            part("calls_open_by_name", "name = :about", ":limit + :offset"),
            part("calls_open_by_id", "id = :about", ":limit + :offset")
        ),
    }
}

pub(crate) fn page(
    conn: &Connection,
    query: &ApprovalQuery,
    unread: &Unread,
    now: Now,
) -> Outcome<Vec<Approval>> {
    let about = match &query.about {
        ApprovalFilter::All => None,
        ApprovalFilter::Run(text) | ApprovalFilter::Call(text) | ApprovalFilter::Suspension(text) => {
            Some(text)
        }
    };
    let (run, name) = query.after.as_ref().map(|(run, name)| (run, name)).unzip();
    let sql = page_sql(&query.about, query.after.is_some());
    let params: &[(&str, &dyn ToSql)] = named_params! { ":about": about, ":run": run, ":name": name };
    lists::page(conn, &sql, params, limit(query.limit), unread, |row| {
        let (run, call) = (key(row, 0)?, key(row, 1)?);
        let read = || {
            let place = |column: &str| format!("calls.{column} of the call {call:?} of the run {run:?}");
            let arguments = json(&text(row, 3)?, || place("arguments"))?;
            let suspension = json(&text(row, 4)?, || place("asked"))?;
            let (lapses, date) = (optional_int(row, 5)?, optional_int(row, 6)?);
            let left = now.left_of(lapses.map(number), date.map(number));
            let asked = Approval::new(text(row, 0)?, text(row, 1)?, text(row, 2)?, arguments, suspension);
            Ok(asked.leaving(left))
        };
        let read = read();
        Ok(((run, Some(call)), read))
    })
}

/// Returns the query of the calls that have expired by the store's clock or at their date.
pub(crate) fn due_sql() -> String {
    let part = |index: &str, which: &str, at: &str, now: &str| {
        format!(
            "SELECT * FROM (SELECT run, name, iif(octet_length(suspension) > 65536, x'', suspension), expires_at_ms \
             FROM calls INDEXED BY {index} WHERE open = 1 AND {which} AND {at} <= {now} \
             ORDER BY {at}, run, name LIMIT :limit + :offset)"
        )
    };
    let by_clock = part("calls_due", "lapses_at_ms IS NOT NULL", "lapses_at_ms", ":ticks");
    let by_date = "lapses_at_ms IS NULL AND expires_at_ms IS NOT NULL";
    let by_date = part("calls_due_by_date", by_date, "expires_at_ms", ":date");
    format!("{by_clock} UNION ALL {by_date} ORDER BY expires_at_ms, run, name LIMIT :limit OFFSET :offset")
}

pub(crate) fn due(conn: &Connection, now: Now, most: usize, unread: &Unread) -> Outcome<Vec<Timer>> {
    let (ticks, date) = (column(now.ticks), column(now.date));
    let params: &[(&str, &dyn ToSql)] = named_params! { ":ticks": ticks, ":date": date };
    lists::page(conn, &due_sql(), params, limit(most), unread, |row| {
        let read = || Ok(Timer::new(text(row, 0)?, text(row, 1)?, text(row, 2)?));
        Ok(((key(row, 0)?, Some(key(row, 1)?)), read()))
    })
}
