//! The status of a run as a projection of its calls.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use runstate::derive::{StatusTally, derive_run_status};
use runstate::kernel::Stateful;
use runstate::run::RunStatus;
use runstate::tool_call::ToolCallStatus::{Cancelled, Failed, New, Resuming, Running, Succeeded, Suspended};
use runstate::tool_call::{AnyToolCall, ToolCallStatus};

use super::tool_call::{at, event};

/// Document 003, "Decision table": one row for each answer to its two questions.
#[test]
fn the_decision_table_row_by_row() {
    // Any Running/Resuming? | Any Suspended? | Run Status. The first row leaves the second question open.
    let rows = [
        (true, Some(true), RunStatus::Running),
        (true, Some(false), RunStatus::Running),
        (false, Some(true), RunStatus::Waiting),
        (false, Some(false), RunStatus::Done),
    ];
    for (executing, suspended, expected) in rows {
        let mut seen = 0;
        for calls in all_triples() {
            let executes = calls.iter().any(|call| matches!(call, Running | Resuming));
            if executes == executing && Some(calls.contains(&Suspended)) == suspended {
                assert_eq!(derive_run_status(calls), expected, "{calls:?}");
                seen += 1;
            }
        }
        assert!(seen > 0, "no calls are like the row {executing} {suspended:?}");
    }
}

fn all_triples() -> impl Iterator<Item = [ToolCallStatus; 3]> {
    let all = || ToolCallStatus::ALL.iter().copied();
    all().flat_map(move |a| all().flat_map(move |b| all().map(move |c| [a, b, c])))
}

/// Document 003, "Parallel tool call state timeline", transcribed; `Created` there is `New`.
const TIMELINE: [(&str, [ToolCallStatus; 3], RunStatus); 8] = [
    ("t0", [New, New, New], RunStatus::Running),
    ("t1", [Suspended, New, Running], RunStatus::Running),
    ("t2", [Suspended, Suspended, Running], RunStatus::Running),
    ("t3", [Suspended, Suspended, Succeeded], RunStatus::Waiting),
    ("t4", [Resuming, Suspended, Succeeded], RunStatus::Running),
    ("t5", [Succeeded, Suspended, Succeeded], RunStatus::Waiting),
    ("t6", [Succeeded, Resuming, Succeeded], RunStatus::Running),
    ("t7", [Succeeded, Succeeded, Succeeded], RunStatus::Done),
];

#[test]
fn the_timeline_row_by_row() {
    for (time, calls, expected) in &TIMELINE[1..] {
        assert_eq!(derive_run_status(*calls), *expected, "{time}");
    }
}

/// At t0 the document shows a run that is Running by itself, since its round has begun; the function, which knows the
/// calls alone, finds nothing that executes or waits.
#[test]
fn derived_status_at_t0_is_done_before_any_call() {
    let (time, calls, shown) = TIMELINE[0];
    assert_eq!((time, shown), ("t0", RunStatus::Running));
    assert_eq!(derive_run_status(calls), RunStatus::Done);
}

/// The timeline again, each cell that changes counted as a transition.
#[test]
fn the_tally_follows_the_timeline() {
    let mut tally: StatusTally = TIMELINE[0].1.into_iter().collect();
    for step in TIMELINE.windows(2) {
        for (from, to) in step[0].1.into_iter().zip(step[1].1) {
            if from != to {
                tally.moved(from, to).unwrap();
            }
        }
        assert_eq!(tally.run_status(), step[1].2, "{}", step[1].0);
    }
}

#[test]
fn run_without_calls_is_derived_as_done() {
    assert_eq!(derive_run_status([]), RunStatus::Done);
    assert_eq!(StatusTally::default().run_status(), RunStatus::Done);
}

#[test]
fn a_miscount_changes_nothing_and_names_the_status() {
    let counted: StatusTally = [New, Suspended].into_iter().collect();
    let mut tally = counted;
    assert_eq!(tally.moved(Running, Succeeded).unwrap_err().to_string(), "no call is counted as Running");
    assert_eq!(tally.remove(Resuming).unwrap_err().to_string(), "no call is counted as Resuming");
    assert_eq!(tally, counted);
    tally.remove(Suspended).unwrap();
    assert_eq!((tally.count(New), tally.count(Suspended)), (1, 0));
    assert_eq!(tally.run_status(), RunStatus::Done);
}

