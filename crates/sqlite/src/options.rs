//! How a file is opened.

use std::num::NonZeroUsize;
use std::time::Duration;

/// How a file is opened. What is not said stays as in [`Options::default`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub(crate) busy: Duration,
    pub(crate) poll: Duration,
    pub(crate) readers: NonZeroUsize,
    pub(crate) queue: NonZeroUsize,
    pub(crate) largest: Option<u64>,
}

impl Default for Options {
    /// 5 seconds for other processes, a look for news each 100 ms, 4 readers, and 1024 requests that wait to be written; the file may grow.
    fn default() -> Self {
        Options {
            busy: Duration::from_secs(5),
            poll: Duration::from_millis(100),
            readers: const { NonZeroUsize::new(4).unwrap() },
            queue: const { NonZeroUsize::new(1024).unwrap() },
            largest: None,
        }
    }
}

impl Options {
    /// Waits so long for another process that writes, before a request is [unavailable](runstate::store::StoreError::Unavailable).
    #[must_use]
    pub fn busy_timeout(mut self, time: Duration) -> Self {
        self.busy = time;
        self
    }

    /// Looks so often for what other processes brought.
    #[must_use]
    pub fn polling(mut self, time: Duration) -> Self {
        self.poll = time.max(Duration::from_millis(1));
        self
    }

    /// Reads on at most so many connections at once.
    #[must_use]
    pub fn readers(mut self, readers: NonZeroUsize) -> Self {
        self.readers = readers;
        self
    }

    /// At most so many requests wait to be written; who brings one more waits.
    #[must_use]
    pub fn queue(mut self, requests: NonZeroUsize) -> Self {
        self.queue = requests;
        self
    }

    /// The file grows to at most so many bytes, whole pages of them. What finds no room is refused as on a full disk, and can be
    /// done again once something was removed.
    #[must_use]
    pub fn largest(mut self, bytes: u64) -> Self {
        self.largest = Some(bytes);
        self
    }
}
