//! The end: no more kills, and all runs must end.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use runstate::run::RunStatus;
use runstate_store::{ApprovalFilter, ApprovalQuery, RunInfo, StoreError};
use tokio::sync::watch;

use super::people::Demand;
use super::{Parent, failed};
use crate::judge::{IN_DOUBT, Violation};

/// Without progress for this time there will be none.
const STILL: Duration = Duration::from_secs(8);
const LOOK: Duration = Duration::from_millis(50);
/// The maximum number of checks.
const LOOKS: u32 = 3_600;

/// First without a person for calls in doubt: all other runs must end. Then with a person.
pub(super) async fn finish(parent: &Parent, demand: &watch::Sender<Demand>) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (demanded, what) in [
        (Demand::NoDoubts, "it came to no end, and nothing in it is in doubt"),
        (Demand::All, "it came to no end, with all that it asked answered"),
    ] {
        demand.send_replace(demanded);
        match settle(parent, demanded).await {
            Ok(left) => {
                violations.extend(left.into_iter().map(|run| {
                    let why = run.problem.as_deref().unwrap_or("it says nothing");
                    let what = format!("{what}: {} at {}, {why}", run.status, run.version);
                    Violation::new("stuck", run.id, what)
                }));
            }
            Err(error) => violations.push(failed("requests", error)),
        }
    }
    violations
}

/// Waits until every run is over that must be; returns the others.
async fn settle(parent: &Parent, demanded: Demand) -> Result<Vec<RunInfo>, StoreError> {
    let (mut still, mut last) = (Duration::ZERO, HashMap::new());
    for _ in 0..LOOKS {
        let left = match left(parent, demanded).await {
            Err(StoreError::Unavailable(_)) => {
                tokio::time::sleep(LOOK).await;
                continue;
            }
            left => left?,
        };
        if left.is_empty() {
            return Ok(left);
        }
        let now: HashMap<String, u64> = left.iter().map(|run| (run.id.clone(), run.version)).collect();
        still = if now == last { still + LOOK } else { Duration::ZERO };
        if still >= STILL {
            return Ok(left);
        }
        last = now;
        tokio::time::sleep(LOOK).await;
    }
    left(parent, demanded).await
}

/// The unfinished runs, except runs that wait for a person because of a doubt, if no person answers doubts.
async fn left(parent: &Parent, demanded: Demand) -> Result<Vec<RunInfo>, StoreError> {
    let mut left = super::watch::all(&*parent.store).await?;
    left.retain(|run| run.status != RunStatus::Done);
    if demanded == Demand::All {
        return Ok(left);
    }
    let mut doubted: HashSet<String> = HashSet::new();
    let mut asked: HashSet<String> = HashSet::new();
    for approval in parent.store.approvals(&ApprovalQuery::new(ApprovalFilter::All, 1_000)).await? {
        let of = if approval.suspension.action == IN_DOUBT { &mut doubted } else { &mut asked };
        of.insert(approval.run);
    }
    left.retain(|run| {
        let waits = run.status == RunStatus::Waiting && doubted.contains(&run.id);
        !waits || asked.contains(&run.id)
    });
    Ok(left)
}
