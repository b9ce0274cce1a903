//! Runs that come in all along.

use std::time::Duration;

use fastrand::Rng;
use runstate::clock::Clock;
use runstate::run::RunStatus;
use runstate::store::{NewRun, RunQuery, StoreError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Parent, failed};
use crate::judge::Violation;
use crate::ledger::Entry;
use crate::script::Script;

/// So many are not over at once.
const OPEN: usize = 14;

/// Makes runs, and wants one or the other cancelled, until it is told that there are enough.
pub(super) async fn feed(parent: Parent, enough: CancellationToken, mut rng: Rng) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut made = 0_u32;
    while !enough.is_cancelled() && violations.len() < 10 {
        if let Err(error) = round(&parent, &mut made, &mut rng).await
            && !matches!(error, StoreError::Unavailable(_))
        {
            violations.push(failed("requests", error));
        }
        tokio::select! {
            () = enough.cancelled() => {}
            () = tokio::time::sleep(Duration::from_millis(20)) => {}
        }
    }
    violations
}

async fn round(parent: &Parent, made: &mut u32, rng: &mut Rng) -> Result<(), StoreError> {
    let mut open = Vec::new();
    for status in [RunStatus::Running, RunStatus::Waiting] {
        open.extend(parent.store.runs(&RunQuery::status(status, OPEN)).await?);
    }
    for _ in open.len()..OPEN {
        *made += 1;
        let run = format!("r{made}");
        let script = Script::draw(rng);
        let new = NewRun::new(&*run, json!(script), parent.clock.now_ms());
        match parent.store.create(&new).await {
            // The answer of the first try was lost.
            Ok(()) | Err(StoreError::Taken { .. }) => {}
            Err(error) => {
                *made -= 1;
                return Err(error);
            }
        }
        parent.ledger.note(&Entry::Created { run }).map_err(StoreError::failed)?;
    }
    if let Some(run) = open.first()
        && rng.u8(..40) == 0
        && parent.store.cancel(&run.id, "not wanted any more").await?
    {
        // The wish is there, whether this can be read now or not.
        let version = parent.store.load(&run.id).await.map_or(u64::MAX, |loaded| loaded.info.version);
        let wish = Entry::Cancelled { run: run.id.clone(), version };
        parent.ledger.note(&wish).map_err(StoreError::failed)?;
    }
    Ok(())
}
