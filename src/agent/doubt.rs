//! Calls that a crash left `Running` or `Resuming`: whether their tools ran is not known.

use serde_json::json;

use super::Agent;
use super::replay::replay_of;
use super::state::RunState;
use super::tool::Effect;
use crate::decision::Suspension;
use crate::tool_call::{AnyToolCall, Replay, Suspend};
use crate::tool_execution::Allow;

/// What is asked for where a call is in doubt.
pub(super) const IN_DOUBT: &str = "in_doubt";
/// The parameter that holds what the interrupted execution was called with.
pub(super) const ARGUMENTS: &str = "arguments";

impl Agent<'_> {
    /// Settles a call in doubt. One that may run twice does; of any other a person is asked, so that nothing is executed
    /// twice in silence.
    pub(super) fn settle_in_doubt(&mut self, state: &mut RunState, call: usize) {
        let arguments = match state.calls[call].machine.get() {
            AnyToolCall::Running(machine) => machine.record().arguments().clone(),
            AnyToolCall::Resuming(machine) => match replay_of(machine) {
                Replay::Execute(arguments) => arguments.clone(),
                // The decision is the result: no tool was executed, and none is.
                Replay::Supplied(_) => return self.replay_call(state, call),
            },
            AnyToolCall::New(_)
            | AnyToolCall::Suspended(_)
            | AnyToolCall::Succeeded(_)
            | AnyToolCall::Failed(_)
            | AnyToolCall::Cancelled(_) => return,
        };
        let record = state.calls[call].machine.get().record();
        if self.effect_of(state, call) == Effect::Once {
            let message = format!(
                "the run was interrupted while {} may have been executing: resume to execute it again, cancel to give \
                 the call up",
                record.tool()
            );
            let mut suspension = Suspension::new(state.suspension_id(call, None), IN_DOUBT, message);
            suspension.parameters = json!({ ARGUMENTS: arguments });
            let suspend = Suspend::new(suspension);
            state.step_call(call, |machine| match machine {
                AnyToolCall::Running(call) => call.suspend(suspend).into(),
                AnyToolCall::Resuming(call) => call.suspend(suspend).into(),
                other => other,
            });
        } else if matches!(state.calls[call].machine.get(), AnyToolCall::Resuming(_)) {
            self.replay_call(state, call);
        } else {
            let execution = self.open_execution(state, call).allow(Allow::execution());
            self.execute_running(state, call, execution, None);
        }
    }
}
