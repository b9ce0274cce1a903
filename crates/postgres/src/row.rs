//! Values of rows. Another program may have written them.

use runstate_store::StoreError;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::error::{chain, damaged};
use crate::text::{MOST_BYTES, TOO_LONG, untext};

/// Returns the value of a column.
///
/// # Errors
/// If the value does not have the type that this program writes there.
pub(crate) fn column<'r, T: FromSql<'r>>(row: &'r Row, index: usize) -> Result<T, StoreError> {
    row.try_get(index).map_err(|error| damaged(chain(&error)))
}

/// Returns the decoded text of a column; none for NULL.
pub(crate) fn optional(row: &Row, index: usize) -> Result<Option<String>, StoreError> {
    Ok(stored(row, index)?.map(|kept: &str| untext(kept.to_owned())))
}

/// Returns the decoded text of a column.
pub(crate) fn told(row: &Row, index: usize) -> Result<String, StoreError> {
    optional(row, index)?.ok_or_else(|| null(row, index))
}

/// Returns the JSON of a column.
pub(crate) fn json(row: &Row, index: usize) -> Result<&str, StoreError> {
    stored(row, index)?.ok_or_else(|| null(row, index))
}

fn stored(row: &Row, index: usize) -> Result<Option<&str>, StoreError> {
    match column(row, index)? {
        Some(TOO_LONG) => {
            Err(damaged(format_args!("{} has more than {MOST_BYTES} bytes", row.columns()[index].name())))
        }
        kept => Ok(kept),
    }
}

fn null(row: &Row, index: usize) -> StoreError {
    damaged(format_args!("{} is NULL", row.columns()[index].name()))
}
