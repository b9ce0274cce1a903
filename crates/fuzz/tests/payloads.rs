//! Payloads: each generator, and parts of earlier replies.

use runstate_fuzz::{Broken, Config, Fuzz, Map, Regression, Reply, Sut};
use serde_json::{Value, json};

use super::order::graph;

/// A system that records the payloads and gives out a ticket that `close` must bring back.
#[derive(Default)]
struct Desk {
    is_open: bool,
    tickets: u64,
    got: Vec<Value>,
}

impl Sut for Desk {
    fn reset(&mut self) -> Result<String, Broken> {
        self.is_open = false;
        Ok("Closed".to_owned())
    }

    fn state(&mut self) -> Result<String, Broken> {
        Ok(if self.is_open { "Open" } else { "Closed" }.to_owned())
    }

    fn apply(&mut self, event: &str, payload: &Value) -> Result<Reply, Broken> {
        match event {
            "open" if !self.is_open => {
                self.got.push(payload.clone());
                (self.is_open, self.tickets) = (true, self.tickets + 1);
                Ok(Reply::taken("Open").with_data(json!({ "ticket": { "id": self.tickets } })))
            }
            "close" if self.is_open => {
                assert_eq!(payload["id"], json!(self.tickets), "the ticket of the latest opening");
                self.is_open = false;
                Ok(Reply::taken("Closed"))
            }
            _ => Ok(Reply::refused("no", if self.is_open { "Open" } else { "Closed" })),
        }
    }
}

const DESK: &str = "stateDiagram-v2\n[*] --> Closed\nClosed --> Open : open\nOpen --> Closed : close";

fn payloads(generator: &str) -> Vec<Value> {
    let config =
        format!("payloads:\n  open: {generator}\n  close: {{object: {{id: {{from_data: /ticket/id}}}}}}");
    let map = Map::new(&graph(DESK), &Config::parse(&config).unwrap()).unwrap();
    let mut desk = Desk::default();
    let report = Fuzz::new(map).run(&mut desk).unwrap();
    assert!(report.is_clean(), "{report}");
    desk.got
}

#[test]
fn each_generator_gives_its_values_alone() {
    let all = |generator: &str, fits: &dyn Fn(&Value) -> bool| {
        let got = payloads(generator);
        assert!(got.len() > 50 && got.iter().all(fits), "{generator}: {got:?}");
    };
    all("{samples: [1, 2]}", &|value| *value == 1 || *value == 2);
    all("{const: {a: 1}}", &|value| *value == json!({ "a": 1 }));
    all("{int: {min: -3, max: 3}}", &|value| value.as_i64().is_some_and(|value| (-3..=3).contains(&value)));
    all("{float: {min: 0, max: 1}}", &|value| {
        value.as_f64().is_some_and(|value| (0.0..=1.0).contains(&value))
    });
    all("{string: {max: 3}}", &|value| value.as_str().is_some_and(|text| text.chars().count() <= 3));
    all("{string: {min: 20}}", &|value| value.as_str().is_some_and(|text| text.chars().count() == 20));
    all("{regex: '^[A-Z]{3}$'}", &|value| {
        value
            .as_str()
            .is_some_and(|text| text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase()))
    });
    all("bool", &Value::is_boolean);
    all("{one_of: [bool, {const: 7}]}", &|value| value.is_boolean() || *value == 7);
    all("{list: {of: bool, min: 1, max: 2}}", &|value| {
        value
            .as_array()
            .is_some_and(|list| (1..=2).contains(&list.len()) && list.iter().all(Value::is_boolean))
    });
    all("{object: {a: {optional: bool}}}", &|value| {
        value.as_object().is_some_and(|fields| fields.get("a").is_none_or(Value::is_boolean))
    });
}

#[test]
fn payload_is_an_empty_object_by_default() {
    let map = Map::new(&graph(DESK), &Config::default()).unwrap();
    struct Any(bool);
    impl Sut for Any {
        fn reset(&mut self) -> Result<String, Broken> {
            self.0 = false;
            Ok("Closed".to_owned())
        }
        fn state(&mut self) -> Result<String, Broken> {
            Ok("Closed".to_owned())
        }
        fn apply(&mut self, event: &str, payload: &Value) -> Result<Reply, Broken> {
            assert_eq!(*payload, json!({}));
            let is_taken = (event == "open") != self.0;
            self.0 ^= is_taken;
            let state = if self.0 { "Open" } else { "Closed" };
            Ok(if is_taken { Reply::taken(state) } else { Reply::refused("no", state) })
        }
    }
    let report = Fuzz::new(map).run(&mut Any(false)).unwrap();
    assert!(report.is_clean(), "{report}");
}

