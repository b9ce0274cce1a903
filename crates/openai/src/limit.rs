//! How long an answer may take.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use runstate::stream::{ErrorKind, SourceError};
use tokio::time::{Instant, Sleep, sleep};

/// The times that a server has for each answer.
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
    /// None for a time beyond the range of [`Instant`].
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

    /// Has the whole answer taken too long? It is asked also where pieces come without a pause.
    pub(crate) fn over(&self) -> Option<SourceError> {
        let is_over = self.end.is_some_and(|end| Instant::now() >= end);
        is_over.then(|| timeout(&format!("the answer was not whole within {:?}", self.times.whole)))
    }

    /// Is a limit passed, where no piece has come? A consumer that takes its time says nothing of the server.
    pub(crate) fn passed(&self) -> Option<SourceError> {
        let silence = self.times.silence;
        let is_silent = || self.heard.elapsed() >= silence;
        let silent = || is_silent().then(|| timeout(&format!("no piece of the answer came for {silence:?}")));
        self.over().or_else(silent)
    }

    /// Wakes the task when a limit is passed.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Option<SourceError> {
        if self.timer.as_mut().poll(cx).is_pending() { None } else { self.passed() }
    }

    /// The result of a future, or the limit that was passed first.
    pub(crate) async fn of<T>(&mut self, waited: impl Future<Output = T>) -> Result<T, SourceError> {
        let mut waited = pin!(waited);
        poll_fn(|cx| match waited.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Ok(done)),
            Poll::Pending => self.poll(cx).map_or(Poll::Pending, |error| Poll::Ready(Err(error))),
        })
        .await
    }
}

fn timeout(message: &str) -> SourceError {
    SourceError::new(ErrorKind::Timeout, format!("{message}; `OpenAi::within` gives a server more time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_word_of_the_user_an_answer_has_ten_minutes_without_a_piece_and_an_hour_in_all() {
        let Times { silence, whole } = Times::default();
        assert_eq!((silence.as_secs(), whole.as_secs()), (600, 3600));
    }
}
