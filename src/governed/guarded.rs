//! A part at work: it may take too long, and it may panic.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

use super::parts::PartError;
use crate::clock::{Clock, sleep_until};

pub(super) type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended<T> {
    Done(T),
    /// It panicked: what it was doing is not known to be done.
    Panicked(String),
    /// The deadline came first; the work was dropped.
    TimedOut,
}

impl<T> Ended<Result<T, PartError>> {
    /// The work done, with a panic as an error; none when the deadline came first.
    pub(super) fn in_time(self) -> Option<Result<T, PartError>> {
        match self {
            Ended::Done(result) => Some(result),
            Ended::Panicked(why) => Some(Err(PartError::new(why))),
            Ended::TimedOut => None,
        }
    }
}

/// Waits for the work, no longer than until `deadline`. Work that is done when the deadline comes counts as done.
pub(super) async fn guarded<T>(clock: &dyn Clock, deadline: Option<u64>, mut work: Work<'_, T>) -> Ended<T> {
    let work = poll_fn(move |cx| {
        // A part that panicked is not polled again: this is the end of its work.
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ended::Done),
            Err(panic) => std::task::Poll::Ready(Ended::Panicked(said(panic.as_ref()))),
        }
    });
    tokio::select! {
        biased;
        ended = work => ended,
        () = until(clock, deadline) => Ended::TimedOut,
    }
}

/// What `make` gives, or what it said when it panicked.
pub(super) fn sheltered<T>(make: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(make)).map_err(|panic| said(panic.as_ref()))
}

async fn until(clock: &dyn Clock, deadline: Option<u64>) {
    match deadline {
        Some(deadline) => sleep_until(clock, deadline).await,
        None => std::future::pending().await,
    }
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", text.unwrap_or("without a word"))
}
