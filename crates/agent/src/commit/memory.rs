//! A committer that keeps commits in memory, as bytes.

use async_trait::async_trait;
use runstate::checkpoint::{Due, Trigger};
use runstate::snapshot::BundleLog;

use super::super::RunState;
use super::super::state::{StateError, StoredRun};
use super::{CommitError, Delta, StateCommitter};

/// Committer that keeps commits in memory, as the bytes that a disk would have. It is for tests, and for runs that
/// another task may take over but that need not survive their process.
///
/// ```
/// use runstate_agent::MemoryCommitter;
///
/// // Without a commit, there is no run to read.
/// let error = MemoryCommitter::default().restore().unwrap_err();
/// assert_eq!(error.to_string(), "nothing was committed");
/// ```
#[derive(Debug, Default, Clone)]
pub struct MemoryCommitter {
    log: BundleLog,
    /// The trigger of each commit.
    triggers: Vec<Trigger>,
}

impl MemoryCommitter {
    /// The trigger of each commit, in order.
    pub fn triggers(&self) -> impl Iterator<Item = Trigger> {
        self.triggers.iter().copied()
    }

    /// The size of all commits in bytes.
    pub fn size(&self) -> usize {
        self.log.size()
    }

    /// The run as of the last commit.
    ///
    /// # Errors
    /// [`StateError`] when no commit was made, or when the commits are inconsistent.
    pub fn stored(&self) -> Result<StoredRun, StateError> {
        self.stored_after(self.log.len())
    }

    /// The run as of the first `commits` commits.
    ///
    /// # Errors
    /// See [`stored`](Self::stored).
    pub fn stored_after(&self, commits: usize) -> Result<StoredRun, StateError> {
        StoredRun::from_bundles(self.log.read().take(commits))
    }

    /// The run as of the last commit, as typed state.
    ///
    /// # Errors
    /// See [`stored`](Self::stored).
    pub fn restore(&self) -> Result<RunState, StateError> {
        self.stored()?.restore()
    }
}

#[async_trait]
impl StateCommitter for MemoryCommitter {
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        delta.write_to(&mut self.log).map_err(CommitError::new)?;
        self.triggers.push(due.trigger());
        Ok(())
    }
}
