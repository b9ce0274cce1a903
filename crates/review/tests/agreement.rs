//! Facts that all outputs of a trace have alike.

use runstate_review::{Fact, Review, ReviewBuilder, Timeline, gantt, html, markdown, perfetto};
use serde_json::Value;

use crate::fixture::{book, event, orders, review, review_of};

/// The arguments of the slices of an instance, by state.
fn arguments(review: Review, instance: u64) -> Vec<(String, Value)> {
    let trace: Value = serde_json::from_str(&perfetto(&[review])).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().clone();
    let is_slice = |it: &&Value| it["tid"] == instance && (it["ph"] == "X" || it["ph"] == "i");
    let slices = events.iter().filter(is_slice);
    slices.map(|it| (it["name"].as_str().unwrap().to_owned(), it["args"].clone())).collect()
}

#[test]
fn the_note_on_an_open_wait_is_in_each_output() {
    let book = book();
    let mut builder = ReviewBuilder::new("orders.jsonl", &book);
    (1..).zip(&orders()[..2]).for_each(|(line, event)| builder.event(line, event));
    builder.wait_note("r", "order", "a", "approved by ann");
    let review = builder.finish();
    let chart = gantt(&review);
    assert!(chart.contains("    a WaitingForStock, still waits#58; approved by ann :active, "), "{chart}");
    let page = html(&review);
    assert!(page.contains("still waits in <code>WaitingForStock</code>, since line 2: approved by ann</li>"));
    let summary = markdown(std::slice::from_ref(&review));
    assert!(summary.contains("since line 2&#58; approved by ann"), "{summary}");
    let (state, args) = arguments(review, 1).pop().unwrap();
    assert_eq!((&*state, &args["still waits"]), ("WaitingForStock", &"approved by ann".into()));
}

#[test]
fn an_entry_of_a_list_is_no_line() {
    let mut events = orders();
    // Order c waits, and its time goes back.
    events.push(event(7, 1_700_000_000_000, "c", "create", None, "Cart"));
    events.push(event(8, 1_700_000_000_001, "c", "pay", Some("Cart"), "WaitingForStock"));
    let review = review_of(&events, |builder| builder.entries());
    let page = html(&review);
    for shown in [
        "<h3>entry 5: order b</h3>",
        "since entry 8",
        "time runs backwards at entry 7",
        "<table><tr><th>Entry<th>",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains("line 5") && !page.contains("line 8") && !page.contains("<th>Line"), "{page}");
    let summary = markdown(std::slice::from_ref(&review));
    assert!(summary.contains("- entry 5, ") && summary.contains("since entry 8"), "{summary}");
    assert!(!summary.contains("line "), "{summary}");
    assert!(gantt(&review).contains("time runs backwards at entry 7"));
    assert_eq!(arguments(review, 2)[0].1["entry"], 3);
}

#[test]
fn a_stay_that_ends_before_it_begins_is_negative() {
    let mut events = orders()[..2].to_vec();
    events[1].at_ms = events[0].at_ms - 500;
    let page = html(&review(&events));
    assert!(page.contains("<td>Cart<td class=n>-500 ms\n"), "{page}");
    let mut timeline = Timeline::new(80);
    events.iter().for_each(|event| timeline.event(event, false));
    assert!(timeline.to_string().contains(" <0 ms   -500 ms  order a"), "{timeline}");
}

#[test]
fn the_distance_between_neighbours_is_visible_after_an_hour() {
    const HOUR: u64 = 3_600_000;
    let waits =
        [(0, "Cart"), (HOUR, "Packed"), (HOUR + 1, "Cart"), (HOUR + 11, "Packed"), (HOUR + 12, "Cart")];
    let mut from = None;
    let mut timeline = Timeline::new(80);
    for (seq, (at_ms, to)) in (1..).zip(waits) {
        timeline.event(&event(seq, at_ms, "a", "go", from, to), false);
        from = Some(to);
    }
    let shown = timeline.to_string();
    let times: Vec<&str> = shown.lines().filter_map(|line| line.get(..19)).map(str::trim).collect();
    let expected = ["1 h 00 m 00.000 s", "1 h 00 m 00.001 s", "1 h 00 m 00.011 s", "1 h 00 m 00.012 s"];
    expected.iter().for_each(|time| assert!(times.contains(time), "{shown}"));
    // A wait of an hour and a trace that is a little longer are two marks of an axis.
    let steps = [(0, None, "Cart"), (HOUR, Some("Cart"), "Cart")];
    let mut events: Vec<_> =
        (1..).zip(steps).map(|(seq, (at_ms, from, to))| event(seq, at_ms, "a", "go", from, to)).collect();
    events.extend((3..14).map(|seq| event(seq, HOUR + seq, "a", "go", Some("Cart"), "Cart")));
    let page = html(&review(&events));
    let axis = page.lines().find(|line| line.starts_with("<div class=\"axis\">")).unwrap();
    let marks: Vec<&str> = axis.split("<b ").skip(1).filter_map(|it| it.split(['>', '<']).nth(1)).collect();
    assert_eq!(marks, ["1 h 00 m 00.000 s", "1 h 00 m 00.013 s"], "{axis}");
}

#[test]
fn a_question_and_its_decision_belong_to_the_slice_of_their_wait() {
    let book = book();
    let mut builder = ReviewBuilder::new("orders.jsonl", &book);
    let events = [
        event(1, 0, "a", "create", None, "Cart"),
        event(2, 10, "a", "pay", Some("Cart"), "WaitingForStock"),
        event(3, 20, "a", "pack", Some("WaitingForStock"), "Packed"),
        event(4, 30, "a", "pay", Some("Packed"), "WaitingForStock"),
        event(5, 40, "a", "pack", Some("WaitingForStock"), "Packed"),
    ];
    (1..).zip(&events).for_each(|(line, event)| builder.event(line, event));
    for (fact, wait) in [("first", 1), ("second", 2), ("latest", usize::MAX)] {
        builder.fact("r", "order", "a", Fact::new(fact, "approved").of_wait(wait));
    }
    builder.fact("r", "order", "a", Fact::new("output", "sent"));
    let slices = arguments(builder.finish(), 1);
    let of = |fact: &str| -> Vec<usize> {
        let key = format!("fact {fact}");
        (1..).zip(&slices).filter(|(_, (_, args))| !args[&key].is_null()).map(|(place, _)| place).collect()
    };
    assert_eq!([of("first"), of("second"), of("latest"), of("output")], [[2], [4], [4], [5]]);
}

#[test]
fn times_that_an_output_cannot_show_are_told() {
    let of = |last: u64| {
        review(&[
            event(1, 0, "a", "create", None, "Cart"),
            event(2, last, "a", "pay", Some("Cart"), "WaitingForStock"),
        ])
    };
    let labels = |review: Review| {
        let trace: Value = serde_json::from_str(&perfetto(&[review])).unwrap();
        let is_label = |it: &&Value| it["name"] == "process_labels";
        trace["traceEvents"].as_array().unwrap().iter().find(is_label).map(|it| it["args"]["labels"].clone())
    };
    let last_of_a_chart = 253_402_300_799_999;
    assert!(!gantt(&of(last_of_a_chart)).contains("9999 are drawn"));
    assert!(gantt(&of(last_of_a_chart + 1)).contains("times after the year 9999 are drawn at its end"));
    let last_of_perfetto = (1 << 53) / 1_000;
    assert_eq!(labels(of(last_of_perfetto)), None);
    let late = labels(of(last_of_perfetto + 1));
    assert_eq!(late, Some("times after 2^53 microseconds are drawn at that time".into()));
}
