use runstate::trace::Event;
use runstate_review::{Fact, ReviewBuilder, html};

use crate::fixture::{assert_shown, attacks, book, event, orders, review, review_of};

#[test]
fn the_page_of_orders_matches_its_snapshot() {
    let page = html(&review(&orders()));
    let (before, rest) = page.split_once("<style>").unwrap();
    let (style, body) = rest.split_once("</style>").unwrap();
    let breaks = style.lines().last().unwrap();
    assert_shown("html", &format!("{before}<style>\n{breaks}\n</style>{body}"));
}

#[test]
fn equal_behaviour_has_an_equal_stable_page() {
    let mut other = orders();
    for event in &mut other {
        event.run = "another".into();
        event.instance = format!("{}-7f3c", event.instance).into();
        event.at_ms += 99 * event.seq;
    }
    let page = |events: &[_]| html(&review_of(events, |builder| builder.stable()));
    assert_eq!(page(&orders()), page(&other));
    assert!(page(&orders()).contains("<span class=name>order#1</span>"), "{}", page(&orders()));
    assert_ne!(html(&review(&orders())), html(&review(&other)));
}

#[test]
fn hostile_texts_are_shown_and_are_no_markup() {
    let events = attacks();
    let book = book();
    let mut builder = ReviewBuilder::new("<script>", &book);
    for (line, event) in (1..).zip(&events) {
        builder.event(line, event);
        builder.fact(&event.run, &event.lifecycle, &event.instance, Fact::new("said", &*event.instance));
    }
    let page = html(&builder.finish());
    for tag in ["<script", "<img", "<h1>x", "onerror=alert(1)>", "\u{202e}", "\0", "\u{1b}", "\u{9b}"] {
        assert!(!page.contains(tag), "{tag}");
    }
    assert_eq!(page.matches("</style>").count(), 1);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.contains("\\u{202e}gnp.exe"));
    assert!(page.contains("more characters)"));
    assert!(page.len() < 200_000, "{}", page.len());
}

#[test]
fn a_thousand_events_fit_in_300_kb() {
    let mut events = Vec::new();
    for order in 0..250_u64 {
        let (seq, at) = (4 * order, 1_700_000_000_000 + order * 3_600_123);
        let id = format!("7f3c9a52-90be-4d1e-8a3f-{order:012}");
        events.push(event(seq + 1, at, &id, "create", None, "Cart"));
        events.push(event(seq + 2, at + 1_250, &id, "pay", Some("Cart"), "WaitingForStock"));
        events.push(event(seq + 3, at + 2_500, &id, "pack", Some("WaitingForStock"), "Packed"));
        events.push(event(seq + 4, at + 9_500, &id, "ship", Some("Packed"), "Shipped"));
    }
    let page = html(&review(&events));
    assert!(page.len() <= 300_000, "{}", page.len());
    // As many instances as events.
    let created = |seq: u64| {
        let id = format!("7f3c9a52-90be-4d1e-8a3f-{seq:012}");
        event(seq, 1_700_000_000_000 + seq * 7, &id, "create", None, "Cart")
    };
    let page = html(&review(&(1..=1_000).map(created).collect::<Vec<_>>()));
    assert!(page.len() <= 300_000, "{}", page.len());
    // Each with a long argument, also where the page has little room for them.
    for id in ["", "7f3c9a52-90be-4d1e-8a3f-0123456789ab"] {
        let with_argument = |seq: u64| {
            let mut one =
                event(seq, 1_700_000_000_000 + seq * 7, &format!("{id}{seq}"), "create", None, "Cart");
            one.extra.insert("arguments", &"y".repeat(5_000)).unwrap();
            one
        };
        let page = html(&review(&(1..=1_000).map(with_argument).collect::<Vec<_>>()));
        assert!(page.len() <= 300_000, "{}", page.len());
        assert!(page.contains("<dt>arguments<dd>"), "{}", page.len());
        assert!(page.contains(" facts left out."), "{}", page.len());
    }
}

