//! The lifecycle of a run of the run service: from a request to transactions that a person approved.
//!
//! | state | meaning | accepted events |
//! |---|---|---|
//! | [`Created`] | the run is stored | [`Start`] |
//! | [`Running`] | the graph executes its nodes | [`Ready`], [`Pause`], [`Block`], [`Fail`] |
//! | [`Paused`] | the run needs answers, or there is nothing to do | [`Resume`] |
//! | [`AwaitingApproval`] | transactions are ready | [`Approve`], [`Reject`] |
//! | [`ApprovedReady`] | a person approved the transactions | [`Submit`] |
//! | [`Submitted`] | the transactions were sent | [`Confirm`], [`Revert`] |
//! | [`Confirmed`], [`Reverted`], [`Blocked`], [`Failed`], [`Rejected`] | the run is over | |
//!
//! ```
//! use runstate::service_run::*;
//! use serde_json::json;
//!
//! let record = ServiceRunRecord::new("run_1", "swap 1 A for B").for_wallet("0xabc");
//! let run = ServiceRun::new(record).start(Start);
//! let Finished::Paused(run) = run.finish(RunOutcome::NeedsInput { questions: vec!["which chain?".into()] }) else {
//!     unreachable!("NEEDS_INPUT leads to PAUSED");
//! };
//! assert_eq!(run.state().final_status(), FinalStatus::NeedsInput);
//! let run = run.resume(Resume::with_answers([("chain", json!("base"))]).on_chain(8453)).unwrap();
//! assert_eq!(run.record().user_inputs()["chain"], "base");
//!
//! // A person approves exactly the transactions that were shown.
//! let run = run.ready(Ready::new(vec![json!({"to": "0xb"})]));
//! let shown = run.state().digest().to_owned();
//! let run = run.approve(Approve::new(shown, "ada", 1_000)).unwrap();
//! assert_eq!((run.state().approved_by(), run.state().approved_at_ms()), ("ada", 1_000));
//! ```

mod data;
mod error;
mod final_status;
mod migration;
mod moves;
mod record;
mod states;
mod status_text;

use serde_json::Value;

use crate::lifecycle;

pub use data::{Approve, Block, Confirm, Fail, Pause, Ready, Reject, Resume, Revert, RunOutcome, Submit};
pub use error::ServiceRunError;
pub use final_status::{AgentStatus, FinalStatus, JudgeVerdict, PlanFact, RunFacts};
pub use migration::MIGRATIONS;
pub use record::ServiceRunRecord;
pub use states::{ApprovedReady, AwaitingApproval, Blocked, Confirmed, Failed, PauseReason};
pub use states::{Paused, Rejected, Reverted, Running, Submitted};
pub use status_text::StatusTextError;

