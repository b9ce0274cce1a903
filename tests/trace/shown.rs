//! What people and programs see: text, timeline, Mermaid, JSON, JUnit.
use runstate::diagram::{StateGraph, parse};
use runstate::trace::{
    Checker, Event, JsonlReader, Junit, Report, Rulebook, Rules, Timeline, UnmetRequirement, check,
    check_jsonl, to_mermaid, to_text,
};

use super::{book, event, journey, snapshots};

fn broken() -> Report {
    let mut events = journey();
    events[6] = event(7, "a", "send", Some("Returned"), "Lo\"st; --> <b>#1");
    check(&events, &book())
}

#[test]
fn trace_text_form_matches_its_snapshot() {
    let mut other = journey();
    other.rotate_left(1);
    for event in &mut other {
        event.run = "second".into();
    }
    let events: Vec<_> = journey().into_iter().chain(other).collect();
    snapshots().bind(|| insta::assert_snapshot!("trace__text", to_text(&events)));
}

#[test]
fn the_text_form_knows_no_ids_and_no_times() {
    let mut other = journey();
    for event in &mut other {
        event.run = "x".into();
        event.instance = if event.instance == "a" { "zzz".into() } else { "a".into() };
        event.at_ms = 99 - event.at_ms;
        event.seq *= 3;
    }
    assert_eq!(to_text(&journey()), to_text(&other));
}

/// Document 003, "Parallel tool call state timeline": tool_A and tool_B need approval, tool_C does not.
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
            let mut event = event(seq, instance, name, from, to);
            event.lifecycle = lifecycle.to_owned().into();
            event
        };
    (1..).zip(steps).map(line).collect()
}