#[test]
fn page_of_a_thousand_illegal_events_stays_within_its_size() {
    // Each name has 40 characters.
    let illegal = |seq: u64| {
        let of = |name: &str| format!("{name:x<36}{seq:04}");
        let mut one = event(seq, 1_700_000_000_000 + seq * 7, &of("i"), &of("e"), None, &of("S"));
        one.extra.insert("arguments", &"y".repeat(5_000)).unwrap();
        one
    };
    let page = html(&review(&(1..=1_000).map(illegal).collect::<Vec<_>>()));
    assert!(page.len() <= 500_000, "{}", page.len());
    assert_eq!(page.matches("class=\"breach\"").count(), 50);
    assert!(page.contains("and 950 more violations") && page.contains("<dt>arguments<dd>"), "{}", page.len());
    assert!(page.contains(" facts left out."), "{}", page.len());
}

#[test]
fn an_empty_trace_is_a_page() {
    assert!(html(&review(&[])).contains("0 events"));
}

#[test]
fn instances_beyond_the_limit_are_counted_and_violations_are_kept() {
    let created = |seq: u64| event(seq, seq, &format!("id-{seq}"), "create", None, "Cart");
    let mut events: Vec<_> = (1..=1_500).map(created).collect();
    events.push(event(1_501, 1_501, "bad", "create", None, "Shipped"));
    let page = html(&review(&events));
    assert_eq!(page.matches("<details class=lane><summary><span class=name>order ").count(), 1_000);
    assert!(page.contains("1000 instances shown, 501 instances left out."), "{}", page.len());
    assert!(
        page.contains("order bad</span>")
            && page.contains("order id-999</span>")
            && !page.contains("id-1000<")
    );
    // One instance with many states.
    let turn = |seq: u64| event(seq, seq, "a", "x", Some("Cart"), "Cart");
    let page = html(&review_of(&(1..=5_000).map(turn).collect::<Vec<_>>(), |builder| builder));
    assert!(page.contains("3000 more states left out."), "{}", page.len());
}

#[test]
fn open_waits_are_listed_with_their_times() {
    let page = html(&review(&orders()[..3]));
    assert!(page.contains("<h2 id=\"waits\">Open waits</h2>"), "{page}");
    assert!(
        page.contains(
            "<li>order a still waits in <code>WaitingForStock</code>, since line 2 for 250 ms</li>\n"
        ),
        "{page}"
    );
    assert!(page.contains("<i class=\"w s\"") && page.contains("<td class=n>250 ms, still waits"), "{page}");
    // The time of a wait that begins with the last event is not known.
    let page = html(&review(&orders()[..2]));
    assert!(page.contains("since line 2</li>") && page.contains("<td class=n>still waits"), "{page}");
    assert!(!html(&review(&orders())).contains("Open waits"));
    let waits = |seq: u64| event(seq, seq, &format!("o{seq}"), "pay", Some("Cart"), "WaitingForStock");
    let page = html(&review(&(1..=23).map(waits).collect::<Vec<_>>()));
    assert!(page.contains("<p>and 3 more open waits</p>"), "{page}");
}

#[test]
fn lanes_have_a_scale_with_begin_and_end() {
    let axis = |events: &[_]| {
        let page = html(&review(events));
        page.lines().find(|line| line.starts_with("<div class=\"axis\">")).unwrap().to_owned()
    };
    assert_eq!(
        axis(&orders()[..3]),
        "<div class=\"axis\"><span>time</span><span class=\"marks\"><b class=\"begin\">0 ms</b><b class=\"end\">1.50 s</b></span></div>"
    );
    assert!(axis(&orders()).contains("<span>time, long waits</span>"), "{}", axis(&orders()));
    // The label of a long wait has the place of the begin.
    let waits = [
        event(1, 0, "a", "create", None, "Cart"),
        event(2, 9_000_000, "a", "pay", Some("Cart"), "WaitingForStock"),
        event(3, 9_000_001, "a", "pack", Some("WaitingForStock"), "Packed"),
        event(4, 9_000_003, "a", "ship", Some("Packed"), "Shipped"),
    ];
    let shown = axis(&waits);
    assert!(
        !shown.contains("class=\"begin\"") && shown.contains("left:8.75%\">2 h 30 m 00.000 s</b>"),
        "{shown}"
    );
}

