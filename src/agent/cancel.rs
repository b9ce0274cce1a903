//! Cancelling a run between its activations.

use super::state::RunState;
use super::{ActivationError, Agent, CommitError, Outcome, commit};
use crate::run::{AnyRun, Finish, RunStatus};
use crate::termination::TerminationReason;

impl Agent<'_> {
    /// Cancels a run that waits, and the calls that it waits for, in one commit. During an activation a run is cancelled
    /// by what the agent asks, [`cancelled`](Agent::cancelled); [`resume`](Agent::resume) asks that too.
    ///
    /// # Errors
    /// [`ActivationError::NotCommitted`] when the commit failed: called again, this commits again.
    /// [`ActivationError::NotStartable`] for a run that does not wait.
    pub fn cancel(&mut self, state: &mut RunState) -> Result<Outcome, ActivationError> {
        let status = state.run.get().status();
        if status == RunStatus::Waiting {
            state.cancel_open_calls(&format!("the run ended: {}", TerminationReason::Cancelled));
        }
        state.run.step(|run| match run {
            AnyRun::Waiting(run) => match run.finish(Finish::new(TerminationReason::Cancelled)) {
                Ok(run) => (run.into(), ()),
                Err(rejected) => unreachable!("a run that waits may be cancelled: {}", rejected.error),
            },
            other => (other, ()),
        });
        match state.run.get() {
            AnyRun::Done(run) if *run.reason() == TerminationReason::Cancelled => {
                let receipt =
                    commit(self.committer, run.due(), state).map_err(ActivationError::NotCommitted)?;
                run.committed(&receipt)
                    .map_err(|wrong| ActivationError::NotCommitted(CommitError::new(wrong)))?;
                Ok(Outcome { reason: TerminationReason::Cancelled, waiting: Vec::new() })
            }
            AnyRun::Done(_) => {
                Err(ActivationError::NotStartable { status, hint: "it is over; start a new run" })
            }
            AnyRun::Running(_) | AnyRun::Waiting(_) => {
                let hint = "an activation is cancelled by what it asks, `cancelled`";
                Err(ActivationError::NotStartable { status, hint })
            }
        }
    }
}
