//! Commits, which make the state of a run durable.

mod delta;
mod file;
mod memory;
mod run_file;

use std::error::Error;

use async_trait::async_trait;
pub use delta::Delta;
pub use file::FileCommitter;
pub use memory::MemoryCommitter;
pub use run_file::{FileError, RunFile, read_run};
use runstate::checkpoint::Due;

/// A destination that makes the state of a run durable. It is optional: without a committer, the state lives in
/// memory.
///
/// ```
/// use runstate_agent::answer::{FinishReason, ModelEvent};
/// use runstate_agent::{
///     Agent, CommitError, Delta, InferenceRequest, Input, RunHandles, Model, ModelStream, RunState, StateCommitter, async_trait, run_loop,
/// };
/// use runstate::checkpoint::Due;
/// use runstate::run::RunStatus;
///
/// struct Brief;
///
/// impl Model for Brief {
///     fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
///         Box::pin(futures_util::stream::iter([ModelEvent::Finish(FinishReason::Stop)]))
///     }
/// }
///
/// /// Keeps each commit as a line of text, up to `most` lines.
/// struct Lines {
///     lines: Vec<Vec<u8>>,
///     most: usize,
/// }
///
/// #[async_trait]
/// impl StateCommitter for Lines {
///     async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
///         if self.lines.len() == self.most {
///             return Err(CommitError::new(format!("no room for {}", due.trigger())));
///         }
///         self.lines.push(delta.bundle().map_err(CommitError::new)?);
///         Ok(())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder(Brief).build()?;
/// let mut store = Lines { lines: Vec::new(), most: 3 };
/// let mut state = RunState::new("r1");
/// run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new().committer(&mut store)).await?;
/// assert_eq!((store.lines.len(), state.commits()), (3, 3)); // the message, the answer, the end
///
/// // A failed commit ends the run. The commit of the end fails here as well.
/// let mut store = Lines { lines: Vec::new(), most: 1 };
/// let mut state = RunState::new("r2");
/// let error = run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new().committer(&mut store)).await.unwrap_err();
/// assert!(error.to_string().contains("no room for RunFinished"), "{error}");
/// assert_eq!((store.lines.len(), state.run().status()), (1, RunStatus::Done));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait StateCommitter: Send {
    /// Makes all changes since the last commit durable, or none of them. After this returns `Ok`, a crash loses none
    /// of them.
    ///
    /// # Errors
    /// The cause of the failure. The stored state is then as of the last successful commit. The run ends with an
    /// error.
    ///
    /// # Cancel safety
    /// The run does not cancel a commit, but a dropped loop drops its commit. A dropped commit may or may not be
    /// durable; a partial commit is not allowed. If the run continues from memory, its next commit has the same
    /// number and contains everything in the dropped commit. The new commit replaces the dropped one.
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError>;

    /// Returns whether the committer stores the [events](Delta::events) of a run. If not, a run without a sink
    /// creates no events. Default: `false`. A committer that wraps another one forwards this call.
    fn keeps_events(&self) -> bool {
        false
    }
}

/// The error of a failed commit.
#[derive(Debug, thiserror::Error)]
#[error("the run's state could not be committed: {0}")]
pub struct CommitError(#[source] Box<dyn Error + Send + Sync>);

impl CommitError {
    /// Creates an error with this cause.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        CommitError(cause.into())
    }
}
