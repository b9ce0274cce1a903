//! A run before its first claim, and the inputs of a run that no commit has taken.

use std::time::Duration;

use serde_json::Value;

use super::thread::{ThreadPlace, UserMessage};
use crate::decision::Decision;

/// A run without an activation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewRun {
    /// Its id, which no other run of the store has or had.
    pub id: String,
    /// A few words for lists.
    pub title: String,
    /// The specification for its driver. The store keeps it and reads nothing in it.
    ///
    /// An object of `tag`, `at` and `of` alone whose tag is that of a key is the form of a keyed store, and is refused when it is read.
    pub spec: Value,
    /// When it was created.
    pub at_ms: u64,
    /// For this time only a claim by name takes the run. It is for the process that creates the run and drives it.
    pub not_before: Option<Duration>,
    /// Its place on a thread. Without one it begins a thread of its own under the id of the run.
    pub thread: Option<ThreadPlace>,
    /// The id of the message that the run begins with. It is [given](super::RunData::is_given) from now on, as that of the run is.
    pub begins_with: Option<String>,
}

impl NewRun {
    /// A run of that id.
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

    /// The same, beginning with the message of that id.
    #[must_use]
    pub fn beginning_with(mut self, message: impl Into<String>) -> Self {
        self.begins_with = Some(message.into());
        self
    }

    /// The same, on that thread: behind the run that is its [last](super::RunData::last_of_thread), or as the first one. It begins with the
    /// messages and values of the thread.
    #[must_use]
    pub fn following(mut self, thread: impl Into<String>, after: Option<String>) -> Self {
        self.thread = Some(ThreadPlace { thread: thread.into(), after });
        self
    }

    /// The same, kept so long for a claim by its name.
    ///
    /// ```
    /// use std::time::Duration;
    /// use runstate::clock::SetClock;
    /// use runstate::store::{Claim, MemoryStore, NewRun, RunData, RunQueue};
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
    /// # Ok::<(), runstate::store::StoreError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn not_before(mut self, time: Duration) -> Self {
        self.not_before = Some(time);
        self
    }

    /// The same, with a few words for lists.
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
    /// Decisions that the store accepted, in the order in which they came.
    pub decisions: Vec<Decision>,
    /// The reason of a requested cancellation.
    pub cancel: Option<String>,
    /// A message that the run goes on with: its open questions are cancelled.
    pub message: Option<UserMessage>,
}

impl PendingSignals {
    /// With these decisions, and with a wish to cancel or without.
    pub fn new(decisions: Vec<Decision>, cancel: Option<String>) -> Self {
        PendingSignals { decisions, cancel, message: None }
    }

    /// The same, with a message.
    #[must_use]
    pub fn with_message(mut self, message: Option<UserMessage>) -> Self {
        self.message = message;
        self
    }
}
