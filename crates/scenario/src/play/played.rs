//! What was played.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use runstate::agent::event::AgentEvent;
use runstate::agent::{ActivationError, ConfigError, Incoming, Reply, RunState, StateError, StoredRun};
use runstate::termination::TerminationReason;
use runstate::trace::Event;

use crate::script::{Asked, Effect};

/// What was played.
#[derive(Debug)]
#[non_exhaustive]
pub struct Played {
    /// The transitions. Of a process that crashed, those that were committed.
    pub trace: Vec<Event<'static>>,
    /// The events that were told, in all processes: those of one that crashed may be told again by the next.
    pub events: Vec<Arc<AgentEvent>>,
    /// The events of the commits, as a store keeps them: pieces of an answer are one event.
    pub committed: Vec<AgentEvent>,
    /// What came from outside, and what became of it.
    pub sent: Vec<Sent>,
    /// What the scenario says of the outside that never came about, each with its place: it tests nothing.
    pub missed: Vec<String>,
    /// How each loop ended, in order; the last is the end of the play.
    pub ended: Vec<Ended>,
    /// What tools did.
    pub effects: Vec<Effect>,
    /// What the model was asked.
    pub asked: Vec<Asked>,
    /// The run in the end; its history is in its thread.
    pub state: RunState,
    /// The run as it is stored, where commits are kept.
    pub stored: Option<StoredRun>,
    /// Tries of commits, those that failed included.
    pub commits: u32,
    /// How long it all took, in milliseconds.
    pub at_ms: u64,
}

/// How a loop ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// It returned.
    Returned {
        /// When.
        at_ms: u64,
        /// Why.
        reason: TerminationReason,
        /// What went wrong where it could not change the end any more.
        problems: Vec<String>,
    },
    /// Its end could not be committed, and was committed again.
    Unfinished {
        /// When.
        at_ms: u64,
        /// Why.
        error: String,
    },
    /// It waited, with nothing to come that it could wait for.
    Waiting {
        /// When.
        at_ms: u64,
    },
    /// It was dropped, and another went on.
    Dropped {
        /// When.
        at_ms: u64,
    },
    /// Its process crashed.
    Crashed {
        /// When.
        at_ms: u64,
    },
}

/// Something that came from outside.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sent {
    /// When.
    pub at_ms: u64,
    /// What.
    pub what: What,
    /// What became of it; none where nobody was there to say so, because of a crash or the end of the run.
    pub replied: Option<Replied>,
}

/// What came from outside.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum What {
    /// A decision.
    Decision(Box<Incoming>),
    /// A message of the user.
    Message(String),
}

/// What became of something that came from outside.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Replied {
    /// When it was known.
    pub at_ms: u64,
    /// The reply; for a message `Accepted`, or none if the run did not take it.
    pub reply: Option<Reply>,
}

impl Sent {
    /// Was it accepted?
    pub fn is_accepted(&self) -> bool {
        self.replied.as_ref().is_some_and(|replied| replied.reply == Some(Reply::Accepted))
    }
}

/// Why a scenario could not be played.
#[derive(Debug)]
#[non_exhaustive]
pub enum PlayError {
    /// It makes no agent.
    Config(ConfigError),
    /// There is no runtime to play it in.
    Runtime(io::Error),
    /// The run did not begin, or its end could not be committed however often it was tried.
    Activation(ActivationError),
    /// What was committed does not come back.
    Restore(StateError),
    /// It does not come to an end.
    Endless {
        /// How long it was played, in milliseconds of its own time.
        after_ms: u64,
    },
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayError::Config(error) => error.fmt(f),
            PlayError::Runtime(error) => write!(f, "cannot make a runtime: {error}"),
            PlayError::Activation(error) => error.fmt(f),
            PlayError::Restore(error) => write!(f, "what was committed does not come back: {error}"),
            PlayError::Endless { after_ms } => write!(
                f,
                "the run neither ended nor waited within {after_ms} ms of its own time: a model or a tool that never \
                 answers wants a `cancel` from outside"
            ),
        }
    }
}

impl Error for PlayError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            PlayError::Config(error) => Some(error),
            PlayError::Runtime(error) => Some(error),
            PlayError::Activation(error) => Some(error),
            PlayError::Restore(error) => Some(error),
            PlayError::Endless { .. } => None,
        }
    }
}
