//! Notifications within one process: input at a handle wakes all tasks that wait at it.

use std::time::Duration;

use tokio::sync::watch;

/// A count of the input at a handle. Each waiting task has its own cursor, so none takes a notification from another.
#[derive(Debug, Default)]
pub(super) struct ChangeNotifier(watch::Sender<u64>);

impl ChangeNotifier {
    /// Counts one input, which must be readable already, and wakes the waiting tasks.
    pub(super) fn tell(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    /// Returns the count.
    pub(super) fn count(&self) -> u64 {
        *self.0.borrow()
    }

    /// Waits until the count differs from `seen`, at most for `patience`. Returns the count.
    pub(super) async fn wait(&self, seen: u64, patience: Duration) -> u64 {
        let mut count = self.0.subscribe();
        // A timeout is not an error: there was no input.
        drop(tokio::time::timeout(patience, count.wait_for(|count| *count != seen)).await);
        *self.0.borrow()
    }
}
