//! How long an answer may take.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use runstate::stream::{ErrorKind, SourceError};
use tokio::time::{Instant, Sleep, sleep};

/// What a server is given, of each answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) silence: Duration,
    pub(crate) whole: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Times { silence: Duration::from_secs(10 * 60), whole: Duration::from_secs(60 * 60) }
    }
}

/// The limits of one answer, from its request on.
#[derive(Debug)]
pub(crate) struct Limit {
    times: Times,
    /// None where it is beyond what an [`Instant`] can tell.
    end: Option<Instant>,
    heard: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Limit {
    pub(crate) fn new(times: Times) -> Self {
        let now = Instant::now();
        let timer = Box::pin(sleep(times.silence.min(times.whole)));
        Limit { times, end: now.checked_add(times.whole), heard: now, timer }
    }

    /// A piece of the answer came.
    pub(crate) fn hear(&mut self) {
        let now = Instant::now();
        self.heard = now;
        let silent = now.checked_add(self.times.silence);
        if let Some(next) = [silent, self.end].into_iter().flatten().min() {
            self.timer.as_mut().reset(next);
        }
    }

    /// Is a limit passed? It is asked for also where bytes come without a pause.
    pub(crate) fn passed(&self) -> Option<SourceError> {
        let Times { silence, whole } = self.times;
        let message = if self.end.is_some_and(|end| Instant::now() >= end) {
            format!("the answer was not whole within {whole:?}")
        } else if self.heard.elapsed() >= silence {
            format!("no piece of the answer came for {silence:?}")
        } else {
            return None;
        };
        let message = message + "; `OpenAi::within` gives a server more time";
        Some(SourceError::new(ErrorKind::Timeout, message))
    }

    /// Wakes the task when a limit is passed.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Option<SourceError> {
        if self.timer.as_mut().poll(cx).is_pending() { None } else { self.passed() }
    }

    /// What is waited for, or the limit that was passed before.
    pub(crate) async fn of<T>(&mut self, waited: impl Future<Output = T>) -> Result<T, SourceError> {
        let mut waited = pin!(waited);
        poll_fn(|cx| match waited.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Ok(done)),
            Poll::Pending => self.poll(cx).map_or(Poll::Pending, |error| Poll::Ready(Err(error))),
        })
        .await
    }
}
