//! The same while emitter and receivers run on threads of their own. What is asserted holds for any order of theirs.

use std::num::NonZeroUsize;
use std::sync::Arc;

use runstate_agent::event::{ChannelReceiver, Delivery, EventReceiver, ReconnectableEventSink, channel};

use super::{at, emit};

const EVENTS: u64 = 20_000;

/// The events that were given and missed so far.
#[derive(Default)]
struct Heard {
    last: u64,
    given: u64,
}

impl Heard {
    fn hear(&mut self, delivery: &Delivery) {
        match delivery {
            Delivery::Event(event) => {
                assert_eq!(event.seq, self.last + 1);
                (self.last, self.given) = (event.seq, self.given + 1);
            }
            Delivery::Gap(gap) => {
                // Of two gaps in a row both are behind the last event that was seen.
                assert!(gap.after.unwrap_or(0) <= self.last);
                self.last += gap.missed.unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn receivers_that_come_and_go_hear_all() {
    let sink = Arc::new(ReconnectableEventSink::new(NonZeroUsize::new(64).unwrap()));
    let emitting = Arc::clone(&sink);
    let mut receiver: EventReceiver = sink.reconnect(None);
    let emitter = tokio::task::spawn_blocking(move || {
        emit(&*emitting, 1..=EVENTS);
        emitting.close();
    });
    let mut heard = Heard::default();
    let mut until_reconnect = 0;
    loop {
        until_reconnect = (until_reconnect + 1) % 97;
        if until_reconnect == 96 {
            receiver = sink.reconnect(at(heard.last).filter(|last| last.seq > 0));
        }
        match receiver.recv().await {
            Some(delivery) => heard.hear(&delivery),
            None => break,
        }
    }
    emitter.await.unwrap();
    assert_eq!(heard.last, EVENTS);
    assert!(heard.given >= 64, "what is kept at the end is given");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_channel_tells_all_it_lost() {
    let (sink, mut receiver): (_, ChannelReceiver) = channel(NonZeroUsize::new(16).unwrap());
    let emitter = tokio::task::spawn_blocking(move || emit(&sink, 1..=EVENTS));
    let mut heard = Heard::default();
    while let Some(delivery) = receiver.recv().await {
        heard.hear(&delivery);
    }
    emitter.await.unwrap();
    assert_eq!(heard.last, EVENTS);
    assert!(heard.given >= 16, "the first ones always have room");
}