fn status() -> impl Strategy<Value = ToolCallStatus> {
    select(ToolCallStatus::ALL)
}

fn calls() -> impl Strategy<Value = Vec<ToolCallStatus>> {
    vec(status(), 0..12)
}

/// How much a run has still to do: the order in which adding calls can move the projection, and never back.
fn rank(status: RunStatus) -> u8 {
    match status {
        RunStatus::Done => 0,
        RunStatus::Waiting => 1,
        RunStatus::Running => 2,
    }
}

fn derived(calls: &[ToolCallStatus]) -> RunStatus {
    derive_run_status(calls.iter().copied())
}

proptest! {
    #[test]
    fn derived_status_ignores_the_order_of_calls(calls in calls(), shuffled in any::<Index>(), turned in any::<bool>()) {
        let mut other = calls.clone();
        if !other.is_empty() {
            let at = shuffled.index(other.len());
            other.rotate_left(at);
        }
        if turned {
            other.reverse();
        }
        prop_assert_eq!(derived(&other), derived(&calls));
    }

    /// One more call leaves the status or raises it: Done, Waiting, Running.
    #[test]
    fn one_more_call_never_lowers_the_status(calls in calls(), more in status(), at in any::<Index>()) {
        let before = derived(&calls);
        let mut after = calls.clone();
        after.insert(at.index(calls.len() + 1), more);
        let after = derived(&after);
        prop_assert!(rank(after) >= rank(before));
        match more {
            New | Succeeded | Failed | Cancelled => prop_assert_eq!(after, before),
            Suspended => prop_assert_eq!(rank(after), rank(before).max(1)),
            Running | Resuming => prop_assert_eq!(after, RunStatus::Running),
        }
    }

    /// The projection of two groups of calls is the higher of their projections.
    #[test]
    fn groups_of_calls_project_to_the_higher(a in calls(), b in calls()) {
        let both: Vec<_> = a.iter().chain(&b).copied().collect();
        prop_assert_eq!(rank(derived(&both)), rank(derived(&a)).max(rank(derived(&b))));
    }

    /// A single call that ends does not end the wait while another is suspended.
    #[test]
    fn a_wait_lasts_until_the_last_suspended_call(calls in calls(), end in select(&[Succeeded, Failed, Cancelled][..])) {
        let mut calls = calls;
        calls.push(Suspended);
        calls.push(Suspended);
        let before = derived(&calls);
        calls.pop();
        calls.push(end);
        prop_assert_eq!(derived(&calls), before);
    }

    /// The tally says what the function says, after any legal transitions of any calls.
    #[test]
    fn the_tally_equals_the_function(steps in vec((any::<Index>(), any::<Index>()), 0..80)) {
        let mut calls: Vec<AnyToolCall> = Vec::new();
        let mut tally = StatusTally::default();
        for (which, what) in steps {
            // One place more than there are calls: there a new one comes in.
            let i = which.index(calls.len() + 1);
            if i == calls.len() {
                calls.push(at(New));
                tally.add(New);
            } else {
                let call = calls.swap_remove(i);
                let from = call.status();
                let ways: Vec<_> = AnyToolCall::GRAPH.ways_out(from.name()).collect();
                if ways.is_empty() {
                    tally.remove(from).unwrap();
                } else {
                    let payload = event(&call, what.get(&ways).event);
                    let call = call.apply(payload).unwrap();
                    tally.moved(from, call.status()).unwrap();
                    calls.push(call);
                }
            }
            let statuses: Vec<_> = calls.iter().map(AnyToolCall::status).collect();
            prop_assert_eq!(tally.run_status(), derived(&statuses));
            prop_assert_eq!(tally, statuses.iter().copied().collect::<StatusTally>());
            for status in ToolCallStatus::ALL {
                prop_assert_eq!(tally.count(*status), statuses.iter().filter(|call| *call == status).count());
                if tally.count(*status) == 0 {
                    let mut wrong = tally;
                    prop_assert!(wrong.moved(*status, New).is_err());
                    prop_assert_eq!(wrong, tally, "a miscount changes nothing");
                }
            }
        }
    }
}
