//! Events that the next commit makes durable.

use std::sync::Arc;

use serde_json::Value;

use super::agent_event::AgentEvent;
use super::kind::{CallProgress, EventKind};

/// The events of a run since its last commit. Consecutive pieces of an answer are joined into one event.
#[derive(Debug, Default)]
pub(crate) struct PendingEvents {
    events: Vec<Arc<AgentEvent>>,
    /// The events of the commit itself, during the commit.
    of_commit: Vec<Arc<AgentEvent>>,
    /// Whether a commit was attempted with these events. Later pieces are not joined to them, because the store may
    /// have them already.
    is_offered: bool,
}

impl PendingEvents {
    pub(crate) fn push(&mut self, event: Arc<AgentEvent>) {
        self.is_offered = false;
        self.events.push(event);
    }

    /// Joins a piece of an answer to the pieces directly before it. Returns `false` if there are none.
    pub(crate) fn join(&mut self, seq: u64, text: &str) -> bool {
        let Some(EventKind::AnswerPieces { last, text: joined, .. }) = self.last() else { return false };
        *last = seq;
        joined.push_str(text);
        true
    }

    /// Replaces the previous progress of a call, if progress is the last event. So frequent reports take no extra
    /// space.
    pub(crate) fn join_progress(&mut self, seq: u64, call: &str, progress: &Value) -> bool {
        let Some(EventKind::ToolCallsProgress { last, progress: calls }) = self.last() else { return false };
        *last = seq;
        match calls.iter_mut().find(|known| known.call == call) {
            Some(known) => known.progress = progress.clone(),
            None => calls.push(CallProgress { call: call.to_owned(), progress: progress.clone() }),
        }
        true
    }

    /// The last event, if it may still be changed.
    fn last(&mut self) -> Option<&mut EventKind> {
        let last = self.events.last_mut().filter(|_| !self.is_offered)?;
        Arc::get_mut(last).map(|event| &mut event.kind)
    }

    /// Begins a commit with these events of its own.
    pub(crate) fn offer(&mut self, of_commit: Vec<Arc<AgentEvent>>) {
        self.is_offered = true;
        self.of_commit = of_commit;
    }

    /// Ends a failed commit.
    pub(crate) fn refused(&mut self) {
        self.of_commit.clear();
    }

    /// Ends a successful commit.
    pub(crate) fn committed(&mut self) {
        self.events.clear();
        self.of_commit.clear();
    }

    /// All events of the commit, in number order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &AgentEvent> {
        self.events.iter().chain(&self.of_commit).map(|event| &**event)
    }
}
