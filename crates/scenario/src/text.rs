//! A play as text, for review and for comparison in CI.

mod messages;
mod outside;

use std::fmt::Write;

use runstate::trace::Event;
use runstate_agent::event::AgentEvent;
use serde_json::Value;

use crate::play::{Ended, Played};
use crate::script::Effect;

/// Writes a play as text: its end, the transitions with their times, events, external inputs, effects of tools, requests to
/// the model, and messages. Equal plays give equal texts.
pub fn to_text(played: &Played) -> String {
    let mut text = String::new();
    section(&mut text, "ended", played.ended.iter().map(ended));
    section(&mut text, "transitions", played.trace.iter().map(transition));
    section(&mut text, "from outside", played.sent.iter().map(outside::line));
    section(&mut text, "tools", played.effects.iter().map(effect));
    section(&mut text, "model", messages::asked(&played.asked).into_iter());
    section(&mut text, "said", played.state.history().iter().map(messages::line));
    section(&mut text, "events", played.events.iter().map(|event| told(event)));
    text
}

fn section(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return;
    }
    let gap = if text.is_empty() { "" } else { "\n" };
    put(text, format_args!("{gap}{title}\n"));
    for line in lines {
        put(text, format_args!("{}\n", one_line(&line)));
    }
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).unwrap_or_else(|_| unreachable!("a text takes all"));
}

/// Keeps a line on one line, whatever a scenario contains.
fn one_line(line: &str) -> String {
    line.trim_end().replace('\r', "\\r").replace('\n', "\\n")
}

/// A time, aligned within its section.
fn at(ms: u64) -> String {
    format!("{ms:>8} ms")
}

fn ended(ended: &Ended) -> String {
    match ended {
        Ended::Returned { at_ms, reason, problems } => {
            let problems: String = problems.iter().map(|problem| format!("; {problem}")).collect();
            format!("{}  {reason}{problems}", at(*at_ms))
        }
        Ended::Unfinished { at_ms, error } => format!("{}  its end is not committed: {error}", at(*at_ms)),
        Ended::Dropped { at_ms } => format!("{}  its loop is dropped", at(*at_ms)),
        Ended::Waiting { at_ms } => format!("{}  it waits, and nothing comes", at(*at_ms)),
        Ended::Crashed { at_ms } => format!("{}  its process crashes", at(*at_ms)),
    }
}

fn transition(event: &Event<'_>) -> String {
    let instance = format!("{} {}", event.lifecycle, event.instance);
    format!("{}  {instance:<32} {event}", at(event.at_ms))
}

fn effect(effect: &Effect) -> String {
    let decision = effect.decision.as_ref().map(|id| format!(", decided by {id}")).unwrap_or_default();
    let until = match effect.ended_ms {
        Some(ended_ms) => format!("until {ended_ms} ms"),
        None => "never ended".to_owned(),
    };
    let Effect { call, tool, attempt, arguments, .. } = effect;
    let arguments = sorted(arguments);
    format!("{}  {call} {tool} {arguments}, attempt {attempt}, {until}{decision}", at(effect.began_ms))
}

/// A value with sorted keys. Another crate of the program may enable the feature of `serde_json` that keeps the insertion order, and
/// texts are compared.
fn sorted(value: &Value) -> Value {
    let mut value = value.clone();
    value.sort_all_objects();
    value
}

/// An event: its number, its kind and its fields.
fn told(event: &AgentEvent) -> String {
    let mut json = serde_json::to_value(event).unwrap_or(Value::Null);
    let mut kind = String::new();
    if let Value::Object(fields) = &mut json {
        for common in ["seq", "at_ms", "run", "thread", "activation"] {
            fields.remove(common);
        }
        if let Some(Value::String(name)) = fields.remove("type") {
            kind = name;
        }
    }
    json.sort_all_objects();
    format!("{}  {:>3} {kind} {json}", at(event.at_ms), event.seq)
}
