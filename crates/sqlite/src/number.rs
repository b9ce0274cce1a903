//! Numbers in SQLite, which are signed.

/// Converts a number for a column. Times and counters above 2^63 - 1 do not occur; such a number becomes the maximum.
pub(crate) fn column(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a number from a column. The maximum becomes the maximum again.
pub(crate) fn number(column: i64) -> u64 {
    if column == i64::MAX { u64::MAX } else { u64::try_from(column).unwrap_or(0) }
}

/// Converts a count of rows into a limit.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Converts a number from a column to 32 bits. A column with a larger number was not written by this program.
pub(crate) fn narrow(column: i64) -> u32 {
    u32::try_from(column).unwrap_or(if column < 0 { 0 } else { u32::MAX })
}
