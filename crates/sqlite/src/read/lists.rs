//! Lists in which a row that cannot be read hides no other.

use runstate::store::{StoreError, Unread};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, ToSql};

use crate::connect::MOST_BYTES;
use crate::error::{Fault, Outcome, unreadable};

/// The run, and for a call its name.
pub(crate) type Key = (String, Option<String>);

/// The rows of a page, but for those that cannot be read: others take their places. The query has `:limit` and `:offset`.
pub(crate) fn page<T>(
    conn: &Connection,
    sql: &str,
    params: &[(&str, &dyn ToSql)],
    limit: i64,
    unread: &Unread,
    row: impl Fn(&Row<'_>) -> rusqlite::Result<(Key, Result<T, StoreError>)>,
) -> Outcome<Vec<T>> {
    // The statement may add the two.
    let limit = limit.min(i64::MAX >> 1);
    let mut page = conn.prepare_cached(sql)?;
    let (mut found, mut offset) = (Vec::new(), 0_i64);
    loop {
        // Each page is as long as all before it, so that what lies before a page costs no more than the page.
        let left = limit - i64::try_from(found.len()).unwrap_or(i64::MAX);
        let size = left.max(offset);
        let place: [(&str, &dyn ToSql); 2] = [(":limit", &size), (":offset", &offset)];
        let mut rows = page.query(&*[params, &place].concat())?;
        let mut seen = 0;
        while let Some(next) = rows.next()? {
            seen += 1;
            let ((run, call), read) = row(next)?;
            found.extend(unread.note(&run, call.as_deref(), read)?);
            if i64::try_from(found.len()).is_ok_and(|found| found == limit) {
                return Ok(found);
            }
        }
        offset = offset.saturating_add(seen);
        if seen < size || seen == 0 {
            return Ok(found);
        }
    }
}

/// A column of text that is not read where it has more bytes than a value may have.
pub(super) fn bounded(column: &str) -> String {
    format!("iif(octet_length({column}) > {MOST_BYTES}, x'', {column})")
}

/// The text of a column that is [`bounded`].
pub(crate) fn text(row: &Row<'_>, index: usize) -> Result<String, StoreError> {
    optional(row, index)?.ok_or_else(|| wrong(row, index, "it is NULL"))
}

/// The same, where there may be none.
pub(super) fn optional(row: &Row<'_>, index: usize) -> Result<Option<String>, StoreError> {
    match row.get_ref(index) {
        Ok(ValueRef::Null) => Ok(None),
        Ok(ValueRef::Text(text)) => match str::from_utf8(text) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(error) => Err(wrong(row, index, &error.to_string())),
        },
        // That of a column that is bounded.
        Ok(ValueRef::Blob([])) => Err(wrong(row, index, "it has more bytes than are read of a value")),
        Ok(other) => Err(wrong(row, index, &format!("expected Text, got {}", other.data_type()))),
        Err(error) => Err(wrong(row, index, &error.to_string())),
    }
}

/// The number of a column. The tables have no other type there, but another program can have put one.
pub(super) fn int(row: &Row<'_>, index: usize) -> Result<i64, StoreError> {
    optional_int(row, index)?.ok_or_else(|| wrong(row, index, "it is NULL"))
}

/// The same, where there may be none.
pub(super) fn optional_int(row: &Row<'_>, index: usize) -> Result<Option<i64>, StoreError> {
    row.get(index).map_err(|error| wrong(row, index, &error.to_string()))
}

/// The key of a row, however it is spelt.
pub(crate) fn key(row: &Row<'_>, index: usize) -> rusqlite::Result<String> {
    const MOST: usize = 64;
    Ok(match row.get_ref(index)? {
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => {
            let digits: String = bytes.iter().take(MOST).map(|byte| format!("{byte:02x}")).collect();
            format!("x'{digits}{}'", if bytes.len() > MOST { "…" } else { "" })
        }
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Null => String::new(),
    })
}

/// A value of another type than its column has, with the place of it: the table and the column, which is called so in the query, and the row,
/// by its first column unless it is that of the run.
pub(super) fn misplaced(row: &Row<'_>, run: &str, error: rusqlite::Error) -> Fault {
    use rusqlite::Error::{FromSqlConversionFailure, InvalidColumnType, Utf8Error};
    let (index, why) = match &error {
        InvalidColumnType(index, _, kind) => (*index, format!("got {kind}, and its column has another type")),
        FromSqlConversionFailure(index, _, why) => (*index, why.to_string()),
        Utf8Error(index, why) => (*index, why.to_string()),
        _ => return error.into(),
    };
    let column = row.as_ref().column_name(index).unwrap_or("a column");
    let first = row.as_ref().column_name(0).unwrap_or_default();
    let of_row = match key(row, 0) {
        Ok(key) if index > 0 && !first.starts_with("runs.") => format!(" of the row {key:?}"),
        _ => String::new(),
    };
    unreadable(format_args!("{column}{of_row} of the run {run:?}: {why}")).into()
}

fn wrong(row: &Row<'_>, index: usize, why: &str) -> StoreError {
    let column = row.as_ref().column_name(index).unwrap_or("a column").to_owned();
    let run = key(row, 0).unwrap_or_default();
    unreadable(format_args!("{column} of the run {run:?}: {why}"))
}
