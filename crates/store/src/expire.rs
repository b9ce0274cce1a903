//! Expiry of questions.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use runstate::decision::RUNTIME;
use runstate::decision::{Decision, DecisionAction};

use super::RunStore;
use super::decide::Posted;
use super::error::StoreError;
use super::query::{Approval, ApprovalFilter, ApprovalQuery, CorruptEntry, Timer};

/// Gives up a call whose suspension has expired, unless a decision was accepted before. The function posts a
/// decision, which the driver of the run takes. The decision has the time `now_ms`, or the expiry of the question if
/// `now_ms` is earlier.
///
/// # Errors
/// [`StoreError::NoRun`] if the run was removed, and the errors of the store.
///
/// # Cancel safety
/// As [`decide`](fn@super::decide).
pub async fn expire(store: &dyn RunStore, timer: &Timer, now_ms: u64) -> Result<Posted, StoreError> {
    let mut decision = Decision::new(
        format!("expiry:{}", timer.suspension),
        timer.suspension.clone(),
        DecisionAction::Cancel,
    );
    decision.run_id.clone_from(&timer.run);
    decision.call.clone_from(&timer.call);
    decision.reason = Some("no decision came in time".to_owned());
    decision.actor = Some(RUNTIME.to_owned());
    let asked = open(store, timer).await?;
    // This time marks the decision as an expiry for the driver. The store's clock has established the expiry, not the
    // clock of a client.
    let expires_at_ms = asked.as_ref().and_then(|asked| asked.suspension.expires_at_ms);
    decision.decided_at_ms = expires_at_ms.map_or(now_ms, |at_ms| at_ms.max(now_ms));
    // A later decision with the digest of the question then gets the reply that it expired.
    decision.digest = asked.filter(|asked| asked.key().is_none()).map(|asked| asked.digest);
    loop {
        let posted = store.post(&decision).await?;
        // Clients choose ids of their own: one may have used this id for a decision on another question.
        if posted != Posted::Duplicate || open(store, timer).await?.is_none() {
            return Ok(posted);
        }
        decision.decision_id.push('\'');
    }
}

/// Returns the question while the call waits on exactly that suspension.
async fn open(store: &dyn RunStore, timer: &Timer) -> Result<Option<Approval>, StoreError> {
    let mut query = ApprovalQuery::new(ApprovalFilter::Suspension(timer.suspension.clone()), PAGE);
    loop {
        let page = store.approvals(&query).await?;
        let next = page.last().filter(|_| page.len() == PAGE).map(|last| query.clone().after(last));
        let found = page.into_iter().find(|open| open.run == timer.run && open.call == timer.call);
        match (found, next) {
            (None, Some(next)) => query = next,
            (found, _) => return Ok(found),
        }
    }
}

/// The result of an expiry pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpiredCalls {
    /// The number of calls that were given up.
    pub given_up: usize,
    /// The number of expired calls that are settled: those that were given up, and those that another process decided
    /// or removed.
    pub settled: usize,
    /// Whether more calls may have expired. The caller should run another pass.
    pub has_more: bool,
    /// The corrupt entries, each once. The calls of those runs still wait.
    pub damaged: Vec<CorruptEntry>,
}

/// Gives up at most `limit` calls whose suspensions have expired, the oldest first. The decisions are posted
/// concurrently, so a store can write many with one sync. The calls of a run that cannot be read or written stay
/// open, and do not block those of other runs.
///
/// ```
/// use runstate_store::{MemoryStore, expire_due};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let store = MemoryStore::default();
/// assert!(!expire_due(&store, 1_000, 100).await?.has_more, "nothing waits in an empty store");
/// # Ok::<(), runstate_store::StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of the store, after all calls were tried.
///
/// # Cancel safety
/// If the future is dropped, some of the calls may be given up.
pub async fn expire_due(store: &dyn RunStore, now_ms: u64, limit: usize) -> Result<ExpiredCalls, StoreError> {
    let (mut refused, mut damaged) = (BTreeSet::new(), BTreeSet::new());
    let (mut page, mut settled, mut given_up, mut has_more) = (limit, 0, 0, limit > 0);
    // Due calls that the list of approvals does not have. If such a call is still due in the next pass, its row
    // cannot be read.
    let mut gone: BTreeSet<(String, String)> = BTreeSet::new();
    while (has_more || !gone.is_empty()) && settled < limit {
        let due = store.due(page).await?;
        let is_full = due.len() == page;
        for timer in &due {
            if gone.remove(&(timer.run.clone(), timer.call.clone())) && refused.insert(timer.run.clone()) {
                damaged.insert(CorruptEntry::new(
                    format!("the call {:?} of the run {:?} is due, and the list of waiting calls cannot read it", timer.call, timer.run),
                    "another program wrote its row; restore the store from a backup, or end the run with `runstate cancel`",
                ));
            }
        }
        settled += std::mem::take(&mut gone).len();
        let mut open: Vec<Timer> = due.into_iter().filter(|timer| !refused.contains(&timer.run)).collect();
        let left = limit.saturating_sub(settled);
        let is_all = open.len() <= left;
        open.truncate(left);
        for (timer, posted) in open.iter().zip(together(store, &open, now_ms).await) {
            match posted {
                // Another process decided, gave the call up as well, or removed the run: the call is no longer due.
                Ok(Posted::NotWaiting) => {
                    gone.insert((timer.run.clone(), timer.call.clone()));
                }
                Ok(posted) => {
                    settled += 1;
                    given_up += usize::from(posted == Posted::Accepted);
                }
                Err(StoreError::NoRun { .. }) => settled += 1,
                Err(error) => {
                    damaged.insert(error.into_run_scoped()?);
                    refused.insert(timer.run.clone());
                }
            }
        }
        has_more = is_full || !is_all;
        // The calls that cannot be given up stay due and fill the page. Others come after them.
        if is_all {
            page = page.saturating_mul(2);
        }
    }
    Ok(ExpiredCalls { given_up, settled, has_more, damaged: damaged.into_iter().collect() })
}

/// Gives up the calls of a run whose suspensions have expired. A missing run has none. The calls of a run that cannot
/// be read stay open, and its next reader gets the error.
///
/// # Errors
/// The errors of the store.
///
/// # Cancel safety
/// If the future is dropped, some of the calls may be given up.
pub async fn expire_run(store: &dyn RunStore, run: &str, now_ms: u64) -> Result<(), StoreError> {
    let mut query = ApprovalQuery::new(ApprovalFilter::Run(run.to_owned()), PAGE);
    loop {
        let page = store.approvals(&query).await?;
        let lapsed = page.iter().filter(|approval| approval.is_expired());
        let due: Vec<Timer> = lapsed.map(Timer::of).collect();
        for posted in together(store, &due, now_ms).await {
            match posted {
                Ok(_) | Err(StoreError::NoRun { .. } | StoreError::Unusable { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        match page.last() {
            Some(last) if page.len() == PAGE => query = query.after(last),
            _ => return Ok(()),
        }
    }
}

const PAGE: usize = 100;

async fn together(store: &dyn RunStore, due: &[Timer], now_ms: u64) -> Vec<Result<Posted, StoreError>> {
    join_all(due.iter().map(|timer| expire(store, timer, now_ms))).await
}
