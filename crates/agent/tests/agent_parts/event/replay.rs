//! Receivers that are slow, go, and come back.

use std::num::NonZeroUsize;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use runstate_agent::event::{AgentEvent, EventKind, EventReceiver, EventSink, ReconnectableEventSink, Seen};

use super::Now::{Ended, Event, Waits};
use super::{Now, Receive, Woken, at, emit, event};

fn keeping(events: usize) -> ReconnectableEventSink {
    ReconnectableEventSink::new(NonZeroUsize::new(events).unwrap())
}

fn gap(after: u64, missed: u64) -> Now {
    Now::Gap(Some(after), Some(missed))
}

/// A gap of unknown length.
fn lost(after: u64) -> Now {
    Now::Gap(Some(after), None)
}

#[test]
fn events_between_two_connections_are_not_lost() {
    // Document 003's flow: the first response ends when the run suspends; the run goes on before the second one is there.
    let sink = keeping(16);
    let mut first = sink.reconnect(None);
    emit(&sink, 1..=3);
    assert_eq!(first.rest(), [Event(1), Event(2), Event(3), Waits]);
    drop(first);
    emit(&sink, 4..=5);
    let mut second = sink.reconnect(at(3));
    emit(&sink, 6..=6);
    assert_eq!(second.rest(), [Event(4), Event(5), Event(6), Waits]);
}

#[test]
fn reconnect_without_a_number_replays_all_kept_events() {
    let sink = keeping(3);
    emit(&sink, 1..=3);
    assert_eq!(sink.reconnect(None).rest(), [Event(1), Event(2), Event(3), Waits]);
    emit(&sink, 4..=5);
    assert_eq!(sink.reconnect(None).rest(), [Now::Gap(None, Some(2)), Event(3), Event(4), Event(5), Waits]);
}

#[test]
fn a_reconnect_goes_on_after_any_number_that_is_kept() {
    let sink = keeping(3);
    emit(&sink, 1..=6); // 4, 5 and 6 are kept
    for (seen, expected) in [
        (6, vec![Waits]),
        (5, vec![Event(6), Waits]),
        (4, vec![Event(5), Event(6), Waits]),
        // The last one that is gone: nothing is missing.
        (3, vec![Event(4), Event(5), Event(6), Waits]),
        (2, vec![gap(2, 1), Event(4), Event(5), Event(6), Waits]),
        (0, vec![gap(0, 3), Event(4), Event(5), Event(6), Waits]),
        // Never here: what there is, after a word that it is not what follows.
        (7, vec![lost(7), Event(4), Event(5), Event(6), Waits]),
        (u64::MAX, vec![lost(u64::MAX), Event(4), Event(5), Event(6), Waits]),
    ] {
        assert_eq!(sink.reconnect(at(seen)).rest(), expected, "seen {seen}");
    }
}

#[test]
fn a_sink_that_has_nothing_yet_cannot_tell_what_was_missed() {
    // The process was restarted, and the run goes on at 8.
    let sink = keeping(3);
    let mut receiver = sink.reconnect(at(5));
    assert_eq!(receiver.rest(), [lost(5), Waits]);
    emit(&sink, 8..=8);
    assert_eq!(receiver.rest(), [Event(8), Waits]);
    assert_eq!(sink.reconnect(at(5)).rest(), [gap(5, 2), Event(8), Waits]);
    // The numbers start again at 1, and that is no second gap.
    let sink = keeping(3);
    let mut receiver = sink.reconnect(at(5));
    emit(&sink, 1..=1);
    assert_eq!(receiver.rest(), [lost(5), Event(1), Waits]);
}

#[test]
fn a_slow_receiver_is_told_what_it_missed_and_goes_on() {
    let sink = keeping(2);
    let mut receiver = sink.reconnect(None);
    emit(&sink, 1..=1);
    assert_eq!(receiver.now(), Event(1));
    emit(&sink, 2..=10);
    assert_eq!(receiver.now(), gap(1, 7));
    // It is slow again, between the gap and what follows it.
    emit(&sink, 11..=14);
    assert_eq!(receiver.rest(), [gap(1, 4), Event(13), Event(14), Waits]);
}

