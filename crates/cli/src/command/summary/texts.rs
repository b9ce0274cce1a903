//! The texts of a run that its outputs show.

use runstate::decision::Decision;
use runstate::run::RunStatus;
use runstate::tool_call::AnyToolCall;
use runstate_store::{Approval, Loaded, RunInfo, UserMessage};
use serde_json::Value;

use crate::spec::Spec;

/// The texts of a model, of a tool and of a person. A scenario with `redact` hides them from all outputs, and so does one that
/// cannot be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texts {
    is_hidden: bool,
}

/// A call, as outputs show it.
pub(super) struct Call {
    pub(super) name: String,
    pub(super) status: runstate::tool_call::ToolCallStatus,
    pub(super) tool: String,
    pub(super) arguments: Value,
    /// The result of a finished call, under its name for programs.
    pub(super) result: Option<(&'static str, Value)>,
    pub(super) warning: Option<String>,
}

impl Texts {
    /// The texts of that run. Its title, end and cancellation are hidden.
    pub(super) fn of(loaded: &mut Loaded) -> Self {
        let scenario = match Spec::of(loaded) {
            Ok(Spec::Agent { .. }) => return Texts { is_hidden: false },
            Ok(spec) => spec.scenario().ok(),
            Err(_) => None,
        };
        let texts = Texts { is_hidden: scenario.as_ref().is_none_or(|scenario| scenario.redact) };
        // The title of a run without a description is the message of its user.
        let about = scenario.and_then(|scenario| scenario.about);
        if about.as_ref() != Some(&loaded.info.title) {
            texts.hide("title", [&mut loaded.info.title]);
        }
        texts.info(&mut loaded.info);
        texts
    }

    fn info(self, info: &mut RunInfo) {
        if info.status == RunStatus::Done {
            self.hide("reason", info.reason.iter_mut());
        }
        self.hide("reason", info.cancel.iter_mut());
    }

    pub(super) fn call(self, (name, call): (&str, &AnyToolCall)) -> Call {
        let record = call.record();
        let warning = match call {
            AnyToolCall::Succeeded(call) => call.warning().map(str::to_owned),
            _ => None,
        };
        Call {
            name: name.to_owned(),
            status: call.status(),
            tool: record.tool().to_owned(),
            arguments: self.value("arguments", record.arguments().clone()),
            result: result(call).map(|(what, result)| (what, self.value(what, result))),
            warning: warning.map(|warning| self.text("warning", warning)),
        }
    }

    pub(super) fn decision(self, mut decision: Decision) -> Decision {
        decision.reason = decision.reason.map(|reason| self.text("reason", reason));
        decision.result = self.value("result", decision.result);
        decision
    }

    pub(super) fn wait(self, mut wait: Approval) -> Approval {
        wait.arguments = self.value("arguments", wait.arguments);
        let suspension = &mut wait.suspension;
        suspension.message = self.text("message", std::mem::take(&mut suspension.message));
        suspension.parameters = self.value("parameters", std::mem::take(&mut suspension.parameters));
        wait
    }

    pub(super) fn message(self, mut message: UserMessage) -> UserMessage {
        message.text = self.text("message", message.text);
        message
    }

    /// The text, or its kind in brackets.
    pub(super) fn text(self, what: &str, text: String) -> String {
        if self.is_hidden { format!("[{what}]") } else { text }
    }

    /// The value, or its kind in brackets. The absence of a value is not hidden.
    fn value(self, what: &str, value: Value) -> Value {
        if self.is_hidden && !value.is_null() { format!("[{what}]").into() } else { value }
    }

    fn hide<'t>(self, what: &str, texts: impl IntoIterator<Item = &'t mut String>) {
        texts.into_iter().for_each(|text| *text = self.text(what, std::mem::take(text)));
    }
}

fn result(call: &AnyToolCall) -> Option<(&'static str, Value)> {
    match call {
        AnyToolCall::Succeeded(call) => Some(("output", call.output().clone())),
        AnyToolCall::Failed(call) => Some(("error", call.error().into())),
        AnyToolCall::Cancelled(call) => Some(("reason", call.reason().into())),
        AnyToolCall::New(_)
        | AnyToolCall::Running(_)
        | AnyToolCall::Suspended(_)
        | AnyToolCall::Resuming(_) => None,
    }
}
