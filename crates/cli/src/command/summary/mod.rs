//! The summary of `runstate show RUN`, beside its trace.

mod texts;

use std::collections::HashMap;

use runstate::decision::{Decision, DecisionAction};
use runstate::run::RunStatus;
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
use texts::{Call, Texts};

/// The summary of a run. It has the texts that its outputs may show.
pub(super) struct Summary {
    loaded: Loaded,
    calls: Vec<Call>,
    /// The last answer of the model without a tool call.
    answer: Option<String>,
    /// The reason why the run cannot be restored.
    unreadable: Option<String>,
    /// The decisions, each with whether the run has taken it.
    decisions: Vec<(Decision, bool)>,
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
        let waits = waiting(opened, ApprovalFilter::Run(run.to_owned()))?;
        let Some(PendingSignals { decisions: posted, message, .. }) =
            there(opened, opened.store.pending_signals(run))?
        else {
            return Ok(None);
        };
        let Some(mut loaded) = there(opened, opened.store.load(run))? else { return Ok(None) };
        let texts = Texts::of(&mut loaded);
        let restored = loaded.stored.as_ref().map(|stored| {
            stored.restore_with(migrations::OF_RUNS, migrations::OF_CALLS).map_err(|error| error.to_string())
        });
        let (state, unreadable) = match restored {
            None => (None, None),
            Some(Ok(state)) => (Some(state), None),
            Some(Err(why)) => (None, Some(why)),
        };
        let taken = loaded.stored.iter().flat_map(|stored| stored.decisions().values());
        let mut decisions: Vec<(Decision, bool)> = taken.map(|it| (it.clone(), true)).collect();
        let is_new =
            |it: &Decision| decisions.iter().all(|(taken, _)| taken.suspension_id != it.suspension_id);
        let posted: Vec<Decision> = posted.into_iter().filter(is_new).collect();
        decisions.extend(posted.into_iter().map(|it| (it, false)));
        let is_open =
            |wait: &Approval| decisions.iter().all(|(it, _)| it.suspension_id != wait.suspension.id);
        let waits = waits.into_iter().filter(is_open).map(|wait| texts.wait(wait)).collect();
        Ok(Some(Summary {
            calls: state.iter().flat_map(RunState::calls).map(|call| texts.call(call)).collect(),
            answer: state.as_ref().and_then(answer).map(|answer| texts.text("answer", answer)),
            unreadable,
            decisions: decisions.into_iter().map(|(it, taken)| (texts.decision(it), taken)).collect(),
            message: message.map(|message| texts.message(message)),
            waits,
            loaded,
        }))
    }

    /// The run's id.
    pub(super) fn id(&self) -> &str {
        &self.loaded.info.id
    }

    /// Has no process driven it yet? Then it has no trace.
    pub(super) fn is_new(&self) -> bool {
        self.loaded.traced == 0
    }

    /// A note about a decision that the run has not taken.
    fn taken(&self, is_taken: bool) -> &'static str {
        match self.loaded.info.status {
            _ if is_taken => "",
            RunStatus::Done => " (not taken: the run ended first)",
            _ => " (not taken yet)",
        }
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
        if let Some(why) = &self.unreadable {
            line("", format!("it cannot be restored: {why}"));
        }
        for Call { name, status, tool, arguments, result, warning } in &self.calls {
            line("call", format!("{name} {status:?}: {tool} {}", cut(&exact(&plain(arguments)))));
            if let Some((what, result)) = result {
                line("", format!("{what}: {}", cut(&exact(&plain(result)))));
            }
            if let Some(warning) = warning {
                line("", format!("warning: {}", cut(&exact(warning))));
            }
        }
        for (decision, is_taken) in &self.decisions {
            line("decided", decided(decision, self.taken(*is_taken), now_ms));
        }
        for one in &self.waits {
            let doubt = if is_in_doubt(one) { " (in doubt)" } else { "" };
            let over = if one.is_expired() { ", expired" } else { "" };
            line("waits", format!("{}{doubt}{over}: {}", one.call, one.suspension.message));
        }
        if let Some(answer) = &self.answer {
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
        let calls = self.calls.iter().map(|call| {
            let mut shown =
                json!({"call": call.name, "tool": call.tool, "arguments": call.arguments, "status": call.status});
            if let Some((what, result)) = &call.result {
                shown[what] = result.clone();
            }
            if let Some(warning) = &call.warning {
                shown["warning"] = warning.as_str().into();
            }
            shown
        });
        run["calls"] = calls.collect();
        let decisions = self
            .decisions
            .iter()
            .map(|(decision, is_taken)| json!({"decision": decision, "taken": is_taken}));
        run["decisions"] = decisions.collect();
        run["answer"] = json!(self.answer);
        let thread = self.loaded.thread.as_ref();
        run["thread"] = json!(thread.map_or(&info.id, |place| &place.thread));
        run["after"] = json!(thread.and_then(|place| place.after.as_ref()));
        run["message"] =
            json!(self.message.as_ref().map(|message| {
                json!({"message": message.id, "text": message.text, "at_ms": message.at_ms})
            }));
        run["waiting"] = self.waits.iter().map(waiting_to_json).collect();
        run["unreadable"] = json!(self.unreadable);
        run["store"] = opened.url().into();
        run["folder"] = json!(Spec::of(&self.loaded).ok().and_then(|_| opened.work_of(self.id())));
        run
    }
}

