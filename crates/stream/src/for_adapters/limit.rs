//! Time limits of an answer.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::{ErrorKind, SourceError};
use tokio::time::{Instant, Sleep, sleep};

/// The time limits of each answer.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub silence: Duration,
    pub whole: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Times { silence: Duration::from_secs(10 * 60), whole: Duration::from_secs(60 * 60) }
    }
}

/// The limits of one answer, counted from its request.
#[derive(Debug)]
pub struct Limit {
    times: Times,
    /// None if the time exceeds the range of [`Instant`].
    end: Option<Instant>,
    heard: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Limit {
    pub fn new(times: Times) -> Self {
        let now = Instant::now();
        let timer = Box::pin(sleep(times.silence.min(times.whole)));
        Limit { times, end: now.checked_add(times.whole), heard: now, timer }
    }

    /// Notes a piece of the answer.
    pub fn hear(&mut self) {
        let now = Instant::now();
        self.heard = now;
        let silent = now.checked_add(self.times.silence);
        if let Some(next) = [silent, self.end].into_iter().flatten().min() {
            self.timer.as_mut().reset(next);
        }
    }

    /// Returns an error if the whole answer takes too long. It is also checked while pieces come continuously.
    pub fn over(&self) -> Option<SourceError> {
        let is_over = self.end.is_some_and(|end| Instant::now() >= end);
        is_over.then(|| timeout(&format!("the answer was not whole within {:?}", self.times.whole)))
    }

    /// Returns an error if a limit has passed without a piece. Call it only while the stream has no data: a
    /// slow consumer is not the server's fault.
    pub fn passed(&self) -> Option<SourceError> {
        let silence = self.times.silence;
        let is_silent = || self.heard.elapsed() >= silence;
        let silent = || is_silent().then(|| timeout(&format!("no piece of the answer came for {silence:?}")));
        self.over().or_else(silent)
    }

    /// Wakes the task when a limit passes.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Option<SourceError> {
        if self.timer.as_mut().poll(cx).is_pending() { None } else { self.passed() }
    }

    /// Waits for a future, or for the first limit that passes.
    pub async fn of<T>(&mut self, waited: impl Future<Output = T>) -> Result<T, SourceError> {
        let mut waited = pin!(waited);
        poll_fn(|cx| match waited.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Ok(done)),
            Poll::Pending => self.poll(cx).map_or(Poll::Pending, |error| Poll::Ready(Err(error))),
        })
        .await
    }
}

fn timeout(message: &str) -> SourceError {
    SourceError::new(
        ErrorKind::Timeout,
        format!("{message}; `within` of the adapter gives a server more time"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    use tokio::time::advance;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn an_answer_has_ten_minutes_of_silence_and_an_hour() {
        let Times { silence, whole } = Times::default();
        assert_eq!((silence.as_secs(), whole.as_secs()), (600, 3600));
    }

    /// The message of the limit for a part of an answer that comes after this time.
    async fn refused(limit: &mut Limit, after: Duration) -> Option<String> {
        let waited = limit.of(sleep(after)).await;
        limit.hear();
        waited.err().map(|error| error.message().to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn a_piece_comes_after_ten_minutes_and_no_later() {
        let ten_minutes = Duration::from_secs(600);
        let mut limit = Limit::new(Times::default());
        for _ in 0..2 {
            assert_eq!(refused(&mut limit, ten_minutes).await, None);
        }
        let why = refused(&mut limit, ten_minutes + MS).await.unwrap();
        assert!(why.starts_with("no piece of the answer came for 600s"), "{why}");
        let limit = Limit::new(Times::default());
        advance(ten_minutes - MS).await;
        assert!(limit.passed().is_none());
        advance(MS).await;
        assert!(limit.passed().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_comes_within_an_hour_and_no_later() {
        for (last, is_whole) in [(Duration::from_secs(600), true), (Duration::from_secs(600) + MS, false)] {
            // Signs of life of five minutes each, until ten minutes are left.
            let mut limit = Limit::new(Times { silence: Duration::from_secs(601), ..Times::default() });
            for _ in 0..10 {
                assert_eq!(refused(&mut limit, Duration::from_secs(300)).await, None);
            }
            let why = limit.of(sleep(last)).await.err().map(|error| error.message().to_owned());
            assert_eq!(why.is_none(), is_whole, "{why:?}");
            assert!(why.is_none_or(|why| why.starts_with("the answer was not whole within 3600s")));
        }
        let limit = Limit::new(Times::default());
        advance(Duration::from_secs(3_600) - MS).await;
        assert!(limit.over().is_none());
        advance(MS).await;
        assert!(limit.over().is_some());
    }
}
