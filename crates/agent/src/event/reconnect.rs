//! An event sink with reconnection.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use super::agent_event::AgentEvent;
use super::bytes::length;
use super::receiver::EventReceiver;
use super::replay_buffer::ReplayBuffer;
use super::seen::Seen;
use super::sink::EventSink;

/// Sink that keeps the last events of a run for a receiver that may be slow, disconnect and reconnect. See the
/// [module](super) for an example.
///
/// The receiver reads the kept events at its own pace, so a slow receiver blocks no other component. A receiver that
/// falls too far behind gets a [`Gap`](super::Gap). Event numbers increase. An event whose number does not increase
/// starts a new numbering: the earlier events are dropped, and a receiver that had not read them gets a gap.
///
/// The newest event is always kept, even if it exceeds the size limit.
pub struct ReconnectableEventSink {
    shared: Arc<Shared>,
    /// Whether a size limit is set.
    measures: bool,
}

/// The state shared by the sink and its receivers. The lock is held for a few operations only, and never over an
/// await.
pub(super) struct Shared(Mutex<Attached>);

pub(super) struct Attached {
    pub(super) buffer: ReplayBuffer,
    /// The number of receivers so far. The last receiver is attached; the earlier ones have ended.
    pub(super) receiver: u64,
    /// The waker of the attached receiver, while it waits.
    pub(super) waker: Option<Waker>,
    pub(super) closed: bool,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Attached> {
        // The locked sections cannot panic halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReconnectableEventSink {
    /// Creates a sink that keeps at most `most_events` events.
    pub fn new(most_events: NonZeroUsize) -> Self {
        let buffer = ReplayBuffer::new(most_events);
        let attached = Attached { buffer, receiver: 0, waker: None, closed: false };
        ReconnectableEventSink { shared: Arc::new(Shared(Mutex::new(attached))), measures: false }
    }

    /// Sets a limit for the total size of the kept events, in bytes of their JSON lines. Default: none. Each event is
    /// serialized once more to measure it.
    #[must_use]
    pub fn bounded_to_bytes(mut self, most: NonZeroUsize) -> Self {
        self.measures = true;
        self.shared.lock().buffer.bound_bytes(most);
        self
    }

    /// Attaches a receiver that saw the events up to `last_seen`, or none. It gets each later event once, in order.
    /// If some of these events are not kept any more, the receiver gets a [`Gap`](super::Gap) first, and then the
    /// kept events. The same applies if the sink does not know the event `last_seen`: an event of a crashed process,
    /// or of another run.
    ///
    /// ```
    /// use runstate_agent::event::{AgentEvent, Delivery, EventKind, EventSink, Gap, ReconnectableEventSink, Seen};
    /// use std::num::NonZeroUsize;
    /// use std::sync::Arc;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// // A page saw two events. The process crashed before it committed the second. Another process uses its number.
    /// let sink = ReconnectableEventSink::new(NonZeroUsize::new(8).unwrap());
    /// let kind = EventKind::TextDelta { step: 1, text: "other words".into() };
    /// sink.emit(&Arc::new(AgentEvent::new(2, 9_000, "r1", "t1", 2, kind)));
    /// let mut page = sink.reconnect(Some(Seen { seq: 2, at_ms: 120 }));
    /// assert_eq!(page.recv().await, Some(Delivery::Gap(Gap { after: Some(2), missed: None })));
    /// assert!(matches!(page.recv().await, Some(Delivery::Event(event)) if event.at_ms == 9_000));
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// The previously attached receiver ends.
    pub fn reconnect(&self, last_seen: Option<Seen>) -> EventReceiver {
        let mut attached = self.shared.lock();
        attached.receiver += 1;
        let receiver = EventReceiver::new(
            Arc::clone(&self.shared),
            attached.receiver,
            attached.buffer.after(last_seen),
            last_seen.map(|seen| seen.seq),
        );
        let replaced = attached.waker.take();
        drop(attached);
        wake(replaced);
        receiver
    }

    /// Declares the end of the events. Receivers, later ones included, end once they have read the kept events.
    /// Dropping the sink has the same effect. An event that is emitted later is still kept and delivered.
    pub fn close(&self) {
        let mut attached = self.shared.lock();
        attached.closed = true;
        let waiting = attached.waker.take();
        drop(attached);
        wake(waiting);
    }
}

impl EventSink for ReconnectableEventSink {
    fn emit(&self, event: &Arc<AgentEvent>) {
        let bytes = if self.measures { length(event) } else { 0 };
        let mut attached = self.shared.lock();
        let gone = attached.buffer.push(event, bytes);
        let waiting = attached.waker.take();
        drop(attached);
        wake(waiting);
        drop(gone);
    }
}

/// Wakes a receiver. It is called outside of the lock, because a waker runs foreign code.
fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Drop for ReconnectableEventSink {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for ReconnectableEventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReconnectableEventSink").finish_non_exhaustive()
    }
}