#[test]
fn unusable_generators_are_refused_with_the_event() {
    for (generator, expected) in [
        ("{int: {min: 3, max: 1}}", "the range from 3 to 1 has no value"),
        ("{regex: '['}", "the regular expression \"[\""),
        ("{samples: []}", "`samples` is empty"),
        ("{one_of: []}", "`one_of` is empty"),
        ("{from_data: id}", "expected a JSON pointer"),
        ("{integer: {}}", "integer"),
        ("{float: {min: .nan}}", "has no value"),
        ("{string: {min: 2, max: 1}}", "from 2 to 1"),
        ("{string: {max: 99999999999999}}", "expected at most 1000000"),
        ("{regex: '(((((a{0,100}){0,100}){0,100}){0,100}){0,100})'}", "expected at most 1000000"),
        ("{regex: 'a{1200000}'}", "expected at most 1000000"),
        (
            "{list: {of: {list: {of: {list: {of: bool, max: 1000}}, max: 1000}}, max: 10}}",
            "expected at most 1000000",
        ),
    ] {
        let error = Config::parse(&format!("payloads: {{open: {generator}}}")).unwrap_err().to_string();
        assert!(error.contains(expected), "{generator}: {error}");
    }
}

/// A counter of tickets that never gives one out twice, and takes `sell` with the latest one alone. Its fault: a return of
/// 77 or more crashes.
#[derive(Default)]
struct Tickets {
    last: u64,
    state: &'static str,
}

impl Sut for Tickets {
    fn reset(&mut self) -> Result<String, Broken> {
        self.state = "Closed";
        Ok(self.state.to_owned())
    }

    fn state(&mut self) -> Result<String, Broken> {
        Ok(self.state.to_owned())
    }

    fn apply(&mut self, event: &str, payload: &Value) -> Result<Reply, Broken> {
        self.state = match (self.state, event) {
            ("Closed", "open") => {
                self.last += 1;
                self.state = "Open";
                return Ok(Reply::taken("Open").with_data(json!({ "a/b": [{ "id": self.last }] })));
            }
            ("Open", "sell") if payload["of"][0]["t~1/"] == self.last => "Sold",
            ("Sold", "give") if payload["cents"].as_i64() >= Some(77) => {
                return Err(Broken::Crash("no change".to_owned()));
            }
            ("Sold", "give") => "Closed",
            (state, _) => return Ok(Reply::refused("no", state)),
        };
        Ok(Reply::taken(self.state))
    }
}

fn tickets() -> Map {
    let diagram = "stateDiagram-v2\n[*] --> Closed\nClosed --> Open : open\nOpen --> Sold : sell\nSold --> Closed : give";
    let config = "payloads:
  sell: {object: {of: {list: {of: {object: {t~1/: {from_data: /a~1b/0/id}}}, min: 1, max: 1}}}}
  give: {object: {cents: {int: {min: 0, max: 1000}}}}";
    Map::new(&graph(diagram), &Config::parse(config).unwrap()).unwrap()
}

#[test]
fn payload_behind_data_of_a_reply_is_shrunk() {
    let report = Fuzz::new(tickets()).run(&mut Tickets::default()).unwrap();
    assert_eq!(report.findings.len(), 1, "{report}");
    let exchanges = &report.findings[0].exchanges;
    assert_eq!(exchanges.len(), 3, "{report}");
    // The data of the last replay, not of the first one, and the simplest amount behind it.
    assert_eq!(exchanges[2].payload, json!({ "cents": 77 }), "{report}");
    assert_eq!(exchanges[1].from_data["/of/0/t~01~1"], "/a~1b/0/id", "{report}");
}

#[test]
fn regression_takes_data_of_its_own_replies() {
    let report = Fuzz::new(tickets()).run(&mut Tickets::default()).unwrap();
    let text = Regression::write(&report.findings[0], &tickets(), "ticket-1").unwrap();
    let replay = |tickets_before, text: &str| {
        let run = Fuzz::new(tickets()).sequences(0).regressions(Regression::read(text).unwrap());
        run.run(&mut Tickets { last: tickets_before, state: "" }).unwrap()
    };
    let again = replay(1_000, &text);
    assert!(again.findings[0].is_regression, "{again}");
    assert_eq!((again.findings.len(), again.fixed.len()), (1, 0), "{again}");
    // A reply without the data: the event is not sent, so the difference is not gone.
    let other = replay(1_000, &text.replace("/a~1b/0/id", "/other"));
    assert_eq!(other.fixed, [""; 0], "{other}");
    assert_eq!(
        other.stale,
        [
            "the regression ticket-1 shows no difference, but its `sell` was not sent: the payload needs data of an earlier reply"
        ]
    );
}