#[test]
fn line_of_a_diagram_is_not_repeated() {
    let page = html(&review(&orders()));
    let legal: Vec<&str> = page.lines().filter(|line| line.starts_with("<li><code>Cart --&gt; ")).collect();
    assert_eq!(legal[1].matches("Cart --&gt; Cancelled : cancel").count(), 1, "{legal:?}");
    assert!(legal[1].contains("shop.mmd:10"), "{legal:?}");
}

/// Two runs in one file: the earlier run follows the later one.
#[test]
fn times_are_since_the_earliest_event() {
    let mut early = [
        event(1, 7_200_000, "a", "create", None, "Cart"),
        event(2, 7_205_000, "a", "cancel", Some("Cart"), "Cancelled"),
        event(1, 0, "b", "create", None, "Cart"),
        event(2, 3_000, "b", "cancel", Some("Cart"), "Cancelled"),
    ];
    early[2..].iter_mut().for_each(|event| event.run = "early".into());
    let page = html(&review(&early));
    assert!(page.contains("lasts 2 h 00 m"), "{page}");
    assert!(page.contains("<td class=n>3.00 s"), "{page}");
}

#[test]
fn backward_times_and_faults_are_marked() {
    let mut events = orders();
    events[3].at_ms = events[2].at_ms - 200;
    let book = book();
    let mut builder = ReviewBuilder::new("orders", &book);
    for (line, event) in (1..).zip(&events) {
        builder.event(line, event);
        if line == 2 {
            builder.fault("its event is \"paid\"");
        }
    }
    let review = builder.finish();
    let page = html(&review);
    assert!(page.contains("Note: time runs backwards on line 4."), "{page}");
    assert!(page.contains("pack (earlier than the event before it)"));
    assert!(page.contains("its event is &quot;paid&quot;") && page.contains(", 2 illegal events"));
    assert_eq!(review.breaches().len(), 2);
}

#[test]
fn a_page_of_a_thousand_events_with_facts_has_at_most_300_kb() {
    let of = |events: u64, values: usize, length: usize| {
        let book = book();
        let mut builder = ReviewBuilder::new("orders", &book);
        for seq in 1..=events {
            let (instance, mut one) =
                (format!("order-{}", (seq - 1) / 2), event(seq, seq * 7, "", "create", None, "Cart"));
            if seq % 2 == 0 {
                one = event(seq, seq * 7, "", "pay", Some("Cart"), "WaitingForStock");
            }
            one.instance = instance.into();
            for number in 0..values {
                one.extra.insert(&format!("argument {number}"), &"<".repeat(length)).unwrap();
            }
            builder.event(seq, &one);
        }
        html(&builder.finish())
    };
    let few = of(800, 1, 10);
    assert!(few.len() <= 300_000 && !few.contains("left out"), "{}", few.len());
    let long = of(1000, 1, 3_000);
    assert!(long.len() <= 300_000 && long.contains("more characters)"), "{}", long.len());
    let many = of(1000, 6, 3_000);
    assert!(many.len() <= 300_000 && many.contains(" facts left out."), "{}", many.len());
}

