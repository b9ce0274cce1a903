//! Stored regressions are replayed first, and are traces.

use runstate::trace::{JsonlReader, Rulebook, Rules, Verdict, check_jsonl};
use runstate_fuzz::{Broken, Config, Fuzz, Kind, Map, Regression, Reply, Sut};
use serde_json::Value;

use super::order::{DIAGRAM, Fault, Order, fuzz, graph, map};

fn stored(fault: Fault) -> String {
    let report = fuzz(fault);
    Regression::write(&report.findings[0], &map(), "order-1").unwrap()
}

#[test]
fn regression_that_still_fails_is_found_first() {
    for fault in [Fault::PaysTwice, Fault::RefusesRefund, Fault::HiddenDamage, Fault::PanicsOnPayload] {
        let regressions = Regression::read(&stored(fault)).unwrap();
        let run = Fuzz::new(map()).sequences(0).regressions(regressions);
        let report = run.run(&mut Order::with(fault)).unwrap();
        assert!(report.findings[0].is_regression, "{fault:?}: {report}");
        assert_eq!(report.findings.len(), 1, "{fault:?}: {report}");
        assert_eq!(report.fixed, [""; 0]);
    }
}

#[test]
fn regression_that_passes_is_named_as_fixed() {
    let regressions = Regression::read(&stored(Fault::WrongTarget)).unwrap();
    let report = Fuzz::new(map()).regressions(regressions).run(&mut Order::default()).unwrap();
    assert_eq!(report.fixed, ["order-1"]);
    assert!(report.is_clean(), "{report}");
}

#[test]
fn regression_of_another_diagram_is_named_as_stale() {
    let text = stored(Fault::PaysTwice).replace("\"fingerprint\":\"", "\"fingerprint\":\"00");
    let regressions = Regression::read(&text).unwrap();
    let report = Fuzz::new(map()).regressions(regressions).run(&mut Order::with(Fault::PaysTwice)).unwrap();
    assert_eq!(report.stale, ["the regression order-1 is of another diagram; it was replayed all the same"]);
    assert_eq!(report.findings[0].kind, Kind::AcceptedIllegal);
}

#[test]
fn regression_with_an_unknown_event_is_stale_and_not_fixed() {
    let text = stored(Fault::PaysTwice).replace("\"event\":\"ship\"", "\"event\":\"shipp\"");
    let report =
        Fuzz::new(map()).regressions(Regression::read(&text).unwrap()).run(&mut Order::default()).unwrap();
    assert_eq!(report.fixed, [""; 0]);
    assert_eq!(
        report.stale,
        ["the regression order-1 has the event `shipp`, which the diagram lacks; it was not replayed"]
    );
}

#[test]
fn stored_sequence_is_a_trace_that_the_checker_judges() {
    let rules = Rules::of_diagram("order", &graph(DIAGRAM), "order.md");
    let rulebook = Rulebook::new().with(rules);
    let verdict = |text: &str| check_jsonl(JsonlReader::new(text.as_bytes()), &rulebook).unwrap().verdict;
    assert_eq!(verdict(&stored(Fault::PaysTwice)), Verdict::Violates);
    // A refusal is no transition, so the trace of a refused event is legal as far as it goes.
    assert_ne!(verdict(&stored(Fault::RefusesRefund)), Verdict::Violates);
}

#[test]
fn file_that_is_no_regression_is_refused_with_its_line() {
    for (text, expected) in [
        ("nonsense", "line 1: "),
        ("{\"run\":\"r\",\"from\":null,\"event\":\"create\"}", "line 1: the creation has no field `fuzz`"),
        ("\n{\"run\":\"r\",\"from\":\"A\",\"event\":\"go\"}", "line 2: the run \"r\" has no creation"),
    ] {
        let error = Regression::read(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn event_named_as_an_observation_is_sent_again() {
    let source = "stateDiagram-v2\n[*] --> A\nA --> B : observed\nB --> A : back";
    let map = Map::new(&graph(source), &Config::default()).unwrap();
    /// It takes `observed` in B too.
    struct Twice(&'static str);
    impl Sut for Twice {
        fn reset(&mut self) -> Result<String, Broken> {
            self.0 = "A";
            Ok("A".to_owned())
        }
        fn state(&mut self) -> Result<String, Broken> {
            Ok(self.0.to_owned())
        }
        fn apply(&mut self, event: &str, _: &Value) -> Result<Reply, Broken> {
            self.0 = match (self.0, event) {
                (_, "observed") => "B",
                ("B", "back") => "A",
                (state, _) => return Ok(Reply::refused("no", state)),
            };
            Ok(Reply::taken(self.0))
        }
    }
    let report = Fuzz::new(map.clone()).run(&mut Twice("A")).unwrap();
    let text = Regression::write(&report.findings[0], &map, "twice-1").unwrap();
    let again = Fuzz::new(map).sequences(0).regressions(Regression::read(&text).unwrap());
    assert!(again.run(&mut Twice("A")).unwrap().findings[0].is_regression);
}
