//! The messages of the user and the model in a record.

use runstate::run::AnyRun;
use runstate::termination::TerminationReason;
use runstate::turn::CallRequest;
use runstate_agent::Message;
use runstate_agent::answer::Usage;
use runstate_agent::event::{AgentEvent, EventKind};
use serde_json::Value;

use super::Record;
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
        let (after_ms, pause_ms) = silences(&record.events[..=at]);
        turns.resize_with(turns.len().max(place + 1), || Turn::text(""));
        turns[place] = Turn {
            text: Some(said.text.clone()).filter(|text| !text.is_empty()),
            calls: said.calls.iter().map(call).collect(),
            usage: Some(usage),
            finish: Some(finish),
            after_ms,
            pause_ms,
            ..Turn::default()
        };
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
    let (text, calls) = (Some(text).filter(|_| !is_silent), begun_calls(record));
    let until = finished.unwrap_or(inference.len().saturating_sub(1));
    let (after_ms, pause_ms) = silences(inference.get(..=until).unwrap_or_default());
    turns.resize_with(turns.len().max(asked), || Turn::text(""));
    turns[asked - 1] = Turn { text, calls, usage, finish, ends, after_ms, pause_ms, ..Turn::default() };
}

/// The tokens of the last activation that belong to none of its answers.
fn spent(record: &Record<'_>) -> Option<Usage> {
    let last = record.events.last()?;
    let EventKind::RunFinished { used, .. } = &last.kind else { return None };
    let of_answers = record.events.iter().filter(|event| event.activation == last.activation);
    let left = of_answers.fold(*used, |left, event| match &event.kind {
        EventKind::InferenceFinished { usage, .. } => Usage {
            input_tokens: left.input_tokens.saturating_sub(usage.input_tokens),
            output_tokens: left.output_tokens.saturating_sub(usage.output_tokens),
        },
        _ => left,
    });
    Some(left).filter(|left| *left != Usage::default())
}

/// The calls of an answer that broke off. The reason of the run has their number, and no more is known.
fn begun_calls(record: &Record<'_>) -> Vec<Call> {
    let AnyRun::Done(run) = record.state.run() else { return Vec::new() };
    let TerminationReason::Error(why) = run.reason() else { return Vec::new() };
    let broken = why.strip_prefix("the model's stream ended without a finish, after ");
    let count = broken
        .and_then(|broken| broken.split_once("bytes of text and "))
        .and_then(|(_, rest)| rest.split(' ').next()?.parse().ok())
        .filter(|count| *count <= MOST_CALLS);
    (1..=count.unwrap_or(0_usize)).map(|nth| Call::new(format!("begun-{nth}"), "begun")).collect()
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

/// The silence of the model before its first piece, and the further silence until its end.
fn silences(until_finish: &[AgentEvent]) -> (u64, u64) {
    let begun = until_finish.iter().rposition(|it| matches!(it.kind, EventKind::InferenceStarted { .. }));
    let inference = &until_finish[begun.unwrap_or(0)..];
    let [first, .., last] = inference else { return (0, 0) };
    let piece = inference.iter().find(|it| matches!(it.kind, EventKind::AnswerPieces { .. }));
    let until_piece = piece.unwrap_or(last).at_ms.saturating_sub(first.at_ms);
    (until_piece, last.at_ms.saturating_sub(first.at_ms).saturating_sub(until_piece))
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
