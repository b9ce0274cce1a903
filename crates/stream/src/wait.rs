//! The wait for a token.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, Sleep, sleep_until};

/// Limits on the time that a session waits for its stream.
///
/// Both limits count only while the session waits. Time that a consumer or a callback takes does not count. A
/// token that arrives at the moment of the limit is in time. Without a limit a silent stream holds the session
/// until an abort.
///
/// Besides output, a piece of reasoning, a piece of the provider's own data, and
/// [`StreamEvent::Alive`](super::StreamEvent::Alive) end a wait. Progress and a finish reason do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the opening of a stream to its first output.
    pub initial: Option<Duration>,
    /// From one output to the next.
    pub inter: Option<Duration>,
}

impl Timeouts {
    /// No limits.
    pub const NONE: Timeouts = Timeouts { initial: None, inter: None };
}

/// 60 s for the first token, 30 s from token to token.
impl Default for Timeouts {
    fn default() -> Self {
        Timeouts { initial: Some(Duration::from_secs(60)), inter: Some(Duration::from_secs(30)) }
    }
}

/// The limit that was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeoutType {
    /// The limit for the first token.
    Initial,
    /// The limit from token to token.
    Inter,
}

impl TimeoutType {
    /// Returns the type in its written form: `initial` or `inter`.
    pub const fn name(self) -> &'static str {
        match self {
            TimeoutType::Initial => "initial",
            TimeoutType::Inter => "inter",
        }
    }
}

/// The one timer of a session. Output moves the deadline and leaves the timer unchanged. The timer is reset
/// only when it fires before the deadline, so that a token costs no timer operation.
#[derive(Default)]
pub(super) struct Wait {
    limit: Option<Duration>,
    /// Start of the current wait; none while the session does not wait.
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Wait {
    /// Sets the limit that applies from now on.
    pub(super) fn limit(&mut self, limit: Option<Duration>) {
        self.limit = limit;
        self.since = None;
    }

    /// Ends the wait, because output came. Returns whether a wait was running.
    #[inline]
    pub(super) fn over(&mut self) -> bool {
        self.since.take().is_some()
    }

    /// Continues the wait, because there is nothing to read. Returns the time waited once the limit is reached.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime with time.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Duration> {
        let Some(limit) = self.limit else { return Poll::Pending };
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        // A deadline that overflows the clock counts as no limit.
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
