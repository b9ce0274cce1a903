use runstate::diagram::{StateGraph, parse};
use runstate::trace::{Event, Rulebook, Rules};
use runstate_review::{Interruption, Marks, Timeline};

use crate::fixture::{assert_shown, attacks, book, event, orders};

/// Parallel calls: tool_A and tool_B need approval, tool_C does not.
fn parallel_tool_calls() -> Vec<Event<'static>> {
    let steps = [
        ("run", "r", "create", None, "Running"),
        ("tool_call", "tool_A", "create", None, "New"),
        ("tool_call", "tool_B", "create", None, "New"),
        ("tool_call", "tool_C", "create", None, "New"),
        ("run_flow", "r", "create", None, "RunStart"),
        ("tool_call", "tool_A", "suspend", Some("New"), "Suspended"),
        ("tool_call", "tool_C", "start", Some("New"), "Running"),
        ("tool_call", "tool_B", "suspend", Some("New"), "Suspended"),
        ("tool_call", "tool_C", "succeed", Some("Running"), "Succeeded"),
        ("run", "r", "wait", Some("Running"), "Waiting"),
        ("tool_call", "tool_A", "resume", Some("Suspended"), "Resuming"),
        ("run", "r", "resume", Some("Waiting"), "Running"),
    ];
    let line =
        |(seq, (lifecycle, instance, name, from, to)): (u64, (&str, &str, &str, Option<&str>, &str))| {
            let mut event = event(seq, seq * 10, instance, name, from, to);
            event.lifecycle = lifecycle.to_owned().into();
            event
        };
    (1..).zip(steps).map(line).collect()
}

fn timeline<'b>(width: usize, events: &[Event<'_>]) -> Timeline<'b> {
    let mut timeline = Timeline::new(width);
    events.iter().for_each(|event| timeline.event(event, false));
    timeline
}

#[test]
fn the_timeline_has_a_row_for_each_transition() {
    let shown = timeline(80, &parallel_tool_calls());
    assert_eq!(shown.len(), 12);
    assert_shown("timeline", &shown.to_string());
}

/// An event of an order, at a time.
fn ordered(at_ms: u64, run: &str, instance: &str, from: Option<&str>, to: &str) -> Event<'static> {
    let mut event = event(1, 0, instance, "go on", from, to);
    (event.at_ms, event.run, event.lifecycle) = (at_ms, run.to_owned().into(), "order".into());
    event
}

#[test]
fn the_timeline_has_times_that_can_be_read() {
    let second = 1_000;
    let day = 86_400 * second;
    let stays = [
        0,
        999,
        second,
        59_999,
        60 * second,
        3_599_999,
        3_600 * second,
        day - 1,
        400 * day,
        u64::MAX - 500 * day,
    ];
    let mut at = 7;
    let mut events = vec![ordered(at, "r", "1", None, "A")];
    for stay in stays {
        at += stay;
        events.push(ordered(at, "r", "1", Some("A"), "A"));
    }
    // Time that runs backwards is shown, wherever it stands.
    events.push(ordered(at - 2 * second, "r", "1", Some("A"), "A"));
    events.push(ordered(0, "r", "2", None, "A"));
    // The instance begins anew: it was in no state.
    events.push(ordered(9, "r", "1", None, "A"));
    let shown = timeline(100, &events).to_string();
    assert_shown("timeline_times", &shown);
}

#[test]
fn the_timeline_names_the_run_where_there_are_several() {
    let events = [
        ordered(0, "r1", "1", None, "A"),
        ordered(5, "r2", "1", None, "A"),
        ordered(4, "r1", "1", Some("A"), "B"),
    ];
    let shown = timeline(100, &events).to_string();
    assert!(shown.contains("order r1/1") && shown.contains("order r2/1"), "{shown}");
    // Another run has another clock.
    assert!(!shown.contains('<'), "{shown}");
    assert!(!timeline(100, &events[..1]).to_string().contains("r1/1"));
}

