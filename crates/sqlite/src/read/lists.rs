//! Lists in which an unreadable row hides no other.

use runstate_store::{StoreError, Unread};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, ToSql};

use crate::connect::MOST_BYTES;
use crate::error::{Fault, Outcome, unreadable};

/// The run, and the name of the call for a row of a call.
pub(crate) type Key = (String, Option<String>);

/// Returns the readable rows of a page. Further rows take the places of unreadable ones. The query has the parameters
/// `:limit` and `:offset`.
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
        // Each page is as long as all previous ones together, so skipping those costs no more than the page itself.
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

/// Returns the SQL of a text column that is not read if it exceeds the size limit of a value.
pub(crate) fn bounded(column: &str) -> String {
    format!("iif(octet_length({column}) > {MOST_BYTES}, x'', {column})")
}

/// Returns the text of a column that is [`bounded`].
pub(crate) fn text(row: &Row<'_>, index: usize) -> Result<String, StoreError> {
    optional(row, index)?.ok_or_else(|| wrong(row, index, "it is NULL"))
}

/// Returns the text of a [`bounded`] column, or none for NULL.
pub(crate) fn optional(row: &Row<'_>, index: usize) -> Result<Option<String>, StoreError> {
    match row.get_ref(index) {
        Ok(ValueRef::Null) => Ok(None),
        Ok(ValueRef::Text(text)) => match str::from_utf8(text) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(error) => Err(wrong(row, index, &error.to_string())),
        },
        // A bounded column has this value if it is too large.
        Ok(ValueRef::Blob([])) => Err(wrong(row, index, "it has more bytes than are read of a value")),
        Ok(other) => Err(wrong(row, index, &format!("expected Text, got {}", other.data_type()))),
        Err(error) => Err(wrong(row, index, &error.to_string())),
    }
}

/// Returns the number in a column. The tables allow no other type there, but another program can bypass that.
pub(super) fn int(row: &Row<'_>, index: usize) -> Result<i64, StoreError> {
    optional_int(row, index)?.ok_or_else(|| wrong(row, index, "it is NULL"))
}

/// Returns the number in a column, or none for NULL.
pub(super) fn optional_int(row: &Row<'_>, index: usize) -> Result<Option<i64>, StoreError> {
    row.get(index).map_err(|error| wrong(row, index, &error.to_string()))
}

/// Returns the key of a row as text, for any type of value.
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

/// Creates the error of a value that has another type than its column. It names the table and the column, by the
/// column's name in the query, and the row, by its first column unless the row is that of the run.
pub(crate) fn misplaced(row: &Row<'_>, run: &str, error: rusqlite::Error) -> Fault {
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
        Ok(key) if index > 0 && !first.starts_with("runs.") && !first.starts_with("service_runs.") => {
            format!(" of the row {key:?}")
        }
        _ => String::new(),
    };
    unreadable(format_args!("{column}{of_row} of the run {run:?}: {why}")).into()
}

fn wrong(row: &Row<'_>, index: usize, why: &str) -> StoreError {
    let column = row.as_ref().column_name(index).unwrap_or("a column").to_owned();
    let run = key(row, 0).unwrap_or_default();
    unreadable(format_args!("{column} of the run {run:?}: {why}"))
}
