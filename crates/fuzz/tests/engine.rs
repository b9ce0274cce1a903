//! Each planted fault is found, with the shortest sequence, and nothing else.

use std::cell::Cell;
use std::time::Duration;

use runstate_fuzz::{Broken, Config, Fuzz, Kind, Map, Reply, Report, Sut};
use serde_json::Value;

use super::order::{Fault, Order, fuzz, graph, map};

fn only(report: &Report) -> (Kind, usize) {
    assert_eq!(report.findings.len(), 1, "{report}");
    assert!(!report.findings[0].is_flaky(), "{report}");
    (report.findings[0].kind, report.findings[0].exchanges.len())
}

#[test]
fn system_without_a_fault_is_clean_and_covered() {
    let report = fuzz(Fault::None);
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.transitions, 7);
}

#[test]
fn illegal_event_that_is_taken_is_found_in_three_steps() {
    assert_eq!(only(&fuzz(Fault::PaysTwice)), (Kind::AcceptedIllegal, 3));
}

#[test]
fn refused_transition_without_a_guard_is_found_in_two_steps() {
    let report = fuzz(Fault::RefusesRefund);
    assert_eq!(only(&report), (Kind::RefusedLegal, 2));
    assert!(report.uncovered[0].starts_with("Paid --> Refunded : refund (line 6) was not taken"), "{report}");
}

#[test]
fn refusal_that_changes_the_state_is_found_in_one_step() {
    assert_eq!(only(&fuzz(Fault::MovesOnRefusal)), (Kind::MovedOnRefusal, 1));
}

#[test]
fn wrong_target_is_found_in_three_steps() {
    assert_eq!(only(&fuzz(Fault::WrongTarget)), (Kind::WrongTarget, 3));
}

#[test]
fn damage_of_earlier_refusals_is_found() {
    assert_eq!(only(&fuzz(Fault::HiddenDamage)), (Kind::RefusedLegal, 5));
}

#[test]
fn panic_is_a_crash_with_the_smallest_payload() {
    let report = fuzz(Fault::PanicsOnPayload);
    assert_eq!(only(&report), (Kind::Crash, 1));
    assert_eq!(report.findings[0].exchanges[0].payload, serde_json::json!({ "amount": 77 }));
}

#[test]
fn wrong_start_ends_the_run() {
    let report = fuzz(Fault::WrongStart);
    assert_eq!(only(&report), (Kind::WrongStart, 0));
    assert_eq!(report.sequences, 1);
}

#[test]
fn unknown_state_is_garbage() {
    assert_eq!(only(&fuzz(Fault::UnknownState)), (Kind::Garbage, 1));
}

#[test]
fn fault_behind_five_steps_is_found() {
    assert_eq!(only(&fuzz(Fault::FiveSteps)), (Kind::AcceptedIllegal, 5));
}

#[test]
fn difference_that_a_fresh_start_does_not_show_is_flaky() {
    let report = fuzz(Fault::Leaks);
    assert!(report.findings.iter().all(|finding| finding.is_flaky() && finding.reproduced == 0), "{report}");
    assert!(!report.findings.is_empty(), "{report}");
    assert!(report.to_string().contains("flaky: 0 of 3 fresh replays show it"), "{report}");
}

#[test]
fn equal_seeds_give_equal_reports() {
    for fault in [Fault::None, Fault::HiddenDamage, Fault::PanicsOnPayload] {
        assert_eq!(fuzz(fault), fuzz(fault));
    }
    let other = Fuzz::new(map()).seed(4).run(&mut Order::with(Fault::HiddenDamage)).unwrap();
    assert_eq!(only(&other), (Kind::RefusedLegal, 5));
}

#[test]
fn time_limit_ends_the_random_phase() {
    let now = Cell::new(0);
    let clock = move || {
        now.set(now.get() + 1);
        Duration::from_millis(now.get())
    };
    let fuzz = Fuzz::new(map()).clock(clock).time_limit(Duration::from_millis(10));
    let report = fuzz.run(&mut Order::default()).unwrap();
    assert!(report.sequences < 30, "{report}");
    assert!(report.is_clean(), "{report}");
}

