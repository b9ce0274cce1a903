use runstate::trace::Event;
use runstate_review::diff;

use crate::fixture::{assert_shown, attacks, event, orders};

fn numbered(events: Vec<Event<'static>>) -> Vec<(u64, Event<'static>)> {
    (1..).zip(events).collect()
}

#[test]
fn ids_times_and_fields_are_no_difference() {
    let mut other = orders();
    for event in &mut other {
        (event.run, event.seq, event.at_ms) = ("x".into(), event.seq * 9, 0);
        event.instance = if event.instance == "a" { "b".into() } else { "a".into() };
        event.extra.insert("cost", &1).unwrap();
    }
    assert!(diff(&numbered(orders()), &numbered(other)).is_none());
    assert!(diff(&[], &[]).is_none());
}

#[test]
fn an_inserted_event_is_one_row_with_context() {
    let mut other = orders();
    other.insert(2, event(3, 9, "c", "create", None, "Cart"));
    other.insert(3, event(4, 9, "c", "cancel", Some("Cart"), "Cancelled"));
    let changes = diff(&numbered(orders()), &numbered(other)).unwrap();
    assert_eq!((changes.first_old().unwrap().line, changes.first_new().unwrap().line), (4, 4));
    assert_shown("diff", &changes.to_string());
}

#[test]
fn a_trace_that_ends_early_differs_at_its_end() {
    let changes = diff(&numbered(orders()), &numbered(orders()[..3].to_vec())).unwrap();
    assert!(changes.first_new().is_none());
    assert!(
        changes
            .to_string()
            .starts_with("the traces differ from line 4 of the old and the end of the new one on\n")
    );
}

#[test]
fn long_traces_are_compared_from_their_first_difference() {
    let long = |other: &str| {
        let event =
            |seq: u64| event(seq, seq, "a", if seq > 9_000 { other } else { "go" }, Some("Cart"), "Cart");
        numbered((1..=14_000).map(event).collect())
    };
    let shown = diff(&long("x"), &long("y")).unwrap().to_string();
    assert!(
        shown.starts_with("the traces differ from line 9001 of the old and line 9001 of the new one on\n"),
        "{shown}"
    );
    assert!(
        shown.contains("more rows\n") && shown.ends_with("among 4000 compared events of each\n"),
        "{shown}"
    );
    assert!(shown.lines().count() < 210);
}

#[test]
fn hostile_names_stay_on_their_rows() {
    let shown = diff(&numbered(attacks()), &numbered(orders())).unwrap().to_string();
    assert!(!shown.contains(['\0', '\u{1b}', '\u{202e}']));
    assert!(shown.lines().count() < 50, "{shown}");
}
