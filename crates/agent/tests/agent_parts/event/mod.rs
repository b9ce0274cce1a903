//! Events and who gets them.

mod channel;
mod lines;
mod redact;
mod replay;
mod threads;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use runstate_agent::event::{
    AgentEvent, ChannelReceiver, Delivery, EventKind, EventReceiver, EventSink, Gap, Seen,
};

/// An event with this number.
fn event(seq: u64) -> Arc<AgentEvent> {
    Arc::new(AgentEvent::new(seq, 10 * seq, "r1", "t1", 1, EventKind::StepStarted { step: 1 }))
}

/// Where a receiver was that saw the event with this number.
fn at(seq: u64) -> Option<Seen> {
    Some(Seen { seq, at_ms: seq.saturating_mul(10) })
}

fn emit(sink: &impl EventSink, numbers: impl IntoIterator<Item = u64>) {
    numbers.into_iter().for_each(|seq| sink.emit(&event(seq)));
}

/// What a receiver has to say now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Now {
    Event(u64),
    Gap(Option<u64>, Option<u64>),
    Waits,
    Ended,
}

trait Receive {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Delivery>>;

    fn now(&mut self) -> Now {
        match self.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Now::Waits,
            Poll::Ready(None) => Now::Ended,
            Poll::Ready(Some(Delivery::Event(event))) => Now::Event(event.seq),
            Poll::Ready(Some(Delivery::Gap(Gap { after, missed }))) => Now::Gap(after, missed),
        }
    }

    /// All it has to say, and how that ends.
    fn rest(&mut self) -> Vec<Now> {
        let mut all = Vec::new();
        loop {
            all.push(self.now());
            if let Some(Now::Waits | Now::Ended) = all.last() {
                return all;
            }
        }
    }
}

impl Receive for EventReceiver {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Delivery>> {
        pin!(self.recv()).poll(context)
    }
}

impl Receive for ChannelReceiver {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Delivery>> {
        pin!(self.recv()).poll(context)
    }
}

/// Counts how often it wakes.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Woken {
    fn times(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Leaves a receiver that has nothing to say waiting with this waker.
    fn waits_for(self: &Arc<Self>, receiver: &mut impl Receive) {
        let waker = Waker::from(Arc::clone(self));
        assert!(receiver.poll(&mut Context::from_waker(&waker)).is_pending());
    }
}
