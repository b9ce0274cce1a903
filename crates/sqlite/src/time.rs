//! The store's clock, which restarts with each boot of the machine.

use std::path::Path;
use std::time::Duration;

use runstate_runtime::clock::Clock;
use runstate_store::{StoreError, left, moment};
use rusqlite::{Connection, OptionalExtension};

use crate::error::{Fault, Outcome};
use crate::number::column;
use crate::read::lists::key;

/// The time of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    /// By the clock that no setting changes.
    pub(crate) ticks: u64,
    /// By the clock of the machine.
    pub(crate) date: u64,
    /// Whether the times in the file are those of this boot.
    pub(crate) is_of_boot: bool,
}

impl Now {
    /// Returns the time for a write transaction, which has [entered](enter) the boot.
    pub(crate) fn of(clock: &dyn Clock) -> Self {
        Now { ticks: clock.ticks_ms(), date: clock.now_ms(), is_of_boot: true }
    }

    /// Returns the time for a read transaction.
    pub(crate) fn beside(conn: &Connection, clock: &dyn Clock) -> Outcome<Self> {
        let is_of_boot = last(conn)?.is_some_and(|last| last == clock.boot());
        Ok(Now { is_of_boot, ..Now::of(clock) })
    }

    /// Returns the time after a duration, for a column.
    pub(crate) fn after(self, time: Duration) -> i64 {
        column(moment(self.ticks, time))
    }

    /// Returns the duration until a time. Times of an earlier boot are over.
    pub(crate) fn left(self, at: u64) -> Duration {
        match left(self.ticks, at) {
            Duration::MAX => Duration::MAX,
            left if self.is_of_boot => left,
            _ => Duration::ZERO,
        }
    }

    /// Returns the remaining time of a lease. Leases of an earlier boot are over.
    pub(crate) fn held(self, until: u64) -> Duration {
        if self.is_of_boot { left(self.ticks, until) } else { Duration::ZERO }
    }

    /// Returns the time that is left for a decision: by the store's clock of this boot, or else until the date.
    pub(crate) fn left_of(self, lapses: Option<u64>, date: Option<u64>) -> Option<Duration> {
        let by_clock = lapses.filter(|_| self.is_of_boot).map(|at| self.left(at));
        by_clock.or_else(|| date.map(|at| left(self.date, at)))
    }
}

/// Checks that no other machine uses the file.
///
/// # Errors
/// [`StoreError::Unusable`] if the file was used under this boot and then under another. A boot id does not return,
/// so two machines use the file.
pub(crate) fn check(conn: &Connection, path: &Path, boot: &str) -> Outcome<()> {
    let last = last(conn)?;
    if last.as_ref().is_none_or(|last| last == boot) {
        return Ok(());
    }
    if boot.is_empty() {
        return Err(Fault::Store(StoreError::unusable(
            format_args!(
                "{} was used under the boot id {:?}, and the boot id of this machine cannot be read",
                path.display(),
                last.unwrap_or_default()
            ),
            "nothing was changed; have /proc/sys/kernel/random/boot_id readable for this process, as it is for the others",
        )));
    }
    let known = "SELECT 1 FROM boots WHERE name = ?1";
    if conn.prepare_cached(known)?.query_row([boot], |_| Ok(())).optional()?.is_none() {
        return Ok(());
    }
    Err(Fault::Store(StoreError::unusable(
        format_args!(
            "{} was used under another boot id than the one of this machine ({boot:?}), and under this one before: two machines have it, or two \
             sandboxes of one",
            path.display()
        ),
        "nothing was changed; give each machine a file of its own, or keep the runs in PostgreSQL; for a file that was copied away and back: \
         `sqlite3 FILE 'DELETE FROM boots'`, once no other process uses it",
    )))
}

/// Registers the current boot of the machine. Each transaction that writes times begins with this step. No process
/// survives a boot. So after a new boot, leases and retry delays are over, and questions expire at their dates.
///
/// # Errors
/// As [`check`].
pub(crate) fn enter(conn: &Connection, path: &Path, boot: &str) -> Outcome<()> {
    if last(conn)?.is_some_and(|last| last == boot) {
        return Ok(());
    }
    check(conn, path, boot)?;
    let never = column(moment(0, Duration::MAX));
    change_all(conn, "runs SET held_until_ms = 0", "holder IS NOT NULL")?;
    change_all(conn, "service_runs SET held_until_ms = 0", "holder IS NOT NULL")?;
    change_all(conn, "runs SET not_before_ms = NULL", &format!("not_before_ms <> {never}"))?;
    change_all(conn, "calls SET lapses_at_ms = NULL", "open = 1 AND lapses_at_ms IS NOT NULL")?;
    conn.execute("INSERT INTO boots (name) VALUES (?1)", [boot])?;
    conn.execute("DELETE FROM boots WHERE no <= (SELECT max(no) FROM boots) - 100", [])?;
    Ok(())
}

/// Changes these rows. A row with a value of another type stays unchanged: SQLite refuses to change it, and another
/// program wrote the value.
fn change_all(conn: &Connection, change: &str, which: &str) -> Outcome<()> {
    match conn.execute(&format!("UPDATE {change} WHERE {which}"), []).map_err(Fault::from) {
        Err(fault) if fault.is_of_another_type() => {}
        done => return done.map(drop),
    }
    let table = change.split(' ').next().unwrap_or_default();
    let mut rows = conn.prepare(&format!("SELECT rowid FROM {table} WHERE {which}"))?;
    let rows: Vec<i64> = rows.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut one = conn.prepare(&format!("UPDATE {change} WHERE rowid = ?1"))?;
    for row in rows {
        match one.execute([row]).map_err(Fault::from) {
            Err(fault) if !fault.is_of_another_type() => return Err(fault),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the last boot in the file.
fn last(conn: &Connection) -> Outcome<Option<String>> {
    let mut last = conn.prepare_cached("SELECT name FROM boots ORDER BY no DESC LIMIT 1")?;
    Ok(last.query_row([], |row| key(row, 0)).optional()?)
}
