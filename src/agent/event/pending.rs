//! Events that the next commit makes durable.

use std::sync::Arc;

use serde_json::Value;

use super::agent_event::AgentEvent;
use super::kind::{CallProgress, EventKind};

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
        let Some(EventKind::AnswerPieces { last, text: joined, .. }) = self.last() else { return false };
        *last = seq;
        joined.push_str(text);
        true
    }

    /// Puts the progress of a call in the place of an older one right before it. A tool that tells much keeps no more than that.
    pub(in crate::agent) fn join_progress(&mut self, seq: u64, call: &str, progress: &Value) -> bool {
        let Some(EventKind::ToolCallsProgress { last, progress: calls }) = self.last() else { return false };
        *last = seq;
        match calls.iter_mut().find(|known| known.call == call) {
            Some(known) => known.progress = progress.clone(),
            None => calls.push(CallProgress { call: call.to_owned(), progress: progress.clone() }),
        }
        true
    }

    /// The last event, where it can still be changed.
    fn last(&mut self) -> Option<&mut EventKind> {
        let last = self.events.last_mut().filter(|_| !self.is_offered)?;
        Arc::get_mut(last).map(|event| &mut event.kind)
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

    /// All of the commit, in the order of their numbers.
    pub(in crate::agent) fn all(&self) -> impl Iterator<Item = &AgentEvent> {
        self.events.iter().chain(&self.of_commit).map(|event| &**event)
    }
}
