//! Snapshots of earlier versions.

use serde_json::Value;

use super::tx_digest;
use crate::kernel::Fingerprint;
use crate::snapshot::{Migration, Stored};

/// The graph of version 1 and of version 2: the form of the states changed, and no state or transition.
const GRAPH: Fingerprint = Fingerprint::of_diagram(include_str!("../../../docs/lifecycles/service-run.md"));

/// The migrations of service runs, for [`Snapshot::restore_with`](crate::snapshot::Snapshot::restore_with).
///
/// Version 1 stored no time and no digest of an approval. A run before its approval is read: the digest follows from
/// its transactions. A run that a person approved or rejected is refused, because the time of that decision is
/// unknown.
///
/// ```
/// use runstate::service_run::MIGRATIONS;
///
/// assert_eq!(MIGRATIONS[0].name(), "service runs have digest, actor and time of a decision");
/// ```
pub const MIGRATIONS: &[Migration] =
    &[Migration::step("service runs have digest, actor and time of a decision", 1, GRAPH, attributed)];

fn attributed(mut stored: Stored) -> Result<Stored, String> {
    match stored.status.as_str() {
        "CREATED" | "RUNNING" | "PAUSED" | "BLOCKED" | "FAILED" => {}
        "AWAITING_APPROVAL" => {
            let requests = stored.state["tx_requests"].as_array().ok_or("the state has no transactions")?;
            let digest = tx_digest(requests);
            stored.state["digest"] = Value::from(digest);
        }
        decided => {
            return Err(format!(
                "a run in {decided} of version 1 has no time of its decision; expected a run before its approval. \
                 Finish the run with the program that stored it"
            ));
        }
    }
    stored.version = 2;
    Ok(stored)
}
