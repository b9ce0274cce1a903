//! Leases on service runs, and removals.

use std::time::Duration;

use runstate::service_run::ServiceRunStatus;
use runstate_service::{ServiceLease, ServiceStoreError};
use runstate_store::left;
use rusqlite::{Connection, OptionalExtension, params};

use super::read::status;
use super::{Halt, Kept, no_run};
use crate::number::{column, number};
use crate::time::Now;

pub(super) fn claim(
    conn: &Connection,
    run: &str,
    holder: &str,
    term: Duration,
    now: Now,
) -> Kept<Option<ServiceLease>> {
    is_free(conn, run, now)?;
    if status(conn, run)? != ServiceRunStatus::Running {
        return Ok(None);
    }
    take(conn, run, holder, now.after(term)).map(Some)
}

/// Runs without a lease and those with a lease that is over: the fewest lost leases first, then the oldest change.
pub(crate) const FIRST_READY: &str = "SELECT id FROM ( \
         SELECT * FROM (SELECT id, lost, change FROM service_runs INDEXED BY service_runs_free \
             WHERE status = 'RUNNING' AND holder IS NULL ORDER BY lost, change LIMIT ?2) \
         UNION ALL \
         SELECT * FROM (SELECT id, lost, change FROM service_runs INDEXED BY service_runs_held \
             WHERE status = 'RUNNING' AND holder IS NOT NULL AND held_until_ms <= ?1 ORDER BY lost, change LIMIT ?2) \
     ) ORDER BY lost, change LIMIT ?2";

/// Leases the first run that waits for a driver. A row that takes no change, since another program wrote it, does not
/// hold up the runs behind it.
pub(super) fn claim_any(
    conn: &Connection,
    holder: &str,
    term: Duration,
    now: Now,
) -> Kept<Option<ServiceLease>> {
    for most in [1_i64, 64] {
        let mut first = conn.prepare_cached(FIRST_READY)?;
        let runs = first.query_map([column(now.ticks), most], |row| Ok(row.get::<_, String>(0).ok()))?;
        let runs: Vec<Option<String>> = runs.collect::<rusqlite::Result<_>>()?;
        if runs.is_empty() {
            break;
        }
        for run in runs.into_iter().flatten() {
            match take(conn, &run, holder, now.after(term)) {
                Err(Halt::Fault(fault)) if fault.is_of_another_type() => {}
                taken => return taken.map(Some),
            }
        }
    }
    Ok(None)
}

fn take(conn: &Connection, run: &str, holder: &str, until: i64) -> Kept<ServiceLease> {
    let mut take = conn.prepare_cached(
        "UPDATE service_runs SET holder = ?2, held_until_ms = ?3, \
             fence = max(min(coalesce(fence, 0), 9223372036854775806), 0) + 1, \
             lost = min(max(coalesce(lost, 0), 0), 4294967294) + 1 \
         WHERE id = ?1 RETURNING fence",
    )?;
    let fence: i64 = take.query_row(params![run, holder, until], |row| row.get(0))?;
    Ok(ServiceLease { run: run.to_owned(), fence: number(fence) })
}

/// Checks that the run exists and is not leased.
fn is_free(conn: &Connection, run: &str, now: Now) -> Kept<()> {
    let mut held = conn.prepare_cached("SELECT holder, held_until_ms FROM service_runs WHERE id = ?1")?;
    let held = held
        .query_row([run], |row| Ok((row.get::<_, Option<String>>(0)?, row.get::<_, Option<i64>>(1)?)))
        .optional()?;
    match held.ok_or_else(|| no_run(run))? {
        (Some(holder), Some(until)) if until > column(now.ticks) => {
            let (run, left) = (run.to_owned(), left(now.ticks, number(until)));
            Err(ServiceStoreError::Held { run, holder, left }.into())
        }
        _ => Ok(()),
    }
}

/// Checks that the lease was not released, and that the run was not claimed since.
pub(super) fn check(conn: &Connection, lease: &ServiceLease) -> Kept<()> {
    let mut last = conn.prepare_cached("SELECT fence, holder IS NOT NULL FROM service_runs WHERE id = ?1")?;
    let last = last.query_row([&lease.run], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (current, is_held): (i64, bool) = last.ok_or_else(|| no_run(&lease.run))?;
    if is_held && current == column(lease.fence) {
        return Ok(());
    }
    let (run, fence, current) = (lease.run.clone(), lease.fence, number(current));
    Err(ServiceStoreError::Fenced { run, fence, current }.into())
}

/// Renews the lease of a run until that time, or gives the run back.
pub(super) fn settle(conn: &Connection, run: &str, until: Option<i64>) -> Kept<()> {
    let mut settle = conn.prepare_cached(
        "UPDATE service_runs SET holder = iif(?2 IS NULL, NULL, holder), held_until_ms = ?2 WHERE id = ?1",
    )?;
    settle.execute(params![run, until])?;
    Ok(())
}

pub(super) fn renew(conn: &Connection, lease: &ServiceLease, until: i64) -> Kept<()> {
    check(conn, lease)?;
    settle(conn, &lease.run, Some(until))
}

pub(super) fn release(conn: &Connection, lease: &ServiceLease) -> Kept<()> {
    match check(conn, lease) {
        Err(Halt::Refused(ServiceStoreError::Fenced { .. })) => return Ok(()),
        checked => checked?,
    }
    settle(conn, &lease.run, None)?;
    let returned = "UPDATE service_runs SET lost = max(coalesce(lost, 1), 1) - 1 WHERE id = ?1";
    conn.prepare_cached(returned)?.execute([&lease.run])?;
    Ok(())
}

pub(super) fn delete(conn: &Connection, run: &str, now: Now) -> Kept<()> {
    is_free(conn, run, now)?;
    let status = status(conn, run)?;
    if !status.is_terminal() {
        return Err(ServiceStoreError::NotOver { run: run.to_owned(), status }.into());
    }
    let removed = "INSERT INTO service_removed (run) VALUES (?1) ON CONFLICT (run) DO NOTHING";
    conn.prepare_cached(removed)?.execute([run])?;
    conn.prepare_cached("DELETE FROM service_runs WHERE id = ?1")?.execute([run])?;
    Ok(())
}
