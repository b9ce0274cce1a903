//! Execution of a part, with a deadline and with protection against panics.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

use runstate_runtime::clock::{Clock, sleep_until};

use super::parts::PartError;

pub(super) type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended<T> {
    Done(T),
    /// The part panicked. Its effects are unknown.
    Panicked(String),
    /// The deadline came first, and the part was dropped.
    TimedOut,
}

impl<T> Ended<Result<T, PartError>> {
    /// The result, with a panic as an error; `None` if the deadline came first.
    pub(super) fn in_time(self) -> Option<Result<T, PartError>> {
        match self {
            Ended::Done(result) => Some(result),
            Ended::Panicked(why) => Some(Err(PartError::new(why))),
            Ended::TimedOut => None,
        }
    }
}

/// Waits for the work until `deadline`. Work that completes exactly at the deadline counts as done.
pub(super) async fn guarded<T>(clock: &dyn Clock, deadline: Option<u64>, mut work: Work<'_, T>) -> Ended<T> {
    let work = poll_fn(move |cx| {
        // A part that panicked is not polled again, because its work is over.
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

/// Returns the result of `make`, or the message of its panic.
pub(super) fn catch_panic<T>(make: impl FnOnce() -> T) -> Result<T, String> {
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
