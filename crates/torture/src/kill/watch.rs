//! A reader during the campaign: an observed value is never taken back.

use std::collections::HashMap;
use std::time::Duration;

use runstate::run::RunStatus;
use runstate_store::{RunInfo, RunQuery, RunStore, StoreError};

use super::{Parent, failed};
use crate::judge::Violation;

const PAGE: usize = 200;

/// All runs of a store.
pub(super) async fn all(store: &dyn RunStore) -> Result<Vec<RunInfo>, StoreError> {
    let mut query = RunQuery::all(PAGE);
    let mut found = Vec::new();
    loop {
        let page = store.runs(&query).await?;
        let is_last = page.len() < PAGE;
        if let Some(last) = page.last() {
            query = query.after(last);
        }
        found.extend(page);
        if is_last {
            return Ok(found);
        }
    }
}

pub(super) async fn watch(parent: Parent) -> Vec<Violation> {
    let mut seen: HashMap<String, (u64, RunStatus)> = HashMap::new();
    let mut violations = Vec::new();
    while !parent.stop.is_cancelled() && violations.len() < 10 {
        match all(&*parent.store).await {
            Ok(runs) => {
                for run in runs {
                    let now = (run.version, run.status);
                    let Some(before) = seen.insert(run.id.clone(), now) else { continue };
                    let was_over = before.1 == RunStatus::Done;
                    if now.0 < before.0 || (was_over && now != before) {
                        let what = format!("it was at {before:?}, and later at {now:?}");
                        violations.push(Violation::new("versions", run.id, what));
                    }
                }
            }
            Err(StoreError::Unavailable(_)) => {}
            Err(error) => violations.push(failed("requests", error)),
        }
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
    violations
}
