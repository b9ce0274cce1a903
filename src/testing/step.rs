//! One event applied to one machine, and its result.

use core::fmt;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::subject::{EventOf, Subject};
use crate::kernel::{Edge, Event, Machine, Status};

/// One event applied to a machine, and its result.
///
/// ```
/// use runstate::testing::example::Doors;
/// use runstate::testing::{Verdict, event_sequences};
///
/// let sequence = event_sequences(&Doors, 2).find(|sequence| sequence.events().eq(["close", "remove"])).unwrap();
/// let [close, remove] = sequence.steps() else { panic!("two events, two steps") };
/// assert_eq!((close.to_string().as_str(), close.verdict), ("Open --> Shut : close", Verdict::Taken("Shut")));
/// assert_eq!((remove.to_string().as_str(), remove.verdict), ("Shut refuses 'remove'", Verdict::NoEdge));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The state of the machine before the event.
    pub from: &'static str,
    /// The name of the event.
    pub event: &'static str,
    /// The result.
    pub verdict: Verdict,
}

/// The result of an event on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The machine took a transition to this state.
    Taken(&'static str),
    /// The state has no transition by this event.
    NoEdge,
    /// The state has a transition by this event, and its guard refused.
    ByGuard,
}

impl Step {
    /// Returns whether the machine took a transition.
    pub fn is_taken(&self) -> bool {
        matches!(self.verdict, Verdict::Taken(_))
    }

    /// Returns whether the machine took this transition.
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

/// A violation of the contract by a machine or a subject, independent of the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A refusal did not return the machine unchanged.
    MachineChanged {
        /// The refused step.
        step: Step,
        /// The machine before, as its `Debug` text.
        was: String,
        /// The returned machine, as its `Debug` text.
        is: String,
    },
    /// A refusal did not return the event unchanged.
    EventChanged {
        /// The refused step.
        step: Step,
        /// The event before, as its `Debug` text.
        was: String,
        /// The returned event, as its `Debug` text.
        is: String,
    },
    /// The report to an observer differs from the machine's transition.
    ReportedOtherwise {
        /// The step.
        step: Step,
        /// The transitions in the report.
        told: Vec<String>,
    },
    /// A state has two target states for one event.
    Ambiguous {
        /// The step.
        step: Step,
        /// The result of the event on an earlier machine in this state.
        before: Verdict,
    },
    /// A given transition was not taken.
    NotTaken {
        /// The step instead.
        step: Step,
        /// The transition.
        edge: String,
    },
    /// The subject returned another event than the requested one.
    OtherEvent {
        /// The name of the requested event.
        asked: &'static str,
        /// The name of the returned event.
        got: &'static str,
    },
    /// The subject's strategy has no value.
    NoPayload {
        /// The name of the requested event.
        event: &'static str,
        /// The reason that proptest gave.
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
            Fault::ReportedOtherwise { step, told } => {
                let told = if told.is_empty() { "nothing".to_owned() } else { told.join("; ") };
                write!(f, "{step}, and its observer received: {told}")
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
        }
    }
}

impl std::error::Error for Fault {}

/// A deterministic runner.
pub(super) fn fixed_runner() -> TestRunner {
    TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// A payload with proptest's data for its simplification.
pub(super) type Payload<S> = Box<dyn ValueTree<Value = EventOf<S>>>;

/// Makes a payload of that name for that machine.
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

/// Applies the event to the machine.
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

/// Applies the event to the machine, and checks that a refusal returns both unchanged.
pub(super) fn give<M>(machine: M, event: M::Event) -> Result<(M, Step), Box<Fault>>
where
    M: Machine + fmt::Debug,
{
    let machine_was = format!("{machine:?}");
    let event_was = format!("{event:?}");
    let (machine, refused, step) = apply(machine, event);
    if let Some(event) = refused {
        let machine_is = format!("{machine:?}");
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
