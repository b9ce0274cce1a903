//! The summary of `runstate show RUN`, beside its trace.

use runstate::decision::{Decision, DecisionAction};
use runstate::run::RunStatus;
use runstate::tool_call::AnyToolCall;
use runstate_agent::{Message, RunState};
use runstate_governed::Timestamp;
use runstate_review::Fact;
use runstate_store::{
    Approval, ApprovalFilter, Loaded, PendingSignals, StoreError, ThreadPlace, UserMessage,
};
use serde_json::{Value, json};

use super::hand::holder;
use super::runs::{Waits, notes, to_json};
use super::time::away;
use crate::clock::unix_ms;
use crate::failure::Failure;
use crate::migrations;
use crate::output::{Output, exact, printable};
use crate::secrets::masked_path;
use crate::spec::Spec;
use crate::store::{Opened, beside, is_in_doubt, waiting, waiting_to_json};

/// The summary of a run.
pub(super) struct Summary {
    loaded: Loaded,
    /// The restored run, or the reason why it cannot be restored.
    state: Option<Result<RunState, String>>,
    /// Accepted decisions that the run has not taken.
    posted: Vec<Decision>,
    /// A message that the run has not taken.
    message: Option<UserMessage>,
    waits: Vec<Approval>,
}

impl Summary {
    /// Reads a run of that store; `None` if it has no such run.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) fn of(opened: &Opened, run: &str) -> Result<Option<Self>, Failure> {
        // In the order of a decision's path through the store: a decision that moves between two of these is in both, not in
        // neither.
        let mut waits = waiting(opened, ApprovalFilter::Run(run.to_owned()))?;
        let Some(PendingSignals { mut decisions, message, .. }) =
            there(opened, opened.store.pending_signals(run))?
        else {
            return Ok(None);
        };
        let Some(loaded) = there(opened, opened.store.load(run))? else { return Ok(None) };
        if let Some(stored) = &loaded.stored {
            decisions.retain(|posted| !stored.decisions().contains_key(&posted.suspension_id));
        }
        let state = loaded.stored.as_ref().map(|stored| {
            stored.restore_with(migrations::OF_RUNS, migrations::OF_CALLS).map_err(|error| error.to_string())
        });
        let mut summary = Summary { loaded, state, posted: decisions, message, waits: Vec::new() };
        waits
            .retain(|one| summary.decisions().all(|(decided, _)| decided.suspension_id != one.suspension.id));
        summary.waits = waits;
        Ok(Some(summary))
    }

    /// The run's id.
    pub(super) fn id(&self) -> &str {
        &self.loaded.info.id
    }

    /// Has no process driven it yet? Then it has no trace.
    pub(super) fn is_new(&self) -> bool {
        self.loaded.traced == 0
    }

    /// The decisions that the run has taken, and the ones that it has not.
    fn decisions(&self) -> impl Iterator<Item = (&Decision, bool)> {
        let taken = self.loaded.stored.iter().flat_map(|stored| stored.decisions().values());
        taken.map(|decision| (decision, true)).chain(self.posted.iter().map(|decision| (decision, false)))
    }

    /// A note about a decision that the run has not taken.
    fn taken(&self, is_taken: bool) -> &'static str {
        match self.loaded.info.status {
            _ if is_taken => "",
            RunStatus::Done => " (not taken: the run ended first)",
            _ => " (not taken yet)",
        }
    }

    /// The last answer of the model without a tool call.
    fn answer(&self) -> Option<&str> {
        let turn = self.state()?.own_history().iter().rev().find_map(Message::answer)?;
        (turn.calls.is_empty() && !turn.text.is_empty()).then_some(&*turn.text)
    }

    fn state(&self) -> Option<&RunState> {
        self.state.as_ref()?.as_ref().ok()
    }

    pub(super) fn text(&self, opened: &Opened, out: &mut Output) {
        let (info, now_ms) = (&self.loaded.info, unix_ms());
        let mut line = |what: &str, said: String| out.line(&printable(format!("{what:<9}{said}").trim_end()));
        line("run", info.id.clone());
        line("about", cut(&info.title));
        let hand = holder(info).map(|name| format!(", driven by {name}")).unwrap_or_default();
        line("status", format!("{:?}, steps {}, commits {}{hand}", info.status, info.steps, info.version));
        notes(info).into_iter().for_each(|note| line("", note));
        if let Some(ThreadPlace { thread, after }) = &self.loaded.thread {
            let behind = after.as_ref().map(|run| format!(", after {run}")).unwrap_or_default();
            line("thread", format!("{thread}{behind}"));
        }
        if let Some(message) = &self.message {
            line("message", format!("{} (not taken yet)", cut(&exact(&message.text))));
        }
        if let Some(Err(why)) = &self.state {
            line("", format!("it cannot be restored: {why}"));
        }
        for (name, call) in self.state().into_iter().flat_map(RunState::calls) {
            let record = call.record();
            line(
                "call",
                format!(
                    "{name} {:?}: {} {}",
                    call.status(),
                    record.tool(),
                    cut(&exact(&record.arguments().to_string()))
                ),
            );
            if let Some((what, said)) = came_of(call) {
                line(
                    "",
                    format!(
                        "{what}: {}",
                        cut(&exact(&said.as_str().map_or(said.to_string(), str::to_owned)))
                    ),
                );
            }
            if let Some(warning) = warning(call) {
                line("", format!("warning: {}", cut(&exact(warning))));
            }
        }
        for (decision, is_taken) in self.decisions() {
            let taken = self.taken(is_taken);
            line("decided", decided(decision, taken, now_ms));
        }
        for one in &self.waits {
            let doubt = if is_in_doubt(one) { " (in doubt)" } else { "" };
            let over = if one.is_expired() { ", expired" } else { "" };
            line("waits", format!("{}{doubt}{over}: {}", one.call, one.suspension.message));
        }
        if let Some(answer) = self.answer() {
            line("answer", cut(&exact(answer)));
        }
        line("store", opened.url());
        if let Some(folder) = opened.work_of(self.id()).filter(|_| Spec::of(&self.loaded).is_ok()) {
            line("folder", exact(&masked_path(&folder.to_string_lossy())));
        }
    }

    pub(super) fn to_json(&self, opened: &Opened) -> Value {
        let info = &self.loaded.info;
        let message = self.message.as_ref().map(|message| message.id.clone());
        let mut run = to_json(info, Waits::of(info, &self.waits, message), unix_ms());
        let calls = self.state().into_iter().flat_map(RunState::calls).map(|(name, call)| {
            let record = call.record();
            let mut shown =
                json!({"call": name, "tool": record.tool(), "arguments": record.arguments(), "status": call.status()});
            if let Some((what, said)) = came_of(call) {
                shown[what] = said;
            }
            if let Some(warning) = warning(call) {
                shown["warning"] = warning.into();
            }
            shown
        });
        run["calls"] = calls.collect();
        let decisions =
            self.decisions().map(|(decision, is_taken)| json!({"decision": decision, "taken": is_taken}));
        run["decisions"] = decisions.collect();
        run["answer"] = json!(self.answer());
        let thread = self.loaded.thread.as_ref();
        run["thread"] = json!(thread.map_or(&info.id, |place| &place.thread));
        run["after"] = json!(thread.and_then(|place| place.after.as_ref()));
        run["message"] =
            json!(self.message.as_ref().map(|message| {
                json!({"message": message.id, "text": message.text, "at_ms": message.at_ms})
            }));
        run["waiting"] = self.waits.iter().map(waiting_to_json).collect();
        run["unreadable"] = json!(self.state.as_ref().and_then(|state| state.as_ref().err()));
        run["store"] = opened.url().into();
        run["folder"] = json!(Spec::of(&self.loaded).ok().and_then(|_| opened.work_of(self.id())));
        run
    }
}

