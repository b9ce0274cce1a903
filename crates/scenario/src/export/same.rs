//! Comparison of a play with its record.

use std::fmt;

use runstate::decision::{Decision, EXPIRY};
use runstate::trace::Event;
use runstate_agent::event::{AgentEvent, EventKind};
use runstate_agent::{Message, RunState};
use serde_json::{Value, json};

use super::{Record, redact};
use crate::play::Played;

const TRANSITION: &str = "transition";
const EVENT: &str = "event";

/// The first difference between a record and a play.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The compared list.
    pub of: &'static str,
    /// The place in that list, from 1.
    pub place: usize,
    /// The recorded entry; `None` if the record is shorter.
    pub recorded: Option<String>,
    /// The played entry; `None` if the play is shorter.
    pub played: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { of, place, recorded, played } = self;
        let shown = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing more".to_owned());
        write!(f, "{of} {place}: recorded {}, played {}", shown(recorded), shown(played))
    }
}

impl Difference {
    /// The recorded time of a different transition or event.
    pub(super) fn recorded_ms(&self, record: &Record<'_>) -> Option<u64> {
        let place = self.place.checked_sub(1)?;
        match self.of {
            TRANSITION => Some(record.trace.get(place)?.at_ms),
            EVENT => Some(record.events.get(place)?.at_ms),
            _ => None,
        }
    }
}

/// The compared parts of a run.
struct Side<'a> {
    trace: &'a [Event<'static>],
    events: &'a [AgentEvent],
    state: &'a RunState,
    decisions: Vec<&'a Decision>,
}

impl<'a> Side<'a> {
    fn recorded(record: &Record<'a>) -> Self {
        let Record { trace, events, state, .. } = *record;
        Side { trace, events, state, decisions: record.decisions.values().collect() }
    }

    fn played(played: &'a Played) -> Self {
        let decisions = played.stored.iter().flat_map(|stored| stored.decisions().values()).collect();
        Side { trace: &played.trace, events: &played.committed, state: &played.state, decisions }
    }
}

/// Compares transitions, events, messages and decisions of a play with the record.
pub(super) fn compare(record: &Record<'_>, played: &Played) -> Result<(), Difference> {
    compare_sides(&Side::recorded(record), &Side::played(played), (&[], &[]))
}

/// Compares a play with the play of the scenario before these texts were replaced.
/// `words` are the parts of ids that the texts changed.
pub(super) fn redacted(
    before: &Played,
    played: &Played,
    texts: &[String],
    words: &[(String, String)],
) -> Result<(), Difference> {
    compare_sides(&Side::played(before), &Side::played(played), (texts, words))
}

/// The beginning of the ids of a run's questions: its own id, with separators escaped.
pub(super) fn prefix_of<'e>(run: &'e str, events: &'e [AgentEvent]) -> &'e str {
    let asked = events.iter().find_map(|event| match &event.kind {
        EventKind::ToolCallSuspended { interrupt } => Some(interrupt.suspension.id.split_once('/')?.0),
        _ => None,
    });
    asked.unwrap_or(run)
}

fn compare_sides(
    recorded: &Side<'_>,
    played: &Side<'_>,
    (texts, words): (&[String], &[(String, String)]),
) -> Result<(), Difference> {
    let run = redact::text(recorded.state.id(), texts);
    let prefix = redact::text(prefix_of(recorded.state.id(), recorded.events), texts);
    let names = Names { run: &run, prefix, played: played.state.id(), texts, words };
    lists(TRANSITION, names.transitions(recorded.trace), names.transitions(played.trace))?;
    lists(EVENT, names.events(recorded.events), names.events(played.events))?;
    let messages = |state: &RunState| {
        // An open call stands for a missing result, and has no form in JSON.
        let said = state.own_history().iter().filter(|message| !matches!(message, Message::Open(_)));
        said.map(|message| names.value(json!(message))).collect()
    };
    lists("message", messages(recorded.state), messages(played.state))?;
    // The order is the order of their events. The lists are in the order of ids, which may differ.
    let decisions = |side: &Side<'_>| {
        let mut decisions: Vec<Value> = side.decisions.iter().map(|one| names.decision(one)).collect();
        decisions.sort_by_key(ToString::to_string);
        decisions
    };
    lists("decision", decisions(recorded), decisions(played))
}

