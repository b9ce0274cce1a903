//! The view of a run for its users.

use std::collections::BTreeSet;

use runstate::service_run::{AnyServiceRun, FinalStatus, ServiceRunStatus};

use super::error::Operation;
use crate::artifact::Artifacts;
use crate::rows::StepName;
use crate::store::StoredRun;

/// A run as its users see it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunView {
    /// The id.
    pub run_id: String,
    /// The version. Each change raises it by one.
    pub version: u64,
    /// The time of creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// The time of the last change, in milliseconds since the Unix epoch.
    pub updated_at_ms: u64,
    /// The status.
    pub status: ServiceRunStatus,
    /// The final status of the last pass.
    pub final_status: Option<FinalStatus>,
    /// The node that executes, or executed last.
    pub current_step: Option<StepName>,
    /// The intent.
    pub intent: String,
    /// The address of the wallet.
    pub wallet: Option<String>,
    /// The id of the chain.
    pub chain_id: Option<u64>,
    /// The digest of the transactions. An approval names it.
    pub digest: Option<String>,
    /// The hashes of the sent transactions.
    pub tx_hashes: Vec<String>,
    /// The actor that approved or rejected the transactions, and the time.
    pub decided_by: Option<(String, u64)>,
    /// The actors that created or resumed the run.
    pub requested_by: BTreeSet<String>,
    /// The artifacts.
    pub artifacts: Artifacts,
    /// The operations that the run allows.
    pub allowed: &'static [Operation],
}

impl RunView {
    pub(super) fn new(stored: &StoredRun, run: &AnyServiceRun, artifacts: Artifacts) -> Self {
        let (digest, decided_by, tx_hashes): (_, _, &[String]) = match run {
            AnyServiceRun::AwaitingApproval(run) => (Some(run.state().digest()), None, &[]),
            AnyServiceRun::ApprovedReady(run) => {
                let state = run.state();
                (Some(state.digest()), Some((state.approved_by(), state.approved_at_ms())), &[])
            }
            AnyServiceRun::Rejected(run) => {
                let state = run.state();
                (Some(state.digest()), Some((state.rejected_by(), state.rejected_at_ms())), &[])
            }
            AnyServiceRun::Submitted(run) => {
                let state = run.state();
                let approved = (state.approved_by(), state.approved_at_ms());
                (Some(state.digest()), Some(approved), state.tx_hashes())
            }
            AnyServiceRun::Confirmed(run) => {
                let state = run.state();
                let approved = (state.approved_by(), state.approved_at_ms());
                (Some(state.digest()), Some(approved), state.tx_hashes())
            }
            AnyServiceRun::Reverted(run) => {
                let state = run.state();
                let approved = (state.approved_by(), state.approved_at_ms());
                (Some(state.digest()), Some(approved), state.tx_hashes())
            }
            AnyServiceRun::Created(_)
            | AnyServiceRun::Running(_)
            | AnyServiceRun::Paused(_)
            | AnyServiceRun::Blocked(_)
            | AnyServiceRun::Failed(_) => (None, None, &[]),
        };
        RunView {
            run_id: stored.id.clone(),
            version: stored.version,
            created_at_ms: stored.created_at_ms,
            updated_at_ms: stored.updated_at_ms,
            status: stored.status,
            final_status: stored.final_status,
            current_step: stored.current_step,
            intent: stored.intent.clone(),
            wallet: run.record().wallet().map(str::to_owned),
            chain_id: run.record().chain_id(),
            digest: digest.map(str::to_owned),
            tx_hashes: tx_hashes.to_vec(),
            decided_by: decided_by.map(|(actor, at_ms)| (actor.to_owned(), at_ms)),
            requested_by: stored.requested_by.clone(),
            artifacts,
            allowed: Operation::allowed(stored.status),
        }
    }
}
