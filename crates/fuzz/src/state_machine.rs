//! Tests of [`proptest_state_machine`], from the diagram of a system.
//!
//! [`Model`] is the reference state machine of a diagram, and [`Conforms`] tests a system against it. A test in this form
//! stands beside other property tests: proptest draws the sequences, shrinks a failure, and keeps its seed.
//!
//! ```
//! use proptest_state_machine::prop_state_machine;
//! use runstate::testing::example::Doors;
//! use runstate_fuzz::Lifecycle;
//! use runstate_fuzz::state_machine::Conforms;
//!
//! type Door = Conforms<Lifecycle<Doors>>;
//!
//! prop_state_machine! {
//!     // In a file of tests: with `#[test]`.
//!     fn doors_conform(sequential 1..40 => Door);
//! }
//! doors_conform();
//! ```
//!
//! A state machine in Rust implements [`Sut`] and [`System`]. This door has a mistake, which the test finds and shrinks:
//!
//! ```
//! use proptest::test_runner::{Config as Settings, TestError, TestRunner};
//! use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
//! use runstate::diagram::{StateGraph, parse};
//! use runstate_fuzz::state_machine::{Conforms, Model, System};
//! use runstate_fuzz::{Broken, Config, Map, Reply, Sut};
//! use serde_json::Value;
//!
//! /// A door with a mistake: a locked door can be closed.
//! #[derive(Default)]
//! struct Door(&'static str);
//!
//! impl Sut for Door {
//!     fn reset(&mut self) -> Result<String, Broken> {
//!         self.0 = "Open";
//!         Ok(self.0.to_owned())
//!     }
//!
//!     fn state(&mut self) -> Result<String, Broken> {
//!         Ok(self.0.to_owned())
//!     }
//!
//!     fn apply(&mut self, event: &str, _: &Value) -> Result<Reply, Broken> {
//!         self.0 = match (self.0, event) {
//!             ("Open" | "Locked", "close") => "Closed",
//!             ("Closed", "lock") => "Locked",
//!             ("Locked", "unlock") => "Closed",
//!             (state, _) => return Ok(Reply::refused("not now", state)),
//!         };
//!         Ok(Reply::taken(self.0))
//!     }
//! }
//!
//! impl System for Door {
//!     type Sut = Self;
//!
//!     fn map() -> Map {
//!         let source = "stateDiagram-v2
//!             [*] --> Open
//!             Open --> Closed : close
//!             Closed --> Locked : lock
//!             Locked --> Closed : unlock";
//!         let graph = StateGraph::from_diagram(&parse(source).unwrap(), "door").unwrap();
//!         Map::new(&graph, &Config::default()).unwrap()
//!     }
//!
//!     fn system() -> Self {
//!         Door::default()
//!     }
//! }
//!
//! // `prop_state_machine!` runs this, and fails with the reason and the shortest sequence.
//! let sequences = Model::<Door>::sequential_strategy(1..20);
//! let failed = TestRunner::deterministic().run(&sequences, |(expected, requests, seen)| {
//!     Conforms::<Door>::test_sequential(Settings::default(), expected, requests, seen);
//!     Ok(())
//! });
//! let Err(TestError::Fail(reason, (_, requests, _))) = failed else { panic!("no mistake was found") };
//! assert!(reason.to_string().contains("accepted-illegal: Locked takes `close` and becomes Closed"), "{reason}");
//! assert_eq!(format!("{requests:?}"), "[close, lock, close]");
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use proptest::strategy::{BoxedStrategy, Just, Strategy, Union};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use runstate::testing::Subject;
use serde_json::Value;

use crate::finding::{Exchange, sequence};
use crate::judge;
use crate::map::Map;
use crate::payload::Draft;
use crate::quiet::{self, Quiet};
use crate::subject::Lifecycle;
use crate::sut::{Sut, caught};

/// A system and its diagram, for [`Conforms`]. A [`Lifecycle`] is one if its [`Subject`] has a default.
pub trait System: 'static {
    /// The system under test.
    type Sut: Sut;

    /// The map of its diagram.
    fn map() -> Map;

    /// Makes the system under test. It is not started yet.
    fn system() -> Self::Sut;
}

