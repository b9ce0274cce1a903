//! Checking a file: what follows the events, and what is no trace at all.
use std::io::{BufReader, Cursor, Read};

use runstate::trace::{JsonlReader, Problem, Report, Verdict, ViolationKind, check, check_jsonl};

use super::{book, event, journey, jsonl};

fn checked(text: &str) -> Report {
    check_jsonl(JsonlReader::new(text.as_bytes()), &book()).unwrap()
}

#[test]
fn a_file_is_checked_like_its_events() {
    let mut events = journey();
    assert_eq!(checked(&jsonl(&events)), check(&events, &book()));
    events[4].to = "Sent".into();
    assert_eq!(checked(&jsonl(&events)), check(&events, &book()));
}

#[test]
fn lines_are_those_of_the_file() {
    let mut events = journey();
    events[1].to = "Sent".into();
    let text = jsonl(&events).replace('\n', "\n\n");
    assert_eq!(checked(&text).violation.unwrap().line, 3);
}

#[test]
fn trailing_garbage_violates_and_what_came_before_counts() {
    for garbage in ["the end", "{}", "[]", "\u{0}\u{0}\u{0}", "{\"seq\":10}", "null", "}"] {
        for end in ["", "\n"] {
            let report = checked(&format!("{}{garbage}{end}", jsonl(&journey())));
            assert_eq!(report.verdict, Verdict::Interrupted, "{garbage:?}");
            assert!(!report.consumed_whole);
            assert_eq!((report.events, report.violations), (9, 1));
            let violation = report.violation.unwrap();
            assert_eq!(violation.line, 10);
            assert!(matches!(violation.kind, ViolationKind::Garbage { .. }));
        }
    }
}

#[test]
fn a_cut_trace_never_conforms() {
    let text = jsonl(&journey());
    let whole = text.len() - 1;
    for length in 1..whole {
        match check_jsonl(JsonlReader::new(&text.as_bytes()[..length]), &book()) {
            Ok(report) => match report.violation.map(|violation| violation.kind) {
                None => assert_eq!(report.verdict, Verdict::Incomplete, "{length} bytes"),
                Some(kind) => assert!(matches!(kind, ViolationKind::Cut { .. }), "{length} bytes: {kind:?}"),
            },
            Err(error) => assert!(matches!(error.problem(), Problem::Cut), "{length} bytes: {error}"),
        }
    }
    assert_eq!(checked(&text[..whole]).verdict, Verdict::Conforms, "only the last line break is gone");
}

#[test]
fn cut_trace_is_reported_as_cut() {
    let text = jsonl(&journey());
    let report = checked(&text[..text.len() - 30]);
    super::snapshots().bind(|| insta::assert_snapshot!("trace__cut", report.summary()));
}

#[test]
fn report_keeps_the_first_of_several_violations() {
    let mut events = journey();
    events[1].to = "Sent".into();
    let report = checked(&(jsonl(&events) + "rubbish"));
    assert_eq!(report.violation.unwrap().line, 2);
    assert_eq!(report.violations, 3, "the creation, the step that follows from it, the rubbish");
}

#[test]
fn file_that_is_no_trace_is_an_error() {
    for text in ["", "\n\n", "rubbish\n", "{}\n", "\u{0}"] {
        let error = check_jsonl(JsonlReader::new(text.as_bytes()), &book()).unwrap_err();
        assert!(error.line() >= 1, "{error}");
    }
}

#[test]
fn an_error_of_the_input_is_no_violation() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the cable is out"))
        }
    }
    let input = BufReader::new(Cursor::new(jsonl(&journey())).chain(Broken));
    let error = check_jsonl(JsonlReader::new(input), &book()).unwrap_err();
    assert!(matches!(error.problem(), Problem::Io(_)));
}

#[test]
fn further_fields_do_not_matter() {
    let text = jsonl(&journey()).replace("\"seq\"", "\"note\":{\"from\":\"x\",\"to\":[1]},\"seq\"");
    assert_eq!(checked(&text), check(&journey(), &book()));
}

#[test]
fn escapes_in_names_are_undone_before_they_are_compared() {
    let line = event(1, "a", "create", None, "Packed").to_json().replace("Packed", r"Pac\u006bed");
    assert_eq!(checked(&line).verdict, Verdict::Incomplete);
}
