//! The decisions of a person: approve and reject.

use runstate::service_run::{AnyServiceRun, Approve, FinalStatus, Reject};
use serde_json::json;

use super::{Operation, RunView, Service, ServiceError, check_note, conflict, invalid, named, refused};
use crate::rows::{RunStep, StepPhase};

impl Service {
    /// Approves the transactions with that digest in the name of `actor`. Without a digest it approves those that the
    /// run has.
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
        actor: &str,
    ) -> Result<RunView, ServiceError> {
        named(actor)?;
        check_note("notes", notes)?;
        self.change(run, |work| {
            if work.run.final_status() != Some(FinalStatus::Ready) {
                return Err(refused(work, Operation::Approve));
            }
            let at_ms = work.now_ms();
            work.run = match work.take_run() {
                AnyServiceRun::AwaitingApproval(run) => {
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
            let data = json!({ "decision": "approved" });
            work.step(RunStep::HumanApproval.into(), StepPhase::Done, Some(actor), notes, data);
            Ok(())
        })
        .await?;
        self.get(run).await
    }

    /// Rejects the transactions in the name of `actor`.
    ///
    /// # Errors
    /// [`ServiceError::Conflict`] for a run that is not AWAITING_APPROVAL.
    pub async fn reject(&self, run: &str, reason: &str, actor: &str) -> Result<RunView, ServiceError> {
        named(actor)?;
        check_note("reason", reason)?;
        self.change(run, |work| {
            let at_ms = work.now_ms();
            work.run = match work.take_run() {
                AnyServiceRun::AwaitingApproval(run) => match run.reject(Reject::new(actor, reason, at_ms)) {
                    Ok(run) => run.into(),
                    Err(back) => return Err(invalid("rejection", back.error.to_string())),
                },
                other => {
                    work.run = other;
                    return Err(refused(work, Operation::Reject));
                }
            };
            let data = json!({ "decision": "rejected" });
            work.step(RunStep::HumanApproval.into(), StepPhase::Done, Some(actor), reason, data);
            Ok(())
        })
        .await?;
        self.get(run).await
    }
}
