//! The store's clock, which begins with each boot of the machine.

use std::path::Path;

use runstate::clock::Clock;
use runstate::store::{StoreError, moment};
use rusqlite::{Connection, TransactionBehavior, params};

use crate::error::{Fault, Outcome};
use crate::number::column;

/// The time of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    /// By the clock that is never set.
    pub(crate) ticks: u64,
    /// By the clock of the machine.
    pub(crate) date: u64,
}

impl Now {
    pub(crate) fn of(clock: &dyn Clock) -> Self {
        Now { ticks: clock.ticks_ms(), date: clock.now_ms() }
    }

    /// The moment so long after it, as a column holds it.
    pub(crate) fn after(self, time: std::time::Duration) -> i64 {
        column(moment(self.ticks, time))
    }
}

/// Notes with which boot of the machine the clock begins. Under another one than before no process has its run any more: leases are over,
/// and so are the times for which runs were put off; questions lapse at their dates.
///
/// # Errors
/// Where two machines have the file by turns: [`StoreError::Unusable`].
pub(crate) fn enter(conn: &mut Connection, path: &Path, boot: &str) -> Outcome<()> {
    if boots(conn)?.first().is_some_and(|last| last == boot) {
        return Ok(());
    }
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited.
    match &*boots(&transaction)? {
        [last, ..] if last == boot => return Ok(()),
        [last, before, earlier, ..] if before == boot && earlier == last => {
            return Err(Fault::Store(StoreError::unusable(
                format_args!(
                    "{} is used by two machines at once, and its leases are told by the clock of one",
                    path.display()
                ),
                "nothing was changed; give each machine a file of its own, or keep the runs in PostgreSQL",
            )));
        }
        _ => {}
    }
    transaction.execute("UPDATE runs SET held_until_ms = 0 WHERE holder IS NOT NULL", [])?;
    let never = column(moment(0, std::time::Duration::MAX));
    transaction.execute("UPDATE runs SET not_before_ms = NULL WHERE not_before_ms <> ?1", [never])?;
    transaction
        .execute("UPDATE calls SET lapses_at_ms = NULL WHERE open = 1 AND lapses_at_ms IS NOT NULL", [])?;
    transaction.execute("INSERT INTO boots (name) VALUES (?1)", params![boot])?;
    transaction.execute("DELETE FROM boots WHERE no <= (SELECT max(no) FROM boots) - 4", [])?;
    Ok(transaction.commit()?)
}

/// The last boots, the last first.
fn boots(conn: &Connection) -> Outcome<Vec<String>> {
    let mut boots = conn.prepare("SELECT name FROM boots ORDER BY no DESC LIMIT 3")?;
    let boots = boots.query_map([], |row| row.get(0))?;
    Ok(boots.collect::<Result<_, _>>()?)
}
