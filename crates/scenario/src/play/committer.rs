//! Commits with the scripted delays, failures and crashes.

use std::sync::Arc;
use std::time::Duration;

use runstate::checkpoint::Due;
use runstate_agent::{CommitError, Delta, StateCommitter, async_trait};

use super::board::Board;
use crate::file::{Commits, When};

/// Delegates to a committer at the scripted time, if the script permits.
pub(super) struct Staged<'a> {
    commits: &'a Commits,
    board: Arc<Board>,
    within: &'a mut dyn StateCommitter,
}

impl<'a> Staged<'a> {
    pub(super) fn new(commits: &'a Commits, board: Arc<Board>, within: &'a mut dyn StateCommitter) -> Self {
        Staged { commits, board, within }
    }
}

#[async_trait]
impl StateCommitter for Staged<'_> {
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        // A process that is gone commits nothing.
        if self.board.is_crashed() {
            std::future::pending::<()>().await;
        }
        let number = self.board.count_commit();
        if self.board.fire_at_commit(|when| *when == When::BeforeCommit(number)) {
            std::future::pending::<()>().await;
        }
        let takes_ms = self.commits.ms_of(number);
        if takes_ms > 0 {
            tokio::time::sleep(Duration::from_millis(takes_ms)).await;
        }
        if self.commits.fail.contains(&number) {
            return Err(CommitError::new(format!("commit {number} fails, as the scenario says")));
        }
        self.within.commit(due, delta).await?;
        if self.board.fire_at_commit(|when| *when == When::AfterCommit(number)) {
            std::future::pending::<()>().await;
        }
        Ok(())
    }

    fn keeps_events(&self) -> bool {
        self.within.keeps_events()
    }
}
