//! The corpus whose verdicts were recorded from Mermaid itself (`tests/oracle/run.sh --record`).

use std::fs;
use std::path::Path;

use runstate::diagram::parse;

struct Case {
    name: String,
    accepts: bool,
    source: String,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/corpus");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let parts: Vec<&str> = text.split_inclusive('\n').collect();
        for line in parts {
            if let Some(head) = line.strip_prefix("=== ") {
                let mut words = head.trim_end().split(" | ");
                let name = words.next().unwrap().to_owned();
                let accepts = match words.next() {
                    Some("accepts") => true,
                    Some("refuses") => false,
                    other => panic!("{name}: {other:?} is no verdict"),
                };
                assert!(matches!(words.next(), None | Some("escaped")), "{name}");
                cases.push((Case { name, accepts, source: String::new() }, head.contains("| escaped")));
            } else {
                cases.last_mut().unwrap().0.source.push_str(line);
            }
        }
    }
    cases
        .into_iter()
        .map(|(mut case, escaped)| {
            case.source.pop();
            if escaped {
                case.source = unescape(&case.source);
            }
            case
        })
        .collect()
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        if let Some(hex) = behind.strip_prefix("u{") {
            let (hex, after) = hex.split_once('}').unwrap();
            out.push(char::from_u32(u32::from_str_radix(hex, 16).unwrap()).unwrap());
            rest = after;
        } else {
            out.push(if behind.starts_with('r') { '\r' } else { '\t' });
            rest = &behind[1..];
        }
    }
    out + rest
}

#[test]
fn the_corpus_is_accepted_and_refused_as_mermaid_does() {
    let cases = cases();
    assert!(cases.len() >= 250, "{} cases", cases.len());
    let (mut accepted, mut refused) = (0, 0);
    for case in &cases {
        let got = parse(&case.source);
        assert_eq!(got.is_ok(), case.accepts, "{}: {got:?}", case.name);
        if case.accepts { accepted += 1 } else { refused += 1 }
    }
    assert!(accepted > 100 && refused > 50, "{accepted} accepted, {refused} refused");
}

#[test]
fn a_refusal_points_into_the_source_and_says_what_it_expected() {
    for case in cases().iter().filter(|case| !case.accepts) {
        let error = parse(&case.source).unwrap_err();
        assert!(error.span().of(&case.source).is_some(), "{}: {error}", case.name);
        assert!(!error.expected().is_empty() && !error.got().is_empty(), "{}", case.name);
        let rendered = error.render("case.mmd", &case.source);
        assert!(rendered.contains(&format!("case.mmd:{}", error.position())), "{rendered}");
    }
}

#[test]
fn every_span_of_the_corpus_is_the_text_it_stands_for() {
    for case in cases().iter().filter(|case| case.accepts) {
        let diagram = parse(&case.source).unwrap();
        for transition in &diagram.transitions {
            let text = transition.span.of(&case.source).unwrap();
            assert!(text.contains("-->"), "{}: {text:?}", case.name);
            if let Some(label) = &transition.label {
                // Line breaks and the quotes of attributes are not what they were.
                let seen = label.span.of(&case.source).unwrap().replace('"', "'");
                let hidden = case.name.contains("directive in a label");
                assert!(hidden || seen == label.text.replace('"', "'"), "{}: {seen:?}", case.name);
            }
        }
        for state in &diagram.states {
            let text = state.span.of(&case.source).unwrap();
            assert!(text.contains(&state.id), "{}: {text:?} is not {:?}", case.name, state.id);
        }
    }
}
