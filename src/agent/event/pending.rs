//! Events that the next commit makes durable.

use std::sync::Arc;

use super::agent_event::AgentEvent;
use super::kind::EventKind;

/// The events of a run since its last commit. Consecutive pieces of an answer are one of them.
#[derive(Debug, Default)]
pub(in crate::agent) struct PendingEvents {
    events: Vec<Arc<AgentEvent>>,
    /// Events of the commit itself, while it is made.
    of_commit: Vec<Arc<AgentEvent>>,
    /// Was a commit tried with these events? A later piece is not joined to them: the store may have them as they are.
    is_offered: bool,
}

impl PendingEvents {
    pub(in crate::agent) fn push(&mut self, event: Arc<AgentEvent>) {
        self.is_offered = false;
        self.events.push(event);
    }

    /// Joins a piece of an answer to the pieces right before it, if there are any.
    pub(in crate::agent) fn join(&mut self, seq: u64, text: &str) -> bool {
        let before = self.events.last_mut().filter(|_| !self.is_offered).and_then(Arc::get_mut);
        let Some(AgentEvent { kind: EventKind::AnswerPieces { last, text: joined, .. }, .. }) = before else {
            return false;
        };
        *last = seq;
        joined.push_str(text);
        true
    }

    /// A commit is tried, with these events of its own.
    pub(in crate::agent) fn offer(&mut self, of_commit: Vec<Arc<AgentEvent>>) {
        self.is_offered = true;
        self.of_commit = of_commit;
    }

    /// The commit failed.
    pub(in crate::agent) fn refused(&mut self) {
        self.of_commit.clear();
    }

    /// All are durable.
    pub(in crate::agent) fn committed(&mut self) {
        self.events.clear();
        self.of_commit.clear();
    }

    /// What the commit makes durable, in the order of the numbers.
    pub(in crate::agent) fn all(&self) -> impl Iterator<Item = &AgentEvent> {
        self.events.iter().chain(&self.of_commit).map(|event| &**event)
    }
}
