//! What people and programs see: text, Mermaid, JSON, JUnit.
use runstate::diagram::{StateGraph, parse};
use runstate::trace::{
    Checker, JsonlReader, Junit, Report, Rulebook, Rules, UnmetRequirement, check, check_jsonl, to_mermaid,
    to_text,
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