/// Counts the transitions and events of the play `run` that equal the record, up to the first different transition and
/// event.
pub(super) fn agreeing(
    record: &Record<'_>,
    run: &str,
    trace: &[Event<'static>],
    events: &[AgentEvent],
) -> usize {
    let prefix = prefix_of(record.run(), record.events).to_owned();
    let names = Names { run: record.run(), prefix, played: run, texts: &[], words: &[] };
    let common = |one: Vec<Value>, other: Vec<Value>| {
        one.iter().zip(&other).take_while(|(one, other)| one == other).count()
    };
    common(names.transitions(record.trace), names.transitions(trace))
        + common(names.events(record.events), names.events(events))
}

fn lists(of: &'static str, recorded: Vec<Value>, played: Vec<Value>) -> Result<(), Difference> {
    let most = recorded.len().max(played.len());
    let differs = (0..most).find(|at| recorded.get(*at) != played.get(*at));
    let Some(at) = differs else { return Ok(()) };
    let shown = |side: &[Value]| side.get(at).map(ToString::to_string);
    Err(Difference { of, place: at + 1, recorded: shown(&recorded), played: shown(&played) })
}

/// The ids of the two runs, unified.
struct Names<'a> {
    run: &'a str,
    /// The beginning of the ids of its questions.
    prefix: String,
    played: &'a str,
    /// The replaced texts.
    texts: &'a [String],
    /// The parts of ids that these texts changed.
    words: &'a [(String, String)],
}

impl Names<'_> {
    fn transitions(&self, trace: &[Event<'static>]) -> Vec<Value> {
        trace.iter().map(|event| self.transition(event)).collect()
    }

    fn events(&self, events: &[AgentEvent]) -> Vec<Value> {
        events.iter().map(|event| self.event(event)).collect()
    }

    fn transition(&self, event: &Event<'_>) -> Value {
        let Event { lifecycle, instance, event, from, to, .. } = event;
        self.value(json!([lifecycle, instance, event, from, to]))
    }

    fn event(&self, event: &AgentEvent) -> Value {
        let mut value = json!(event);
        // A thread has the id of its first run, and a live model gives its answer in other pieces.
        for field in ["seq", "at_ms", "before_ms", "run", "thread", "last"] {
            remove(&mut value, field);
        }
        let waiting = value.get_mut("waiting").and_then(Value::as_array_mut);
        waiting.into_iter().flatten().for_each(without_time);
        if let Some(interrupt) = value.get_mut("interrupt") {
            without_time(interrupt);
        }
        self.without_id(&mut value);
        self.value(value)
    }

    /// Removes the ids of decisions where texts are replaced: an id may be made from the texts.
    fn without_id(&self, value: &mut Value) {
        if !self.texts.is_empty() {
            remove(value, "decision_id");
        }
    }

    fn decision(&self, decision: &Decision) -> Value {
        let mut value = json!(decision);
        for field in ["decided_at_ms", "digest", "tag"] {
            remove(&mut value, field);
        }
        self.without_id(&mut value);
        self.value(value)
    }

    /// The value with one name for both runs, where a text equals the id of the run or begins with it, and without the
    /// texts.
    fn value(&self, value: Value) -> Value {
        self.named(redact::value(value, self.texts))
    }

    fn named(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.named(item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(name, value)| (name, self.named(value))).collect())
            }
            other => other,
        }
    }

    fn text(&self, text: String) -> String {
        let text = self.words.iter().fold(text, |text, (before, after)| text.replace(before, after));
        // The runtime names its own decisions after the question.
        let (expiry, named) = text.strip_prefix(EXPIRY).map_or(("", &*text), |named| (EXPIRY, named));
        for run in [self.run, &self.prefix, self.played] {
            let behind = named.strip_prefix(run).and_then(|behind| behind.strip_prefix('/'));
            match behind {
                Some(behind) => return format!("{expiry}$run/{behind}"),
                None if named == run => return format!("{expiry}$run"),
                None => {}
            }
        }
        text
    }
}

fn remove(value: &mut Value, field: &str) {
    if let Value::Object(fields) = value {
        fields.remove(field);
    }
}

/// A question without the times of its run, and without the digest, which covers them.
fn without_time(interrupt: &mut Value) {
    remove(interrupt, "digest");
    if let Some(suspension) = interrupt.get_mut("suspension") {
        remove(suspension, "expires_at_ms");
    }
}
