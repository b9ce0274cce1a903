//! Tests of proptest-state-machine, made from diagrams and lifecycles.

use proptest::test_runner::{Config as Settings, TestError, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use runstate::testing::example::Doors;
use runstate_fuzz::state_machine::{Conforms, Model, System};
use runstate_fuzz::{Broken, Config, Lifecycle, Map, Reply, Sut};
use serde_json::{Value, json};

use super::conformance::Lamps;
use super::order::{Fault, Order, graph, map};

type Door = Conforms<Lifecycle<Doors>>;
type Lamp = Conforms<Lifecycle<Lamps>>;
type Whole = Conforms<Orders<0>>;
type Counter = Conforms<Desk<false>>;

prop_state_machine! {
    #[test]
    fn lifecycle_conforms(sequential 1..40 => Door);

    #[test]
    fn lifecycle_with_a_guard_conforms(sequential 1..40 => Lamp);

    #[test]
    fn diagram_with_guards_and_payloads_conforms(sequential 1..40 => Whole);

    #[test]
    fn data_of_replies_reaches_later_payloads(sequential 1..40 => Counter);
}

/// The faults that the tests plant, by number.
const FAULTS: [Fault; 6] = [
    Fault::None,
    Fault::PaysTwice,
    Fault::MovesOnRefusal,
    Fault::PanicsOnPayload,
    Fault::WrongStart,
    Fault::UnknownState,
];

#[derive(Debug)]
struct Orders<const FAULT: usize>;

impl<const FAULT: usize> System for Orders<FAULT> {
    type Sut = Order;

    fn map() -> Map {
        map()
    }

    fn system() -> Order {
        Order::with(FAULTS[FAULT])
    }
}

/// The failure of a test and its shortest sequence, as `prop_state_machine!` reports them.
fn failure<T: System>() -> (String, String) {
    let sequences = Model::<T>::sequential_strategy(1..40);
    let settings = Settings { cases: 1_000, failure_persistence: None, ..Settings::default() };
    let rng = TestRunner::deterministic().new_rng();
    let failed =
        TestRunner::new_with_rng(settings.clone(), rng).run(&sequences, |(state, requests, seen)| {
            Conforms::<T>::test_sequential(settings.clone(), state, requests, seen);
            Ok(())
        });
    match failed {
        Err(TestError::Fail(reason, (_, requests, _))) => (reason.to_string(), format!("{requests:?}")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn illegal_event_that_is_taken_is_shrunk_to_three_requests() {
    let (reason, requests) = failure::<Orders<1>>();
    assert!(
        reason.contains(
            "order: accepted-illegal: Shipped takes `pay` and becomes Paid\n  [*] --> Created\n  Created --> Paid : pay {\"amount\":10}\n"
        ),
        "{reason}"
    );
    assert_eq!(requests, "[pay {\"amount\":10}, ship, pay {\"amount\":0}]");
}

#[test]
fn each_fault_fails_as_its_kind() {
    for ((reason, requests), kind, expected) in [
        (failure::<Orders<2>>(), "moved-on-refusal: ", "[pay {\"amount\":0}]"),
        (failure::<Orders<3>>(), "crash: it panicked: no change for 77\n", "[pay {\"amount\":77}]"),
        (failure::<Orders<4>>(), "wrong-start: it starts in Paid; expected Created\n", "[]"),
        (failure::<Orders<5>>(), "garbage: the state \"Scrapped\"", "[cancel]"),
    ] {
        assert!(reason.contains(kind), "{reason}");
        assert_eq!(requests, expected, "{reason}");
    }
}

/// A desk that gives out a number, which `close` must bring back. Its fault: it takes any number.
#[derive(Debug, Default)]
struct Desk<const IS_LAX: bool> {
    is_open: bool,
    number: u64,
}

impl<const IS_LAX: bool> Sut for Desk<IS_LAX> {
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
                (self.is_open, self.number) = (true, self.number + 1);
                Ok(Reply::taken("Open").with_data(json!({ "number": self.number })))
            }
            "close" if self.is_open && payload["number"] == self.number => {
                self.is_open = false;
                Ok(Reply::taken("Closed"))
            }
            "close" if IS_LAX => Ok(Reply::taken("Closed")),
            _ => Ok(Reply::refused("no", self.state()?)),
        }
    }
}

impl<const IS_LAX: bool> System for Desk<IS_LAX> {
    type Sut = Self;

    fn map() -> Map {
        let config = "payloads: {close: {object: {number: {from_data: /number}}}}";
        let diagram = "stateDiagram-v2\n[*] --> Closed\nClosed --> Open : open\nOpen --> Closed : close";
        Map::new(&graph(diagram), &Config::parse(config).unwrap()).unwrap()
    }

    fn system() -> Self {
        Desk::default()
    }
}

#[test]
fn request_with_data_of_a_reply_is_shown_and_shrunk() {
    let (reason, requests) = failure::<Desk<true>>();
    assert!(reason.contains("accepted-illegal: Closed takes `close`"), "{reason}");
    let close = "close {\"number\":{\"from_data\":\"/number\"}}";
    assert_eq!(requests, format!("[open, {close}, {close}]"));
}

/// A timer that expires by itself, and a state that its fault enters alone.
#[derive(Debug)]
struct Timer<const IS_BROKEN: bool>(&'static str);

impl<const IS_BROKEN: bool> Sut for Timer<IS_BROKEN> {
    fn reset(&mut self) -> Result<String, Broken> {
        self.0 = "Idle";
        Ok(self.0.to_owned())
    }

    fn state(&mut self) -> Result<String, Broken> {
        self.0 = match self.0 {
            "Ticking" => "Over",
            "Over" if IS_BROKEN => "Idle",
            state => state,
        };
        Ok(self.0.to_owned())
    }

    fn apply(&mut self, event: &str, _: &Value) -> Result<Reply, Broken> {
        match (self.0, event) {
            ("Idle" | "Over", "start") => self.0 = "Ticking",
            (state, _) => return Ok(Reply::refused("no", state)),
        }
        Ok(Reply::taken(self.0))
    }
}

impl<const IS_BROKEN: bool> System for Timer<IS_BROKEN> {
    type Sut = Self;

    fn map() -> Map {
        let diagram = "stateDiagram-v2\n[*] --> Idle\nIdle --> Ticking : start\nTicking --> Over\nOver --> Ticking : start\nOver --> Over";
        Map::new(&graph(diagram), &Config::default()).unwrap()
    }

    fn system() -> Self {
        Timer("")
    }
}

type Ticks = Conforms<Timer<false>>;

prop_state_machine! {
    #[test]
    fn transitions_of_its_own_are_observed(sequential 1..40 => Ticks);
}

#[test]
fn change_that_the_diagram_lacks_is_shrunk_to_its_observations() {
    let (reason, requests) = failure::<Timer<true>>();
    assert!(reason.contains("moved-by-itself: Over became Idle without an event"), "{reason}");
    assert_eq!(requests, "[start, (observed), (observed)]");
}
