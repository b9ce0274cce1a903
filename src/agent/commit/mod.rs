//! Making the state of a run durable, commit by commit (document 000, "Checkpoint Triggers").

mod delta;
mod file;
mod memory;
mod run_file;

use std::error::Error;
use std::fmt;

use async_trait::async_trait;

use crate::checkpoint::Due;

pub use delta::Delta;
pub use file::FileCommitter;
pub use memory::MemoryCommitter;
pub use run_file::{FileError, RunFile, read_run};

/// Where a run's state is made durable. It is optional: without one, state lives in memory.
///
/// ```
/// use runstate::agent::answer::{FinishReason, ModelEvent};
/// use runstate::agent::{
///     Agent, CommitError, Delta, InferenceRequest, Input, Io, Model, ModelStream, RunState, StateCommitter, async_trait, run_loop,
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
/// /// Keeps each commit as a line of text, as long as there is room.
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
/// run_loop(&agent, &mut state, Input::message("hi"), Io::new().committer(&mut store)).await?;
/// assert_eq!((store.lines.len(), state.commits()), (3, 3)); // the message, the answer, the end
///
/// // A commit that fails ends the run; here the end finds no room either.
/// let mut store = Lines { lines: Vec::new(), most: 1 };
/// let mut state = RunState::new("r2");
/// let error = run_loop(&agent, &mut state, Input::message("hi"), Io::new().committer(&mut store)).await.unwrap_err();
/// assert!(error.to_string().contains("no room for RunFinished"), "{error}");
/// assert_eq!((store.lines.len(), state.run().status()), (1, RunStatus::Done));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait StateCommitter: Send {
    /// Makes what changed since the last commit durable, all of it or nothing. When this returns, a crash loses nothing
    /// of it.
    ///
    /// # Errors
    /// What went wrong; what is stored is then as it was at the last commit that succeeded. The run ends, with an error.
    ///
    /// # Cancel safety
    /// A commit is not cancelled by the run, but it is dropped with its loop. Dropped, it may or may not have been made,
    /// and must not be made by half. The next commit of a run that goes on from memory then has the same number, and holds
    /// all that the dropped one did: it takes its place.
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError>;

    /// Does it keep the [events](Delta::events) of a run? Where it does not, a run without a sink makes none. Default: no. A committer
    /// around another one forwards it.
    fn keeps_events(&self) -> bool {
        false
    }
}

/// Why a commit was not made.
#[derive(Debug)]
pub struct CommitError(Box<dyn Error + Send + Sync>);

impl CommitError {
    /// It failed because of this.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        CommitError(cause.into())
    }
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the run's state could not be committed: {}", self.0)
    }
}

impl Error for CommitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}
