//! Whatever happens to a legal trace, the checker answers as a naive replay does.
//!
//! The replay goes by the transcription of document 000, "Layer 2", and not by the code.
use std::collections::HashMap;

use proptest::prelude::*;
use proptest::sample::Index;
use runstate::kernel::Stateful;
use runstate::tool_call::AnyToolCall;
use runstate::trace::{Event, Recorder, Rulebook, Verdict, check};

use super::parcel::{AnyParcel, Bounce, Deliver, Discard, Label, ParcelEvent, Send};
use crate::proof::{Table, transcribed};

/// What document 000 says of a call.
fn documented() -> &'static Table {
    transcribed("tool_call")
}

fn is_terminal(state: &str) -> bool {
    documented().terminal.contains(&state)
}

/// The naive replay.
fn replay(events: &[Event<'_>]) -> Verdict {
    let mut states: HashMap<String, String> = HashMap::new();
    let mut last = None;
    for event in events {
        if last.is_some_and(|last| event.seq <= last) || event.lifecycle != "tool_call" {
            return Verdict::Violates;
        }
        last = Some(event.seq);
        let state = states.get(&*event.instance).cloned();
        let legal = match (&event.from, state) {
            (None, state) => {
                event.event == "create" && event.to == "New" && state.is_none_or(|state| is_terminal(&state))
            }
            (Some(_), None) => false,
            (Some(from), Some(state)) => {
                *from == state && documented().to(from, &event.event) == Some(&*event.to)
            }
        };
        if !legal {
            return Verdict::Violates;
        }
        states.insert(event.instance.to_string(), event.to.to_string());
    }
    if states.values().all(|state| is_terminal(state)) { Verdict::Conforms } else { Verdict::Incomplete }
}

fn line(seq: u64, call: usize, event: &str, from: Option<&str>, to: &str) -> Event<'static> {
    let mut line = super::event(seq, &format!("call_{call}"), event, from, to);
    line.lifecycle = "tool_call".into();
    line
}

/// Legal walks of some calls, interleaved: each step picks a call and one of its ways out.
fn walk(steps: &[(Index, Index)]) -> Vec<Event<'static>> {
    let mut calls: Vec<&str> = Vec::new();
    let mut events = Vec::new();
    for (seq, (call, way)) in (1..).zip(steps) {
        let call = call.index(4);
        if call >= calls.len() {
            events.push(line(seq, calls.len(), "create", None, "New"));
            calls.push("New");
            continue;
        }
        let ways: Vec<_> = documented().edges().filter(|(from, ..)| *from == calls[call]).collect();
        if !ways.is_empty() {
            let (from, event, to) = *way.get(&ways);
            events.push(line(seq, call, event, Some(from), to));
            calls[call] = to;
        }
    }
    events
}

fn walks() -> impl Strategy<Value = Vec<Event<'static>>> {
    prop::collection::vec(any::<(Index, Index)>(), 1..40).prop_map(|steps| walk(&steps))
}

#[derive(Debug, Clone)]
enum Mutation {
    Drop(Index),
    Duplicate(Index, Index),
    Swap(Index, Index),
    From(Index, Option<String>),
    To(Index, String),
    Event(Index, String),
    Instance(Index, u8),
    Lifecycle(Index),
}

fn names() -> impl Strategy<Value = String> {
    let known = prop::sample::select(documented().states).prop_map(str::to_owned);
    prop_oneof![9 => known, 1 => "[A-Za-z]{0,9}"]
}

fn mutations() -> impl Strategy<Value = Mutation> {
    let events = [documented().events, &["create", "vanish"]].concat();
    prop_oneof![
        any::<Index>().prop_map(Mutation::Drop),
        any::<(Index, Index)>().prop_map(|(from, to)| Mutation::Duplicate(from, to)),
        any::<(Index, Index)>().prop_map(|(one, two)| Mutation::Swap(one, two)),
        (any::<Index>(), prop::option::of(names())).prop_map(|(at, from)| Mutation::From(at, from)),
        (any::<Index>(), names()).prop_map(|(at, to)| Mutation::To(at, to)),
        (any::<Index>(), prop::sample::select(events))
            .prop_map(|(at, event)| Mutation::Event(at, event.to_owned())),
        (any::<Index>(), 0..5_u8).prop_map(|(at, call)| Mutation::Instance(at, call)),
        any::<Index>().prop_map(Mutation::Lifecycle),
    ]
}

