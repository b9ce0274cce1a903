//! Waiting for a token.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, Sleep, sleep_until};

/// How long a session waits for its stream (document 002, "Timeout Flow"; C6).
///
/// Both count while the session waits, and only then: a consumer or a callback that takes its time uses up nothing of the
/// stream's. A token that comes at the very moment of the limit is in time. Without a limit a silent stream holds the session until it is aborted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From opening a stream to its first output.
    pub initial: Option<Duration>,
    /// From one output to the next.
    pub inter: Option<Duration>,
}

impl Timeouts {
    /// No limits.
    pub const NONE: Timeouts = Timeouts { initial: None, inter: None };
}

/// A minute for the first token, half a minute from token to token.
impl Default for Timeouts {
    fn default() -> Self {
        Timeouts { initial: Some(Duration::from_secs(60)), inter: Some(Duration::from_secs(30)) }
    }
}

/// Which of the two limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeoutType {
    /// For the first token.
    Initial,
    /// From token to token.
    Inter,
}

impl TimeoutType {
    /// The type as the document writes it: `initial`, `inter`.
    pub const fn name(self) -> &'static str {
        match self {
            TimeoutType::Initial => "initial",
            TimeoutType::Inter => "inter",
        }
    }
}

/// The one timer of a session. Output moves the deadline and leaves the timer alone, which is set again only when it goes
/// off too early: so a token costs no timer.
#[derive(Default)]
pub(super) struct Wait {
    limit: Option<Duration>,
    /// Since when the session waits; none while it does not.
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Wait {
    /// From now on this limit holds.
    pub(super) fn limit(&mut self, limit: Option<Duration>) {
        self.limit = limit;
        self.since = None;
    }

    /// Output came. True when a running wait ends with it.
    #[inline]
    pub(super) fn over(&mut self) -> bool {
        self.since.take().is_some()
    }

    /// There is nothing to read: waits on. Ready, with how long it waited, at the limit.
    ///
    /// # Panics
    /// Outside of a tokio runtime with time.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Duration> {
        let Some(limit) = self.limit else { return Poll::Pending };
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        // A limit beyond the end of time is none.
        let Some(deadline) = since.checked_add(limit) else { return Poll::Pending };
        if now >= deadline {
            return Poll::Ready(now - since);
        }
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() > deadline || timer.is_elapsed() {
            timer.as_mut().reset(deadline);
        }
        ready!(timer.as_mut().poll(cx));
        if timer.deadline() < deadline {
            timer.as_mut().reset(deadline);
            ready!(timer.as_mut().poll(cx));
        }
        Poll::Ready(Instant::now() - since)
    }
}
