//! The record of a play.

use std::io;
use std::sync::Arc;

use runstate::termination::TerminationReason;
use runstate::trace::Event;
use runstate_agent::event::AgentEvent;
use runstate_agent::{ActivationError, ConfigError, Incoming, Reply, RunState, StateError, StoredRun};

use crate::script::{Effect, ModelRequest};

/// The record of a play.
#[derive(Debug)]
#[non_exhaustive]
pub struct Played {
    /// The transitions; of a crashed process, the committed ones.
    pub trace: Vec<Event<'static>>,
    /// The emitted events of all processes: the next process may repeat events of a crashed one.
    pub events: Vec<Arc<AgentEvent>>,
    /// The events of the commits, as a store keeps them: the pieces of an answer are one event.
    pub committed: Vec<AgentEvent>,
    /// The external inputs and their replies.
    pub sent: Vec<Sent>,
    /// The external steps of the scenario that never happened, each with its place: they test nothing.
    pub missed: Vec<String>,
    /// The ends of the loops, in order; the last one is the end of the play.
    pub ended: Vec<Ended>,
    /// The effects of tools.
    pub effects: Vec<Effect>,
    /// The requests to the model.
    pub asked: Vec<ModelRequest>,
    /// The run at the end; its history is in its thread.
    pub state: RunState,
    /// The stored run, if there is a committer.
    pub stored: Option<StoredRun>,
    /// The number of commit tries, including failed ones.
    pub commits: u32,
    /// The duration, in milliseconds.
    pub at_ms: u64,
}

/// The end of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// It returned.
    Returned {
        /// The time.
        at_ms: u64,
        /// The reason.
        reason: TerminationReason,
        /// Errors that could no longer change the end.
        problems: Vec<String>,
    },
    /// Its end could not be committed, and was committed again.
    Unfinished {
        /// The time.
        at_ms: u64,
        /// The error.
        error: String,
    },
    /// It waited, with no further input possible.
    Waiting {
        /// The time.
        at_ms: u64,
    },
    /// It was dropped, and another loop continued.
    Dropped {
        /// The time.
        at_ms: u64,
    },
    /// Its process crashed.
    Crashed {
        /// The time.
        at_ms: u64,
    },
}

/// An external input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sent {
    /// The time.
    pub at_ms: u64,
    /// The input.
    pub what: ExternalInput,
    /// Its reply; `None` if no process remained to reply, because of a crash or the end of the run.
    pub replied: Option<Replied>,
}

/// The kind of an external input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ExternalInput {
    /// A decision.
    Decision(Box<Incoming>),
    /// A message of the user.
    Message(String),
}

/// The reply to an external input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Replied {
    /// The time of the reply.
    pub at_ms: u64,
    /// The reply; for a message `Accepted`, or `None` if the run did not take it.
    pub reply: Option<Reply>,
}

impl Sent {
    /// Was it accepted?
    pub fn is_accepted(&self) -> bool {
        self.replied.as_ref().is_some_and(|replied| replied.reply == Some(Reply::Accepted))
    }
}

/// Why a scenario could not be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// It makes no valid agent.
    #[error("{0}")]
    Config(#[source] ConfigError),
    /// There is no runtime to play it in.
    #[error("cannot make a runtime: {0}")]
    Runtime(#[source] io::Error),
    /// The run did not begin, or its end could not be committed in any try.
    #[error("{0}")]
    Activation(#[source] ActivationError),
    /// The committed data cannot be restored.
    #[error("the committed run does not restore: {0}")]
    Restore(#[source] StateError),
    /// It does not end.
    #[error(
        "the run neither ended nor waited within {after_ms} ms of its own time: a model or a tool that never \
         answers wants a `cancel` from outside"
    )]
    Endless {
        /// The duration of the play, in milliseconds of its own time.
        after_ms: u64,
    },
}