fn mutate(events: &mut Vec<Event<'static>>, mutation: Mutation) {
    let length = events.len();
    match mutation {
        Mutation::Drop(at) => drop(events.remove(at.index(length))),
        Mutation::Duplicate(from, to) => {
            let copy = events[from.index(length)].clone();
            events.insert(to.index(length + 1), copy);
        }
        Mutation::Swap(one, two) => events.swap(one.index(length), two.index(length)),
        Mutation::From(at, from) => events[at.index(length)].from = from.map(Into::into),
        Mutation::To(at, to) => events[at.index(length)].to = to.into(),
        Mutation::Event(at, name) => events[at.index(length)].event = name.into(),
        Mutation::Instance(at, call) => events[at.index(length)].instance = format!("call_{call}").into(),
        Mutation::Lifecycle(at) => events[at.index(length)].lifecycle = "toolcall".into(),
    }
}

fn book() -> Rulebook {
    Rulebook::of([<AnyToolCall as Stateful>::GRAPH])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn legal_paths_never_violate(events in walks()) {
        let report = check(&events, &book());
        prop_assert_eq!(report.verdict, replay(&events));
        prop_assert_ne!(report.verdict, Verdict::Violates, "{}", report);
    }

    #[test]
    fn mutated_path_is_judged_as_by_a_naive_replay(
        mut events in walks(),
        several in prop::collection::vec(mutations(), 1..4),
        renumber: bool,
    ) {
        for mutation in several {
            if !events.is_empty() {
                mutate(&mut events, mutation);
            }
        }
        if renumber {
            for (seq, event) in (1..).zip(&mut events) {
                event.seq = seq;
            }
        }
        let report = check(&events, &book());
        prop_assert_eq!(report.verdict, replay(&events), "{}", report);
        prop_assert_eq!(report.violation.is_some(), report.verdict == Verdict::Violates);
        if let Some(violation) = &report.violation {
            // It is the first: what stands before it is sound.
            let before = usize::try_from(violation.line).unwrap() - 1;
            prop_assert_ne!(replay(&events[..before]), Verdict::Violates);
            prop_assert_eq!(replay(&events[..=before]), Verdict::Violates);
        }
    }

    #[test]
    fn interleaved_calls_are_judged_like_sequential_calls(events in walks()) {
        let mut sorted = events.clone();
        sorted.sort_by_key(|event| event.instance.clone());
        for (seq, event) in (1..).zip(&mut sorted) {
            event.seq = seq;
        }
        let (together, apart) = (check(&events, &book()), check(&sorted, &book()));
        prop_assert_eq!(together.verdict, apart.verdict);
        prop_assert_eq!(together.coverage, apart.coverage);
    }

    #[test]
    fn coverage_of_the_parts_is_that_of_the_whole(traces in prop::collection::vec(walks(), 1..4)) {
        let mut merged = runstate::trace::Coverage::new();
        let mut all = Vec::new();
        for (run, mut events) in traces.into_iter().enumerate() {
            merged.merge(&check(&events, &book()).coverage);
            for event in &mut events {
                event.run = format!("r{run}").into();
            }
            all.extend(events);
        }
        prop_assert_eq!(merged, check(&all, &book()).coverage);
    }

    #[test]
    fn whatever_a_machine_is_told_its_trace_never_violates(told in prop::collection::vec((0..3_usize, 0..4_u8), 0..60)) {
        let recorder = Recorder::new("r");
        let mut parcels: Vec<_> = (0..3)
            .map(|n| Some(AnyParcel::new(Label::observed(recorder.observer(&format!("p{n}"))))))
            .collect();
        let mut taken = 0;
        for (which, event) in told {
            let event: ParcelEvent = match event {
                0 => Send.into(),
                1 => Deliver.into(),
                2 => Bounce.into(),
                _ => Discard.into(),
            };
            let parcel = parcels[which].take().unwrap();
            parcels[which] = Some(match parcel.apply(event) {
                Ok(parcel) => {
                    taken += 1;
                    parcel
                }
                Err(refused) => refused.into_parts().0,
            });
        }
        let report = check(&recorder.take(), &super::book());
        prop_assert_eq!(report.violations, 0, "{}", report);
        prop_assert_eq!(report.events, 3 + taken);
        let ended = parcels.iter().flatten().all(|parcel| parcel.status().is_terminal());
        prop_assert_eq!(report.verdict == Verdict::Conforms, ended);
    }
}
