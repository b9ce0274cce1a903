//! Events for a front end that comes and goes.

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

/// Keeps the last events of a run for a receiver that may be slow, go, and come back (document 003, "Protocol Adapter: SSE
/// Reconnection"). See the [module](super) for an example.
///
/// There is no channel: a receiver reads the kept events at its own pace, so nobody waits for it. One that falls behind what
/// is kept is given a [`Gap`](super::Gap). The numbers of its events rise; an event whose number does not is the first
/// of a new numbering, and what was kept before it is dropped, with a gap for who had not read it.
///
/// The newest event is always kept, even one that is larger than the bound in bytes.
pub struct ReconnectableEventSink {
    shared: Arc<Shared>,
    /// Is there a bound in bytes?
    measures: bool,
}

/// What the sink and its receivers share. The lock is held for a few steps, and never over an await.
pub(super) struct Shared(Mutex<Attached>);

pub(super) struct Attached {
    pub(super) buffer: ReplayBuffer,
    /// Counts the receivers: the last one is attached, those before it have ended.
    pub(super) receiver: u64,
    /// Wakes the attached receiver, when it waits.
    pub(super) waker: Option<Waker>,
    pub(super) closed: bool,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Attached> {
        // Nothing in a locked part can panic halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReconnectableEventSink {
    /// Keeps at most so many events.
    pub fn new(most_events: NonZeroUsize) -> Self {
        let buffer = ReplayBuffer::new(most_events);
        let attached = Attached { buffer, receiver: 0, waker: None, closed: false };
        ReconnectableEventSink { shared: Arc::new(Shared(Mutex::new(attached))), measures: false }
    }

    /// The same, which keeps at most so many bytes, as its events are long as lines of JSON. Each event is written out
    /// once to measure it.
    #[must_use]
    pub fn bounded_to_bytes(mut self, most: NonZeroUsize) -> Self {
        self.measures = true;
        self.shared.lock().buffer.bound_bytes(most);
        self
    }

    /// Attaches a receiver that saw events up to `last_seen`, or none. It gets all events since then in order and without a
    /// second time. If some of those are not kept any more, or that event never was here (one that a process told before it
    /// crashed, or of another run), it is told of a [`Gap`](super::Gap) first, and gets what there is.
    ///
    /// ```
    /// use runstate::agent::event::{AgentEvent, Delivery, EventKind, EventSink, Gap, ReconnectableEventSink, Seen};
    /// use std::num::NonZeroUsize;
    /// use std::sync::Arc;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// // A page saw two events; the process died, the second was never committed, and another process tells it anew.
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
    /// The receiver that was attached before ends.
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

    /// No more events will come: receivers, later ones too, end once they have read what is kept. So does dropping
    /// the sink. An event that comes nevertheless is kept and given like any other.
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

/// Outside of the lock, since a waker runs code of others.
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
