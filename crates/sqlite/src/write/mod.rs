//! The write operations, each in a transaction of the writer.

pub(crate) mod commit;
pub(crate) mod leases;
pub(crate) mod mail;
pub(crate) mod runs;
mod threads;

use rusqlite::Connection;

use crate::error::Outcome;

/// Notifies the waiting tasks of all processes of new input.
fn bring_news(conn: &Connection) -> Outcome<()> {
    conn.prepare_cached(
        "UPDATE news SET count = min(CAST(coalesce(count, 0) AS INTEGER), 9223372036854775806) + 1",
    )?
    .execute([])?;
    Ok(())
}
