use runstate_review::{ReviewBuilder, gantt};

use crate::fixture::{assert_shown, attacks, event, orders, review, review_of};

#[test]
fn a_small_trace_has_a_row_for_each_stay() {
    let stable = gantt(&review_of(&orders(), |builder| builder.stable()));
    assert_shown("gantt", &format!("{}\n{stable}", gantt(&review(&orders()))));
}

#[test]
fn a_large_trace_is_summarised() {
    let many = |orders: u64| {
        let cart = |order: u64| event(2 * order, order, &format!("o{order}"), "create", None, "Cart");
        let cancel = |order: u64| {
            event(2 * order + 1, order + 9, &format!("o{order}"), "cancel", Some("Cart"), "Cancelled")
        };
        let events: Vec<_> = (1..=orders).flat_map(|order| [cart(order), cancel(order)]).collect();
        let chart = gantt(&review(&events));
        let rows = chart.lines().filter(|line| line.contains(" :")).count();
        (rows, chart)
    };
    assert_eq!(many(15).0, 30);
    let (rows, chart) = many(16);
    assert_eq!(rows, 16);
    assert!(chart.contains("order o16, 2 steps, Cancelled, time runs backwards :"), "{chart}");
    let (rows, chart) = many(31);
    assert_eq!(rows, 1);
    assert!(
        chart.contains("order, 31 instances :1970-01-01T00:00:00.000, 1970-01-01T00:00:00.039"),
        "{chart}"
    );
}

#[test]
fn rows_beyond_the_limit_are_counted() {
    let events: Vec<_> = (1..=40)
        .map(|seq| {
            let mut one = event(seq, seq, "a", "create", None, "Cart");
            one.run = format!("r{seq}").into();
            one
        })
        .collect();
    let chart = gantt(&review(&events));
    assert_eq!(chart.lines().filter(|line| line.contains(" :")).count(), 31);
    assert!(chart.contains("and 10 more rows :milestone"), "{chart}");
}

#[test]
fn hostile_texts_begin_no_statement() {
    for one in attacks().chunks(2) {
        let chart = gantt(&review(one));
        for line in chart.lines().skip(4) {
            let line = line.trim();
            assert!(line.starts_with("section ") || line.matches(':').count() == 5, "{line}");
            assert!(!line.contains(['<', '>', '%', '"', '`', '\0', '\u{202e}']), "{line}");
        }
        assert!(chart.len() < 3_000, "{}", chart.len());
    }
}

/// Mermaid reads a row that begins with a date as a date.
#[test]
fn instance_named_like_a_date_begins_no_date() {
    let events = [
        event(1, 0, "2026-11-28-0007", "create", None, "Cart"),
        event(2, 5, "2026-11-28-0007", "cancel", Some("Cart"), "Cancelled"),
    ];
    let chart = gantt(&review(&events));
    assert!(!chart.lines().any(|line| line.trim().starts_with("2026")), "{chart}");
    assert!(chart.contains("#50;026-11-28-0007"), "{chart}");
}

#[test]
fn illegal_row_is_never_left_out() {
    let mut events = Vec::new();
    for instance in 0..40 {
        let name = format!("o{instance}");
        let to = if instance == 37 { "Shipped" } else { "Cart" };
        let mut made = event(instance + 1, instance, &name, "create", None, to);
        made.run = format!("run {instance}").into();
        events.push(made);
    }
    let chart = gantt(&review(&events));
    assert!(chart.contains(":crit, "), "{chart}");
    assert!(chart.contains("and 10 more rows"), "{chart}");
}

#[test]
fn open_waits_are_named_in_each_summary() {
    let waits = |orders: u64| {
        let of = |order: u64| {
            let (at, name) = (order * 1_000, format!("o{order}"));
            let pay = event(2 * order + 1, at + 9, &name, "pay", Some("Cart"), "WaitingForStock");
            [event(2 * order, at, &name, "create", None, "Cart"), pay]
        };
        gantt(&review(&(0..orders).flat_map(of).collect::<Vec<_>>()))
    };
    let small = waits(2);
    let at = |of: &str| format!("1970-01-01T00:00:{of}");
    let [first, last] = [at("00.009"), at("01.009")];
    assert!(
        small.contains(&format!("    o0 WaitingForStock, still waits :active, {first}, {last}\n")),
        "{small}"
    );
    // The wait of the last event has no duration, and is drawn all the same.
    assert!(
        small.contains(&format!("o1 WaitingForStock, still waits :active, milestone, {last}, {last}\n")),
        "{small}"
    );
    assert!(waits(16).contains("    order o15, 2 steps, WaitingForStock, still waits :"), "{}", waits(16));
    assert!(waits(31).contains("    order, 31 instances, 31 still wait :"), "{}", waits(31));
    assert!(!gantt(&review(&orders())).contains("still"));
}

#[test]
fn a_title_says_what_a_chart_cannot_show() {
    let mut still = orders();
    still.iter_mut().for_each(|event| event.at_ms = 5);
    let chart = gantt(&review(&still));
    assert!(chart.contains("no time passes#58; a second is a step\n"), "{chart}");
    let mut back = orders();
    back[1].at_ms = back[0].at_ms - 1;
    let chart = gantt(&review(&back));
    assert!(chart.contains("a Cart, ends before it begins :milestone, "), "{chart}");
    let nothing = runstate::trace::Rulebook::new();
    let mut unchecked = ReviewBuilder::new("x", &nothing);
    unchecked.event(1, &orders()[0]);
    let chart = gantt(&unchecked.finish());
    assert!(chart.contains("not checked, since there is no diagram#58; order"), "{chart}");
}

#[test]
fn rows_name_the_lifecycle_where_there_are_several() {
    let mut events = orders();
    events[2].lifecycle = "pay".into();
    let chart = gantt(&review(&events[..3]));
    assert!(chart.contains("    order a Cart :") && chart.contains("    pay b Cart :"), "{chart}");
    assert!(gantt(&review(&orders()[..3])).contains("    a Cart :"));
}