impl Summary {
    /// Facts about the run and its calls, each with the lifecycle and the instance. A scenario with `redact` hides each text of a
    /// model, of a tool and of a person: arguments, results, the answer, questions and reasons. So does one that cannot be read.
    pub(super) fn facts(&self, is_stable: bool) -> Vec<(&'static str, &str, Fact)> {
        // A scenario that cannot be read may hide texts.
        let hides = match Spec::of(&self.loaded) {
            Ok(Spec::Agent { .. }) => false,
            Ok(spec) => spec.scenario().map_or(true, |scenario| scenario.redact),
            Err(_) => true,
        };
        let value = |what: &str, value: &Value| match hides {
            true => format!("[{what}]"),
            false => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        };
        let mut facts = Vec::new();
        if let Some(answer) = self.answer() {
            facts.push(("run", self.id(), Fact::new("answer", value("answer", &answer.into()))));
        }
        let info = &self.loaded.info;
        if let Some(reason) = info.reason.as_ref().filter(|_| info.status == RunStatus::Done) {
            facts.push(("run", self.id(), Fact::new("ended", value("reason", &reason.as_str().into()))));
        }
        if let Some(reason) = &info.cancel {
            facts.push((
                "run",
                self.id(),
                Fact::new("cancellation", value("reason", &reason.as_str().into())),
            ));
        }
        for (name, call) in self.state().into_iter().flat_map(RunState::calls) {
            let record = call.record();
            let mut add = |what: &str, said: String| facts.push(("tool_call", name, Fact::new(what, said)));
            add("tool", record.tool().to_owned());
            add("arguments", value("arguments", record.arguments()));
            if let Some((what, said)) = came_of(call) {
                add(what, value(what, &said));
            }
            if let Some(said) = warning(call) {
                add("warning", value("warning", &said.into()));
            }
        }
        for (decision, taken) in self.decisions() {
            let mut said = brief(decision, is_stable);
            if let Some(reason) = &decision.reason {
                said.push_str(&format!(": {}", value("reason", &reason.as_str().into())));
            }
            if !decision.result.is_null() {
                said.push_str(&format!(", with the result {}", value("result", &decision.result)));
            }
            said.push_str(self.taken(taken));
            facts.push(("tool_call", &decision.call, Fact::new("decision", said)));
        }
        for waiting in &self.waits {
            let message = value("message", &waiting.suspension.message.as_str().into());
            // The id has that of the run.
            let said = match is_stable {
                true => message,
                false => format!("{message} ({})", waiting.suspension.id),
            };
            facts.push(("tool_call", &waiting.call, Fact::new("waits for", said)));
        }
        facts
    }