impl<S: Subject + Default + 'static> System for Lifecycle<S> {
    type Sut = Self;

    fn map() -> Map {
        Lifecycle::new(S::default()).map()
    }

    fn system() -> Self {
        Lifecycle::new(S::default())
    }
}

/// The reference state machine of a diagram. Its requests are events with payloads: seven of ten have a transition from the
/// present state, the others must be refused.
///
/// A test of your own, such as one of a server, implements [`StateMachineTest`] with this model as its `Reference`.
pub struct Model<T>(PhantomData<T>);

/// The states that the diagram permits at one moment. They are several after an event with a guard or with several targets.
#[derive(Clone)]
pub struct Expected {
    map: Rc<Map>,
    states: Vec<usize>,
}

impl Expected {
    /// The names of the states.
    pub fn states(&self) -> impl Iterator<Item = &str> {
        self.states.iter().map(|state| self.map.states[*state].as_str())
    }

    fn over(&self, next: impl Fn(usize) -> Vec<usize>) -> Self {
        let mut states: Vec<usize> = self.states.iter().flat_map(|state| next(*state)).collect();
        states.sort_unstable();
        states.dedup();
        Expected { map: Rc::clone(&self.map), states }
    }
}

impl fmt::Debug for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.states().collect::<Vec<_>>().join(" or "))
    }
}

/// A request to a system: an event with its payload, or an observation.
#[derive(Clone)]
pub struct Request {
    event: Option<(usize, String)>,
    payload: Draft,
}

impl Request {
    /// The name of the event; none for an observation of the state.
    #[must_use]
    pub fn event(&self) -> Option<&str> {
        self.event.as_ref().map(|(_, name)| name.as_str())
    }

    /// The payload, with `data` of earlier replies. Returns none if the payload needs data that no reply had: such an event is
    /// not sent.
    #[must_use]
    pub fn payload(&self, data: &[Value]) -> Option<Value> {
        self.payload.clone().resolve(data)
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.event().unwrap_or("(observed)"))?;
        match self.payload.shown() {
            Value::Null => Ok(()),
            Value::Object(fields) if fields.is_empty() => Ok(()),
            payload => write!(f, " {payload}"),
        }
    }
}

impl<T: System> ReferenceStateMachine for Model<T> {
    type State = Expected;
    type Transition = Request;

    fn init_state() -> BoxedStrategy<Expected> {
        let map = Rc::new(T::map());
        let start = Expected { states: map.initial.clone(), map };
        Just(start.over(|state| start.map.drifts[state].clone())).boxed()
    }

    fn transitions(expected: &Expected) -> BoxedStrategy<Request> {
        let map = &expected.map;
        let is_legal =
            |event: &usize| expected.states.iter().any(|state| map.of(*state, *event).next().is_some());
        let (legal, illegal): (Vec<usize>, Vec<usize>) = (0..map.events.len()).partition(is_legal);
        let request = |event: usize| {
            let name = map.events[event].clone();
            let request = move |payload| Request { event: Some((event, name.clone())), payload };
            map.payloads[event].clone().prop_map(request).boxed()
        };
        let mut choice = Vec::new();
        for (weight, events) in [(7, legal), (3, illegal)] {
            if !events.is_empty() {
                choice.push((weight, Union::new(events.into_iter().map(request)).boxed()));
            }
        }
        if expected.states.iter().any(|state| map.is_restless(*state)) {
            choice.push((3, Just(Request { event: None, payload: Draft::Absent }).boxed()));
        }
        Union::new_weighted(choice).boxed()
    }

    fn apply(expected: Expected, request: &Request) -> Expected {
        let map = &expected.map;
        expected.over(|from| {
            let Some((event, _)) = request.event else { return map.drifts[from].clone() };
            let targets = map.of(from, event).flat_map(|edge| map.drifts[map.edges[edge].to].iter().copied());
            let mut states: Vec<usize> = targets.collect();
            if !request.payload.data_parts().is_empty() || judge::may_refuse(map, from, event) {
                states.extend(&map.drifts[from]);
            }
            states
        })
    }
}

