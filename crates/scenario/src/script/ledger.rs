//! What tools did, kept outside of the run: a crash does not undo it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runstate::agent::ToolContext;
use serde::Serialize;
use serde_json::Value;

/// One execution of a scripted tool. Its effect on the world is there from its beginning.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Effect {
    /// The call, as it is named in traces.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The idempotency key: `run/call/attempt`.
    pub key: String,
    /// The attempt, from 1.
    pub attempt: u32,
    /// What it was called with.
    pub arguments: Value,
    /// The decision that let it execute, if one did.
    pub decision: Option<String>,
    /// When it began, in milliseconds since the scenario did.
    pub began_ms: u64,
    /// When it ended; none if it was dropped, by a cancellation or a crash.
    pub ended_ms: Option<u64>,
}

/// What tools did, in the order in which they began. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Ledger(Arc<Mutex<Vec<Effect>>>);

impl Ledger {
    /// What was done so far.
    pub fn effects(&self) -> Vec<Effect> {
        self.lock().clone()
    }

    pub(super) fn begin(&self, tool: &str, cx: &ToolContext, attempt: u32, now_ms: u64) -> usize {
        let mut effects = self.lock();
        effects.push(Effect {
            call: cx.call().to_owned(),
            tool: tool.to_owned(),
            key: cx.idempotency_key(),
            attempt,
            arguments: cx.arguments().clone(),
            decision: cx.decision().map(|decision| decision.decision_id.clone()),
            began_ms: now_ms,
            ended_ms: None,
        });
        effects.len() - 1
    }

    pub(super) fn end(&self, effect: usize, now_ms: u64) {
        if let Some(effect) = self.lock().get_mut(effect) {
            effect.ended_ms = Some(now_ms);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Effect>> {
        // A list of what happened is whole whenever the lock is free.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
