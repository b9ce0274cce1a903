//! Commits kept in memory, as bytes.

use async_trait::async_trait;

use super::super::RunState;
use super::super::state::{Fold, StateError, StoredDelta, StoredRun};
use super::{CommitError, Delta, StateCommitter};
use crate::checkpoint::{Due, Trigger};

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
    bytes: Vec<u8>,
    /// Where each commit ends, and what made it due.
    commits: Vec<(usize, Trigger)>,
}

impl MemoryCommitter {
    /// What made each commit due, in order.
    pub fn triggers(&self) -> impl Iterator<Item = Trigger> {
        self.commits.iter().map(|(_, trigger)| *trigger)
    }

    /// How many bytes all commits have.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The run as the last commit left it.
    ///
    /// # Errors
    /// [`StateError`] when nothing was committed, or when it does not fit together.
    pub fn stored(&self) -> Result<StoredRun, StateError> {
        self.stored_after(self.commits.len())
    }

    /// The run as the first commits left it.
    ///
    /// # Errors
    /// As [`stored`](Self::stored).
    pub fn stored_after(&self, commits: usize) -> Result<StoredRun, StateError> {
        let mut from = 0;
        let mut fold = Fold::default();
        for (to, _) in self.commits.iter().take(commits) {
            fold.add(StoredDelta::from_json(&self.bytes[from..*to])?)?;
            from = *to;
        }
        fold.into_stored()
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
        let before = self.bytes.len();
        if let Err(error) = serde_json::to_writer(&mut self.bytes, delta) {
            self.bytes.truncate(before);
            return Err(CommitError::new(error));
        }
        self.commits.push((self.bytes.len(), due.trigger()));
        Ok(())
    }
}
