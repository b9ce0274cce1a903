//! Futures that are polled so often and no more.

use std::future::poll_fn;
use std::task::Poll;

/// Drives a future to its end; before one of its polls, counted from 0, does something. Says whether it came to that.
pub async fn before_poll<T>(future: impl Future<Output = T>, at: usize, act: impl FnOnce()) -> (T, bool) {
    let mut future = Box::pin(future);
    let (mut polls, mut act) = (0, Some(act));
    let output = poll_fn(|context| {
        if polls == at
            && let Some(act) = act.take()
        {
            act();
        }
        polls += 1;
        future.as_mut().poll(context)
    });
    let output = output.await;
    (output, act.is_none())
}

/// Polls a future so often, and drops it if it is not ready by then.
pub async fn dropped_after<T>(future: impl Future<Output = T>, most: usize) -> Option<T> {
    let mut future = Box::pin(future);
    let mut polls = 0;
    poll_fn(move |context| {
        if polls == most {
            return Poll::Ready(None);
        }
        polls += 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}
