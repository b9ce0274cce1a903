//! A bounded channel to one receiver.

use std::future::poll_fn;
use std::mem::take;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::Semaphore;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::agent_event::AgentEvent;
use super::delivery::{Delivery, Gap};
use super::sink::EventSink;

/// Creates a bounded channel: a sink and its receiver. `capacity` is the number of events in the channel. While the
/// channel is full, events are lost and counted. The receiver gets the count in their place.
///
/// ```
/// use runstate_agent::event::*;
/// use std::num::NonZeroUsize;
/// use std::sync::Arc;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let (sink, mut receiver) = channel(NonZeroUsize::MIN);
/// for seq in 1..=3 {
///     let kind = EventKind::StepStarted { step: 1 };
///     sink.emit(&Arc::new(AgentEvent::new(seq, 0, "r1", "t1", 1, kind)));
/// }
/// drop(sink);
/// assert!(matches!(receiver.recv().await, Some(Delivery::Event(event)) if event.seq == 1));
/// assert_eq!(receiver.recv().await, Some(Delivery::Gap(Gap { after: Some(1), missed: Some(2) })));
/// assert_eq!(receiver.recv().await, None);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn channel(capacity: NonZeroUsize) -> (ChannelSink, ChannelReceiver) {
    // The limit of the tokio channel.
    let (to, from) = mpsc::channel(capacity.get().min(Semaphore::MAX_PERMITS));
    let missed = Missed::default();
    let receiver = ChannelReceiver { from, missed: missed.clone(), last: None, held: None };
    (ChannelSink { to, missed }, receiver)
}

/// The sending side of a [`channel`]. Without a receiver, events are dropped.
#[derive(Debug)]
pub struct ChannelSink {
    to: mpsc::Sender<Sent>,
    missed: Missed,
}

/// The receiving side of a [`channel`].
#[derive(Debug)]
pub struct ChannelReceiver {
    from: mpsc::Receiver<Sent>,
    missed: Missed,
    /// The number of the last event that was returned.
    last: Option<u64>,
    /// An event whose gap was returned.
    held: Option<Arc<AgentEvent>>,
}

#[derive(Debug)]
struct Sent {
    /// The number of events lost between the previous event and this one.
    missed: u64,
    event: Arc<AgentEvent>,
}

/// The number of lost events that are not reported yet. The lock is held while an event is sent. So if the channel is
/// empty under the lock, the lost events come after all sent ones. The lock is never held over an await.
#[derive(Debug, Clone, Default)]
struct Missed(Arc<Mutex<u64>>);

impl Missed {
    fn lock(&self) -> MutexGuard<'_, u64> {
        // A count is valid whenever the lock is free.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for ChannelSink {
    fn emit(&self, event: &Arc<AgentEvent>) {
        let mut missed = self.missed.lock();
        match self.to.try_send(Sent { missed: *missed, event: Arc::clone(event) }) {
            Ok(()) => *missed = 0,
            Err(TrySendError::Full(_)) => *missed += 1,
            Err(TrySendError::Closed(_)) => {}
        }
    }
}

impl ChannelReceiver {
    /// Returns the next delivery; `None` once the sink is dropped and all deliveries were returned.
    ///
    /// # Cancel safety
    /// Cancel safe: a delivery that was not returned is returned by the next call.
    pub async fn recv(&mut self) -> Option<Delivery> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<Delivery>> {
        if let Some(event) = self.held.take() {
            return Poll::Ready(Some(self.give(event)));
        }
        match self.from.poll_recv(context) {
            Poll::Ready(Some(Sent { missed: 0, event })) => Poll::Ready(Some(self.give(event))),
            Poll::Ready(Some(Sent { missed, event })) => {
                self.held = Some(event);
                Poll::Ready(Some(self.gap(missed)))
            }
            Poll::Ready(None) => match take(&mut *self.missed.lock()) {
                0 => Poll::Ready(None),
                missed => Poll::Ready(Some(self.gap(missed))),
            },
            // The channel has room again, and the next event may be days away. The gap is reported now.
            Poll::Pending => {
                let mut lost = self.missed.lock();
                if *lost == 0 || !self.from.is_empty() {
                    return Poll::Pending;
                }
                let missed = take(&mut *lost);
                drop(lost);
                Poll::Ready(Some(self.gap(missed)))
            }
        }
    }

    fn give(&mut self, event: Arc<AgentEvent>) -> Delivery {
        self.last = Some(event.seq);
        Delivery::Event(event)
    }

    fn gap(&self, missed: u64) -> Delivery {
        Delivery::Gap(Gap { after: self.last, missed: Some(missed) })
    }
}

impl Stream for ChannelReceiver {
    type Item = Delivery;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Delivery>> {
        self.poll_recv(context)
    }
}
