//! No bytes make the reader of traces panic; what it reads it writes and reads again as the same; and the checker, the
//! renderers and the comparison take whatever it gives them.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use runstate::diagram::{StateGraph, parse};
use runstate::trace::{
    Event, JsonlReader, Junit, Rulebook, Rules, Verdict, check, check_jsonl, first_difference, to_mermaid, to_text,
};
use runstate_review::{Marks, ReviewBuilder, Timeline, gantt, html, markdown, perfetto};

static BOOK: LazyLock<Rulebook> = LazyLock::new(|| {
    let source = "stateDiagram-v2\n[*] --> A\nA --> B : go\nB --> A : back\nB --> C : end\nC --> [*]\n";
    let graph = parse(source).ok().and_then(|diagram| StateGraph::from_diagram(&diagram, "x").ok());
    let rules = graph.map(|graph| Rules::of_diagram("x", &graph, "x.mmd"));
    Rulebook::new().with(rules.expect("the diagram is sound"))
});

fuzz_target!(|data: &[u8]| {
    let mut events = Vec::new();
    let mut whole = true;
    for read in JsonlReader::new(data) {
        match read {
            Ok(event) => {
                let line = event.to_json();
                let again = Event::from_json(&line).expect("what was written is read");
                assert_eq!(again, event);
                assert_eq!(again.to_json(), line);
                events.push(event);
            }
            Err(error) => {
                whole = false;
                assert!(error.line() >= 1 && error.column() >= 1);
                assert!(error.named("fuzz.jsonl").report().starts_with("fuzz.jsonl:"));
            }
        }
    }
    let checked = check_jsonl(JsonlReader::new(data), &BOOK);
    assert_eq!(checked.is_err(), events.is_empty());
    let Ok(report) = checked else { return };
    assert_eq!(report.consumed_whole, whole);
    assert_eq!(report.violation.is_some(), report.verdict == Verdict::Violates);
    if whole {
        // The lines are those of the file there, and the numbers of the events here.
        assert_eq!(check(&events, &BOOK).verdict, report.verdict);
        assert_eq!(first_difference(JsonlReader::new(data), JsonlReader::new(data)).ok(), Some(None));
    }
    assert_eq!(to_text(&events).lines().count(), events.len());
    let mut timeline = Timeline::new(data.len() % 200);
    let (mut marks, mut builder) = (Marks::new(&BOOK), ReviewBuilder::new("fuzz", &BOOK));
    for (number, event) in (1..).zip(&events) {
        timeline.event(event, marks.event(number, event).is_some());
        builder.event(number, event);
    }
    let lines = timeline.to_string().lines().count();
    // A narrow table has two lines for a row and for its head, and each table has at most two notes.
    assert!((timeline.len() + 1..=2 * timeline.len() + 4).contains(&lines));
    let review = builder.finish();
    assert_eq!(review.steps().len(), events.len());
    drop((html(&review), gantt(&review), markdown(std::slice::from_ref(&review))));
    serde_json::from_str::<serde_json::Value>(&perfetto(&[review])).expect("a Chrome trace is JSON");
    let mut junit = Junit::new().complete();
    junit.trace("fuzz.jsonl", &report);
    drop((report.to_string(), junit.to_string(), serde_json::to_string(&report)));
    if let Some(rules) = BOOK.rules("x") {
        let drawn = to_mermaid(rules, Some(&report));
        parse(&drawn).expect("what is drawn is a diagram");
    }
});