#[test]
fn a_second_reconnect_ends_the_first_receiver() {
    let sink = keeping(8);
    emit(&sink, 1..=4);
    let mut first = sink.reconnect(None);
    assert_eq!(first.now(), Event(1));
    let mut second = sink.reconnect(at(1));
    assert_eq!(first.now(), Ended, "though there is more to read");
    assert_eq!(second.rest(), [Event(2), Event(3), Event(4), Waits]);
    emit(&sink, 5..=5);
    assert_eq!(first.now(), Ended);
    drop(first);
    assert_eq!(second.now(), Event(5));
}

#[test]
fn waiting_receiver_wakes_on_events_successor_and_end() {
    let sink = keeping(8);
    let woken = Arc::new(Woken::default());
    let mut first = sink.reconnect(None);
    woken.waits_for(&mut first);
    emit(&sink, 1..=2);
    assert_eq!(woken.times(), 1, "once, and it reads both");
    assert_eq!(first.rest(), [Event(1), Event(2), Waits]);

    woken.waits_for(&mut first);
    let mut second = sink.reconnect(at(2));
    assert_eq!((woken.times(), first.now()), (2, Ended));

    woken.waits_for(&mut second);
    drop(first);
    emit(&sink, 3..=3);
    assert_eq!(
        (woken.times(), second.now()),
        (3, Event(3)),
        "its predecessor's end does not put it to sleep"
    );

    woken.waits_for(&mut second);
    drop(sink);
    assert_eq!((woken.times(), second.now()), (4, Ended));
}

#[test]
fn a_receiver_that_is_gone_leaves_nothing_behind() {
    let sink = keeping(8);
    let woken = Arc::new(Woken::default());
    let mut receiver = sink.reconnect(None);
    woken.waits_for(&mut receiver);
    assert_eq!(Arc::strong_count(&woken), 2);
    drop(receiver);
    assert_eq!(Arc::strong_count(&woken), 1);
    emit(&sink, 1..=100);
    assert_eq!(woken.times(), 0);
}

#[test]
fn after_the_end_the_rest_is_still_there() {
    let sink = keeping(3);
    let mut early = sink.reconnect(None);
    emit(&sink, 1..=4);
    sink.close();
    assert_eq!(early.rest(), [Now::Gap(None, Some(1)), Event(2), Event(3), Event(4), Ended]);
    let mut late = sink.reconnect(at(3));
    drop(sink);
    assert_eq!(late.rest(), [Event(4), Ended]);
    assert_eq!(late.now(), Ended);
}

#[test]
fn bytes_bound_what_is_kept_but_the_newest_always_is() {
    let text = |seq, length| {
        let kind = EventKind::TextDelta { step: 1, text: "x".repeat(length) };
        Arc::new(AgentEvent::new(seq, 10 * seq, "r1", "t1", 1, kind))
    };
    let line = serde_json::to_string(&*text(1, 100)).unwrap().len() + 1;
    let sink = keeping(100).bounded_to_bytes(NonZeroUsize::new(3 * line).unwrap());
    (1..=5).for_each(|seq| sink.emit(&text(seq, 100)));
    assert_eq!(sink.reconnect(at(2)).rest(), [Event(3), Event(4), Event(5), Waits]);
    // One byte more, and two have to go for it.
    sink.emit(&text(6, 101));
    assert_eq!(sink.reconnect(at(2)).rest(), [gap(2, 2), Event(5), Event(6), Waits]);
    sink.emit(&text(7, 100_000));
    assert_eq!(sink.reconnect(at(6)).rest(), [Event(7), Waits]);
    assert_eq!(sink.reconnect(at(5)).rest(), [gap(5, 1), Event(7), Waits]);
    // What was too large is not counted for ever.
    (8..=9).for_each(|seq| sink.emit(&text(seq, 100)));
    assert_eq!(sink.reconnect(at(7)).rest(), [Event(8), Event(9), Waits]);

    // The other bound holds beside it.
    let sink = keeping(2).bounded_to_bytes(NonZeroUsize::MAX);
    emit(&sink, 1..=3);
    assert_eq!(sink.reconnect(at(1)).rest(), [Event(2), Event(3), Waits]);
}

