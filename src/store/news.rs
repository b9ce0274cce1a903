//! News of one process: what comes in at a handle wakes all who wait at it.

use std::time::Duration;

use tokio::sync::watch;

/// How much came in at a handle. Each who waits knows how much it has seen, so that none takes another's news away.
#[derive(Debug, Default)]
pub(super) struct News(watch::Sender<u64>);

impl News {
    /// Something came in, and can be read.
    pub(super) fn tell(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    /// How much came in.
    pub(super) fn count(&self) -> u64 {
        *self.0.borrow()
    }

    /// Waits until there is more than was seen, but no longer than `patience`. Says how much there is.
    pub(super) async fn wait(&self, seen: u64, patience: Duration) -> u64 {
        let mut count = self.0.subscribe();
        // Longer than patience is no error: nothing came.
        drop(tokio::time::timeout(patience, count.wait_for(|count| *count != seen)).await);
        *self.0.borrow()
    }
}
