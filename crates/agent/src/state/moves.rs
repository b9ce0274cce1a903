//! Changes of a run: messages, calls, and the history for the model.

use std::sync::Arc;

use runstate::tool_call::{AnyToolCall, CallKey, Cancel, CancelCause};
use runstate::turn::Turn;

use super::super::ObserverFactory;
use super::super::history::{CallResult, Message, OpenCall, ResultContent};
use super::super::tool::ToolSpec;
use super::RunState;

impl RunState {
    /// Adds a message that is not a result.
    pub(crate) fn say(&mut self, message: Message) {
        self.unsaved.push(message.clone());
        self.thread.history.push(message);
    }

    /// Adds an answer: its message, its calls, and placeholders for their results. `chosen` are the offered tools;
    /// `None` means all tools.
    pub(crate) fn answered(
        &mut self,
        step: u32,
        chosen: Option<&[Arc<ToolSpec>]>,
        turn: &Arc<Turn>,
        watch: &dyn ObserverFactory,
    ) {
        self.steps = step;
        self.offer.keep(chosen);
        self.unread = false;
        self.say(Message::Assistant(Arc::clone(turn)));
        for (ordinal, request) in (0..).zip(&turn.calls) {
            let open = OpenCall::new(Arc::clone(turn), ordinal, NOT_EXECUTED);
            let place = self.thread.history.push(Message::Open(open));
            self.calls.add(CallKey { step, ordinal }, request, place, watch);
        }
    }

    /// Applies a transition to a call, and updates the history for the model.
    pub(crate) fn step_call(&mut self, call: usize, step: impl FnOnce(AnyToolCall) -> AnyToolCall) {
        self.calls.step(call, step);
        let moved = &self.calls[call];
        match moved.machine.get() {
            AnyToolCall::Succeeded(_) | AnyToolCall::Failed(_) | AnyToolCall::Cancelled(_) => {
                if let Some(content) = content_of(moved.machine.get()) {
                    self.settle(call, content);
                }
            }
            AnyToolCall::Suspended(_) => self.explain(call, WAITING),
            AnyToolCall::New(_) | AnyToolCall::Running(_) | AnyToolCall::Resuming(_) => {}
        }
    }

    fn settle(&mut self, call: usize, content: ResultContent) {
        let call = &self.calls[call];
        if !self.thread.history.is_open(call.place) {
            return;
        }
        let record = call.record();
        let result = CallResult { key: record.key(), id: record.id().to_owned(), content };
        let message = Message::Result(Arc::new(result));
        self.unsaved.push(message.clone());
        self.thread.history.set(call.place, message);
        self.unread = true;
    }

    fn explain(&mut self, call: usize, why: &'static str) {
        let place = self.calls[call].place;
        if let Some(Message::Open(open)) = self.thread.history.get(place) {
            let open = OpenCall { why, ..open.clone() };
            self.thread.history.set(place, Message::Open(open));
        }
    }

    /// Cancels the calls that wait or execute, because a run that is over has none. Calls that never started stay
    /// `New`: they have no transition to `Cancelled`. The model reads that they were not executed. The reason for a
    /// call in doubt mentions the doubt, because no other record of it remains.
    pub(crate) fn cancel_open_calls(&mut self, why: (&str, CancelCause), in_doubt: &[usize]) -> Vec<usize> {
        let open = self.calls.open().to_vec();
        for call in &open {
            let cancel = self.cancel_of(*call, why, in_doubt.contains(call));
            self.step_call(*call, |machine| match machine {
                AnyToolCall::Running(call) => call.cancel(cancel).into(),
                AnyToolCall::Suspended(call) => call.cancel(cancel).into(),
                AnyToolCall::Resuming(call) => call.cancel(cancel).into(),
                other @ (AnyToolCall::New(_)
                | AnyToolCall::Succeeded(_)
                | AnyToolCall::Failed(_)
                | AnyToolCall::Cancelled(_)) => other,
            });
        }
        for call in self.startable() {
            self.settle(call, ResultContent::Error(NOT_EXECUTED.to_owned()));
        }
        open
    }

    /// Creates the cancellation of a call, with the [reason](Self::reason_of) that the model reads.
    fn cancel_of(&self, call: usize, (reason, cause): (&str, CancelCause), in_doubt: bool) -> Cancel {
        Cancel::new(self.reason_of(call, reason, in_doubt)).because(cause)
    }

    /// The reason for the end of a call without a result. If a crash may have cut off its tool, the reason says so: the
    /// model must not assume that nothing happened.
    pub(crate) fn reason_of(&self, call: usize, reason: &str, in_doubt: bool) -> String {
        // The outcome of a replay does not tell the effects of the call before its question.
        let asked = match self.calls[call].machine.get() {
            AnyToolCall::Suspended(call) => Some(call.suspension()),
            AnyToolCall::Resuming(call) => Some(call.suspension()),
            AnyToolCall::Running(call) => call.replayed().map(|(asked, _)| asked),
            AnyToolCall::New(_)
            | AnyToolCall::Succeeded(_)
            | AnyToolCall::Failed(_)
            | AnyToolCall::Cancelled(_) => None,
        };
        let in_doubt = in_doubt || asked.is_some_and(|asked| asked.doubted_arguments().is_some());
        if in_doubt { format!("{reason}; {UNKNOWN}") } else { reason.to_owned() }
    }
}

const UNKNOWN: &str =
    "the run was interrupted while its tool may have been executing: its effect is not known";

pub(super) const WAITING: &str = "waiting for a decision";
pub(super) const NOT_EXECUTED: &str = "not executed";

pub(super) fn content_of(call: &AnyToolCall) -> Option<ResultContent> {
    match call {
        AnyToolCall::Succeeded(call) => Some(ResultContent::Output {
            value: call.output().clone(),
            warning: call.warning().map(str::to_owned),
        }),
        AnyToolCall::Failed(call) => Some(ResultContent::Error(call.error().to_owned())),
        AnyToolCall::Cancelled(call) => Some(ResultContent::Error(call.reason().to_owned())),
        AnyToolCall::New(_)
        | AnyToolCall::Running(_)
        | AnyToolCall::Suspended(_)
        | AnyToolCall::Resuming(_) => None,
    }
}
