//! A bounded channel, and sinks of sinks.

use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::StreamExt;
use proptest::collection::vec;
use proptest::prelude::*;
use runstate_agent::event::{
    ChannelReceiver, ChannelSink, Delivery, EventSink, FanOut, NoEvents, ReconnectableEventSink, channel,
};

use super::Now::{Ended, Event, Gap, Waits};
use super::{Receive, Woken, at, emit, event};

fn with_room(events: usize) -> (ChannelSink, ChannelReceiver) {
    channel(NonZeroUsize::new(events).unwrap())
}

#[test]
fn events_within_the_capacity_arrive_in_order() {
    let (sink, mut receiver) = with_room(3);
    assert_eq!(receiver.now(), Waits);
    emit(&sink, 1..=3);
    assert_eq!(receiver.rest(), [Event(1), Event(2), Event(3), Waits]);
    emit(&sink, 4..=5);
    drop(sink);
    assert_eq!(receiver.rest(), [Event(4), Event(5), Ended]);
}

#[test]
fn gap_is_reported_before_the_next_event() {
    let (sink, mut receiver) = with_room(2);
    emit(&sink, 1..=5);
    assert_eq!(receiver.now(), Event(1));
    emit(&sink, 6..=7);
    assert_eq!(receiver.now(), Event(2));
    assert_eq!(receiver.rest(), [Gap(Some(2), Some(3)), Event(6), Gap(Some(6), Some(1)), Waits]);
}

#[test]
fn gap_is_reported_though_no_event_follows() {
    let (sink, mut receiver) = with_room(1);
    emit(&sink, 1..=3);
    assert_eq!(receiver.rest(), [Event(1), Gap(Some(1), Some(2)), Waits]);
    emit(&sink, 4..=6);
    drop(sink);
    assert_eq!(receiver.rest(), [Event(4), Gap(Some(4), Some(2)), Ended]);
}

#[test]
fn a_receiver_that_is_gone_is_no_matter() {
    let (sink, receiver) = with_room(1);
    drop(receiver);
    emit(&sink, 1..=1_000);
    let first = event(1);
    sink.emit(&first);
    assert_eq!(Arc::strong_count(&first), 1, "nothing is kept for nobody");
}

#[test]
fn a_waiting_receiver_is_woken() {
    let (sink, mut receiver) = with_room(1);
    let woken = Arc::new(Woken::default());
    woken.waits_for(&mut receiver);
    emit(&sink, 1..=2);
    assert_eq!(woken.times(), 1);
    assert_eq!(receiver.rest(), [Event(1), Gap(Some(1), Some(1)), Waits]);
    woken.waits_for(&mut receiver);
    drop(sink);
    assert_eq!((woken.times(), receiver.now()), (2, Ended));
}

/// Under a runtime a channel says "later" now and then although it is not empty; what was lost must not be told before what
/// was sent ahead of it.
#[tokio::test]
async fn a_gap_keeps_its_place_when_the_runtime_asks_to_yield() {
    let (sink, receiver) = with_room(1_000);
    emit(&sink, 1..=1_003);
    drop(sink);
    let all: Vec<_> = receiver.collect().await;
    assert_eq!(all.len(), 1_001);
    let gap = all.iter().position(|delivery| matches!(delivery, Delivery::Gap(_)));
    assert_eq!(gap, Some(1_000));
}

#[test]
fn a_capacity_beyond_all_memory_is_no_panic() {
    let (sink, mut receiver) = channel(NonZeroUsize::MAX);
    emit(&sink, 1..=1);
    assert_eq!(receiver.now(), Event(1));
}

#[test]
fn several_sinks_share_an_event() {
    let (one, mut first) = with_room(1);
    let (two, mut second) = with_room(2);
    let kept = Arc::new(ReconnectableEventSink::new(NonZeroUsize::MIN));
    let all = FanOut::new(vec![Arc::new(one), Arc::new(NoEvents), Arc::new(two), kept.clone()]);
    let shared = event(1);
    all.emit(&shared);
    assert_eq!(Arc::strong_count(&shared), 4);
    emit(&&all, 2..=2);
    assert_eq!(first.rest(), [Event(1), Gap(Some(1), Some(1)), Waits]);
    assert_eq!(second.rest(), [Event(1), Event(2), Waits], "one sink's loss is not another's");
    assert_eq!(kept.reconnect(at(1)).rest(), [Event(2), Waits]);
    assert_eq!(format!("{all:?}"), "FanOut { sinks: 4 }");
    FanOut::default().emit(&shared);
}

proptest! {
    /// What a receiver is given, events and missed ones together, is what was emitted, in order; and with nothing left to read
    /// nothing is left untold.
    #[test]
    fn received_and_missed_events_add_up_to_those_emitted(room in 1..5_usize, steps in vec((any::<bool>(), 1..5_u64), 0..40), ends: bool) {
        let (sink, mut receiver) = with_room(room);
        let mut sink = Some(sink);
        let (mut emitted, mut told, mut in_channel) = (0, 0, 0);
        for (emits, times) in steps.into_iter().chain([(false, u64::MAX)]) {
            if emits {
                emit(sink.as_ref().unwrap(), emitted + 1..=emitted + times);
                emitted += times;
                in_channel = (in_channel + times).min(room as u64);
                continue;
            }
            if times == u64::MAX && ends {
                sink = None;
            }
            for _ in 0..times {
                match receiver.now() {
                    Event(seq) => {
                        prop_assert_eq!(seq, told + 1);
                        told += 1;
                        in_channel = in_channel.saturating_sub(1);
                    }
                    Gap(after, Some(missed)) => {
                        prop_assert_eq!(after.unwrap_or(0), told);
                        prop_assert!(missed > 0);
                        told += missed;
                    }
                    last => {
                        prop_assert_eq!(last, if sink.is_some() { Waits } else { Ended });
                        prop_assert_eq!(told, emitted);
                        break;
                    }
                }
            }
        }
        prop_assert_eq!(told, emitted);
    }
}
