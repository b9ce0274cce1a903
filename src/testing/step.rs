//! One event given to one machine, and what came of it.

use core::fmt;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::Serialize;

use super::subject::{EventOf, Subject};
use crate::kernel::{Edge, Event, Machine, Status};

/// One event given to a machine, and what came of it.
///
/// ```
/// use runstate::testing::example::Doors;
/// use runstate::testing::{Verdict, words};
///
/// let word = words(&Doors, 2).find(|word| word.events().eq(["close", "remove"])).unwrap();
/// let [close, remove] = word.steps() else { panic!("two events, two steps") };
/// assert_eq!((close.to_string().as_str(), close.verdict), ("Open --> Shut : close", Verdict::Taken("Shut")));
/// assert_eq!((remove.to_string().as_str(), remove.verdict), ("Shut refuses 'remove'", Verdict::NoEdge));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The state that the machine was in.
    pub from: &'static str,
    /// The name of the event.
    pub event: &'static str,
    /// What came of it.
    pub verdict: Verdict,
}

/// What a machine made of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It moved to this state.
    Taken(&'static str),
    /// Its state has no way out by this event.
    NoEdge,
    /// Its state has one, and the guard refused.
    ByGuard,
}

impl Step {
    /// Did the machine move?
    pub fn is_taken(&self) -> bool {
        matches!(self.verdict, Verdict::Taken(_))
    }

    /// Did the machine move along this edge?
    pub fn takes(&self, edge: &Edge) -> bool {
        (self.from, self.event, self.verdict) == (edge.from, edge.event, Verdict::Taken(edge.to))
    }

    pub(super) fn is_by_guard(&self) -> bool {
        self.verdict == Verdict::ByGuard
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            Verdict::Taken(to) => write!(f, "{} --> {to} : {}", self.from, self.event),
            Verdict::NoEdge => write!(f, "{} refuses '{}'", self.from, self.event),
            Verdict::ByGuard => write!(f, "{} refuses '{}' by its guard", self.from, self.event),
        }
    }
}

/// A machine or a subject that does not do what it must, whatever the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A refusal did not give back the machine as it was.
    MachineChanged {
        /// The refused step.
        step: Step,
        /// The machine before, as state, record and state data.
        was: String,
        /// The machine that came back, as state, record and state data.
        is: String,
    },
    /// A refusal did not give back the event as it was.
    EventChanged {
        /// The refused step.
        step: Step,
        /// The event before, as its `Debug` text.
        was: String,
        /// The event that came back, as its `Debug` text.
        is: String,
    },
    /// What an observer was told is not what the machine did.
    ToldOtherwise {
        /// The step.
        step: Step,
        /// The edges that the observer was told of.
        told: Vec<String>,
    },
    /// A state leads to two states by one event.
    Ambiguous {
        /// The step.
        step: Step,
        /// What an earlier machine in this state made of the event.
        before: Verdict,
    },
    /// A given edge was not taken.
    NotTaken {
        /// What was done instead.
        step: Step,
        /// The edge.
        edge: String,
    },
    /// The subject was asked for one event and gave another.
    OtherEvent {
        /// The name of the event it was asked for.
        asked: &'static str,
        /// The name of the event it gave.
        got: &'static str,
    },
    /// The subject's strategy has no value to give.
    NoPayload {
        /// The name of the event it was asked for.
        event: &'static str,
        /// Why, in the words of proptest.
        why: String,
    },
    /// The machine could not be written down, so it cannot be compared.
    Unwritable {
        /// The state it was in.
        state: &'static str,
        /// Why.
        why: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::MachineChanged { step, was, is } => {
                write!(f, "{step}, and the machine that came back is another\n    was {was}\n    is  {is}")
            }
            Fault::EventChanged { step, was, is } => {
                write!(f, "{step}, and the event that came back is another\n    was {was}\n    is  {is}")
            }
            Fault::ToldOtherwise { step, told } => {
                let told = if told.is_empty() { "nothing".to_owned() } else { told.join("; ") };
                write!(f, "{step}, and its observer was told: {told}")
            }
            Fault::Ambiguous { step, before: Verdict::Taken(to) } => {
                write!(f, "{step}, and earlier this led to {to}")
            }
            Fault::Ambiguous { step, .. } => write!(f, "{step}, and earlier the same was refused"),
            Fault::NotTaken { step, edge } => write!(f, "{step}, expected {edge}"),
            Fault::OtherEvent { asked, got } => {
                write!(f, "the subject was asked for an event '{asked}' and gave '{got}'")
            }
            Fault::NoPayload { event, why } => write!(f, "the subject has no payload for '{event}': {why}"),
            Fault::Unwritable { state, why } => write!(f, "a machine in {state} cannot be compared: {why}"),
        }
    }
}

impl std::error::Error for Fault {}

/// A runner whose values are the same each time.
pub(super) fn fixed_runner() -> TestRunner {
    TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// A payload with what proptest knows of how to make it simpler.
pub(super) type Payload<S> = Box<dyn ValueTree<Value = EventOf<S>>>;

/// A payload of that name for that machine.
pub(super) fn payload<S: Subject>(
    subject: &S,
    machine: &S::Machine,
    name: &'static str,
    runner: &mut TestRunner,
) -> Result<Payload<S>, Box<Fault>> {
    let tree = subject
        .event(machine, name)
        .new_tree(runner)
        .map_err(|why| Box::new(Fault::NoPayload { event: name, why: why.to_string() }))?;
    let got = tree.current().name();
    if got == name { Ok(tree) } else { Err(Box::new(Fault::OtherEvent { asked: name, got })) }
}

/// Gives the event to the machine.
pub(super) fn apply<M: Machine>(machine: M, event: M::Event) -> (M, Option<M::Event>, Step) {
    let (from, name) = (machine.status().name(), event.name());
    match machine.apply(event) {
        Ok(machine) => {
            let verdict = Verdict::Taken(machine.status().name());
            (machine, None, Step { from, event: name, verdict })
        }
        Err(refused) => {
            let verdict = if refused.guard().is_some() { Verdict::ByGuard } else { Verdict::NoEdge };
            let (machine, event) = refused.into_parts();
            (machine, Some(event), Step { from, event: name, verdict })
        }
    }
}

/// Gives the event to the machine, and sees that a refusal gives both back as they were.
pub(super) fn give<M>(machine: M, event: M::Event) -> Result<(M, Step), Box<Fault>>
where
    M: Machine<Record: Serialize>,
{
    let machine_was = written(&machine)?;
    let event_was = format!("{event:?}");
    let (machine, refused, step) = apply(machine, event);
    if let Some(event) = refused {
        let machine_is = written(&machine)?;
        if machine_is != machine_was {
            return Err(Box::new(Fault::MachineChanged { step, was: machine_was, is: machine_is }));
        }
        let event_is = format!("{event:?}");
        if event_is != event_was {
            return Err(Box::new(Fault::EventChanged { step, was: event_was, is: event_is }));
        }
    }
    Ok((machine, step))
}

/// All that a snapshot would hold of the machine, without its seal.
fn written<M: Machine<Record: Serialize>>(machine: &M) -> Result<String, Box<Fault>> {
    let state = machine.status().name();
    let unwritable = |why: serde_json::Error| Box::new(Fault::Unwritable { state, why: why.to_string() });
    let record = serde_json::to_string(machine.record()).map_err(unwritable)?;
    let data = machine.serialize_state(serde_json::value::Serializer).map_err(unwritable)?;
    Ok(format!("{state} {record} {data}"))
}
