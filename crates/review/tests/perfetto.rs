use runstate_review::{Fact, Review, ReviewBuilder, perfetto};
use serde_json::Value;

use crate::fixture::{attacks, book, event, orders, review};

fn events(reviews: &[Review]) -> Vec<Value> {
    let trace: Value = serde_json::from_str(&perfetto(reviews)).unwrap();
    trace["traceEvents"].as_array().unwrap().clone()
}

fn of<'e>(events: &'e [Value], phase: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["ph"] == phase).collect()
}

#[test]
fn slices_are_the_stays_of_the_trace() {
    let events = events(&[review(&orders())]);
    let slices: Vec<_> = of(&events, "X")
        .iter()
        .map(|it| format!("{} {} {} {}", it["tid"], it["name"], it["ts"], it["dur"]))
        .collect();
    assert_eq!(
        slices,
        [
            "1 \"Cart\" 0 1250000",
            "1 \"WaitingForStock\" 1250000 7200250000",
            "1 \"Packed\" 7201500000 1500000",
            "2 \"Cart\" 1500000 7200500000",
        ]
    );
    let ends: Vec<_> = of(&events, "i").iter().map(|it| format!("{} {}", it["name"], it["cat"])).collect();
    assert_eq!(ends, ["\"Shipped\" \"order\"", "\"Shipped\" \"illegal\""]);
}

#[test]
fn a_flow_leads_from_a_wait_to_its_end() {
    let events = events(&[review(&orders())]);
    let [start, end] = (of(&events, "s")[0], of(&events, "f")[0]).into();
    assert_eq!(
        (&start["ts"], &end["ts"], &end["bp"]),
        (&1_250_000.into(), &7_201_500_000_u64.into(), &"e".into())
    );
    assert_eq!(start["id"], end["id"]);
}

#[test]
fn each_run_of_several_traces_is_a_process() {
    let events = events(&[review(&orders()), review(&orders())]);
    let processes: Vec<_> = of(&events, "M")
        .iter()
        .filter(|it| it["name"] == "process_name")
        .map(|it| it["pid"].as_u64())
        .collect();
    assert_eq!(processes, [Some(1), Some(2)]);
    assert_eq!(of(&events, "X").len(), 8);
}

#[test]
fn hostile_texts_are_valid_json_of_bounded_size() {
    let text = perfetto(&[review(&attacks())]);
    assert!(text.len() < 100_000, "{}", text.len());
    let trace: Value = serde_json::from_str(&text).unwrap();
    assert!(trace["traceEvents"].as_array().unwrap().len() > 30);
    let unseen = |c: char| c.is_control() || c == '\u{202e}' || c == '\u{2028}';
    assert!(!text.trim_end().contains(unseen) && !trace.to_string().contains(unseen));
}

#[test]
fn extreme_times_stay_exact() {
    let late = [
        event(1, 0, "a", "create", None, "Cart"),
        event(2, u64::MAX, "a", "cancel", Some("Cart"), "Cancelled"),
        event(3, 7, "a", "create", None, "Cart"),
    ];
    let events = events(&[review(&late)]);
    let ts = of(&events, "X").iter().map(|it| it["ts"].as_u64().unwrap() + it["dur"].as_u64().unwrap()).max();
    assert!(ts.unwrap() <= 1 << 53);
}

#[test]
fn clock_that_goes_back_makes_no_overlap() {
    let trace = [
        event(1, 100, "a", "create", None, "Cart"),
        event(2, 200, "a", "pay", Some("Cart"), "WaitingForStock"),
        event(3, 150, "a", "pack", Some("WaitingForStock"), "Packed"),
        event(4, 300, "a", "ship", Some("Packed"), "Shipped"),
    ];
    let events = events(&[review(&trace)]);
    let mut end = 0;
    for slice in of(&events, "X") {
        let begun = slice["ts"].as_u64().unwrap();
        assert!(begun >= end, "{slice}");
        end = begun + slice["dur"].as_u64().unwrap();
    }
}

#[test]
fn trace_without_durations_has_a_slice_for_each_step() {
    let trace = [
        event(1, 5, "a", "create", None, "Cart"),
        event(2, 5, "a", "pay", Some("Cart"), "WaitingForStock"),
        event(3, 5, "a", "pack", Some("WaitingForStock"), "Packed"),
    ];
    let events = events(&[review(&trace)]);
    let slices: Vec<_> = of(&events, "X").iter().map(|it| (it["ts"].clone(), it["dur"].clone())).collect();
    assert_eq!(slices, [0, 1_000, 2_000].map(|at| (at.into(), 1_000.into())));
}

