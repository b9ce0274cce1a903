//! The places of lanes, and the lists of violations, waits and unfinished instances.

use runstate::trace::Event;
use runstate_review::{ReviewBuilder, html};

use crate::fixture::{book, event, orders, review};

/// The left edge and the width of the first bar with that text in the lane, in per cent.
fn bar(page: &str, run: &str, state: &str) -> (f64, f64) {
    let of_run = page.split(&format!("<h3>{run}</h3>\n<div class=\"chart\">")).nth(1).unwrap();
    let line = of_run.lines().find(|line| line.starts_with("<details class=lane>")).unwrap();
    let before = line.split(&format!(">{state}</i>")).next().unwrap();
    let (_, style) = before.rsplit_once("left:").unwrap();
    let (left, rest) = style.split_once("%;width:").unwrap();
    (left.parse().unwrap(), rest.split_once('%').unwrap().0.parse().unwrap())
}

/// An order of a run, with a stay of that time in its cart.
fn stay(run: &'static str, begin: u64, ms: u64) -> Vec<Event<'static>> {
    let mut events = vec![
        event(1, begin, "a", "create", None, "Cart"),
        event(2, begin + ms, "a", "cancel", Some("Cart"), "Cancelled"),
    ];
    events.iter_mut().for_each(|event| event.run = run.into());
    events
}

#[test]
fn runs_that_overlap_are_drawn_to_scale() {
    let page = |parts: [Vec<Event<'static>>; 2]| html(&review(&parts.concat()));
    // The second run begins while the first one works, and is as long.
    let shown = page([stay("one", 0, 10_000), stay("two", 3_000, 10_000)]);
    let (one, two) = (bar(&shown, "one", "Cart"), bar(&shown, "two", "Cart"));
    assert!((one.1 - two.1).abs() < 0.1 && two.0 > one.0, "{one:?} {two:?}");
    // The second run of the file is the earlier one.
    let shown = page([stay("one", 3_600_000, 10_000), stay("two", 0, 10_000)]);
    let (one, two) = (bar(&shown, "one", "Cart"), bar(&shown, "two", "Cart"));
    assert!((one.1 - two.1).abs() < 0.1 && two.0 < one.0, "{one:?} {two:?}");
    // Equal runs at equal times have equal bars.
    let shown = page([stay("one", 7, 10_000), stay("two", 7, 10_000)]);
    assert_eq!(bar(&shown, "one", "Cart"), bar(&shown, "two", "Cart"));
    // Bars of a clock that goes back do not overlap.
    let back = [
        event(1, 500, "a", "create", None, "Cart"),
        event(2, 0, "a", "pay", Some("Cart"), "WaitingForStock"),
        event(3, 900, "a", "pack", Some("WaitingForStock"), "Packed"),
    ];
    let shown = html(&review(&back)).replace("<h3>r</h3>", "<h3>one</h3>");
    let (first, second) = (bar(&shown, "one", "Cart"), bar(&shown, "one", "WaitingForStock"));
    assert!(first.1 == 0.0 && second.0 >= first.0 && second.1 > 10.0, "{first:?} {second:?}");
}

#[test]
fn violations_and_unfinished_instances_name_their_run() {
    let mut events = orders();
    events[4].run = "q".into();
    events[2].run = "q".into();
    let review = review(&events);
    let page = html(&review);
    assert!(page.contains("<h3>line 5: order b of run q</h3>"), "{page}");
    let summary = runstate_review::markdown(std::slice::from_ref(&review));
    assert!(summary.contains("- line 5, `order` `b` of run `q`: "), "{summary}");
    let open = crate::fixture::review(&events[..4]);
    assert!(html(&open).contains("<h2 id=\"lanes\">"));
    let summary = runstate_review::markdown(std::slice::from_ref(&open));
    assert!(summary.contains("- order b of run q is in Cart since line 3\n"), "{summary}");
    let waits = html(&crate::fixture::review(&events[..3]));
    assert!(waits.contains("<li>order a of run r still waits in"), "{waits}");
    let report = runstate::trace::check(&events, &book());
    let mut both = runstate_review::Summary::new("s", "t");
    both.report("t", &report);
    assert!(!both.to_string().contains("of run"), "one run has violations: {both}");
}

#[test]
fn instances_that_have_not_ended_are_listed() {
    let page = html(&review(&orders()[..3]));
    let section = page.split("<h2 id=\"unfinished\">Not ended</h2>").nth(1).unwrap();
    assert!(section.contains("<li>order b is in Cart since line 3</li>\n</ul>"), "{page}");
    assert!(!section.contains("order a is in"), "a wait has a section of its own: {page}");
    assert!(!html(&review(&orders())).contains("Not ended"));
}

#[test]
fn illegal_events_without_a_box_are_counted() {
    let mut events = orders();
    let illegal = |seq: u64| event(seq, 1_700_007_300_000 + seq, "b", "cancel", Some("Shipped"), "Cancelled");
    events.push(illegal(7));
    let page = html(&review(&events));
    assert!(page.contains("<p>1 more illegal event is not listed</p>"), "{page}");
    events.push(illegal(8));
    assert!(html(&review(&events)).contains("<p>2 more illegal events are not listed</p>"));
    assert!(!html(&review(&orders())).contains("not listed"));
}

#[test]
fn a_wait_has_its_note_in_all_outputs() {
    let book = book();
    let mut builder = ReviewBuilder::new("orders", &book).redact("ann");
    (1..).zip(&orders()[..3]).for_each(|(line, event)| builder.event(line, event));
    builder.wait_note("r", "order", "a", "approved by ann, not taken yet");
    builder.wait_note("r", "order", "b", "a cart that does not wait");
    let review = builder.finish();
    let note = "approved by [redacted], not taken yet";
    assert!(html(&review).contains(&format!("since line 2 for 250 ms: {note}</li>")));
    let summary = runstate_review::markdown(std::slice::from_ref(&review));
    assert!(summary.contains("approved by &#91;redacted&#93;, not taken yet\n"), "{summary}");
    let trace = runstate_review::perfetto(std::slice::from_ref(&review));
    assert!(trace.contains(note), "{trace}");
    assert!(!(html(&review) + &summary + &trace).contains("does not wait"));
}
