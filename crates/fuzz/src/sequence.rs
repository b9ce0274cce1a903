//! A sequence of requests to one machine.

use proptest::strategy::ValueTree;
use serde_json::Value;

use crate::finding::Exchange;
use crate::payload::{Draft, FromData};

/// A request of a sequence.
pub(crate) enum Step {
    /// An event by its index, with its payload.
    Apply(usize, Box<dyn ValueTree<Value = Draft>>),
    /// A look at the state, where the machine may change by itself.
    Observe,
}

impl Step {
    /// The event with a payload that was sent before, which does not shrink. Its parts from earlier replies are taken anew.
    pub(crate) fn fixed(event: usize, payload: Value, from_data: FromData) -> Self {
        Step::Apply(event, Box::new(Fixed(payload, from_data)))
    }

    pub(crate) fn event(&self) -> Option<usize> {
        match self {
            Step::Apply(event, _) => Some(*event),
            Step::Observe => None,
        }
    }
}

/// A payload that does not shrink.
struct Fixed(Value, FromData);

impl ValueTree for Fixed {
    type Value = Draft;

    fn current(&self) -> Draft {
        Draft::Sent(self.0.clone(), self.1.clone())
    }

    fn simplify(&mut self) -> bool {
        false
    }

    fn complicate(&mut self) -> bool {
        false
    }
}

/// A machine and the requests to it so far.
pub(crate) struct Sequence {
    /// The initial state.
    pub(crate) start: Option<usize>,
    /// The current state.
    pub(crate) state: usize,
    /// The data of the replies.
    pub(crate) data: Vec<Value>,
    /// The requests and replies.
    pub(crate) exchanges: Vec<Exchange>,
    /// The requests, to repeat them.
    pub(crate) steps: Vec<Step>,
    /// The other output of the system, at a difference.
    pub(crate) log: String,
}

impl Sequence {
    pub(crate) fn new() -> Self {
        Sequence {
            start: None,
            state: 0,
            data: Vec::new(),
            exchanges: Vec::new(),
            steps: Vec::new(),
            log: String::new(),
        }
    }
}