    /// The calls whose decision the run has not taken, each with a note.
    pub(super) fn decided(&self, is_stable: bool) -> Vec<(&str, String)> {
        let posted = self.posted.iter();
        posted.map(|it| (it.call.as_str(), brief(it, is_stable) + self.taken(false))).collect()
    }
}

/// The data of a run; `None` if there is no such run.
fn there<T: Send>(
    opened: &Opened,
    asked: impl Future<Output = Result<T, StoreError>> + Send,
) -> Result<Option<T>, Failure> {
    match beside(opened.handle(), asked) {
        Err(StoreError::NoRun { .. }) => Ok(None),
        // An existing unreadable run reports its own error.
        found => found.map(Some).map_err(|error| opened.failure(&error)),
    }
}

/// The result of a finished call, under its name for programs.
fn came_of(call: &AnyToolCall) -> Option<(&'static str, Value)> {
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

fn warning(call: &AnyToolCall) -> Option<&str> {
    let AnyToolCall::Succeeded(call) = call else { return None };
    call.warning()
}

/// The beginning of a long text, for a line.
fn cut(text: &str) -> String {
    const SHOWN: usize = 500;
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => {
            let more = text[at..].chars().count();
            format!("{}… ({more} more characters: --format json has all)", &text[..at])
        }
        None => text.to_owned(),
    }
}

fn action(decision: &Decision) -> &'static str {
    match decision.action {
        DecisionAction::Resume => "approved",
        DecisionAction::Cancel => "denied",
    }
}

/// The decision with its actor and its time. A stable text has no time.
fn brief(decision: &Decision, is_stable: bool) -> String {
    let by = decision.actor.as_ref().map(|actor| format!(" by {actor}")).unwrap_or_default();
    let at = match is_stable {
        true => String::new(),
        false => format!(", at {}", Timestamp::from_ms(decision.decided_at_ms)),
    };
    format!("{}{by}{at}", action(decision))
}

fn decided(decision: &Decision, taken: &str, now_ms: u64) -> String {
    let action = action(decision);
    let by = decision.actor.as_ref().map(|actor| format!(" by {actor}")).unwrap_or_default();
    let when = away(now_ms, decision.decided_at_ms);
    let reason = decision.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let result = match &decision.result {
        Value::Null => String::new(),
        result => format!(", with the result {}", cut(&exact(&result.to_string()))),
    };
    format!("{} {action}{by} {when}{result}{taken}{reason}", decision.call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Between;

    #[test]
    fn a_decision_that_is_taken_meanwhile_is_shown_once() {
        let opened = Between::opened();
        let summary = Summary::of(&opened, "pay-1").unwrap().unwrap();
        let shown: Vec<_> =
            summary.decisions().map(|(one, is_taken)| (&*one.decision_id, is_taken)).collect();
        assert_eq!(shown, [("d1", true)]);
        assert!(summary.waits.is_empty());
    }
}
