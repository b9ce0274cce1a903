use runstate_review::gantt;

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
    assert!(chart.contains("order o16, 2 steps, Cancelled :"), "{chart}");
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
