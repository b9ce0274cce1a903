//! Events, and the external steps that they cause.

use std::sync::Arc;

use runstate::decision::{ResumeMode, Suspension};
use runstate::run::RunStatus;
use runstate_agent::Incoming;
use runstate_agent::event::{AgentEvent, EventKind, EventSink};
use serde_json::Value;

use super::super::played::{ExternalInput, Replied};
use super::fire::answer;
use super::outside::{Outside, Ready};
use super::{Board, Inner};
use crate::file::{Act, Action, Answer, OnEvent, When};
use crate::script::IN_DOUBT;

impl EventSink for Board {
    fn emit(&self, event: &Arc<AgentEvent>) {
        let answers = {
            let mut inner = self.lock();
            inner.outside.events.push(Arc::clone(event));
            inner.note(event);
            match &event.kind {
                EventKind::RunFinished { waiting, status: RunStatus::Waiting, .. } => {
                    inner.answers(waiting.iter().map(|one| (one.call.as_str(), &one.suspension)))
                }
                _ => Vec::new(),
            }
        };
        if let Some(also) = &self.also {
            also.emit(event);
        }
        if let EventKind::ToolCallResumed { decision_id, .. } = &event.kind {
            self.tell_accepted(decision_id, event.at_ms);
        }
        if !answers.is_empty() {
            self.send(answers);
            self.changed.notify_one();
        }
        match &event.kind {
            EventKind::ToolCallSuspended { interrupt } => {
                self.asks.told(&interrupt.call, &interrupt.suspension);
                let asked = (interrupt.call.clone(), interrupt.suspension.clone());
                match self.is_committed {
                    true => self.lock().asked.push(asked),
                    false => self.reply(&asked.0, &asked.1),
                }
            }
            // A question is shown once it is committed.
            EventKind::Checkpoint { .. } => {
                let shown = std::mem::take(&mut self.lock().asked);
                shown.iter().for_each(|(call, suspension)| self.reply(call, suspension));
            }
            _ => {}
        }
        self.fire_on(event);
    }
}

impl Inner {
    fn note(&mut self, event: &AgentEvent) {
        match &event.kind {
            EventKind::RunStarted { .. } => {
                self.waiting = false;
                self.lapses_ms = None;
            }
            EventKind::RunFinished { status, waiting, .. } => {
                self.waiting = *status == RunStatus::Waiting;
                self.note_lapses(waiting.iter().map(|one| &one.suspension));
            }
            EventKind::ToolCallSuspended { interrupt } => {
                self.digests.insert(interrupt.call.clone(), interrupt.digest.clone());
            }
            _ => {}
        }
    }

    pub(super) fn note_lapses<'w>(&mut self, waiting: impl Iterator<Item = &'w Suspension>) {
        self.lapses_ms = waiting.filter_map(|suspension| suspension.expires_at_ms).min();
    }

    /// The prepared answers to the current questions; each answer is given once.
    pub(super) fn answers<'w>(
        &mut self,
        waiting: impl Iterator<Item = (&'w str, &'w Suspension)>,
    ) -> Vec<Incoming> {
        let Outside { answers, asked_for_result, .. } = &mut self.outside;
        let given = waiting.filter_map(|(call, suspension)| {
            // A question after a crash cannot be foreseen.
            let of_call = |ready: &Ready| ready.answer.call == call && suspension.action != IN_DOUBT;
            let at = answers.iter().position(of_call)?;
            if !has_what_is_asked(&answers[at].answer, suspension) {
                asked_for_result.insert(call.to_owned());
                return None;
            }
            Some(answer(answers.remove(at), suspension))
        });
        given.collect()
    }
}

/// Does an approval have a result if the question needs one?
fn has_what_is_asked(answer: &Answer, suspension: &Suspension) -> bool {
    let wants = suspension.resume_mode != ResumeMode::ReplayToolCall || suspension.response_schema.is_some();
    answer.action == Action::Deny || answer.result.is_some() || !wants
}

impl Board {
    fn tell_accepted(&self, decision_id: &str, at_ms: u64) {
        let sent = {
            let mut inner = self.lock();
            let of_id = |sent: &&mut super::Sent| match &sent.what {
                ExternalInput::Decision(incoming) => {
                    incoming.decision_id == decision_id && sent.replied.is_none()
                }
                ExternalInput::Message(_) => false,
            };
            let gone = inner.outside.sent_before;
            let Some(sent) = inner.outside.sent.iter_mut().skip(gone).find(of_id) else { return };
            sent.replied = Some(Replied { at_ms, reply: Some(runstate_agent::Reply::Accepted) });
            sent.clone()
        };
        self.tell(&sent);
    }

    /// Executes the steps that waited for the event, at once or later.
    fn fire_on(&self, event: &AgentEvent) {
        let json = {
            let inner = self.lock();
            if !inner.outside.steps.iter().any(|pending| matches!(pending.step.when, When::Event(_))) {
                return;
            }
            serde_json::to_value(event).unwrap_or(Value::Null)
        };
        {
            let mut inner = self.lock();
            for pending in &mut inner.outside.steps {
                let When::Event(on) = &pending.step.when else { continue };
                if pending.due_ms.is_none() && fits(on, &json) {
                    pending.seen += 1;
                    if pending.seen == on.nth {
                        pending.due_ms = Some(event.at_ms.saturating_add(on.after_ms));
                    }
                }
            }
        }
        // A question is not shown yet when its event is emitted: a decision comes at the same time, after its commit.
        let asks = matches!(event.kind, EventKind::ToolCallSuspended { .. });
        let is_now = |pending: &super::Pending| match &pending.step.when {
            When::Event(on) => {
                let waits = asks && matches!(pending.step.act, Act::Decide(_));
                on.after_ms == 0 && pending.due_ms.is_some() && !waits
            }
            When::AtMs(_) | When::BeforeCommit(_) | When::AfterCommit(_) => false,
        };
        while let Some(pending) = self.take_first(is_now) {
            self.fire(pending);
        }
        self.changed.notify_one();
    }
}

fn fits(on: &OnEvent, event: &Value) -> bool {
    let of_call = |call: &String| {
        let named = event.get("call").or_else(|| event.get("interrupt")?.get("call"));
        named.and_then(Value::as_str) == Some(call)
    };
    event.get("type").and_then(Value::as_str) == Some(&on.kind)
        && on.call.as_ref().is_none_or(of_call)
        && on.with.iter().all(|(field, value)| event.get(field) == Some(value))
}
