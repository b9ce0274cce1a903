//! Diagrams and configurations that cannot be fuzzed are refused with what is expected.

use runstate_fuzz::{Broken, Config, Fuzz, Kind, Map, Reply, Sut};
use serde_json::Value;

use super::order::{DIAGRAM, graph};

fn refused(diagram: &str, config: &str) -> String {
    Map::new(&graph(diagram), &Config::parse(config).unwrap()).unwrap_err().to_string()
}

#[test]
fn remarks_without_a_mapping_are_all_named() {
    let diagram = "stateDiagram-v2\n[*] --> A\nA --> B : it is paid\nB --> C : and sent\nC --> A : go";
    let text = refused(diagram, "");
    assert!(text.contains("line 3: \"it is paid\"") && text.contains("line 4: \"and sent\""), "{text}");
    let config = Config::parse("events: {it is paid: pay, and sent: send}").unwrap();
    let map = Map::new(&graph(diagram), &config).unwrap();
    assert_eq!(map.events().collect::<Vec<_>>(), ["go", "pay", "send"]);
}

#[test]
fn names_that_the_diagram_lacks_are_refused() {
    let text = refused(DIAGRAM, "payloads: {payy: bool}");
    assert!(text.contains("`payy`") && text.contains("cancel, deliver, pay"), "{text}");
    let text = refused(DIAGRAM, "may_refuse: [Payed.ship]");
    assert!(text.contains("`Payed.ship`"), "{text}");
    let text = refused(DIAGRAM, "events: {it is paid: pay}");
    assert!(text.ends_with("\"it is paid\", which the diagram lacks"), "{text}");
}

#[test]
fn name_that_is_close_is_suggested() {
    for (config, expected) in [
        ("payloads: {payy: bool}", "; did you mean `pay`?"),
        ("may_refuse: [shipp]", "; did you mean `ship`?"),
        ("may_refuse: [Paid.shipp]", "; did you mean `ship`?"),
        ("may_refuse: [Payed.ship]", "; did you mean `Paid`?"),
        ("events: {Cancel: cancel}", "; did you mean `cancel`?"),
    ] {
        let text = refused(DIAGRAM, config);
        assert!(text.ends_with(expected), "{config}: {text}");
    }
}

#[test]
fn permitted_refusal_without_a_transition_is_refused() {
    assert_eq!(
        refused(DIAGRAM, "may_refuse: [Paid.refund, Created.refund]"),
        "`may_refuse` has `Created.refund`, but Created has no transition for `refund`, so it must refuse the event anyway; expected a state of Paid, Returned"
    );
}

#[test]
fn diagram_without_start_or_event_is_refused() {
    let text = refused("stateDiagram-v2\nA --> B : go", "");
    assert!(text.contains("no initial state"), "{text}");
    let text = refused("stateDiagram-v2\n[*] --> A\nA --> B", "");
    assert!(text.contains("no transition with an event"), "{text}");
}

/// A timer: it expires after three looks. Its fault: it starts by itself.
struct Timer {
    left: u32,
    state: &'static str,
    starts_itself: bool,
}

impl Sut for Timer {
    fn reset(&mut self) -> Result<String, Broken> {
        (self.left, self.state) = (3, "Idle");
        Ok(self.state.to_owned())
    }

    fn state(&mut self) -> Result<String, Broken> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 && (self.state == "Ticking" || self.starts_itself) {
            self.state = if self.state == "Idle" { "Ticking" } else { "Over" };
        }
        Ok(self.state.to_owned())
    }

    fn apply(&mut self, event: &str, _: &Value) -> Result<Reply, Broken> {
        self.state = match (self.state, event) {
            ("Idle" | "Over", "start") => "Ticking",
            ("Ticking" | "Over", "stop") => "Idle",
            (state, _) => return Ok(Reply::refused("no", state)),
        };
        self.left = 3;
        Ok(Reply::taken(self.state))
    }
}

const TIMER: &str = "stateDiagram-v2
    [*] --> Idle
    Idle --> Ticking : start
    Ticking --> Over
    Over --> Ticking : start
    Ticking --> Idle : stop
    Over --> Idle : stop
    Idle --> Resting
    Resting --> Idle : wake";