#[test]
fn event_beyond_the_replay_buffer_is_freed() {
    let sink = keeping(2);
    let first = event(1);
    sink.emit(&first);
    assert_eq!(Arc::strong_count(&first), 2);
    emit(&sink, 2..=3);
    assert_eq!(Arc::strong_count(&first), 1);
}

#[test]
fn numbers_may_have_holes_that_are_not_ours() {
    // Behind a filter.
    let sink = keeping(3);
    emit(&sink, [1, 4, 9]);
    assert_eq!(sink.reconnect(None).rest(), [Event(1), Event(4), Event(9), Waits]);
    assert_eq!(sink.reconnect(at(5)).rest(), [Event(9), Waits]);
}

#[test]
fn numbers_that_start_over_are_a_gap() {
    let sink = keeping(8);
    emit(&sink, 1..=5);
    let mut behind = sink.reconnect(at(2));
    emit(&sink, 1..=1);
    assert_eq!(
        behind.rest(),
        [gap(2, 3), lost(2), Event(1), Waits],
        "3 to 5 are gone, and 1 does not follow 2"
    );
    let mut receiver = sink.reconnect(at(5));
    assert_eq!(receiver.rest(), [lost(5), Event(1), Waits]);
    emit(&sink, 2..=3);
    emit(&sink, 3..=3);
    assert_eq!(receiver.rest(), [gap(1, 2), Event(3), Waits]);
    emit(&sink, 1..=2);
    assert_eq!(receiver.rest(), [lost(3), Event(1), Event(2), Waits]);
}

#[test]
fn numbers_that_a_crash_made_undone_are_a_gap() {
    // A process told 1 to 10 and died behind the commit of 2; another tells 3 and on, later.
    let later = |seq: u64| {
        Arc::new(AgentEvent::new(seq, 5_000 + seq, "r1", "t1", 1, EventKind::StepStarted { step: 1 }))
    };
    let sink = keeping(4);
    (3..=6).for_each(|seq| sink.emit(&later(seq)));
    let all = [Event(3), Event(4), Event(5), Event(6), Waits];
    assert_eq!(sink.reconnect(at(2)).rest(), all, "what was committed is the same in both");
    for undone in [3, 6, 10] {
        let told = [&[lost(undone)], &all[..]].concat();
        assert_eq!(sink.reconnect(at(undone)).rest(), told, "{undone} was another event");
    }
    // Also where the event that has its number now is not kept any more, or not told yet.
    (7..=9).for_each(|seq| sink.emit(&later(seq)));
    let kept = [Event(6), Event(7), Event(8), Event(9), Waits];
    assert_eq!(sink.reconnect(at(4)).rest(), [&[lost(4)], &kept[..]].concat());
    let seen = Some(Seen { seq: 7, at_ms: 5_007 });
    assert_eq!(sink.reconnect(seen).rest(), [Event(8), Event(9), Waits], "this one was told here");
}

#[derive(Debug, Clone)]
enum Step {
    Emit(u64),
    /// With the last number that any receiver saw, none, or any number.
    Reconnect(LastSeen),
    Read(usize),
    Drop,
    /// Reads from a receiver that was replaced.
    ReadReplaced,
}

