//! Numbers as SQLite has them: signed.

/// The number as a column holds it. Times and counters beyond 2^63 - 1 do not come up; one that does is the greatest.
pub(crate) fn column(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The number that a column holds. The greatest is the greatest again.
pub(crate) fn number(column: i64) -> u64 {
    if column == i64::MAX { u64::MAX } else { u64::try_from(column).unwrap_or(0) }
}

/// A count of rows, as a limit.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The same, for what is less wide; a column that holds more was not written by this program.
pub(crate) fn narrow(column: i64) -> u32 {
    u32::try_from(column).unwrap_or(if column < 0 { 0 } else { u32::MAX })
}
