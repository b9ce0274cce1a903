//! The decisions of a person: approve and reject.

use runstate::service_run::{AnyServiceRun, Approve, FinalStatus, Reject};
use serde_json::json;

use super::{Caller, Operation, RunView, Service, ServiceError, check_note, conflict, invalid, refused};
use crate::rows::{RunStep, StepPhase};
use crate::work::Work;

impl Service {
    /// Approves the transactions with that digest in the name of the caller. Without a digest it approves those that
    /// the run has.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for a run whose final status is not READY or that is not AWAITING_APPROVAL,
    /// [`ServiceError::StaleDigest`] for other transactions, and [`ServiceError::NotDistinct`] where the configuration
    /// asks for distinct actors.
    pub async fn approve(
        &self,
        run: &str,
        digest: Option<&str>,
        notes: &str,
        caller: impl Into<Caller>,
    ) -> Result<RunView, ServiceError> {
        let caller = caller.into();
        let actor = caller.actor.as_str();
        let approve = |work: &mut Work| {
            let checked = check_note("notes", notes);
            if work.run.final_status() != Some(FinalStatus::Ready) {
                return Err(refused(work, Operation::Approve));
            }
            let at_ms = work.now_ms();
            work.run = match work.take_run() {
                AnyServiceRun::AwaitingApproval(run) => {
                    checked?;
                    if self.config().distinct_actors && work.requesters.contains(actor) {
                        let run = run.record().run_id().to_owned();
                        return Err(ServiceError::NotDistinct { run, actor: actor.to_owned() });
                    }
                    let digest = digest.unwrap_or(run.state().digest()).to_owned();
                    match run.approve(Approve::new(digest, actor, at_ms)) {
                        Ok(run) => run.into(),
                        Err(back) => {
                            work.run = back.machine.into();
                            let (conflict, error) = (conflict(work, Operation::Approve), back.error);
                            return Err(ServiceError::StaleDigest { conflict, error });
                        }
                    }
                }
                other => {
                    work.run = other;
                    return Err(refused(work, Operation::Approve));
                }
            };
            decided(work, &caller, "approved", notes);
            Ok(())
        };
        self.change(run, &caller, approve, |(), run| run).await
    }

    /// Rejects the transactions in the name of the caller.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for a run that is not AWAITING_APPROVAL.
    pub async fn reject(
        &self,
        run: &str,
        reason: &str,
        caller: impl Into<Caller>,
    ) -> Result<RunView, ServiceError> {
        let caller = caller.into();
        let actor = caller.actor.as_str();
        let reject = |work: &mut Work| {
            let at_ms = work.now_ms();
            work.run = match work.take_run() {
                AnyServiceRun::AwaitingApproval(run) => {
                    check_note("reason", reason)?;
                    match run.reject(Reject::new(actor, reason, at_ms)) {
                        Ok(run) => run.into(),
                        Err(back) => return Err(invalid("rejection", back.error.to_string())),
                    }
                }
                other => {
                    work.run = other;
                    return Err(refused(work, Operation::Reject));
                }
            };
            decided(work, &caller, "rejected", reason);
            Ok(())
        };
        self.change(run, &caller, reject, |(), run| run).await
    }
}

/// Notes the decision with the digest of the transactions that it is about.
fn decided(work: &mut Work, caller: &Caller, decision: &str, note: &str) {
    let digest = match &work.run {
        AnyServiceRun::ApprovedReady(run) => Some(run.state().digest()),
        AnyServiceRun::Rejected(run) => Some(run.state().digest()),
        _ => None,
    };
    let data = json!({ "decision": decision, "digest": digest });
    work.act(RunStep::HumanApproval, StepPhase::Done, caller, note, data);
}