#[derive(Debug, Clone)]
enum LastSeen {
    Last,
    Nothing,
    Any(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let seen = prop_oneof![3 => Just(LastSeen::Last), 1 => Just(LastSeen::Nothing), 1 => (0..30_u64).prop_map(LastSeen::Any)];
    let step = prop_oneof![
        4 => (1..5_u64).prop_map(Step::Emit),
        2 => seen.prop_map(Step::Reconnect),
        5 => (1..6_usize).prop_map(Step::Read),
        1 => Just(Step::Drop),
        1 => Just(Step::ReadReplaced),
    ];
    vec(step, 0..40)
}

/// A receiver, and what it must be given next. Events are numbered from 1, without holes.
struct Attached {
    receiver: EventReceiver,
    /// The gap that it must be told of before all else, and how long it is.
    first: Option<Option<u64>>,
    /// The number of the next event.
    next: u64,
    /// The number of the last one it saw, or said it saw.
    after: Option<u64>,
}

impl Attached {
    fn new(sink: &ReconnectableEventSink, seen: Option<u64>, emitted: u64, kept: u64) -> Self {
        let oldest = emitted.saturating_sub(kept) + 1;
        let (first, next) = match seen {
            None => (None, 1),
            Some(seen) if emitted == 0 || seen > emitted => (Some(None), oldest),
            Some(seen) if seen + 1 < oldest => (Some(Some(oldest - seen - 1)), seen + 1),
            Some(seen) => (None, seen + 1),
        };
        Attached { receiver: sink.reconnect(seen.and_then(at)), first, next, after: seen }
    }

    /// Reads once, where so many events were emitted and the last `kept` of them are there. Is there more?
    fn read(&mut self, emitted: u64, kept: u64) -> Result<bool, TestCaseError> {
        let oldest = emitted.saturating_sub(kept) + 1;
        let expected = if let Some(missed) = self.first.take() {
            let gap = Now::Gap(self.after, missed);
            match missed {
                Some(missed) => self.next += missed,
                None => self.after = None,
            }
            gap
        } else if self.next < oldest {
            let missed = oldest - std::mem::replace(&mut self.next, oldest);
            Now::Gap(self.after, Some(missed))
        } else if self.next <= emitted {
            self.after = Some(self.next);
            self.next += 1;
            Event(self.next - 1)
        } else {
            Waits
        };
        prop_assert_eq!(self.receiver.now(), expected);
        Ok(expected != Waits)
    }
}

proptest! {
    /// Whatever happens in whatever order: a receiver gets numbers without a hole or a double, but for gaps that it is told of,
    /// whose length is right and which hold no event that was still there.
    #[test]
    fn each_receiver_sees_a_run_of_numbers_or_a_gap(kept in 1..7_usize, steps in steps()) {
        let sink = keeping(kept);
        let (mut emitted, mut last_of_any) = (0, None::<u64>);
        let (mut attached, mut replaced) = (None::<Attached>, None::<EventReceiver>);
        for step in steps.into_iter().chain([Step::Reconnect(LastSeen::Last), Step::Read(usize::MAX)]) {
            match step {
                Step::Emit(count) => {
                    emit(&sink, emitted + 1..=emitted + count);
                    emitted += count;
                }
                Step::Reconnect(seen) => {
                    let seen = match seen {
                        LastSeen::Last => last_of_any,
                        LastSeen::Nothing => None,
                        LastSeen::Any(number) => Some(number),
                    };
                    let new = Attached::new(&sink, seen, emitted, kept as u64);
                    replaced = attached.replace(new).map(|old| old.receiver).or(replaced);
                }
                Step::Read(times) => {
                    let Some(attached) = &mut attached else { continue };
                    for _ in 0..times {
                        if !attached.read(emitted, kept as u64)? {
                            break;
                        }
                    }
                    last_of_any = attached.after;
                }
                Step::Drop => attached = None,
                Step::ReadReplaced => {
                    if let Some(replaced) = &mut replaced {
                        prop_assert_eq!(replaced.now(), Ended);
                    }
                }
            }
        }
    }
}
