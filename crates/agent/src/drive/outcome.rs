//! Outcomes and errors of a loop.

use runstate::kernel::Lost;
use runstate::run::RunStatus;
use runstate::run_flow::{CommitFinished, RunFlow};
use runstate::termination::TerminationReason;

use super::super::answer::Usage;
use super::super::commit::CommitError;
use super::super::config::Agent;
use super::super::state::RunState;
use super::{Drive, RunHandles};

/// The outcome of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The reason why the last activation ended.
    pub reason: TerminationReason,
    /// The names of the waiting calls in traces.
    pub waiting: Vec<String>,
    /// The tokens used by the last activation; zero if no activation ran.
    /// [`RunState::usage`](crate::RunState::usage) has the total of all activations.
    pub used: Usage,
    /// The errors that occurred too late to change the outcome, such as errors of plugins in `RunEnd`.
    pub problems: Vec<String>,
}

impl Outcome {
    pub(super) fn waiting(waiting: Vec<String>) -> Self {
        Outcome {
            reason: TerminationReason::Suspended,
            waiting,
            used: Usage::default(),
            problems: Vec::new(),
        }
    }
}

/// The error of a loop that did not begin, or did not complete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ActivationError {
    /// The run's status does not allow this input.
    #[error("the run is {status}: {hint}")]
    NotStartable {
        /// The status of the run.
        status: RunStatus,
        /// A possible remedy.
        hint: &'static str,
    },
    /// In an earlier loop, a panic in a transition lost a state machine of the run. This loop changed nothing. The
    /// run must be read from its store.
    #[error("{0}")]
    Lost(Lost),
    /// An end outside of an activation could not be committed. Such an end belongs to a run that was cancelled while
    /// it waited, or whose loop was dropped during its last commit. A repeated call commits it.
    #[error("{0}; do the same again to commit it")]
    NotCommitted(CommitError),
    /// The end could not be committed. The activation is kept in its last state, so that the commit can be repeated.
    #[error("{}; the run's end is not committed: `Unfinished::retry` commits it, or resume the run", .0.error)]
    Unfinished(Box<Unfinished>),
}

/// An activation with an uncommitted end.
#[derive(Debug)]
pub struct Unfinished {
    pub(super) flow: RunFlow<CommitFinished>,
    pub(super) error: CommitError,
    pub(super) problems: Vec<String>,
    pub(super) used: Usage,
}

impl Unfinished {
    /// The error of the last attempt.
    pub fn error(&self) -> &CommitError {
        &self.error
    }

    /// Commits the end again, and emits its events. The connections may differ from those of the loop.
    ///
    /// ```
    /// use runstate_agent::answer::{FinishReason, ModelEvent};
    /// use runstate_agent::{
    ///     ActivationError, Agent, CommitError, Delta, InferenceRequest, Input, RunHandles, MemoryCommitter, Model, ModelStream, RunState,
    ///     StateCommitter, async_trait, run_loop,
    /// };
    /// use runstate::checkpoint::{Due, Trigger};
    /// use runstate::run::RunStatus;
    /// use runstate::termination::TerminationReason;
    ///
    /// struct Brief;
    ///
    /// impl Model for Brief {
    ///     fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
    ///         Box::pin(futures_util::stream::iter([ModelEvent::Finish(FinishReason::Stop)]))
    ///     }
    /// }
    ///
    /// /// Fails on the commit of the run's end.
    /// struct Full(MemoryCommitter);
    ///
    /// #[async_trait]
    /// impl StateCommitter for Full {
    ///     async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
    ///         match due.trigger() {
    ///             Trigger::RunFinished => Err(CommitError::new("the disk is full")),
    ///             _ => self.0.commit(due, delta).await,
    ///         }
    ///     }
    /// }
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    /// # runtime.block_on(async {
    /// let agent = Agent::builder(Brief).build()?;
    /// let (mut state, mut store) = (RunState::new("r1"), Full(MemoryCommitter::default()));
    /// let ended = run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new().committer(&mut store)).await;
    /// let Err(ActivationError::Unfinished(unfinished)) = ended else { panic!("the end cannot be committed") };
    /// assert!(unfinished.error().to_string().contains("the disk is full"));
    ///
    /// // The commit succeeds once the disk has room again.
    /// let io = RunHandles::new().committer(&mut store.0);
    /// let outcome = unfinished.retry(&agent, &mut state, io).await.map_err(ActivationError::Unfinished)?;
    /// assert_eq!((outcome.reason, state.run().status()), (TerminationReason::NaturalEnd, RunStatus::Done));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// The activation itself, when the commit failed again.
    ///
    /// # Cancel safety
    /// If the future is dropped, the activation is lost and the run is an interrupted one.
    /// [`Input::Resume`](super::Input::Resume) commits its end.
    pub async fn retry(
        self,
        agent: &Agent,
        state: &mut RunState,
        io: RunHandles<'_>,
    ) -> Result<Outcome, Box<Unfinished>> {
        let Unfinished { flow, problems, used, .. } = self;
        let events = io.events;
        let mut drive = Drive::new(agent, state, io, events, false);
        (drive.problems, drive.used) = (problems, used);
        let ended = drive.finish(flow).await;
        drive.settle_inbox();
        ended
    }
}

impl Drive<'_, '_> {
    /// Makes the last commit of an activation. The activation is over after it.
    pub(super) async fn finish(&mut self, flow: RunFlow<CommitFinished>) -> Result<Outcome, Box<Unfinished>> {
        let (problems, used) = (std::mem::take(&mut self.problems), std::mem::take(&mut self.used));
        let receipt = match self.write(flow.due(), Some((flow.reason(), used))).await {
            Ok(receipt) => receipt,
            Err(error) => return Err(Box::new(Unfinished { flow, error, problems, used })),
        };
        let waiting = flow.calls().to_vec();
        let reason = match flow.committed(&receipt) {
            Ok((_, reason)) => reason,
            Err((flow, wrong)) => {
                return Err(Box::new(Unfinished { flow, error: CommitError::new(wrong), problems, used }));
            }
        };
        self.state.interrupted = false;
        Ok(Outcome { reason, waiting, used, problems })
    }
}
