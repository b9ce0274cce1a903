//! Which edges were taken.
use runstate::trace::{Coverage, Event, UnmetRequirement, WantedEdge, check};

use super::{book, event, journey};

fn covered(events: &[Event<'_>]) -> Coverage {
    check(events, &book()).coverage
}

/// `instance` is sent and arrives.
fn straight(instance: &str) -> Vec<Event<'static>> {
    vec![
        event(1, instance, "create", None, "Packed"),
        event(2, instance, "send", Some("Packed"), "Sent"),
        event(3, instance, "deliver", Some("Sent"), "Delivered"),
    ]
}

#[test]
fn edges_are_counted() {
    let coverage = covered(&journey());
    let parcel = coverage.lifecycle("parcel").unwrap();
    let counts: Vec<_> = parcel.edges.iter().map(|edge| format!("{edge} = {}", edge.taken)).collect();
    assert_eq!(
        counts,
        [
            "Packed --> Sent : send = 2",
            "Sent --> Delivered : deliver = 1",
            "Sent --> Returned : bounce = 2",
            "Returned --> Sent : send = 1",
            "Returned --> Discarded : discard = 1",
        ]
    );
    let states: Vec<_> = parcel.states.iter().map(|it| (&*it.state, it.entered, it.current)).collect();
    assert_eq!(
        states,
        [("Packed", 2, 0), ("Sent", 3, 0), ("Returned", 2, 0), ("Delivered", 1, 1), ("Discarded", 1, 1)]
    );
    assert_eq!((parcel.percent(), parcel.never().count()), (100.0, 0));
}

#[test]
fn untaken_edges_are_named() {
    let coverage = covered(&straight("a"));
    insta::assert_snapshot!(coverage, @r"
    parcel: 2 of 5 edges taken (40.0 %), 1 instance
      never Sent --> Returned : bounce
      never Returned --> Sent : send
      never Returned --> Discarded : discard
    ");
}

#[test]
fn illegal_events_cover_nothing() {
    let events = [event(1, "a", "create", None, "Packed"), event(2, "a", "throw", Some("Packed"), "Sent")];
    assert_eq!(covered(&events).percent(), 0.0);
}

#[test]
fn coverage_of_several_traces_adds_up_in_any_order() {
    let (one, two) = (covered(&straight("a")), covered(&journey()));
    let mut forth = one.clone();
    forth.merge(&two);
    let mut back = two.clone();
    back.merge(&one);
    assert_eq!(forth, back);
    assert_eq!(forth.percent(), 100.0);
    assert_eq!(forth.lifecycle("parcel").unwrap().instances, 3);
    // As if the traces were one: the second has another run.
    let mut both = straight("a");
    for event in &mut both {
        event.run = "s".into();
    }
    both.extend(journey());
    assert_eq!(forth, covered(&both));
}

#[test]
fn an_empty_coverage_takes_on_what_is_merged_into_it() {
    let mut all = Coverage::new();
    assert_eq!(all.percent(), 100.0);
    all.merge(&covered(&journey()));
    assert_eq!(all, covered(&journey()));
}

#[test]
fn requested_lifecycle_without_events_is_in_the_coverage() {
    assert_eq!(covered(&[]).iter().count(), 0);
    let coverage = check(&[], &book().only("parcel")).coverage;
    assert_eq!(coverage.percent(), 0.0);
    assert_eq!(coverage.lifecycle("parcel").unwrap().never().count(), 5);
}

#[test]
fn percentages_and_edges_can_be_required() {
    let coverage = covered(&straight("a"));
    assert_eq!(coverage.require_percent(40.0), Ok(()));
    let unmet = coverage.require_percent(40.1).unwrap_err();
    assert_eq!(unmet.to_string(), "expected 40.1 % of the edges taken, got 40.0 %");
    assert!(coverage.require_percent(f64::NAN).is_err());

    let wanted = |text: &str| text.parse::<WantedEdge>().unwrap();
    assert_eq!(coverage.require_edge(&wanted("Packed:Sent")), Ok(1));
    assert_eq!(coverage.require_edge(&wanted("parcel/Packed:Sent")), Ok(1));
    let unmet = coverage.require_edge(&wanted("Sent:Returned")).unwrap_err();
    assert!(matches!(unmet, UnmetRequirement::NeverTaken(_)), "{unmet}");
    for nowhere in ["Packed:Delivered", "letter/Packed:Sent"] {
        let unmet = coverage.require_edge(&wanted(nowhere)).unwrap_err();
        assert!(matches!(unmet, UnmetRequirement::NoSuchEdge(_)), "{unmet}");
    }
    for text in ["", ":", "A:", ":B", "A", "A:B:C", "x/A"] {
        assert!(text.parse::<WantedEdge>().is_err(), "{text}");
    }
}
