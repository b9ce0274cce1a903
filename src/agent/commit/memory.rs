//! Commits kept in memory, as bytes.

use async_trait::async_trait;

use super::super::RunState;
use super::super::state::{StateError, StoredRun};
use super::{CommitError, Delta, StateCommitter};
use crate::checkpoint::{Due, Trigger};
use crate::snapshot::BundleLog;

/// Keeps what was committed in memory, as the bytes that a disk would have: for tests, and for runs that need not survive
/// their process but may be picked up by another task.
///
/// ```
/// use runstate::agent::MemoryCommitter;
///
/// // Nothing was committed: there is no run to read.
/// let error = MemoryCommitter::default().restore().unwrap_err();
/// assert_eq!(error.to_string(), "nothing was committed");
/// ```
#[derive(Debug, Default, Clone)]
pub struct MemoryCommitter {
    log: BundleLog,
    /// What made each commit due.
    triggers: Vec<Trigger>,
}

impl MemoryCommitter {
    /// What made each commit due, in order.
    pub fn triggers(&self) -> impl Iterator<Item = Trigger> {
        self.triggers.iter().copied()
    }

    /// How many bytes all commits have.
    pub fn size(&self) -> usize {
        self.log.size()
    }

    /// The run as the last commit left it.
    ///
    /// # Errors
    /// [`StateError`] when nothing was committed, or when it does not fit together.
    pub fn stored(&self) -> Result<StoredRun, StateError> {
        self.stored_after(self.log.len())
    }

    /// The run as the first commits left it.
    ///
    /// # Errors
    /// As [`stored`](Self::stored).
    pub fn stored_after(&self, commits: usize) -> Result<StoredRun, StateError> {
        StoredRun::from_bundles(self.log.read().take(commits))
    }

    /// The run as the last commit left it, as types.
    ///
    /// # Errors
    /// As [`stored`](Self::stored).
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