#[test]
fn condition_stops_the_run_between_requests() {
    let report = Fuzz::new(map()).stop_when(|| true).run(&mut Order::default()).unwrap();
    assert_eq!((report.requests, report.uncovered.len()), (0, 7));
}

#[test]
fn each_illegal_event_is_sent_once_in_each_state() {
    let report = Fuzz::new(map()).sequences(0).run(&mut Order::with(Fault::PaysTwice)).unwrap();
    assert_eq!(only(&report), (Kind::AcceptedIllegal, 3));
    let report = Fuzz::new(map()).sequences(0).run(&mut Order::default()).unwrap();
    // Six events in seven states, without the seven that are legal.
    assert_eq!(report.illegal, (35, 35));
}

#[test]
fn stopped_run_notes_an_unconfirmed_difference() {
    let requests = std::rc::Rc::new(Cell::new(0));
    let counted = std::rc::Rc::clone(&requests);
    // The run is stopped in the replays of the first difference.
    let stop = move || {
        counted.set(counted.get() + 1);
        counted.get() > 40
    };
    let report = Fuzz::new(map()).stop_when(stop).run(&mut Order::with(Fault::RefusesRefund)).unwrap();
    assert_eq!(report.findings.len(), 1, "{report}");
    let report = report.to_string();
    assert!(report.contains("refused-legal"), "{report}");
}

