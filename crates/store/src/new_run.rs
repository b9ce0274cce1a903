//! A run before its first claim, and the inputs of a run that no commit has taken.

use std::time::Duration;

use runstate::decision::Decision;
use serde_json::Value;

use super::thread::{ThreadPlace, UserMessage};

/// A run to create.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewRun {
    /// The id. It must be unique in the store, removed runs included.
    pub id: String,
    /// A short title for lists.
    pub title: String,
    /// The specification for the driver. The store does not read it.
    ///
    /// An object with exactly the fields `tag`, `at` and `of`, whose tag is that of a key, is the form of a keyed
    /// store. A reader refuses it.
    pub spec: Value,
    /// The time of creation, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The time for which the run can be claimed only by name. For the process that creates the run and drives it.
    pub not_before: Option<Duration>,
    /// The position on a thread. Without one the run begins a thread with its own id.
    pub thread: Option<ThreadPlace>,
    /// The id of the message with which the run begins. It counts as [used](super::RunData::is_given) from now on,
    /// like that of the run.
    pub begins_with: Option<String>,
}

impl NewRun {
    /// Creates a run with that id.
    pub fn new(id: impl Into<String>, spec: Value, at_ms: u64) -> Self {
        NewRun {
            id: id.into(),
            title: String::new(),
            spec,
            at_ms,
            not_before: None,
            thread: None,
            begins_with: None,
        }
    }

    /// Sets the id of the message with which the run begins.
    #[must_use]
    pub fn beginning_with(mut self, message: impl Into<String>) -> Self {
        self.begins_with = Some(message.into());
        self
    }

    /// Sets the position on a thread: after the [last](super::RunData::last_of_thread) run, or as the first one. The
    /// run begins with the messages and values of the thread.
    #[must_use]
    pub fn following(mut self, thread: impl Into<String>, after: Option<String>) -> Self {
        self.thread = Some(ThreadPlace { thread: thread.into(), after });
        self
    }

    /// Sets the time for which the run can be claimed only by name. Default: none.
    ///
    /// ```
    /// use std::time::Duration;
    /// use runstate_runtime::clock::SetClock;
    /// use runstate_store::{Claim, MemoryStore, NewRun, RunData, RunQueue};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let clock = SetClock::at(0);
    /// let store = MemoryStore::with_clock(clock.clone());
    /// let (minute, hour) = (Duration::from_secs(60), Duration::from_secs(3_600));
    /// for run in ["r1", "r2"] {
    ///     store.create(&NewRun::new(run, serde_json::Value::Null, 0).not_before(minute)).await?;
    /// }
    /// assert_eq!(store.claim(&Claim::any("a worker", hour)).await?, None);
    /// assert!(store.claim(&Claim::of("r1", "its creator", hour)).await?.is_some());
    /// clock.set(60_000);
    /// assert_eq!(store.claim(&Claim::any("a worker", hour)).await?.unwrap().run, "r2");
    /// # Ok::<(), runstate_store::StoreError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn not_before(mut self, time: Duration) -> Self {
        self.not_before = Some(time);
        self
    }

    /// Sets a short title for lists.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }
}

/// External input for a run that no commit has taken.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PendingSignals {
    /// Accepted decisions, in the order of their arrival.
    pub decisions: Vec<Decision>,
    /// The reason of a requested cancellation.
    pub cancel: Option<String>,
    /// A message with which the run continues. Its open questions are cancelled.
    pub message: Option<UserMessage>,
}

impl PendingSignals {
    /// Creates pending signals with decisions, and with the reason of a requested cancellation.
    pub fn new(decisions: Vec<Decision>, cancel: Option<String>) -> Self {
        PendingSignals { decisions, cancel, message: None }
    }

    /// Sets the pending message.
    #[must_use]
    pub fn with_message(mut self, message: Option<UserMessage>) -> Self {
        self.message = message;
        self
    }
}