#[test]
fn an_instance_that_was_cut_off_does_not_wait() {
    let line = |seq: u64, lifecycle: &str, instance: &str, event: &str, from: &str, to: &str| {
        let text = format!(
            r#"{{"seq":{seq},"at_ms":{seq},"run":"r","lifecycle":"{lifecycle}","instance":"{instance}","event":"{event}","from":{from},"to":"{to}"}}"#
        );
        Event::from_json(&text).unwrap().into_owned()
    };
    let book = runstate::rulebook().ending("run", [("tool_call", "Suspended")]);
    let events = [
        line(1, "run", "r", "create", "null", "Running"),
        line(2, "tool_call", "c", "create", "null", "New"),
        line(3, "tool_call", "c", "suspend", "\"New\"", "Suspended"),
        line(4, "run", "r", "finish", "\"Running\"", "Done"),
    ];
    let mut builder = ReviewBuilder::new("r", &book);
    let mut timeline = runstate_review::Timeline::new(80).open_waits(&book);
    for (line, event) in (1..).zip(&events) {
        builder.event(line, event);
        timeline.event(event, false);
    }
    let review = builder.finish();
    assert!(review.open_waits().is_empty());
    assert_eq!(review.lanes()[1].stays[1].kind, runstate_review::StayKind::CutOff);
    assert!(!timeline.to_string().contains("still waits"), "{timeline}");
    assert!(html(&review).contains("<td>Suspended<td class=n>cut off"), "{}", html(&review));
}

#[test]
fn a_redacted_text_is_in_no_place_of_a_diagram() {
    let book = book();
    let mut builder = ReviewBuilder::new("orders", &book).redact("shop").redact("Packed").redact("total");
    (1..).zip(orders()).for_each(|(line, event)| builder.event(line, &event));
    let review = builder.finish();
    for shown in [
        html(&review),
        runstate_review::markdown(std::slice::from_ref(&review)),
        runstate_review::gantt(&review),
    ] {
        for secret in ["shop.mmd", "Packed", "total"] {
            assert!(!shown.contains(secret), "{secret}: {shown}");
        }
    }
}

#[test]
fn an_unknown_time_has_no_duration_beside_it() {
    let (book, events) = (book(), orders());
    let mut builder = ReviewBuilder::new("orders", &book);
    builder.event(1, &events[0]);
    builder.event_without_time(2, &events[1]);
    builder.event(4, &events[3]);
    builder.omitted(3);
    let review = builder.finish();
    let page = html(&review);
    assert!(page.contains("there is no time on line 2: the durations beside it are unknown"), "{page}");
    assert!(
        page.contains("<td class=n>2<td class=n>unknown<td>pay<td>WaitingForStock<td class=n>unknown"),
        "{page}"
    );
    assert!(page.contains("3 events of other lifecycles are not shown"), "{page}");
    let chart = runstate_review::gantt(&review);
    assert!(chart.contains("a WaitingForStock, its time is unknown :"), "{chart}");
}

#[test]
fn a_redacted_text_is_found_in_its_escaped_forms() {
    let book = book();
    for secret in ["key\u{200b}hunter2", "a\nhunter2", "say \"hunter2\""] {
        let mut builder = ReviewBuilder::new("orders", &book).redact(secret);
        builder.event(1, &event(1, 1, "a", "create", None, "Cart"));
        builder.event(2, &event(2, 2, "a", "go", Some("Cart"), secret));
        builder.interrupted(runstate_review::Interruption::new(3, format!("got {secret:?}"), 0));
        let review = builder.finish();
        let shown = html(&review) + &runstate_review::markdown(std::slice::from_ref(&review));
        assert!(!shown.contains("hunter2"), "{secret:?}: {shown}");
    }
}

#[test]
fn lanes_of_ids_that_differ_in_the_middle_differ() {
    let id = |middle: &str| format!("{}{middle}{}", "p".repeat(60), "s".repeat(60));
    let events =
        [event(1, 1, &id("one"), "create", None, "Cart"), event(2, 2, &id("two"), "create", None, "Cart")];
    let page = html(&review(&events));
    assert!(page.contains("ppone") && page.contains("pptwo"), "{page}");
}
