//! Faults, injected to show that the judge finds them.

mod faulty;

use std::fmt;
use std::str::FromStr;

pub use faulty::Faulty;
pub(crate) use faulty::OTHER_QUESTION;

/// An injected fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A commit is acknowledged, and written a little later.
    AckBeforeWrite,
    /// A commit drops its last message.
    MessageLost,
    /// A commit drops its events.
    TraceLost,
    /// A commit drops its last event of the run.
    EventLost,
    /// A commit drops the changed values.
    ValueLost,
    /// A decision is stored without its result.
    ResultLost,
    /// A decision is stored without its actor.
    ActorLost,
    /// A message to a run is acknowledged and not stored.
    SentLost,
    /// A message to a run is stored with another text.
    SentChanged,
    /// A commit is made in two parts, one after the other.
    Torn,
    /// A commit of a worker that lost its lease succeeds.
    FenceIgnored,
    /// A decision is accepted and not stored.
    DecisionLost,
    /// A second decision on a suspension is accepted.
    SecondAccepted,
    /// A person approves again where a second person is required.
    SamePersonTwice,
    /// A decision for another question is accepted.
    OtherQuestion,
    /// A created run is stored a little later.
    RunLost,
    /// A tool that must not run twice is declared repeatable.
    SaidRepeatable,
    /// A declined call is resumed.
    DeclineTurned,
    /// A cancellation is not reported.
    CancelUntold,
    /// An expired question is not reported.
    LapseUntold,
    /// A run that a kill interrupted is not claimed again.
    LeaseForEver,
    /// A change drops its last step.
    StepLost,
    /// The answer to a request with a key is not stored.
    KeyForgotten,
    /// Renewals do not arrive. This is harmless: the fencing token alone keeps one writer for each run.
    Unrenewed,
}

impl Fault {
    /// All harmful faults of service runs.
    pub const SERVICE: [Fault; 11] = [
        Fault::AckBeforeWrite,
        Fault::TraceLost,
        Fault::EventLost,
        Fault::StepLost,
        Fault::ValueLost,
        Fault::FenceIgnored,
        Fault::DecisionLost,
        Fault::SecondAccepted,
        Fault::RunLost,
        Fault::KeyForgotten,
        Fault::LeaseForEver,
    ];

    /// All harmful faults of agent runs.
    pub const ALL: [Fault; 21] = [
        Fault::AckBeforeWrite,
        Fault::MessageLost,
        Fault::TraceLost,
        Fault::EventLost,
        Fault::ValueLost,
        Fault::ResultLost,
        Fault::ActorLost,
        Fault::SentLost,
        Fault::SentChanged,
        Fault::Torn,
        Fault::FenceIgnored,
        Fault::DecisionLost,
        Fault::SecondAccepted,
        Fault::SamePersonTwice,
        Fault::OtherQuestion,
        Fault::RunLost,
        Fault::SaidRepeatable,
        Fault::DeclineTurned,
        Fault::CancelUntold,
        Fault::LapseUntold,
        Fault::LeaseForEver,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Fault::AckBeforeWrite => "ack-before-write",
            Fault::MessageLost => "message-lost",
            Fault::TraceLost => "trace-lost",
            Fault::EventLost => "event-lost",
            Fault::ValueLost => "value-lost",
            Fault::ResultLost => "result-lost",
            Fault::ActorLost => "actor-lost",
            Fault::SentLost => "sent-lost",
            Fault::SentChanged => "sent-changed",
            Fault::Torn => "torn",
            Fault::FenceIgnored => "fence-ignored",
            Fault::DecisionLost => "decision-lost",
            Fault::SecondAccepted => "second-accepted",
            Fault::SamePersonTwice => "same-person-twice",
            Fault::OtherQuestion => "other-question",
            Fault::RunLost => "run-lost",
            Fault::SaidRepeatable => "said-repeatable",
            Fault::DeclineTurned => "decline-turned",
            Fault::CancelUntold => "cancel-untold",
            Fault::LapseUntold => "lapse-untold",
            Fault::LeaseForEver => "lease-for-ever",
            Fault::StepLost => "step-lost",
            Fault::KeyForgotten => "key-forgotten",
            Fault::Unrenewed => "unrenewed",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(name: &str) -> Result<Fault, String> {
        let others = [Fault::StepLost, Fault::KeyForgotten, Fault::Unrenewed];
        let all = || Fault::ALL.into_iter().chain(others);
        all().find(|fault| fault.name() == name).ok_or_else(|| {
            let names: Vec<&str> = all().map(Fault::name).collect();
            format!("{name:?} is no fault; there are {}", names.join(", "))
        })
    }
}