impl Summary {
    /// Facts about the run and its calls, each with the lifecycle and the instance.
    pub(super) fn facts(&self, is_stable: bool) -> Vec<(&'static str, &str, Fact)> {
        let mut facts = Vec::new();
        let info = &self.loaded.info;
        let ended = info.reason.as_ref().filter(|_| info.status == RunStatus::Done);
        let of_run =
            [("answer", self.answer.as_ref()), ("ended", ended), ("cancellation", info.cancel.as_ref())];
        for (what, text) in of_run {
            facts.extend(text.map(|text| ("run", self.id(), Fact::new(what, text.as_str()))));
        }
        for Call { name, tool, arguments, result, warning, .. } in &self.calls {
            let mut add =
                |what: &str, said: String| facts.push(("tool_call", &**name, Fact::new(what, said)));
            add("tool", tool.clone());
            add("arguments", plain(arguments));
            if let Some((what, result)) = result {
                add(what, plain(result));
            }
            if let Some(warning) = warning {
                add("warning", warning.clone());
            }
        }
        let mut waits: HashMap<&str, usize> = HashMap::new();
        let mut decisions: Vec<_> = self.decisions.iter().collect();
        // A call waits for one decision after another.
        decisions.sort_by_key(|(decision, _)| decision.decided_at_ms);
        for (decision, taken) in decisions {
            let wait = waits.entry(&decision.call).or_default();
            *wait += 1;
            let mut said = brief(decision, is_stable);
            if let Some(reason) = &decision.reason {
                said.push_str(&format!(": {reason}"));
            }
            if !decision.result.is_null() {
                said.push_str(&format!(", with the result {}", plain(&decision.result)));
            }
            said.push_str(self.taken(*taken));
            facts.push(("tool_call", &decision.call, Fact::new("decision", said).of_wait(*wait)));
        }
        for waiting in &self.waits {
            let message = waiting.suspension.message.clone();
            // The id has that of the run.
            let said = match is_stable {
                true => message,
                false => format!("{message} ({})", waiting.suspension.id),
            };
            facts.push(("tool_call", &waiting.call, Fact::new("waits for", said).of_wait(usize::MAX)));
        }
        facts
    }

    /// The calls whose decision the run has not taken, each with a note.
    pub(super) fn decided(&self, is_stable: bool) -> Vec<(&str, String)> {
        let posted = self.decisions.iter().filter(|(_, is_taken)| !is_taken);
        posted.map(|(it, _)| (it.call.as_str(), brief(it, is_stable) + self.taken(false))).collect()
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

fn answer(state: &RunState) -> Option<String> {
    let turn = state.own_history().iter().rev().find_map(Message::answer)?;
    (turn.calls.is_empty() && !turn.text.is_empty()).then(|| turn.text.to_string())
}

/// A value as text: a string without quotes, another value as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
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
        result => format!(", with the result {}", cut(&exact(&plain(result)))),
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
            summary.decisions.iter().map(|(one, is_taken)| (&*one.decision_id, *is_taken)).collect();
        assert_eq!(shown, [("d1", true)]);
        assert!(summary.waits.is_empty());
    }
}
