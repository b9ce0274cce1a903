use runstate_review::{Fact, StayKind};

use crate::fixture::{event, orders, review, review_of};

#[test]
fn lanes_have_stays_with_real_times_and_kinds() {
    let review = review(&orders());
    let of = |lane: usize| {
        let stays = review.lanes()[lane].stays.iter();
        stays.map(|stay| (stay.state.as_str(), review.times(stay), stay.kind)).collect::<Vec<_>>()
    };
    assert_eq!(
        of(0),
        [
            ("Cart", (0, 1_250), StayKind::Active),
            ("WaitingForStock", (1_250, 7_201_500), StayKind::Waiting),
            ("Packed", (7_201_500, 7_203_000), StayKind::Active),
            ("Shipped", (7_203_000, 7_203_000), StayKind::Over),
        ]
    );
    assert_eq!(of(1).len(), 2);
}

#[test]
fn illegal_steps_have_their_lines_of_the_diagram() {
    let review = review(&orders());
    let illegal: Vec<u64> =
        review.steps().iter().filter(|step| step.is_illegal).map(|step| step.line).collect();
    assert_eq!(illegal, [5]);
    let [breach] = review.breaches() else { panic!("{:?}", review.breaches()) };
    assert_eq!((breach.step, breach.line), (Some(4), 5));
    assert_eq!(breach.reason, "no edge leads from Cart to Shipped");
    let shown: Vec<_> =
        breach.legal.iter().map(|legal| (legal.place.as_deref(), legal.text.as_deref())).collect();
    assert_eq!(
        shown,
        [
            (Some("shop.mmd:4"), Some("Cart --> Paid : pay [total > 0]")),
            (Some("shop.mmd:10"), Some("Cart --> Cancelled : cancel")),
        ]
    );
}

#[test]
fn a_stable_review_has_no_ids_and_no_times() {
    let mut other = orders();
    for event in &mut other {
        event.run = "x".into();
        event.instance = if event.instance == "a" { "zzz".into() } else { "a".into() };
        event.at_ms *= 3;
        event.seq *= 7;
    }
    let stable = |events| format!("{:?}", review_of(events, |builder| builder.stable()));
    let without_report = |shown: String| shown.split("report: Report").next().unwrap().to_owned();
    assert_eq!(without_report(stable(&orders())), without_report(stable(&other)));
    let review = review_of(&orders(), |builder| builder.stable());
    assert_eq!((review.runs()[0].as_str(), review.lanes()[1].instance.as_str()), ("run 1", "order#2"));
    assert_eq!(review.end_ms(), 5);
}

#[test]
fn redacted_texts_occur_nowhere() {
    let mut events = orders();
    events[4].extra.insert("actor", &"ada \"x\" lovelace").unwrap();
    events[4].instance = "b of ada \"x\"".into();
    let review = review_of(&events, |builder| builder.redact("ada \"x\"").redact(""));
    assert_eq!(review.steps()[4].facts, [Fact::new("actor", "\"[redacted] lovelace\"")]);
    assert!(review.lanes().iter().any(|lane| lane.instance == "b of [redacted]"));
    let review = review_of(&events, |builder| builder.hide_values());
    assert_eq!(review.steps()[4].facts, [Fact::new("actor", "[redacted]")]);
}

#[test]
fn redacted_number_occurs_in_no_form() {
    let mut events = orders();
    events[4].extra.insert("args", &serde_json::json!({"n": 1234.5, "m": -100_000, "k": 12})).unwrap();
    let review = review_of(&events, |builder| builder.redact("1234.50").redact("1E5"));
    let [fact] = review.steps()[4].facts.as_slice() else { panic!("{:?}", review.steps()[4].facts) };
    let shown: serde_json::Value = serde_json::from_str(&fact.value).unwrap();
    assert_eq!(shown, serde_json::json!({"n": "[redacted]", "m": "[redacted]", "k": 12}));
}

#[test]
fn time_that_runs_backwards_gives_no_negative_stay() {
    let events = [
        event(1, u64::MAX, "a", "create", None, "Cart"),
        event(2, 5, "a", "cancel", Some("Cart"), "Cancelled"),
        event(3, 0, "b", "create", None, "Cart"),
    ];
    let review = review(&events);
    let times: Vec<_> =
        review.lanes().iter().flat_map(|lane| &lane.stays).map(|stay| review.times(stay)).collect();
    assert_eq!(times, [(u64::MAX, u64::MAX), (5, 5), (0, u64::MAX)]);
}

#[test]
fn a_trace_without_rules_is_shown_and_not_checked() {
    let mut events = orders();
    events.iter_mut().for_each(|event| event.lifecycle = "parcel".into());
    let review = review(&events);
    assert_eq!((review.unchecked(), review.steps().len()), (&["parcel".to_owned()][..], 6));
    assert!(review.breaches().is_empty());
}

#[test]
fn no_part_of_a_redacted_text_is_left() {
    let secret = "sk-abc123456789";
    let cut = format!("{}{secret}", "x".repeat(70));
    let line = serde_json::json!({
        "seq": 1, "at_ms": 1, "run": "r", "lifecycle": "order", "instance": "sk-abc1 and sk-abc123456789",
        "event": cut, "from": null, "to": cut, "args": "{\"key\":\"sk-\\u0061bc123456789\"}",
    });
    let event = runstate::trace::Event::from_json(&line.to_string()).unwrap().into_owned();
    // The shorter one is the beginning of the longer one.
    let review = review_of(&[event], |builder| builder.redact("sk-abc1").redact(secret));
    assert_eq!(review.lanes()[0].instance, "[redacted] and [redacted]");
    let page = runstate_review::html(&review);
    for part in ["sk-", "456789", "bc12"] {
        assert!(!page.contains(part), "{part}: {page}");
    }
}

#[test]
fn paused_run_is_an_open_wait() {
    let mut paused =
        [event(1, 0, "a", "create", None, "RUNNING"), event(2, 5, "a", "ask", Some("RUNNING"), "PAUSED")];
    paused.iter_mut().for_each(|event| event.lifecycle = "service".into());
    let review = review(&paused);
    let states: Vec<&str> = review.open_waits().iter().map(|(_, stay)| &*stay.state).collect();
    assert_eq!(states, ["PAUSED"]);
}