#[test]
fn open_wait_lasts_to_the_end_of_the_trace() {
    let events = events(&[review(&orders()[..3])]);
    let slices = of(&events, "X");
    let [open] = slices.iter().filter(|it| it["cat"] == "open_wait").collect::<Vec<_>>()[..] else {
        panic!("{slices:?}")
    };
    assert_eq!((&open["name"], &open["dur"]), (&"WaitingForStock".into(), &250_000.into()));
    assert_eq!(open["args"]["still waits"], true);
    assert!(of(&events, "s").is_empty(), "no decision was made");
}

#[test]
fn facts_of_one_name_are_all_kept() {
    let book = book();
    let mut builder = ReviewBuilder::new("orders.jsonl", &book);
    let orders = orders();
    (1..).zip(&orders).for_each(|(line, event)| builder.event(line, event));
    for said in ["approved by ada", "approved by ben"] {
        builder.fact(&orders[0].run, "order", "b", Fact::new("decision", said));
    }
    let events = events(&[builder.finish()]);
    let args: Vec<&Value> =
        events.iter().map(|it| &it["args"]).filter(|args| args["fact decision"] != Value::Null).collect();
    assert_eq!(args.len(), 1);
    assert_eq!(
        (&args[0]["fact decision"], &args[0]["fact decision (2)"]),
        (&"approved by ada".into(), &"approved by ben".into())
    );
}

#[test]
fn flow_does_not_lead_back_where_a_clock_does() {
    let back = [
        event(1, 0, "a", "create", None, "Cart"),
        event(2, 200, "a", "pay", Some("Cart"), "WaitingForStock"),
        event(3, 150, "a", "pack", Some("WaitingForStock"), "Packed"),
        event(4, 300, "a", "ship", Some("Packed"), "Shipped"),
    ];
    let events = events(&[review(&back)]);
    let at = |phase: &str| of(&events, phase)[0]["ts"].as_u64().unwrap();
    assert!(at("s") <= at("f"), "{} {}", at("s"), at("f"));
}

#[test]
fn a_clock_that_runs_backwards_is_told() {
    let mut events_of = orders();
    events_of[3].at_ms = events_of[2].at_ms - 200;
    let review = review(&events_of);
    let events = events(std::slice::from_ref(&review));
    let back: Vec<_> =
        events.iter().filter(|it| it["args"]["earlier than the event before it"] == true).collect();
    assert_eq!(back.len(), 1);
    assert_eq!(back[0]["args"]["line"], 4);
    assert_eq!(review.steps().iter().filter(|step| step.is_back).count(), 1);
}

#[test]
fn equal_times_are_told_in_the_name_of_the_process() {
    let mut still = orders();
    still.iter_mut().for_each(|event| event.at_ms = 1_700_000_000_000);
    let events = events(&[review(&still)]);
    let process = events.iter().find(|it| it["name"] == "process_name").unwrap();
    assert_eq!(process["args"]["name"], "r (no times: a millisecond is a step)");
}

#[test]
fn traces_of_one_clock_have_one_zero() {
    let mut later = orders();
    later.iter_mut().for_each(|event| event.at_ms += 60_000);
    let events = events(&[review(&later), review(&orders())]);
    let first = |process: u64| {
        let of_process = events.iter().filter(|it| it["pid"] == process && it["ph"] == "X");
        of_process.filter_map(|it| it["ts"].as_u64()).min()
    };
    assert_eq!((first(1), first(2)), (Some(60_000_000), Some(0)));
}

#[test]
fn a_process_says_that_its_trace_is_not_whole() {
    let book = book();
    let mut builder = ReviewBuilder::new("orders", &book);
    (1..).zip(orders()).for_each(|(line, event)| builder.event(line, &event));
    builder.interrupted(runstate_review::Interruption::new(7, "expected an event", 0));
    let events = events(&[builder.finish()]);
    let labels = events.iter().find(|it| it["name"] == "process_labels").unwrap();
    assert!(labels["args"]["labels"].as_str().unwrap().contains("line 7 is no event"), "{labels}");
}