lifecycle! {
    /// A run of the run service: from a request to transactions that a person approved.
    pub mod service_run: ServiceRun(ServiceRunRecord), AnyServiceRun;
    version 2;
    diagram "../../../docs/lifecycles/service-run.md";

    status ServiceRunStatus {
        /// The run is stored and was not started.
        Created = "CREATED",
        /// The graph executes its nodes.
        Running { .. } = "RUNNING",
        /// The run needs answers, or there is nothing to do.
        Paused { .. } = "PAUSED",
        /// Transactions wait for a person's approval.
        AwaitingApproval { .. } = "AWAITING_APPROVAL",
        /// A person approved the transactions; they were not sent yet.
        ApprovedReady { .. } = "APPROVED_READY",
        /// The transactions were sent.
        Submitted { .. } = "SUBMITTED",
        /// The transactions were confirmed.
        Confirmed { .. } = "CONFIRMED",
        /// A transaction was reverted.
        Reverted { .. } = "REVERTED",
        /// A rule or a judge blocks the run.
        Blocked { .. } = "BLOCKED",
        /// The graph could not finish.
        Failed { .. } = "FAILED",
        /// A person rejected the transactions.
        Rejected { .. } = "REJECTED",
    }
    event ServiceRunEvent {
        /// The graph begins.
        Start,
        /// Transactions are ready.
        Ready { .. },
        /// The run needs answers, or there is nothing to do.
        Pause { .. },
        /// A rule or a judge blocks the run.
        Block { .. },
        /// The graph could not finish.
        Fail { .. },
        /// The graph runs again, with the user's answers.
        Resume { .. },
        /// A person approved the transactions.
        Approve { .. },
        /// A person rejected the transactions.
        Reject { .. },
        /// The transactions were sent.
        Submit { .. },
        /// The transactions were confirmed.
        Confirm { .. },
        /// A transaction was reverted.
        Revert { .. },
    }

    [*]              --> Created;
    Created          --> Running          : start(Start);
    Running          --> AwaitingApproval : ready(Ready);
    Running          --> Paused           : pause(Pause);
    Running          --> Blocked          : block(Block);
    Running          --> Failed           : fail(Fail);
    Paused           --> Running          : resume(Resume) else ServiceRunError;
    AwaitingApproval --> ApprovedReady    : approve(Approve) else ServiceRunError;
    AwaitingApproval --> Rejected         : reject(Reject) else ServiceRunError;
    ApprovedReady    --> Submitted        : submit(Submit) else ServiceRunError;
    Submitted        --> Confirmed        : confirm(Confirm) else ServiceRunError;
    Submitted        --> Reverted         : revert(Revert);
    Confirmed        --> [*];
    Reverted         --> [*];
    Blocked          --> [*];
    Failed           --> [*];
    Rejected         --> [*];
}

/// The state of a run after a pass over the graph: the legal successors of RUNNING.
#[derive(Debug)]
#[must_use = "a machine that is dropped goes nowhere"]
pub enum Finished {
    /// READY.
    AwaitingApproval(ServiceRun<AwaitingApproval>),
    /// NEEDS_INPUT or NOOP.
    Paused(ServiceRun<Paused>),
    /// BLOCKED.
    Blocked(ServiceRun<Blocked>),
    /// FAILED.
    Failed(ServiceRun<Failed>),
}

impl From<Finished> for AnyServiceRun {
    fn from(next: Finished) -> Self {
        match next {
            Finished::AwaitingApproval(run) => run.into(),
            Finished::Paused(run) => run.into(),
            Finished::Blocked(run) => run.into(),
            Finished::Failed(run) => run.into(),
        }
    }
}

impl ServiceRun<Running> {
    /// Ends the pass: takes the transition for the final status of the outcome.
    pub fn finish(self, outcome: RunOutcome) -> Finished {
        match outcome {
            RunOutcome::Ready { tx_requests } => {
                Finished::AwaitingApproval(self.ready(Ready { tx_requests }))
            }
            RunOutcome::NeedsInput { questions } => {
                Finished::Paused(self.pause(Pause { reason: PauseReason::NeedsInput { questions } }))
            }
            RunOutcome::Noop { summary } => {
                Finished::Paused(self.pause(Pause { reason: PauseReason::Noop { summary } }))
            }
            RunOutcome::Blocked { reason } => Finished::Blocked(self.block(Block { reason })),
            RunOutcome::Failed { error } => Finished::Failed(self.fail(Fail { error })),
        }
    }
}

impl AnyServiceRun {
    /// The outcome of the last pass over the graph; none before the end of the first pass.
    pub fn final_status(&self) -> Option<FinalStatus> {
        match self {
            AnyServiceRun::Created(_) | AnyServiceRun::Running(_) => None,
            AnyServiceRun::Paused(run) => Some(run.state().final_status()),
            AnyServiceRun::AwaitingApproval(_)
            | AnyServiceRun::ApprovedReady(_)
            | AnyServiceRun::Submitted(_)
            | AnyServiceRun::Confirmed(_)
            | AnyServiceRun::Reverted(_)
            | AnyServiceRun::Rejected(_) => Some(FinalStatus::Ready),
            AnyServiceRun::Blocked(_) => Some(FinalStatus::Blocked),
            AnyServiceRun::Failed(_) => Some(FinalStatus::Failed),
        }
    }
}