#[test]
fn the_timeline_is_no_wider_than_it_may_be() {
    let long = "0123456789abcdef".repeat(4);
    let events = [
        ordered(0, "r", &long, None, "Warenkorb"),
        ordered(1, "r", "注文の番号は二十一番", Some("Warenkorb"), "お客様のお支払いをお待ちしております"),
        ordered(2, "r", "👩‍👩‍👧‍👦☎️é", Some("Warenkorb\u{1b}[2J\n"), &"x".repeat(3_000)),
        ordered(3, "r", &long, Some("Warenkorb"), "pending お客様のお支払い\0"),
    ];
    let book = book();
    let shown = |width| timeline(width, &events).open_waits(&book).to_string();
    assert_shown("timeline_narrow", &format!("{}\n{}", shown(40), shown(72)));
    for width in 0..200 {
        for line in shown(width).lines() {
            assert!(unicode_width::UnicodeWidthStr::width(line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn the_timeline_may_have_its_last_rows_alone() {
    let events = parallel_tool_calls();
    let last = |rows| {
        let mut timeline = Timeline::new(80).last(rows);
        events.iter().for_each(|event| timeline.event(event, false));
        (timeline.len(), timeline.to_string())
    };
    let (rows, shown) = last(1);
    insta::assert_snapshot!(shown, @"
       Time  In state  Instance  Transition
    … 11 transitions before these
                20 ms  run r     ~ waits in Waiting
     110 ms     20 ms  run r     Waiting --> Running : resume
    ");
    assert_eq!((rows, last(0).0), (1, 0));
    let whole = timeline(80, &events).to_string();
    assert_eq!((last(12).1, last(usize::MAX).1), (whole.clone(), whole));
}

#[test]
fn a_timeline_without_rows_is_its_head() {
    assert!(timeline(80, &[]).is_empty());
    assert_eq!(timeline(80, &[]).to_string(), " Time  In state  Instance  Transition\n");
}

#[test]
fn illegal_rows_are_marked() {
    let book = book();
    let (mut marks, mut timeline) = (Marks::new(&book), Timeline::new(80));
    for (line, event) in (1..).zip(&orders()) {
        timeline.event(event, marks.event(line, event).is_some());
    }
    let shown = timeline.to_string();
    assert_eq!(shown.lines().filter(|line| line.trim().starts_with("!2 h 00 m")).count(), 1, "{shown}");
    assert!(shown.ends_with("! is illegal\n"), "{shown}");
    assert_eq!(timeline.begins().as_deref(), Some("2023-11-14 22:13:20.000 UTC"));
}

#[test]
fn a_narrow_timeline_is_folded_and_keeps_transitions() {
    let shown = timeline(36, &orders()).to_string();
    assert!(shown.contains("\n    Cart --> WaitingForStock : pay\n"), "{shown}");
    assert_shown("timeline_folded", &shown);
}

#[test]
fn hostile_names_are_visible_and_within_the_width() {
    let shown = timeline(80, &attacks()).to_string();
    assert!(!shown.contains(['\0', '\u{1b}', '\u{202e}', '\u{9b}']));
    assert!(shown.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 80));
}

#[test]
fn waits_and_long_pauses_have_rows_of_their_own() {
    let mut events = orders();
    // Nothing happens for a day, and no order waits.
    events[5].at_ms += 86_400_000;
    let shown = timeline(80, &events).to_string();
    assert_shown("timeline_waits", &shown);
    assert_eq!(shown.matches("~ waits in WaitingForStock").count(), 1);
    assert_eq!(shown.matches("~ no event").count(), 1);
    // Of the last rows, too.
    let mut last = Timeline::new(80).last(3);
    events.iter().for_each(|event| last.event(event, false));
    assert!(last.len() == 3 && last.to_string().contains("~ waits in WaitingForStock"), "{last}");
}

#[test]
fn a_wait_without_a_duration_has_no_row() {
    let mut events = orders();
    events[3].at_ms = events[1].at_ms;
    assert!(!timeline(80, &events).to_string().contains("~ waits"));
}

#[test]
fn an_interrupted_timeline_names_the_line_within_its_width() {
    let error = runstate::trace::JsonlReader::new(&b"panicked at src/main.rs\n"[..]).read().unwrap_err();
    let mut timeline = timeline(40, &orders());
    timeline.interrupted(Interruption::of(&error, 3));
    let shown = timeline.to_string();
    assert!(shown.contains("The trace is not whole: line 1 is no\n"), "{shown}");
    assert!(shown.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 40), "{shown}");
}

#[test]
fn open_waits_have_rows_behind_all_transitions() {
    let book = book();
    let shown = |events: &[Event<'_>], last: usize| {
        let mut timeline = Timeline::new(80).last(last).open_waits(&book);
        events.iter().for_each(|event| timeline.event(event, false));
        timeline.to_string()
    };
    // Two orders wait, one of them since the last event. The clock of the last event goes back.
    let mut events = orders()[..3].to_vec();
    events.push(event(4, events[1].at_ms + 90_000, "b", "pay", Some("Cart"), "WaitingForStock"));
    events.push(event(5, events[1].at_ms, "c", "create", None, "Cart"));
    let whole = shown(&events, usize::MAX);
    insta::assert_snapshot!(whole, @"
         Time  In state  Instance  Transition
         0 ms            order a   [*] --> Cart : create
       1.25 s    1.25 s  order a   Cart --> WaitingForStock : pay
       1.50 s            order b   [*] --> Cart : create
               1 m 29 s            ~ no event
     1 m 31 s  1 m 29 s  order b   Cart --> WaitingForStock : pay
      <1.25 s            order c   [*] --> Cart : create
               1 m 30 s  order a   ~ still waits in WaitingForStock
                         order b   ~ still waits in WaitingForStock
    < is earlier than the transition before it in its run
    ");
    assert_eq!(shown(&events, 1).matches("~ still waits in").count(), 2, "of the last rows, too");
    // A wait that ended has no such row, and neither has an end whose name is that of a wait.
    assert!(!shown(&orders(), usize::MAX).contains("still waits"));
    let mut parked = ordered(0, "r", "1", None, "Parked");
    assert!(shown(&[parked.clone()], 9).contains("~ still waits in Parked"), "an order without that state");
    parked.lifecycle = "valet".into();
    let graph =
        StateGraph::from_diagram(&parse("stateDiagram-v2\n[*] --> Parked\n").unwrap(), "valet").unwrap();
    let valet = Rulebook::new().with(Rules::of_diagram("valet", &graph, "valet.mmd"));
    let mut timeline = Timeline::new(80).open_waits(&valet);
    timeline.event(&parked, false);
    assert!(!timeline.to_string().contains("still waits"), "{timeline}");
}

#[test]
fn open_waits_beyond_the_limit_are_counted() {
    let book = book();
    let mut timeline = Timeline::new(80).open_waits(&book);
    for order in 0..22 {
        let name = format!("o{order}");
        timeline.event(&event(order, order * 1_000, &name, "pay", Some("Cart"), "WaitingForStock"), false);
    }
    let shown = timeline.to_string();
    assert_eq!(shown.matches("~ still waits in WaitingForStock").count(), 20, "{shown}");
    assert!(shown.ends_with("… and 2 more instances still wait\n"), "{shown}");
    assert!(
        shown.contains("           21.00 s  order o0   ~ still waits in "),
        "the earliest first: {shown}"
    );
}

#[test]
fn an_unknown_time_makes_the_durations_beside_it_unknown() {
    let mut timeline = Timeline::new(80);
    let events = orders();
    timeline.event(&events[0], false);
    timeline.event_without_time(&events[1], false);
    timeline.event(&events[3], false);
    let rows: Vec<String> = timeline.to_string().lines().map(str::to_owned).collect();
    assert_eq!(
        rows,
        [
            "     Time  In state  Instance  Transition",
            "     0 ms            order a   [*] --> Cart : create",
            "        ?         ?  order a   Cart --> WaitingForStock : pay",
            " 2 h 00 m         ?  order a   WaitingForStock --> Packed : pack",
            "? has no time in the trace",
        ]
    );
    assert_eq!(timeline.begins().as_deref(), Some("2023-11-14 22:13:20.000 UTC"));
}

#[test]
fn instances_whose_shortened_names_are_equal_have_numbers() {
    let id = |middle: &str| format!("{}{middle}{}", "p".repeat(60), "s".repeat(60));
    let mut timeline = Timeline::new(80);
    for (seq, middle) in [(1, "one"), (2, "two"), (3, "one")] {
        timeline.event(&event(seq, seq, &id(middle), "create", None, "Cart"), false);
    }
    let shown = timeline.to_string();
    let numbers: Vec<&str> =
        shown.lines().skip(1).filter_map(|line| line.split('#').nth(1)?.get(..1)).collect();
    assert_eq!(numbers, ["1", "2", "1"], "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn illegal_rows_that_are_left_out_are_counted() {
    let mut timeline = Timeline::new(80).last(1);
    for (place, event) in orders().iter().enumerate() {
        timeline.event(event, place == 1);
    }
    assert!(timeline.to_string().contains("… 5 transitions before these, 1 illegal\n"), "{timeline}");
}

/// Instances whose ids differ in the middle, in a table that has no room for them.
#[test]
fn instances_have_different_names_at_each_width() {
    let ids = ["gate_1.1.1", "gate_1.2.1", "gate_1.3.1", "gate_1.4.1", "gate_2.1.2", "gate_2.1.2#1"];
    let events: Vec<_> =
        (1..).zip(ids).map(|(seq, id)| ordered(seq, "r", id, None, "WaitingForStock")).collect();
    let book = book();
    for width in 40..90 {
        let shown = timeline(width, &events).open_waits(&book).to_string();
        let names = shown.lines().filter_map(|line| line.split_once("  order ").map(|(_, rest)| rest));
        let names = names.map(|rest| rest.split("  ").next().unwrap());
        assert_eq!(names.collect::<std::collections::HashSet<&str>>().len(), 6, "{width}: {shown}");
    }
    // A folded table has room for the names themselves.
    let shown = timeline(50, &events).to_string();
    assert!(shown.contains(" order gate_1.3.1\n    [*] --> WaitingForStock"), "{shown}");
}

#[test]
fn a_pause_is_free_of_events_of_all_runs() {
    let events = [
        ordered(0, "r", "c", None, "A"),
        ordered(1_000_000_000, "q", "c", None, "A"),
        ordered(5, "r", "c", Some("A"), "B"),
        ordered(9, "r", "c", Some("B"), "C"),
        ordered(500_000_000, "p", "c", None, "A"),
        ordered(1_000_000_007, "q", "c", Some("A"), "B"),
    ];
    let shown = timeline(80, &events).to_string();
    assert!(!shown.contains("~ no event"), "{shown}");
    // The omitted event of the other run is in the time between the last two rows.
    let mut last = Timeline::new(80).last(3);
    let events = [
        ordered(400_000_000, "q", "c", None, "A"),
        ordered(0, "r", "c", None, "A"),
        ordered(9, "r", "c", Some("A"), "B"),
        ordered(500_000_000, "r", "c", Some("B"), "C"),
    ];
    events.iter().for_each(|event| last.event(event, false));
    assert!(!last.to_string().contains(" 5 d 18 h            ~ no event"), "{last}");
    assert!(timeline(80, &events[1..]).to_string().contains("~ no event"));
}

#[test]
fn times_are_since_the_earliest_event_and_marks_are_folded() {
    let events = [ordered(500, "r", "1", None, "A"), ordered(0, "r", "1", Some("A"), "B")];
    let shown = timeline(40, &events).to_string();
    assert!(shown.contains("\n 500 ms  ") && shown.contains("\n  <0 ms   -500 ms"), "{shown}");
    assert!(shown.ends_with("< is earlier than the transition before\nit in its run\n"), "{shown}");
}

#[test]
fn a_very_narrow_timeline_keeps_its_instances() {
    let shown = timeline(24, &orders()[..3]).to_string();
    assert_eq!(
        shown.lines().collect::<Vec<_>>(),
        [
            "   Time  In state",
            "    Instance",
            "    Transition",
            "   0 ms",
            "    order a",
            "    [*] --> Cart : crea…",
            " 1.25 s    1.25 s",
            "    order a",
            "    Cart --> WaitingFor…",
            " 1.50 s",
            "    order b",
            "    [*] --> Cart : crea…",
        ]
    );
}
