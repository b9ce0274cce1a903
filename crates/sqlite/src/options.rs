//! Options for opening a file.

use std::num::NonZeroUsize;
use std::time::Duration;

/// Options for opening a file. The defaults are those of [`Options::default`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub(crate) busy: Duration,
    pub(crate) poll: Duration,
    pub(crate) readers: NonZeroUsize,
    pub(crate) queue: NonZeroUsize,
    pub(crate) largest: Option<u64>,
    pub(crate) migrates: bool,
}

impl Default for Options {
    /// Returns the defaults: 5 s to wait for other processes, a poll interval of 100 ms, 4 readers, a queue of 1024
    /// write requests, and no limit of the file size.
    fn default() -> Self {
        Options {
            busy: Duration::from_secs(5),
            poll: Duration::from_millis(100),
            readers: const { NonZeroUsize::new(4).unwrap() },
            queue: const { NonZeroUsize::new(1024).unwrap() },
            largest: None,
            migrates: true,
        }
    }
}

impl Options {
    /// Sets the time to wait for another writing process, before a request fails as
    /// [unavailable](runstate_store::StoreError::Unavailable). Default: 5 s.
    ///
    /// A process that is stopped within a write, such as a frozen sandbox, keeps the lock of the file. All writes of other
    /// processes then fail after this time, until that process continues or ends. Reads continue.
    #[must_use]
    pub fn busy_timeout(mut self, time: Duration) -> Self {
        self.busy = time;
        self
    }

    /// Sets whether a file of an earlier version is migrated. Otherwise it is refused and unchanged, as
    /// [unusable](runstate_store::StoreError::Unusable): for readers, since an earlier version of a program cannot open
    /// a migrated file. Default: true.
    ///
    /// ```
    /// use runstate_sqlite::{Options, SqliteStore};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("runs.db");
    /// SqliteStore::open(&path)?;
    /// // A file of this version is opened.
    /// SqliteStore::open_with(&path, Options::default().migrate(false))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn migrate(mut self, migrates: bool) -> Self {
        self.migrates = migrates;
        self
    }

    /// Sets the poll interval for changes by other processes, at least 1 ms. Default: 100 ms.
    #[must_use]
    pub fn polling(mut self, time: Duration) -> Self {
        self.poll = time.max(Duration::from_millis(1));
        self
    }

    /// Sets the limit of concurrent reading connections. Default: 4.
    #[must_use]
    pub fn readers(mut self, readers: NonZeroUsize) -> Self {
        self.readers = readers;
        self
    }

    /// Sets the length of the queue of write requests. The caller of a further request waits. Default: 1024.
    #[must_use]
    pub fn queue(mut self, requests: NonZeroUsize) -> Self {
        self.queue = requests;
        self
    }

    /// Sets the size limit of the file in bytes, rounded down to whole pages. Default: none. A write that exceeds it
    /// is refused as on a full disk, and can be retried once data was removed.
    #[must_use]
    pub fn largest(mut self, bytes: u64) -> Self {
        self.largest = Some(bytes);
        self
    }
}
