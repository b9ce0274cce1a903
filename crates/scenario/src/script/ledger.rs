//! The effects of tools, kept outside of the run: a crash does not undo them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runstate_agent::ToolContext;
use serde::Serialize;
use serde_json::Value;

/// One execution of a scripted tool. Its external effect exists from its beginning.
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
    /// The arguments.
    pub arguments: Value,
    /// The decision that permitted it, if there is one.
    pub decision: Option<String>,
    /// Its start, in milliseconds since the scenario began.
    pub began_ms: u64,
    /// Its end; `None` if it was dropped, by a cancellation or a crash.
    pub ended_ms: Option<u64>,
}

/// The effects of tools, in the order of their start. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Ledger(Arc<Mutex<Vec<Effect>>>);

impl Ledger {
    /// The effects so far.
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
        // The list is complete whenever the lock is free.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
