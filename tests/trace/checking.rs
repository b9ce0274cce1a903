//! What the checker finds, kind by kind.
use std::fmt::Write as _;

use runstate::trace::{Event, Report, Rulebook, Verdict, ViolationKind, check};

use super::{book, event, journey};

fn verdict(events: &[Event<'_>]) -> Report {
    check(events, &book())
}

/// The kind of the first violation and the line it is on.
fn broken(events: &[Event<'_>]) -> (u64, ViolationKind) {
    let report = verdict(events);
    assert_eq!(report.verdict, Verdict::Violates);
    let violation = report.violation.expect("a violation");
    (violation.line, violation.kind)
}

#[test]
fn trace_recorded_by_the_kernel_conforms() {
    let report = verdict(&journey());
    assert_eq!(report.verdict, Verdict::Conforms);
    assert_eq!((report.events, report.instances, report.violations), (9, 2, 0));
    assert!(report.consumed_whole && report.violation.is_none() && report.unfinished.is_empty());
}

#[test]
fn a_trace_that_stops_early_is_incomplete_at_every_length() {
    let events = journey();
    for length in 1..events.len() {
        let report = verdict(&events[..length]);
        assert_eq!(report.verdict, Verdict::Incomplete, "{length} events");
        assert!(report.unfinished_instances > 0 && report.violations == 0);
    }
    let report = verdict(&events[..8]);
    assert_eq!(report.unfinished.len(), 1);
    assert_eq!(report.unfinished[0].to_string(), "parcel a of run r is in Sent since line 7");
}

#[test]
fn an_empty_trace_conforms() {
    assert_eq!(verdict(&[]).verdict, Verdict::Conforms);
}

#[test]
fn illegal_edge_is_a_violation() {
    let found = broken(&[
        event(1, "a", "create", None, "Packed"),
        event(2, "a", "deliver", Some("Packed"), "Delivered"),
    ]);
    assert_eq!(found, (2, ViolationKind::IllegalEdge));
}

#[test]
fn unknown_state_on_either_side_is_a_violation() {
    let unknown = |state: &str| ViolationKind::UnknownState { state: state.into(), closest: None };
    let packed = ViolationKind::UnknownState { state: "packed".into(), closest: Some("Packed".into()) };
    let created = event(1, "a", "create", None, "Packed");
    assert_eq!(
        broken(&[created.clone(), event(2, "a", "send", Some("Packed"), "Lost")]),
        (2, unknown("Lost"))
    );
    assert_eq!(broken(&[created, event(2, "a", "send", Some("Boxed"), "Sent")]), (2, unknown("Boxed")));
    assert_eq!(broken(&[event(1, "a", "create", None, "packed")]), (1, packed));
}

#[test]
fn first_event_other_than_creation_is_a_violation() {
    let found = broken(&[event(1, "a", "send", Some("Packed"), "Sent")]);
    assert_eq!(found, (1, ViolationKind::NoCreation));
}

#[test]
fn creation_in_a_non_initial_state_is_a_violation() {
    assert_eq!(broken(&[event(1, "a", "create", None, "Sent")]), (1, ViolationKind::NotInitial));
}

#[test]
fn creation_by_another_event_name_is_a_violation() {
    assert_eq!(
        broken(&[event(1, "a", "born", None, "Packed")]),
        (1, ViolationKind::WrongEvent { closest: None })
    );
}

#[test]
fn event_from_another_state_than_the_last_is_a_violation() {
    let mut events = journey();
    events.remove(4);
    let found = broken(&events);
    assert_eq!(found, (6, ViolationKind::BrokenChain { state: "Sent".into(), line: 3 }));
}

#[test]
fn event_after_a_terminal_state_is_a_violation() {
    let ended = ViolationKind::AfterTerminal { state: "Delivered".into(), line: 9 };
    let mut events = journey();
    events.push(event(10, "a", "send", Some("Delivered"), "Sent"));
    assert_eq!(broken(&events), (10, ended.clone()));
    events[9] = event(10, "a", "send", Some("Packed"), "Sent");
    assert_eq!(broken(&events), (10, ended));
}

#[test]
fn second_creation_of_a_live_instance_is_a_violation() {
    let found = broken(&[
        event(1, "a", "create", None, "Packed"),
        event(2, "a", "send", Some("Packed"), "Sent"),
        event(3, "a", "create", None, "Packed"),
    ]);
    assert_eq!(found, (3, ViolationKind::SecondCreation { state: "Sent".into(), line: 1 }));
}

#[test]
fn an_instance_that_has_ended_may_live_again() {
    let mut events = journey();
    events.push(event(10, "a", "create", None, "Packed"));
    let report = verdict(&events);
    assert_eq!((report.verdict, report.instances), (Verdict::Incomplete, 3));
    events.push(event(11, "a", "send", Some("Packed"), "Sent"));
    events.push(event(12, "a", "deliver", Some("Sent"), "Delivered"));
    assert_eq!(verdict(&events).verdict, Verdict::Conforms);
}

#[test]
fn sequence_number_that_does_not_grow_is_a_violation() {
    let mut events = journey();
    events[3].seq = 3;
    assert_eq!(broken(&events), (4, ViolationKind::SeqNotIncreasing { last: 3, line: 3 }));
    events[3].seq = u64::MAX;
    assert_eq!(broken(&events), (5, ViolationKind::SeqNotIncreasing { last: u64::MAX, line: 4 }));
}

#[test]
fn numbers_may_have_gaps_and_begin_anywhere() {
    let mut events = journey();
    for event in &mut events {
        event.seq = event.seq * 7 - 7;
    }
    assert_eq!(verdict(&events).verdict, Verdict::Conforms);
}

#[test]
fn each_run_has_its_own_instances_and_numbers() {
    let mut other = journey();
    for event in &mut other {
        event.run = "s".into();
    }
    let both: Vec<_> = journey().into_iter().zip(other).flat_map(|(left, right)| [left, right]).collect();
    let report = verdict(&both);
    assert_eq!((report.verdict, report.instances), (Verdict::Conforms, 4));
}

#[test]
fn unknown_lifecycle_is_a_violation() {
    let mut events = journey();
    events[2].lifecycle = "letter".into();
    assert_eq!(broken(&events), (3, ViolationKind::UnknownLifecycle { closest: None }));
    let report = check(&events, &book().only("letter"));
    assert_eq!((report.verdict, report.skipped), (Verdict::Violates, 8), "asked for, but without rules");
}

#[test]
fn other_lifecycles_are_passed_over_when_one_is_asked_for() {
    let mut events = journey();
    let mut other = events[8].clone();
    other.lifecycle = "letter".into();
    events.insert(0, other);
    let report = check(&events, &book().only("parcel"));
    assert_eq!((report.verdict, report.events, report.skipped), (Verdict::Conforms, 10, 1));
}

#[test]
fn wrong_event_name_is_a_violation() {
    let found =
        broken(&[event(1, "a", "create", None, "Packed"), event(2, "a", "throw", Some("Packed"), "Sent")]);
    assert_eq!(found, (2, ViolationKind::WrongEvent { closest: None }));
}

#[test]
fn after_a_violation_the_checker_believes_the_trace() {
    // One wrong state is one violation, or two where the instance goes on from a state that does not exist.
    let mut events = journey();
    events[2].to = "Lost".into();
    assert_eq!(verdict(&events).violations, 1);
    let mut events = journey();
    events[2].to = "Returned".into();
    assert_eq!(verdict(&events).violations, 2);
    let mut events = journey();
    events.remove(0);
    let report = verdict(&events);
    assert_eq!((report.violations, report.instances), (1, 2));
}

#[test]
fn the_list_of_the_unfinished_is_short_and_their_count_is_right() {
    let events: Vec<_> = (1..=25).map(|n| event(n, &format!("p{n}"), "create", None, "Packed")).collect();
    let report = verdict(&events);
    assert_eq!((report.unfinished.len(), report.unfinished_instances), (Report::MOST_UNFINISHED, 25));
    assert_eq!(report.unfinished[9].instance, "p10");
    assert!(report.summary().ends_with("  and 15 more\n"));
}

#[test]
fn names_as_long_as_they_like_are_shown_in_few_words() {
    let long = "x".repeat(1 << 20);
    let events = [event(1, &long, "create", None, "Packed"), event(2, &long, &long, Some("Packed"), &long)];
    assert!(verdict(&events).summary().len() < 2_000);
    let hostile = event(1, "a\u{1b}[2J\nline 9: conforms", "create", None, "Packed");
    let shown = verdict(&[hostile]).summary();
    assert!(!shown.contains('\u{1b}') && shown.lines().count() == 3, "{shown}");
}

#[test]
fn violations_are_explained() {
    let created = event(1, "a", "create", None, "Packed");
    let sent = event(2, "a", "send", Some("Packed"), "Sent");
    let done = event(3, "a", "deliver", Some("Sent"), "Delivered");
    let start = [created.clone(), sent.clone(), done.clone()];
    let mut lost = sent.clone();
    lost.lifecycle = "letter".into();
    let cases: [(&str, &[Event<'_>], Event<'_>); 11] = [
        ("illegal edge", &start[..1], event(2, "a", "deliver", Some("Packed"), "Delivered")),
        ("unknown state", &start[..2], event(3, "a", "lose", Some("Sent"), "Lost")),
        ("unknown first state", &[], event(3, "a", "create", None, "Lost")),
        ("no creation", &[], sent.clone()),
        ("not initial", &[], event(1, "a", "create", None, "Sent")),
        ("broken chain", &start[..2], event(3, "a", "send", Some("Returned"), "Sent")),
        ("after terminal", &start, event(4, "a", "send", Some("Delivered"), "Sent")),
        ("second creation", &start[..2], event(3, "a", "create", None, "Packed")),
        ("number does not grow", &start[..2], event(2, "a", "deliver", Some("Sent"), "Delivered")),
        ("unknown lifecycle", &start[..1], lost),
        ("wrong event", &start[..2], event(3, "a", "send", Some("Sent"), "Returned")),
    ];
    let mut shown = String::new();
    for (name, before, last) in cases {
        let events: Vec<_> = before.iter().cloned().chain([last]).collect();
        writeln!(shown, "# {name}\n{}", verdict(&events)).unwrap();
    }
    super::snapshots().bind(|| insta::assert_snapshot!("trace__violations", shown));
}

#[test]
fn without_rules_every_lifecycle_is_unknown() {
    let report = check(&journey(), &Rulebook::new());
    assert_eq!((report.verdict, report.violations), (Verdict::Violates, 9));
}
