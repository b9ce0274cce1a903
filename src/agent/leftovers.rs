//! What a suspension or a crash left of the last round.

use super::history::Message;
use super::round::Starts;
use super::state::RunState;
use super::{Agent, CommitError};
use crate::tool_call::{AnyToolCall, ToolCallStatus};

impl Agent<'_> {
    /// Settles the calls of the last answer that are in doubt, if the run was interrupted, and executes those that never
    /// started. Says whether a call moved.
    ///
    /// Behind a call that asked for a decision while it executed the rest stays `New`, as in the round. So does all where
    /// the user wrote since: they moved on from that answer.
    ///
    /// # Errors
    /// When a commit before an execution failed. Nothing of that call was executed.
    pub(super) fn begin_leftovers(
        &mut self,
        state: &mut RunState,
        flow: &mut dyn Starts,
        interrupted: bool,
    ) -> Result<bool, CommitError> {
        if state.messages.last().and_then(Message::answer).is_none() {
            return Ok(false);
        }
        let calls = state.range_of_step(state.steps);
        let before: Vec<_> = calls.clone().map(|call| state.status_of(call)).collect();
        if interrupted {
            for call in calls.clone() {
                self.settle_in_doubt(state, call);
            }
        }
        for call in calls.clone() {
            if state.status_of(call) != ToolCallStatus::New {
                if is_held_up(state, call) {
                    break;
                }
                continue;
            }
            if (self.cancelled)() {
                break;
            }
            if let Some(execution) = self.gate_new_call(state, call) {
                self.begin_call(state, flow, call, execution)?;
            }
            if is_held_up(state, call) {
                break;
            }
        }
        Ok(calls.zip(before).any(|(call, before)| state.status_of(call) != before))
    }
}

/// Does the call wait, and did it execute before it did? One that its gate suspended holds up no other.
fn is_held_up(state: &RunState, call: usize) -> bool {
    match state.calls[call].machine.get() {
        AnyToolCall::Suspended(call) => call.record().attempts() > 0,
        _ => false,
    }
}
