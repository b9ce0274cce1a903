//! The tests of a user, each of one line with a trace.
use runstate_review::{TraceText, assert_trace_snapshot};

use crate::fixture::{attacks, book, orders};

#[test]
fn a_trace_is_a_snapshot_in_one_line() {
    assert_trace_snapshot!(orders(), @r"
    order#1  [*] --> Cart : create
    order#1  Cart --> WaitingForStock : pay
    order#2  [*] --> Cart : create
    order#1  WaitingForStock --> Packed : pack
    order#2  Cart --> Shipped : ship
    order#1  Packed --> Shipped : ship
    ");
}

#[test]
fn ids_and_times_do_not_change_a_snapshot() {
    let mut other = orders();
    for event in &mut other {
        (event.run, event.seq, event.at_ms) = ("x".into(), event.seq * 9, event.at_ms / 7);
        event.instance = format!("id-{}", event.instance).into();
    }
    assert_eq!(orders().trace_text(), other.trace_text());
}

#[test]
fn hostile_names_stay_on_their_lines() {
    let text = attacks().trace_text();
    assert_eq!(text.lines().count(), attacks().len());
    assert!(!text.contains(['\0', '\u{1b}', '\u{202e}']));
}

#[test]
fn an_own_lifecycle_has_its_illegal_events_marked() {
    let book = book();
    assert_trace_snapshot!(&orders()[3..5], rules = &book, @r"
    order#1  WaitingForStock --> Packed : pack  <- illegal: its first event is not its creation
    order#2  Cart --> Shipped : ship  <- illegal: its first event is not its creation
    ");
}