/// The test of a system against its diagram: the replies must be as the diagram says, as for [`Fuzz`](crate::Fuzz).
///
/// A difference panics with its kind and its sequence, and proptest shrinks the sequence.
pub struct Conforms<T>(PhantomData<T>);

/// A system under test, and the sequence that was sent to it.
pub struct Tested<S> {
    sut: S,
    map: Rc<Map>,
    start: usize,
    state: usize,
    data: Vec<Value>,
    exchanges: Vec<Exchange>,
    _quiet: Quiet,
}

impl<S: Sut> Tested<S> {
    /// The system.
    #[must_use]
    pub fn system(&self) -> &S {
        &self.sut
    }

    #[track_caller]
    fn fail(&self, why: &str) -> ! {
        let start = (!self.exchanges.is_empty()).then(|| self.map.states[self.start].as_str());
        let log = quiet::with_place(self.sut.log());
        panic!("{}: {why}\n{}", self.map.name, sequence(start, &self.exchanges, &log))
    }
}

impl<T: System> StateMachineTest for Conforms<T> {
    type SystemUnderTest = Tested<T::Sut>;
    type Reference = Model<T>;

    fn init_test(expected: &Expected) -> Tested<T::Sut> {
        let map = Rc::clone(&expected.map);
        let (sut, data, exchanges) = (T::system(), Vec::new(), Vec::new());
        let mut tested = Tested { sut, map, start: 0, state: 0, data, exchanges, _quiet: Quiet::new() };
        let started = caught(|| tested.sut.reset()).map_err(judge::broken);
        match started.and_then(|state| judge::start(&tested.map, &state).map_err(Ok)) {
            Ok(state) => (tested.start, tested.state) = (state, state),
            Err(why) => tested.fail(&why.map_or_else(|why| why, |wrong| wrong.to_string())),
        }
        tested
    }

    fn apply(mut tested: Tested<T::Sut>, _: &Expected, request: Request) -> Tested<T::Sut> {
        let Some(payload) = request.payload(&tested.data) else { return tested };
        let (from, map) = (tested.state, Rc::clone(&tested.map));
        let from_data = request.payload.data_parts();
        let event = request.event().map(str::to_owned);
        tested.exchanges.push(Exchange {
            from: map.states[from].clone(),
            event,
            payload,
            from_data,
            refused: None,
            to: None,
        });
        let at = tested.exchanges.len() - 1;
        let exchange = &mut tested.exchanges[at];
        let sut = &mut tested.sut;
        let judged = match &request.event {
            None => caught(|| sut.state()).map(|state| {
                exchange.to = Some(state.clone());
                judge::observed(&map, from, &state)
            }),
            Some((event, name)) => caught(|| sut.apply(name, &exchange.payload)).map(|reply| {
                (exchange.to, exchange.refused) = (Some(reply.state.clone()), reply.refused.clone());
                let judged = judge::reply(&map, from, *event, &reply);
                tested.data.extend(reply.data);
                judged
            }),
        };
        match judged.map_err(judge::broken).and_then(|judged| judged.map_err(Ok)) {
            Ok((state, _)) => tested.state = state,
            Err(why) => tested.fail(&why.map_or_else(|why| why, |wrong| wrong.to_string())),
        }
        tested
    }

    fn check_invariants(tested: &Tested<T::Sut>, expected: &Expected) {
        let is_expected = expected.states.contains(&tested.state);
        assert!(is_expected, "{} is no state of {expected:?}", tested.map.states[tested.state]);
    }
}

impl<T> fmt::Debug for Model<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Model")
    }
}

impl<T> fmt::Debug for Conforms<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Conforms")
    }
}

impl<S> fmt::Debug for Tested<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tested").field("exchanges", &self.exchanges).finish_non_exhaustive()
    }
}
