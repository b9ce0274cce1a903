//! A line of a RUN_LOG.jsonl or RUN_LEDGER.jsonl of any program, as far as it is about a run.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::lines::Transition;
use super::when::When;
use crate::governed_run::{GovernedRunStatus, RunId};
use crate::kernel::Status;

/// The content of a line: that a run is in a state, and the rest about that.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) run: Option<String>,
    pub(super) from: From,
    pub(super) to: Option<GovernedRunStatus>,
    pub(super) at: Option<When>,
    pub(super) seq: Option<u64>,
    /// The event, of a line that names the lifecycle and so means the lifecycle's.
    pub(super) event: Option<String>,
    /// Is the state that it names one that there is not?
    pub(super) names_unknown: bool,
    /// Is it a line of a trace, which has one for the making of the run too?
    pub(super) is_of_trace: bool,
    /// What of it is not as it should be.
    pub(super) faults: Vec<String>,
}

impl Told {
    /// Does it tell of this transition of the run, and of nothing else?
    pub(super) fn tells(&self, run: &RunId, transition: &Transition) -> bool {
        let Transition { seq, at, from, to } = *transition;
        self.is_of_trace
            && self.faults.is_empty()
            && self.run.as_deref() == Some(run.as_str())
            && self.seq == Some(seq)
            && self.at == Some(at)
            && self.from == from.map_or(From::Nothing, From::State)
            && self.to == Some(to)
    }
}

/// The state before, as a line has it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum From {
    /// Nothing: the state that the lines before tell of.
    #[default]
    Unsaid,
    /// There was none: the run is made.
    Nothing,
    State(GovernedRunStatus),
}

/// The fields of a line. One that stands twice is refused: of two states neither would be the line's.
struct Fields(Map<String, Value>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut read: A) -> Result<Fields, A::Error> {
                let mut fields = Map::new();
                while let Some((name, value)) = read.next_entry::<String, Value>()? {
                    if fields.contains_key(&name) {
                        return Err(A::Error::custom(format_args!("the field `{name}` stands twice")));
                    }
                    fields.insert(name, value);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Each)
    }
}

/// The fields that a state is read from, those of document 001 first.
const STATES: [&str; 3] = ["current_state", "state", "to"];
const BEFORE: [&str; 2] = ["previous_state", "from"];
const RUNS: [&str; 2] = ["run_id", "run"];
const TIMES: [&str; 4] = ["at", "entered_at", "timestamp", "updated_at"];