#[test]
fn transitions_without_a_label_are_observed() {
    let diagram = TIMER.replace("\n    Idle --> Resting\n    Resting --> Idle : wake", "");
    let map = Map::new(&graph(&diagram), &Config::default()).unwrap();
    let mut timer = Timer { left: 0, state: "", starts_itself: false };
    let report = Fuzz::new(map).run(&mut timer).unwrap();
    assert!(report.is_clean(), "{report}");
    // The diagram has a state that the timer never enters.
    let map = Map::new(&graph(TIMER), &Config::default()).unwrap();
    let report = Fuzz::new(map).run(&mut timer).unwrap();
    assert_eq!(report.uncovered.len(), 2, "{report}");
    assert!(report.findings.is_empty(), "{report}");
}

#[test]
fn change_that_the_diagram_lacks_is_moved_by_itself() {
    let map = Map::new(&graph(TIMER), &Config::default()).unwrap();
    let mut timer = Timer { left: 0, state: "", starts_itself: true };
    let report = Fuzz::new(map).run(&mut timer).unwrap();
    assert_eq!(report.findings.len(), 1, "{report}");
    assert_eq!(report.findings[0].kind, Kind::MovedByItself);
    assert_eq!(report.findings[0].exchanges.len(), 3, "{report}");
}

/// A system that refuses all.
struct Never;
impl Sut for Never {
    fn reset(&mut self) -> Result<String, Broken> {
        Ok("A".to_owned())
    }
    fn state(&mut self) -> Result<String, Broken> {
        Ok("A".to_owned())
    }
    fn apply(&mut self, _: &str, _: &Value) -> Result<Reply, Broken> {
        Ok(Reply::refused("never", "A"))
    }
}

#[test]
fn refusals_that_are_configured_are_permitted() {
    let diagram = graph("stateDiagram-v2\n[*] --> A\nA --> B : go");
    for config in ["may_refuse: [go]", "may_refuse: [A.go]"] {
        let map = Map::new(&diagram, &Config::parse(config).unwrap()).unwrap();
        let report = Fuzz::new(map).run(&mut Never).unwrap();
        assert!(report.findings.is_empty(), "{report}");
        assert_eq!(report.uncovered.len(), 1);
        assert!(report.uncovered[0].starts_with("A --> B : go (line 3) was not taken in"), "{report}");
        assert!(report.uncovered[0].ends_with("the last refusal is \"never\""), "{report}");
    }
    let map = Map::new(&diagram, &Config::default()).unwrap();
    let report = Fuzz::new(map).run(&mut Never).unwrap();
    assert_eq!(report.findings[0].kind, Kind::RefusedLegal);
}

#[test]
fn guard_of_one_transition_permits_no_refusal_of_another() {
    let diagram = graph("stateDiagram-v2\n[*] --> A\nA --> A : go [small]\nA --> B : go");
    let map = Map::new(&diagram, &Config::default()).unwrap();
    let report = Fuzz::new(map).run(&mut Never).unwrap();
    assert_eq!(report.findings[0].kind, Kind::RefusedLegal, "{report}");
}

/// A system that fails its third reset, and no other.
struct Moody(u32);

impl Sut for Moody {
    fn reset(&mut self) -> Result<String, Broken> {
        self.0 += 1;
        if self.0 == 3 { Err(Broken::Crash("it ended".to_owned())) } else { Ok("A".to_owned()) }
    }
    fn renew(&mut self) -> Result<String, Broken> {
        Ok("A".to_owned())
    }
    fn state(&mut self) -> Result<String, Broken> {
        Ok("A".to_owned())
    }
    fn apply(&mut self, _: &str, _: &Value) -> Result<Reply, Broken> {
        Ok(Reply::taken("A"))
    }
}

#[test]
fn failed_reset_is_a_finding_and_the_run_goes_on() {
    let map = Map::new(&graph("stateDiagram-v2\n[*] --> A\nA --> A : go"), &Config::default()).unwrap();
    let report = Fuzz::new(map).run(&mut Moody(0)).unwrap();
    assert_eq!((report.findings.len(), report.findings[0].kind), (1, Kind::Crash), "{report}");
    assert!(report.sequences > 100, "{report}");
}