/// Computes the digest of transactions: the [digest](crate::decision::digest) of their JSON array. An approval names it.
///
/// ```
/// use runstate::service_run::tx_digest;
/// use serde_json::json;
///
/// let (one, other) = (json!({"to": "0xa"}), json!({"to": "0xb"}));
/// assert_ne!(tx_digest(&[one.clone(), other.clone()]), tx_digest(&[other, one]));
/// ```
pub fn tx_digest(tx_requests: &[Value]) -> String {
    crate::decision::digest(&Value::Array(tx_requests.to_vec()))
}

impl ServiceRun<Submitted> {
    /// Appends the hashes of further transactions, in their order. The state stays.
    ///
    /// ```
    /// use runstate::service_run::*;
    /// use serde_json::json;
    ///
    /// let run = ServiceRun::new(ServiceRunRecord::new("run_1", "swap")).start(Start);
    /// let run = run.ready(Ready::new(vec![json!("approve"), json!("swap")]));
    /// let shown = run.state().digest().to_owned();
    /// let run = run.approve(Approve::new(shown, "ada", 1)).unwrap();
    /// let mut run = run.submit(Submit::new(["0x1"], "ada", 2)).unwrap();
    /// run.append_hashes(["0x2"])?;
    /// assert_eq!(run.state().tx_hashes(), ["0x1", "0x2"]);
    /// # Ok::<(), ServiceRunError>(())
    /// ```
    ///
    /// # Errors
    /// [`ServiceRunError`] for no hash, a blank or repeated one, and for more hashes than transactions. The run is
    /// unchanged.
    pub fn append_hashes<T: Into<String>>(
        &mut self,
        tx_hashes: impl IntoIterator<Item = T>,
    ) -> Result<(), ServiceRunError> {
        let further: Vec<String> = tx_hashes.into_iter().map(Into::into).collect();
        if further.is_empty() {
            return Err(ServiceRunError::NoHash);
        }
        let state = self.state_mut();
        moves::check_hashes(state.tx_hashes.iter().chain(&further), state.tx_requests.len())?;
        state.tx_hashes.extend(further);
        Ok(())
    }

    /// Replaces the hash of a transaction, such as one that a wallet sent again with a higher fee. The state stays.
    ///
    /// ```
    /// use runstate::service_run::*;
    /// use serde_json::json;
    ///
    /// let run = ServiceRun::new(ServiceRunRecord::new("run_1", "swap")).start(Start);
    /// let run = run.ready(Ready::new(vec![json!("swap")]));
    /// let shown = run.state().digest().to_owned();
    /// let run = run.approve(Approve::new(shown, "ada", 1)).unwrap();
    /// let mut run = run.submit(Submit::new(["0x1"], "ada", 2)).unwrap();
    /// run.replace_hash("0x1", "0x2")?;
    /// assert_eq!(run.state().tx_hashes(), ["0x2"]);
    /// assert!(run.replace_hash("0x1", "0x3").is_err(), "the run has another hash");
    /// # Ok::<(), ServiceRunError>(())
    /// ```
    ///
    /// # Errors
    /// [`ServiceRunError`] for a hash that the run does not have, and for a blank or repeated new one. The run is
    /// unchanged.
    pub fn replace_hash(&mut self, old: &str, new: impl Into<String>) -> Result<(), ServiceRunError> {
        let state = self.state_mut();
        let place = state.tx_hashes.iter().position(|hash| hash.eq_ignore_ascii_case(old));
        let Some(place) = place else {
            return Err(ServiceRunError::UnknownHash { hash: old.to_owned() });
        };
        let mut hashes = state.tx_hashes.clone();
        hashes[place] = new.into();
        moves::check_hashes(&hashes, state.tx_requests.len())?;
        state.tx_hashes = hashes;
        Ok(())
    }
}