/// Reads a line; none where it tells of no state, for others may write lines of their own.
pub(super) fn read(line: &[u8]) -> Result<Option<Told>, String> {
    if line.first() != Some(&b'{') {
        return Err("column 1: expected a JSON object".to_owned());
    }
    let Fields(fields) = crate::json::from_slice(line).map_err(|error| {
        let column = error.column();
        let message: String = crate::json::without_place(&error).chars().take(200).collect();
        format!("column {column}: {message}")
    })?;
    let of_us = match fields.get("lifecycle") {
        None => false,
        Some(name) if *name == GovernedRunStatus::graph().name => true,
        // A run that goes to a state of governed runs is one, however its lifecycle is spelled.
        Some(name)
            if names_run(&fields) && first(&fields, &STATES).is_some_and(|(_, to)| known(to).is_some()) =>
        {
            let why =
                format!("lifecycle is {}, expected \"{}\"", shown(name), GovernedRunStatus::graph().name);
            return Ok(Some(Told { faults: vec![why], ..Told::default() }));
        }
        // In a log only the lines of governed runs are looked at.
        Some(name) if ["run", "instance", "event", "to"].iter().all(|field| fields.contains_key(*field)) => {
            let why = format!(
                "it is an event of the lifecycle {}, which is not looked at in a log; a trace has another file name",
                shown(name)
            );
            return Ok(Some(Told { faults: vec![why], ..Told::default() }));
        }
        Some(_) => return Ok(None),
    };
    let mut told = Told { is_of_trace: of_us, ..Told::default() };
    let from = first(&fields, &BEFORE);
    told.from = match from {
        Some((_, Value::Null)) => From::Nothing,
        Some((_, value)) => known(value).map_or(From::Unsaid, From::State),
        None => From::Unsaid,
    };
    let Some((name, to)) = first(&fields, &STATES) else {
        let why = "it names no state: expected the field `to`".to_owned();
        return Ok(of_us.then(|| Told { faults: vec![why], ..told }));
    };
    told.to = known(to);
    // `to` and `state` are words of many meanings: a tool has states as well.
    let meant = match name {
        "current_state" => true,
        _ if of_us || told.to.is_some() || matches!(told.from, From::State(_)) => true,
        "state" if to.as_str().is_some_and(looks_like_one) => true,
        _ if !names_run(&fields) => false,
        _ if to.is_null() => from.is_some(),
        // The line of a run that goes from a word to another one, or names one, tells of a state; a word of a tool is a tool's.
        _ => to.as_str().is_some_and(|to| {
            // An address is a `to` as well.
            let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-');
            let is_one = |to: &str| is_a_word(to) && (name == "state" || to.chars().all(is_plain));
            looks_like_one(to)
                || is_one(to)
                    && (from.is_some_and(|(_, from)| from.as_str().is_some_and(is_a_word))
                        || !fields.iter().any(is_of_a_tool))
        }),
    };
    if !meant || to.is_null() && from.is_none() && name != "current_state" && !of_us {
        return Ok(None);
    }
    told.names_unknown = told.to.is_none();
    if told.to.is_none() {
        told.faults.push(format!("{name} is {}, which is no state of a governed run", shown(to)));
    }
    if let (Some((name, value)), From::Unsaid) = (from, &told.from) {
        told.faults.push(format!("{name} is {}, which is no state of a governed run", shown(value)));
    }
    if let Some((name, run)) = first(&fields, &RUNS) {
        let parsed = run.as_str().map(|run| run.parse::<RunId>());
        match parsed {
            Some(Ok(run)) => told.run = Some(run.to_string()),
            Some(Err(error)) => told.faults.push(format!("{name}: {error}")),
            None => told.faults.push(format!("{name} is {}, expected the id of a run", shown(run))),
        }
    }
    told.seq = fields.get("seq").and_then(Value::as_u64);
    told.event = fields.get("event").and_then(Value::as_str).filter(|_| of_us).map(str::to_owned);
    time(&fields, &mut told);
    Ok(Some(told))
}

/// When it was: in milliseconds, in words, or both.
fn time(fields: &Map<String, Value>, told: &mut Told) {
    let ms = fields.get("at_ms").and_then(Value::as_u64).map(When::from_ms);
    let words = first(fields, &TIMES).filter(|(_, value)| value.is_string());
    let said = match words {
        None => None,
        Some((name, value)) => match value.as_str().unwrap_or_default().parse::<When>() {
            Ok(when) => Some((name, when)),
            Err(error) => {
                told.faults.push(format!("{name}: {error}"));
                None
            }
        },
    };
    if let (Some(ms), Some((name, said))) = (ms, said)
        && ms != said
    {
        told.faults.push(format!("{name} is {said}, at_ms is {} ({ms})", ms.ms()));
    }
    told.at = ms.or(said.map(|(_, when)| when)).filter(|when| when.ms() <= MOST_MS);
}

/// The end of the year 9999.
const MOST_MS: u64 = 253_402_300_799_999;

fn first<'f>(fields: &'f Map<String, Value>, names: &[&'static str]) -> Option<(&'static str, &'f Value)> {
    names.iter().find_map(|name| fields.get(*name).map(|value| (*name, value)))
}

fn names_run(fields: &Map<String, Value>) -> bool {
    first(fields, &RUNS).and_then(|(_, run)| run.as_str()).is_some_and(|run| run.parse::<RunId>().is_ok())
}

fn known(value: &Value) -> Option<GovernedRunStatus> {
    value.as_str()?.parse().ok()
}

/// Is it written as the document writes states?
fn looks_like_one(name: &str) -> bool {
    let is_more = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() > 3 && name.starts_with(|c: char| c.is_ascii_uppercase()) && name.bytes().all(is_more)
}

/// May it be a name of a state, in another program's words and letters?
fn is_a_word(name: &str) -> bool {
    const LONGEST: usize = 60;
    name.chars().any(char::is_alphabetic) && name.chars().nth(LONGEST).is_none()
}

/// Is the line about a tool or a call of one?
fn is_of_a_tool((field, value): (&String, &Value)) -> bool {
    let is_one =
        |name: &str| field.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    (is_one("tool") || is_one("call")) && !value.is_null()
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