/// The event `go` leads to C with `b` false; C takes `x`, which it must refuse.
struct Fork(&'static str);

impl Sut for Fork {
    fn reset(&mut self) -> Result<String, Broken> {
        self.0 = "A";
        Ok("A".to_owned())
    }

    fn state(&mut self) -> Result<String, Broken> {
        Ok(self.0.to_owned())
    }

    fn apply(&mut self, event: &str, payload: &Value) -> Result<Reply, Broken> {
        self.0 = match (self.0, event) {
            ("A", "go") if payload["b"] == true => "B",
            ("A", "go") | ("B", "go2") | ("D" | "C", "x") => "C",
            ("C", "y") => "D",
            (state, _) => return Ok(Reply::refused("no", state)),
        };
        Ok(Reply::taken(self.0))
    }
}

#[test]
fn simpler_payload_removes_superfluous_events() {
    let source =
        "stateDiagram-v2\n[*] --> A\nA --> B : go\nA --> C : go\nB --> C : go2\nC --> D : y\nD --> C : x";
    let config = Config::parse("payloads: {go: {object: {b: bool}}}").unwrap();
    let map = Map::new(&graph(source), &config).unwrap();
    for seed in 0..5 {
        let report = Fuzz::new(map.clone()).seed(seed).run(&mut Fork("A")).unwrap();
        assert_eq!(only(&report), (Kind::AcceptedIllegal, 2), "{report}");
    }
}

#[test]
fn state_that_no_sequence_leaves_is_named() {
    struct Stuck;
    impl Sut for Stuck {
        fn reset(&mut self) -> Result<String, Broken> {
            Err(Broken::Crash("it ended".to_owned()))
        }
        fn state(&mut self) -> Result<String, Broken> {
            Err(Broken::Crash("it ended".to_owned()))
        }
        fn apply(&mut self, _: &str, _: &Value) -> Result<Reply, Broken> {
            Err(Broken::Crash("it ended".to_owned()))
        }
    }
    let report = Fuzz::new(map()).run(&mut Stuck).unwrap();
    assert!(report.uncovered[0].ends_with("was not sent: no sequence went on from Created"), "{report}");
}

/// An order that takes each event that it must refuse.
struct Lax(Order);

impl Sut for Lax {
    fn reset(&mut self) -> Result<String, Broken> {
        self.0.reset()
    }

    fn state(&mut self) -> Result<String, Broken> {
        self.0.state()
    }

    fn apply(&mut self, event: &str, payload: &Value) -> Result<Reply, Broken> {
        let reply = self.0.apply(event, payload)?;
        let is_illegal = reply.refused.as_deref() == Some("not now") && event != "pay";
        Ok(if is_illegal { Reply::taken(reply.state) } else { reply })
    }
}

#[test]
fn end_after_twenty_differences_is_told() {
    let report = Fuzz::new(map()).run(&mut Lax(Order::default())).unwrap();
    assert_eq!(report.findings.len(), 20, "{report}");
    assert_eq!(report.ended.as_deref(), Some("a run has at most 20 differences; there may be more"));
    let text = report.to_string();
    assert!(text.ends_with("\nended early: a run has at most 20 differences; there may be more\n"), "{text}");
    assert_eq!(serde_json::to_value(&report).unwrap()["ended"], report.ended.unwrap());
    assert_eq!(fuzz(Fault::PaysTwice).ended, None);
}

/// An order that hangs at each event of a state, for 5 s of the clock.
struct Hangs {
    inner: Order,
    in_state: &'static str,
    clock_ms: std::rc::Rc<Cell<u64>>,
}

impl Sut for Hangs {
    fn reset(&mut self) -> Result<String, Broken> {
        self.inner.reset()
    }

    fn state(&mut self) -> Result<String, Broken> {
        self.inner.state()
    }

    fn apply(&mut self, event: &str, payload: &Value) -> Result<Reply, Broken> {
        if self.inner.state()? == self.in_state {
            self.clock_ms.set(self.clock_ms.get() + 5_000);
            return Err(Broken::Timeout("no reply".to_owned()));
        }
        self.clock_ms.set(self.clock_ms.get() + 1);
        self.inner.apply(event, payload)
    }
}

/// The report of a run of 12 s, and its duration in ms.
fn hanging(in_state: &'static str) -> (Report, u64) {
    let clock_ms = std::rc::Rc::new(Cell::new(0));
    let read = std::rc::Rc::clone(&clock_ms);
    let fuzz =
        Fuzz::new(map()).clock(move || Duration::from_millis(read.get())).time_limit(Duration::from_secs(12));
    let mut system = Hangs { inner: Order::default(), in_state, clock_ms: std::rc::Rc::clone(&clock_ms) };
    (fuzz.run(&mut system).unwrap(), clock_ms.get())
}

#[test]
fn time_limit_bounds_a_system_that_hangs() {
    for state in ["Created", "Paid", "Refunded"] {
        let (report, took_ms) = hanging(state);
        assert!(took_ms <= 17_000, "{state}: {took_ms} ms\n{report}");
        assert_eq!(report.findings[0].kind, Kind::Timeout, "{report}");
        assert!(report.findings[0].is_unfinished, "{report}");
    }
    let (report, _) = hanging("Created");
    let why = "the time limit passed in the phases before the random one";
    assert_eq!(report.ended.as_deref(), Some(why), "{report}");
    // Without a difference the phases before are not cut.
    let (report, took_ms) = hanging("Nowhere");
    assert!(report.is_clean() && took_ms >= 12_000, "{took_ms} ms\n{report}");
}

#[test]
fn illegal_events_that_were_not_sent_are_named() {
    let config = "payloads: {ship: {object: {id: {from_data: /none}}}, pay: {const: {amount: 50}}}";
    let map = Map::new(&graph(super::order::DIAGRAM), &Config::parse(config).unwrap()).unwrap();
    let report = Fuzz::new(map).run(&mut Order::default()).unwrap();
    let needs = "the payload needs data of an earlier reply";
    assert!(report.unsent.contains(&format!("`ship` in Created: {needs}")), "{report}");
    let unreached = "`cancel`, `pay`, `refund`, `ship` in Shipped: Shipped was not reached".to_owned();
    assert!(report.unsent.contains(&unreached), "{report}");
    assert!(report.to_string().contains("\nnot sent: `ship` in Created: "), "{report}");
    let count: usize =
        report.unsent.iter().map(|text| text.split(" in ").next().unwrap().split(", ").count()).sum();
    assert_eq!(report.illegal.0 - report.illegal.1, count, "{report}");
}
