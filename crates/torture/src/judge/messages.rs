//! The message log: the log of the previous runs of its thread, one question, an answer for each step, after each answer one
//! result for each call; each result equals the result of its call. A message that superseded a question stands after an
//! answer, once.

use std::collections::HashMap;

use runstate::tool_call::{AnyToolCall, CallKey};
use runstate_agent::{Message, ResultContent};

use super::Violation;
use super::book::LedgerIndex;
use super::run::Seen;

pub(super) fn judge(seen: &Seen, book: &LedgerIndex<'_>, wrong: &mut Vec<Violation>) {
    let Some(state) = &seen.state else { return };
    let mut say = |what: String| wrong.push(Violation::new("messages", &*seen.id, what));
    let calls: HashMap<CallKey, &AnyToolCall> =
        state.calls().map(|(_, call)| (call.record().key(), call)).collect();
    let earlier = seen.before.as_ref().map_or(&[][..], |before| before.history());
    let (before, own) = state.history().split_at(earlier.len().min(state.history().len()));
    if before != earlier {
        say("it does not begin with the messages of its thread".to_owned());
    }
    let mut messages = own.iter().peekable();
    if !matches!(messages.next(), Some(Message::User(text)) if **text == *crate::drive::MESSAGE) {
        say("it does not begin with the message of the user".to_owned());
    }
    let mut step = 0;
    let mut heard: Vec<&str> = Vec::new();
    while let Some(message) = messages.next() {
        if let Message::User(text) = message {
            heard.push(text);
            continue;
        }
        let Message::Assistant(turn) = message else {
            say(format!("this follows no answer: {message:?}"));
            continue;
        };
        step += 1;
        for (ordinal, request) in (0..).zip(&turn.calls) {
            let key = CallKey { step, ordinal };
            let said = match messages.next_if(|next| matches!(next, Message::Result(_) | Message::Open(_))) {
                Some(Message::Result(result)) if (result.key, &result.id) == (key, &request.id) => {
                    Some(&result.content)
                }
                Some(Message::Open(open)) if open.id() == request.id && !seen.is_over() => None,
                other => {
                    say(format!("in the place of the result of call {key} stands {other:?}"));
                    continue;
                }
            };
            match calls.get(&key) {
                Some(call) if agree(call, said) => {}
                Some(call) => say(format!("call {key} is {}, and its result is {said:?}", call.status())),
                None => say(format!("there is no call {key}")),
            }
        }
    }
    for (at, message) in heard.iter().enumerate() {
        if !book.was_sent(message) || heard[..at].contains(message) {
            say(format!("it has the message {message}, which was not sent, or which it has twice"));
        }
    }
    for message in book.messaged(&seen.id) {
        let is_there = heard.contains(message) || seen.message.as_deref() == Some(message);
        if !is_there && !seen.ended_as("cancelled") {
            say(format!("the message {message} was acknowledged, and is not there"));
        }
    }
    let steps = seen.script.steps.len() + 1;
    if seen.ended_as("natural_end") && step as usize != steps {
        say(format!("it has {step} answers, and the model gave {steps}"));
    }
}

fn agree(call: &AnyToolCall, said: Option<&ResultContent>) -> bool {
    match (call, said) {
        (AnyToolCall::Succeeded(call), Some(ResultContent::Output { value, .. })) => call.output() == value,
        (AnyToolCall::Failed(call), Some(ResultContent::Error(error))) => call.error() == error,
        (AnyToolCall::Cancelled(call), Some(ResultContent::Error(error))) => call.reason() == error,
        // It never executed, and the run is over.
        (AnyToolCall::New(_), Some(ResultContent::Error(_))) => true,
        (AnyToolCall::Succeeded(_) | AnyToolCall::Failed(_) | AnyToolCall::Cancelled(_), _) => false,
        (_, said) => said.is_none(),
    }
}
