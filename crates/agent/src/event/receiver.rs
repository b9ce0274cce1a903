//! The receiver of kept events.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::delivery::{Delivery, Gap};
use super::reconnect::Shared;
use super::replay_buffer::Start;

/// Receiver of the events that a [`ReconnectableEventSink`](super::ReconnectableEventSink) keeps. It begins at the
/// event where it was attached. The run is not affected when it is dropped.
pub struct EventReceiver {
    shared: Arc<Shared>,
    /// The number of this receiver.
    receiver: u64,
    /// The position of the next event.
    at: u64,
    /// The gap to report before it.
    gap: Option<Gap>,
    /// The number of the last event that was returned.
    last: Option<u64>,
}

impl EventReceiver {
    pub(super) fn new(shared: Arc<Shared>, receiver: u64, start: Start, last_seen: Option<u64>) -> Self {
        // An unknown number gives no information about later events.
        let known = start.gap.is_none_or(|gap| gap.missed.is_some());
        let last = last_seen.filter(|_| known);
        EventReceiver { shared, receiver, at: start.at, gap: start.gap, last }
    }

    /// Returns the next delivery; `None` once another receiver is attached, or once the sink is closed and all events
    /// were returned.
    ///
    /// # Cancel safety
    /// Cancel safe: a delivery that was not returned is returned by the next call.
    pub async fn recv(&mut self) -> Option<Delivery> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<Delivery>> {
        let mut attached = self.shared.lock();
        if attached.receiver != self.receiver {
            return Poll::Ready(None);
        }
        if let Some(gap) = self.gap.take() {
            return Poll::Ready(Some(Delivery::Gap(gap)));
        }
        let behind = attached.buffer.oldest().saturating_sub(self.at);
        if behind > 0 {
            self.at += behind;
            return Poll::Ready(Some(Delivery::Gap(Gap { after: self.last, missed: Some(behind) })));
        }
        let Some(event) = attached.buffer.at(self.at) else {
            if attached.closed {
                return Poll::Ready(None);
            }
            attached.waker = Some(context.waker().clone());
            return Poll::Pending;
        };
        // A new numbering does not continue the previous one.
        if let Some(last) = self.last.filter(|last| event.seq <= *last) {
            self.last = None;
            return Poll::Ready(Some(Delivery::Gap(Gap { after: Some(last), missed: None })));
        }
        self.at += 1;
        self.last = Some(event.seq);
        Poll::Ready(Some(Delivery::Event(Arc::clone(event))))
    }
}

impl Stream for EventReceiver {
    type Item = Delivery;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Delivery>> {
        self.poll_recv(context)
    }
}

impl Drop for EventReceiver {
    fn drop(&mut self) {
        let mut attached = self.shared.lock();
        let waker = if attached.receiver == self.receiver { attached.waker.take() } else { None };
        drop(attached);
        drop(waker);
    }
}

impl fmt::Debug for EventReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventReceiver").field("last", &self.last).finish_non_exhaustive()
    }
}
