//! Leases.

use std::collections::BTreeSet;
use std::time::Duration;

use runstate_store::{Claim, Lease, Release, StoreError, left};
use rusqlite::{Connection, OptionalExtension, params};

use super::bring_news;
use crate::error::{Fault, Outcome};
use crate::number::{column, limit, narrow, number};
use crate::read::lists::text;
use crate::read::runs;
use crate::time::Now;

pub(crate) fn no_run(run: &str) -> Fault {
    Fault::Store(StoreError::NoRun { run: run.to_owned() })
}

pub(crate) fn fenced(lease: &Lease, current: i64) -> Fault {
    let (run, fence, current) = (lease.run.clone(), lease.fence, number(current));
    Fault::Store(StoreError::Fenced { run, fence, current })
}

pub(crate) fn claim(conn: &Connection, claim: &Claim, now: Now) -> Outcome<Option<Lease>> {
    if let Some(run) = &claim.run {
        is_free(conn, run, now)?;
        return take(conn, run, claim, now).map(Some);
    }
    let mut ready = conn.prepare_cached(FIRST_READY)?;
    let mut passed_over = BTreeSet::new();
    // Each query reads twice as many rows as the one before, so each skipped row is read only a few times.
    let mut most = 1;
    loop {
        let rows =
            ready.query_map([column(now.ticks), limit(most)], |row| Ok((text(row, 0), row.get(1)?)))?;
        let rows: Vec<(_, i64)> = rows.collect::<Result<_, _>>()?;
        let is_all = rows.len() < most;
        for (run, row) in rows {
            if passed_over.contains(&row) {
                continue;
            }
            let is_deferred = match readable(conn, run, now)? {
                Some(run) => match take(conn, &run, claim, now) {
                    Err(fault) if fault.is_of_another_type() => false,
                    taken => return taken.map(Some),
                },
                None => not_before(conn, row, now.after(UNREADABLE))?,
            };
            if !is_deferred {
                passed_over.insert(row);
            }
        }
        if is_all {
            return Ok(None);
        }
        most = most.saturating_mul(2);
    }
}

/// Returns the run if it can be read.
fn readable(conn: &Connection, run: Result<String, StoreError>, now: Now) -> Outcome<Option<String>> {
    let Ok(run) = run else { return Ok(None) };
    match runs::one(conn, &run, now) {
        Err(Fault::Store(_)) => Ok(None),
        found => found.map(|_| Some(run)),
    }
}

fn take(conn: &Connection, run: &str, claim: &Claim, now: Now) -> Outcome<Lease> {
    let mut take = conn.prepare_cached(
        "UPDATE runs SET holder = ?2, held_until_ms = ?3, fence = max(min(fence, 9223372036854775806), 0) + 1, \
             claimed_steps = steps, lost = CASE WHEN holder IS NULL THEN lost WHEN steps > max(claimed_steps, 1) THEN 0 \
             ELSE min(max(lost, 0), 4294967294) + 1 END \
         WHERE id = ?1 RETURNING fence, lost",
    )?;
    let held = params![run, claim.holder, now.after(claim.term)];
    let (fence, lost): (i64, i64) = take.query_row(held, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Lease::new(run, number(fence)).of_lost(narrow(lost)))
}

/// Checks that the run exists and is not leased.
pub(super) fn is_free(conn: &Connection, run: &str, now: Now) -> Outcome<()> {
    let mut held = conn.prepare_cached("SELECT holder, held_until_ms FROM runs WHERE id = ?1")?;
    let held = held
        .query_row([run], |row| Ok((row.get::<_, Option<String>>(0)?, row.get::<_, Option<i64>>(1)?)))
        .optional()?;
    match held.ok_or_else(|| no_run(run))? {
        (Some(holder), Some(until)) if until > column(now.ticks) => {
            let (run, left) = (run.to_owned(), left(now.ticks, number(until)));
            Err(Fault::Store(StoreError::Held { run, holder, left }))
        }
        _ => Ok(()),
    }
}

/// Runs that can continue, the longest waiting first: free ones, and those with an expired lease.
pub(crate) const FIRST_READY: &str = "SELECT id, row FROM ( \
         SELECT * FROM (SELECT id, changed_at_ms, rowid AS row FROM runs INDEXED BY runs_free \
             WHERE ready = 1 AND holder IS NULL AND (not_before_ms IS NULL OR not_before_ms <= ?1) \
             ORDER BY changed_at_ms, id LIMIT ?2) \
         UNION ALL \
         SELECT * FROM (SELECT id, changed_at_ms, rowid AS row FROM runs INDEXED BY runs_held \
             WHERE ready = 1 AND holder IS NOT NULL AND held_until_ms <= ?1 \
                 AND (not_before_ms IS NULL OR not_before_ms <= ?1) \
             ORDER BY changed_at_ms, id LIMIT ?2) \
     ) ORDER BY changed_at_ms, id LIMIT ?2";

/// The delay before an unreadable run is tried again.
const UNREADABLE: Duration = Duration::from_secs(60);

/// Sets a delay for an unreadable run, which would otherwise stay the first in the queue. Lists report the row.
/// Returns false for a row with a value of another type than its column: such a row cannot be changed.
fn not_before(conn: &Connection, row: i64, until: i64) -> Outcome<bool> {
    let mut not_before = conn.prepare_cached("UPDATE runs SET not_before_ms = ?2 WHERE rowid = ?1")?;
    match not_before.execute([row, until]).map_err(Fault::from) {
        Err(fault) if fault.is_of_another_type() => Ok(false),
        done => done.map(|_| true),
    }
}

pub(crate) fn renew(conn: &Connection, lease: &Lease, until: i64) -> Outcome<()> {
    let fence = fence(conn, &lease.run)?.ok_or_else(|| no_run(&lease.run))?;
    if fence != column(lease.fence) {
        return Err(fenced(lease, fence));
    }
    // A run that was given back stays free.
    let mut renew =
        conn.prepare_cached("UPDATE runs SET held_until_ms = ?2 WHERE id = ?1 AND holder IS NOT NULL")?;
    renew.execute(params![lease.run, until])?;
    Ok(())
}

fn fence(conn: &Connection, run: &str) -> Outcome<Option<i64>> {
    let mut fence = conn.prepare_cached("SELECT fence FROM runs WHERE id = ?1")?;
    Ok(fence.query_row([run], |row| row.get(0)).optional()?)
}

pub(crate) fn release(conn: &Connection, lease: &Lease, release: &Release, now: Now) -> Outcome<()> {
    let mut give = conn.prepare_cached(
        "UPDATE runs SET holder = NULL, held_until_ms = NULL, not_before_ms = ?3, problem = ?4, \
             lost = iif(?5 OR steps > max(claimed_steps, 1), 0, lost) \
         WHERE id = ?1 AND fence = ?2",
    )?;
    let not_before = release.not_before.map(|time| now.after(time));
    let given = give.execute(params![
        lease.run,
        column(lease.fence),
        not_before,
        release.problem,
        release.resets_lost_claims
    ])?;
    if given > 0 {
        bring_news(conn)?;
    }
    Ok(())
}
