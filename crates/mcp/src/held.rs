//! Calls that stay open while a person answers, for servers that ask in the midst of a call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::ElicitResult;
use tokio::sync::oneshot;

use crate::open_call::OpenCall;

/// The most calls that are held at once.
const MAX_HELD: usize = 64;

/// A call whose server waits for an answer.
pub(crate) struct HeldCall {
    pub(crate) call: OpenCall,
    pub(crate) answer: oneshot::Sender<ElicitResult>,
    /// The number of the hold, which ends with its time.
    number: u64,
}

/// The held calls of a server, by run and call.
#[derive(Default)]
pub(crate) struct Held(Mutex<State>);

#[derive(Default)]
struct State {
    calls: BTreeMap<String, HeldCall>,
    holds: u64,
}

impl Held {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds a call for that time. Afterwards the server is told that its question and the call are cancelled.
    ///
    /// # Errors
    /// Too many calls are held.
    pub(crate) fn hold(
        self: &Arc<Self>,
        key: String,
        call: OpenCall,
        answer: oneshot::Sender<ElicitResult>,
        time: Duration,
    ) -> Result<(), String> {
        let mut state = self.state();
        if state.calls.len() >= MAX_HELD {
            return Err(format!("it has {MAX_HELD} calls that wait for answers"));
        }
        state.holds += 1;
        let number = state.holds;
        state.calls.insert(key.clone(), HeldCall { call, answer, number });
        drop(state);
        let held = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            let Some(held) = held.upgrade() else { return };
            let mut state = held.state();
            if state.calls.get(&key).is_some_and(|call| call.number == number) {
                state.calls.remove(&key);
            }
        });
        Ok(())
    }

    /// Takes the call, if its server is still connected.
    pub(crate) fn take(&self, key: &str) -> Option<HeldCall> {
        let held = self.state().calls.remove(key)?;
        Some(held).filter(|held| !held.call.connection.is_closed() && !held.answer.is_closed())
    }
}
