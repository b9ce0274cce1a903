//! A conversation, which outlives its runs.

use super::history::{History, Message};
use super::keys::Values;

/// A conversation: its messages, and the state of plugins and tools for it. A run takes a thread and returns it at
/// its end.
///
/// ```
/// use runstate_agent::{RunState, Thread};
///
/// let state = RunState::on_thread("r1", Thread::new("t1"));
/// assert_eq!(state.thread().id(), "t1");
///
/// // A run that is not over keeps its thread.
/// assert!(state.into_thread().is_err());
/// ```
#[derive(Debug, Clone)]
pub struct Thread {
    pub(super) id: std::sync::Arc<str>,
    pub(super) history: History,
    pub(super) values: Values,
}

impl Thread {
    /// Creates an empty conversation.
    pub fn new(id: impl Into<std::sync::Arc<str>>) -> Self {
        Thread { id: id.into(), history: History::default(), values: Values::default() }
    }

    /// The thread's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The messages.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The last answer of a model.
    pub fn last_answer(&self) -> Option<&std::sync::Arc<runstate::turn::Turn>> {
        self.history.iter().rev().find_map(Message::answer)
    }
}
