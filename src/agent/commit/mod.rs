//! Making the state of a run durable, commit by commit (document 000, "Checkpoint Triggers").

mod delta;
mod file;
mod memory;

use std::error::Error;
use std::fmt;

use async_trait::async_trait;

use crate::checkpoint::Due;

pub use delta::Delta;
pub use file::{FileCommitter, FileError, read_run};
pub use memory::MemoryCommitter;

/// Where a run's state is made durable. It is optional: without one, state lives in memory.
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
