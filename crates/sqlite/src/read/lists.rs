//! Lists in which a row that cannot be read hides no other.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use runstate::store::{Damage, StoreError};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, ToSql};

use crate::connect::MOST_BYTES;
use crate::error::Outcome;

/// Rows that lists could not read, by their keys, until a list can read them.
#[derive(Debug, Default)]
pub(crate) struct Unread(Mutex<BTreeMap<Key, Damage>>);

/// The run, and for a call its name.
pub(crate) type Key = (String, Option<String>);

impl Unread {
    pub(super) fn note(&self, key: Key, read: Option<Damage>) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Some(damage) => drop(rows.insert(key, damage)),
            None => drop(rows.remove(&key)),
        }
    }

    pub(crate) fn all(&self) -> Vec<Damage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

/// The rows of a page, but for those that cannot be read: others take their places. The query has `:limit` and `:offset`.
pub(super) fn page<T>(
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
        let left = limit - i64::try_from(found.len()).unwrap_or(i64::MAX);
        let place: [(&str, &dyn ToSql); 2] = [(":limit", &left), (":offset", &offset)];
        let mut rows = page.query(&*[params, &place].concat())?;
        let mut seen = 0;
        while let Some(next) = rows.next()? {
            seen += 1;
            let (key, read) = row(next)?;
            match read {
                Ok(read) => {
                    unread.note(key, None);
                    found.push(read);
                }
                Err(StoreError::Unusable { what, help }) => unread.note(key, Some(Damage::new(what, help))),
                Err(error) => return Err(error.into()),
            }
        }
        offset = offset.saturating_add(seen);
        if seen < left || seen == 0 || i64::try_from(found.len()).is_ok_and(|found| found == limit) {
            return Ok(found);
        }
    }
}

/// A column of text that is not read where it has more bytes than a value may have.
pub(super) fn bounded(column: &str) -> String {
    format!("iif(octet_length({column}) > {MOST_BYTES}, x'', {column})")
}

/// The text of a column that is [`bounded`].
pub(super) fn text(row: &Row<'_>, index: usize) -> Result<String, StoreError> {
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
        Ok(ValueRef::Blob(_)) => Err(wrong(
            row,
            index,
            &format!("it has more than the {MOST_BYTES} bytes that are read of a value"),
        )),
        Ok(other) => Err(wrong(row, index, &format!("it is {}", other.data_type()))),
        Err(error) => Err(wrong(row, index, &error.to_string())),
    }
}

/// The key of a row, however it is spelt.
pub(super) fn key(row: &Row<'_>, index: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    })
}

fn wrong(row: &Row<'_>, index: usize, why: &str) -> StoreError {
    let column = row.as_ref().column_name(index).unwrap_or("a column").to_owned();
    let run = key(row, 0).unwrap_or_default();
    unreadable(format_args!("{column} of the run {run:?}: {why}"))
}

pub(super) fn unreadable(what: impl std::fmt::Display) -> StoreError {
    StoreError::unusable(what, "some other program wrote it; restore the file from a backup")
}