fn timeline(width: usize, events: &[Event<'_>]) -> Timeline {
    let mut timeline = Timeline::new(width);
    events.iter().for_each(|event| timeline.event(event));
    timeline
}

#[test]
fn the_timeline_has_a_row_for_each_transition() {
    let shown = timeline(80, &parallel_tool_calls());
    assert_eq!(shown.len(), 12);
    snapshots().bind(|| insta::assert_snapshot!("trace__timeline", shown.to_string()));
}

/// An event of an order, at a time.
fn ordered(at_ms: u64, run: &str, instance: &str, from: Option<&str>, to: &str) -> Event<'static> {
    let mut event = event(1, instance, "go on", from, to);
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
    snapshots().bind(|| insta::assert_snapshot!("trace__timeline_times", shown));
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
    ];
    let shown = |width| timeline(width, &events).to_string();
    snapshots()
        .bind(|| insta::assert_snapshot!("trace__timeline_narrow", format!("{}\n{}", shown(40), shown(72))));
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
        events.iter().for_each(|event| timeline.event(event));
        (timeline.len(), timeline.to_string())
    };
    let (rows, shown) = last(1);
    insta::assert_snapshot!(shown, @"
       Time  In state  Instance  Transition
    … 11 transitions before these
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
fn mermaid_of_rules_without_a_trace_shows_the_graph() {
    let book = book();
    let diagram = to_mermaid(book.rules("parcel").unwrap(), None);
    insta::assert_snapshot!(diagram, @r"
    stateDiagram-v2
        Packed
        Sent
        Returned
        Delivered
        Discarded
        [*] --> Packed
        Packed --> Sent : send
        Sent --> Delivered : deliver
        Sent --> Returned : bounce
        Returned --> Sent : send
        Returned --> Discarded : discard
        Delivered --> [*]
        Discarded --> [*]
    ");
}

#[test]
fn mermaid_shows_where_instances_were_and_are() {
    let report = check(&journey()[..8], &book());
    let diagram = to_mermaid(book().rules("parcel").unwrap(), Some(&report));
    snapshots().bind(|| insta::assert_snapshot!("trace__mermaid_visited", diagram));
}

#[test]
fn mermaid_shows_the_violation_whatever_its_names() {
    let diagram = to_mermaid(book().rules("parcel").unwrap(), Some(&broken()));
    snapshots().bind(|| insta::assert_snapshot!("trace__mermaid_illegal", diagram));
}

#[test]
fn report_as_json_matches_its_snapshot() {
    let json = serde_json::to_string_pretty(&broken()).unwrap();
    snapshots().bind(|| insta::assert_snapshot!("trace__report_json", json));
    let sound = serde_json::to_value(check(&journey(), &book())).unwrap();
    assert_eq!(sound["verdict"], "conforms");
    assert_eq!(sound["violation"], serde_json::Value::Null);
}

#[test]
fn reports_as_junit_match_their_snapshot() {
    let mut junit = Junit::new().complete();
    junit.trace("good.jsonl", &check(&journey(), &book()));
    junit.trace("bad & <worse>.jsonl", &broken());
    junit.trace("short.jsonl", &check(&journey()[..3], &book()));
    let mut stranger = journey();
    stranger[8].lifecycle = "let\u{1b}ter".into();
    junit.trace("stranger.jsonl", &check(&stranger, &book()));
    let unmet = UnmetRequirement::Percent { got: 61.54, least: 90.0 };
    junit.coverage([("at least 90 %".to_owned(), Some(unmet)), ("edge Packed:Sent".to_owned(), None)]);
    snapshots().bind(|| insta::assert_snapshot!("trace__junit", junit.to_string()));
}

/// XML has no way to write a control character, and a person would not see the others.
#[test]
fn junit_escapes_what_cannot_be_seen() {
    let mut junit = Junit::new();
    junit.unusable("exe\u{202e}txt\u{200b}\u{1b}\u{ffff}\u{feff}.jsonl", "line 1: \u{2066}a\u{7f}\tb");
    let junit = junit.to_string();
    assert!(junit.contains(r#"name="exe\u{202e}txt\u{200b}\u{1b}\u{ffff}\u{feff}.jsonl""#), "{junit}");
    assert!(junit.contains(r#"message="line 1: \u{2066}a\u{7f}&#9;b""#), "{junit}");
    assert!(junit.chars().all(|c| c == '\n' || !runstate::actor::is_unseen(c)), "{junit}");
}

/// A failure that is not listed is a failure.
#[test]
fn junit_fails_where_the_check_does() {
    let failures = |junit: Junit| junit.to_string().matches("<failure").count();
    let source = "stateDiagram-v2\n[*] --> Packed\nPacked --> Sent : send";
    let graph = StateGraph::from_diagram(&parse(source).unwrap(), "drawn").unwrap();
    let rules = |name: &str| Rules::of_diagram(name, &graph, "x.mmd");
    let wrong = |seq, lifecycle: &'static str| {
        let mut event = event(seq, "a", "send", None, "Sent");
        event.lifecycle = lifecycle.into();
        event
    };
    let book = Rulebook::new().with(rules("one")).with(rules("two"));
    let mut checker = Checker::new(&book).most_violations(1);
    ["one", "two", "three"]
        .into_iter()
        .zip(1..)
        .for_each(|(name, seq)| checker.event(seq, &wrong(seq, name)));
    let mut junit = Junit::new();
    junit.trace("wrong.jsonl", &checker.finish());
    assert_eq!(failures(junit.clone()), 3, "{junit}");
    assert!(junit.to_string().contains("1 violation, not listed"), "{junit}");

    // An instance is of the rules that it is held against, whatever its lifecycle is called.
    let mut events = [event(1, "a", "create", None, "Packed"), event(2, "a", "send", Some("Packed"), "Sent")];
    events[1].at_ms = 0;
    let marked = Rulebook::for_all(Rules::of_diagram(
        "drawn",
        &StateGraph { terminal: graph.initial.clone(), ..graph.clone() },
        "x.mmd",
    ));
    let mut junit = Junit::new().complete();
    junit.trace("short.jsonl", &check(&events, &marked));
    assert!(junit.to_string().contains("parcel a of run r is in Sent since line 2"), "{junit}");

    // A test has a failure or an error, and not both: this trace has each of them.
    let cut = event(1, "a", "x", None, "Packed").to_json().replace("parcel", "door") + "\ngarbage\n";
    let mut junit = Junit::new();
    junit.trace("cut.jsonl", &check_jsonl(JsonlReader::new(cut.as_bytes()), &book).unwrap());
    let junit = junit.to_string();
    assert!(junit.contains(r#"<testsuite name="cut.jsonl" tests="2" failures="1" errors="1">"#), "{junit}");

    // Time is a test where it is asked for.
    let report = check(&events, &Rulebook::for_all(rules("drawn")));
    assert!(report.backwards.is_some());
    for (junit, expected) in [(Junit::new(), 0), (Junit::new().monotonic(), 1)] {
        let mut junit = junit;
        junit.trace("back.jsonl", &report);
        assert_eq!(failures(junit), expected);
    }
}

#[test]
fn junit_passes_a_short_trace_unless_completeness_is_asked() {
    let mut junit = Junit::new();
    junit.trace("short.jsonl", &check(&journey()[..3], &book()));
    assert!(!junit.to_string().contains("<failure"));
}
