//! The messages of the user and the model in a record.

use runstate::run::AnyRun;
use runstate::termination::TerminationReason;
use runstate::turn::CallRequest;
use runstate_agent::Message;
use runstate_agent::answer::Usage;
use runstate_agent::event::{AgentEvent, EventKind};
use serde_json::Value;

use super::{Record, pieces};
use crate::file::{Call, Ending, Turn};

/// The upper limit of calls of an answer in a scenario.
const MOST_CALLS: usize = 10_000;

/// The first message of the user.
pub(super) fn first_message(record: &Record<'_>) -> Option<String> {
    user_messages(record).next().map(str::to_owned)
}

/// The messages of the user, in order.
pub(super) fn user_messages<'r>(record: &Record<'r>) -> impl Iterator<Item = &'r str> {
    record.state.own_history().iter().filter_map(|message| match message {
        Message::User(text) => Some(&**text),
        _ => None,
    })
}

/// The answers, step by step: from the base where it has one, else from the record.
pub(super) fn turns(record: &Record<'_>) -> Vec<Turn> {
    let mut turns = record.base.model.clone();
    let said = record.state.own_history().iter().filter_map(|message| match message {
        Message::Assistant(turn) => Some(turn),
        _ => None,
    });
    let finished = record.events.iter().enumerate().filter_map(|(at, event)| match &event.kind {
        EventKind::InferenceFinished { step, usage, finish } => Some((at, *step, *usage, finish.clone())),
        _ => None,
    });
    for ((at, step, usage, finish), said) in finished.zip(said) {
        let place = (step as usize).saturating_sub(1);
        if place < record.base.model.len() {
            continue;
        }
        turns.resize_with(turns.len().max(place + 1), || Turn::text(""));
        turns[place] = Turn {
            text: Some(said.text.clone()).filter(|text| !text.is_empty()),
            calls: said.calls.iter().map(call).collect(),
            usage: Some(usage),
            finish: Some(finish),
            ..Turn::default()
        };
        pieces::time(&mut turns[place], step, &record.events[..=at], record.base.redact);
    }
    unanswered(record, &mut turns);
    turns
}

/// The answer in which the run ended has no message.
fn unanswered(record: &Record<'_>, turns: &mut Vec<Turn>) {
    let asked = record.events.iter().rev().find_map(|event| match event.kind {
        EventKind::InferenceStarted { step } => Some(step as usize),
        _ => None,
    });
    // A scenario has a turn, even if its model is never asked.
    let asked = asked.unwrap_or(1).max(1);
    if turns.get(asked - 1).is_some_and(|turn| *turn != Turn::default()) {
        return;
    }
    let begun = record.events.iter().rposition(|it| matches!(it.kind, EventKind::InferenceStarted { .. }));
    let inference = begun.map(|begun| &record.events[begun..]).unwrap_or_default();
    let text: String = inference
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::AnswerPieces { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let finished = inference.iter().position(|it| matches!(it.kind, EventKind::InferenceFinished { .. }));
    let (usage, finish) = match finished.map(|at| &inference[at].kind) {
        Some(EventKind::InferenceFinished { usage, finish, .. }) => (Some(*usage), Some(finish.clone())),
        _ => (None, None),
    };
    let ends = if finished.is_some() { Ending::Finish } else { ending(record) };
    let usage = usage.or_else(|| spent(record));
    let is_silent = text.is_empty() && ends != Ending::Finish;
    let (text, calls) = (Some(text).filter(|_| !is_silent), begun_calls(record, inference));
    let until = finished.unwrap_or(inference.len().saturating_sub(1));
    turns.resize_with(turns.len().max(asked), || Turn::text(""));
    turns[asked - 1] = Turn { text, calls, usage, finish, ends, ..Turn::default() };
    let until_end = &record.events[..(begun.unwrap_or(0) + until + 1).min(record.events.len())];
    let step = u32::try_from(asked).unwrap_or(u32::MAX);
    pieces::time(&mut turns[asked - 1], step, until_end, record.base.redact);
}

/// The tokens of the last process that belong to none of its answers. A process that goes on after a crash goes on with
/// the number of the activation, and not with its tokens.
fn spent(record: &Record<'_>) -> Option<Usage> {
    let last = record.events.last()?;
    let EventKind::RunFinished { used, .. } = &last.kind else { return None };
    let begun = record.events.iter().rposition(|it| matches!(it.kind, EventKind::RunStarted { .. }))?;
    let left = record.events[begun..].iter().fold(*used, |left, event| match &event.kind {
        EventKind::InferenceFinished { usage, .. } => Usage {
            input_tokens: left.input_tokens.saturating_sub(usage.input_tokens),
            output_tokens: left.output_tokens.saturating_sub(usage.output_tokens),
        },
        _ => left,
    });
    Some(left).filter(|left| *left != Usage::default())
}

/// The calls of an answer without a message. Their number is in the reason of a run whose answer broke off. Otherwise
/// the record shows at most that pieces without a text came. No more is known of them.
fn begun_calls(record: &Record<'_>, inference: &[AgentEvent]) -> Vec<Call> {
    let is_part =
        |event: &&AgentEvent| matches!(&event.kind, EventKind::AnswerPieces { text, .. } if text.is_empty());
    let shown = inference.iter().filter(is_part).count();
    let count = broken_calls(record).unwrap_or(0).max(shown).min(MOST_CALLS);
    (1..=count).map(|nth| Call::new(format!("begun-{nth}"), "begun")).collect()
}

/// The number of calls of an answer that broke off, from the reason of its run.
fn broken_calls(record: &Record<'_>) -> Option<usize> {
    let AnyRun::Done(run) = record.state.run() else { return None };
    let TerminationReason::Error(why) = run.reason() else { return None };
    let broken = why.strip_prefix("the model's stream ended without a finish, after ")?;
    broken.split_once("bytes of text and ")?.1.split(' ').next()?.parse().ok()
}

/// The end of an unfinished answer, by the reason of its run.
fn ending(record: &Record<'_>) -> Ending {
    let AnyRun::Done(run) = record.state.run() else { return Ending::Never };
    let TerminationReason::Error(why) = run.reason() else { return Ending::Never };
    if let Some(error) = why.strip_prefix("the model did not answer: ") {
        return Ending::Error(error.to_owned());
    }
    match why.strip_prefix("the model panicked: ") {
        Some(message) => Ending::Panic(message.to_owned()),
        None => Ending::Cut,
    }
}

fn call(said: &CallRequest) -> Call {
    let mut call = Call::new(&*said.id, &*said.tool);
    match &said.arguments {
        Value::Object(arguments) if said.unreadable.is_none() => call.arguments.clone_from(arguments),
        Value::String(raw) if said.unreadable.is_some() => call.raw = Some(raw.clone()),
        other => call.raw = Some(other.to_string()),
    }
    call
}
