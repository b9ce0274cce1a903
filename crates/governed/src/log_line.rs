//! Parser for a line of a RUN_LOG.jsonl or RUN_LEDGER.jsonl of any program.

use std::fmt;

use runstate::governed_run::{GovernedRunStatus, RunId};
use runstate::kernel::Status;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::lines::Transition;
use super::timestamp::Timestamp;

/// The content of a line: the state of a run, and related data.
#[derive(Debug, Default)]
pub(super) struct ParsedLine {
    pub(super) run: Option<String>,
    /// The word for a run that is no id.
    pub(super) unknown_run: Option<String>,
    pub(super) from: From,
    pub(super) to: Option<GovernedRunStatus>,
    /// The words for unknown states.
    pub(super) unknown_from: Option<String>,
    pub(super) unknown_to: Option<String>,
    pub(super) at: Option<Timestamp>,
    pub(super) seq: Option<u64>,
    /// The event, only if the line names the lifecycle of governed runs.
    pub(super) event: Option<String>,
    /// Whether the line names an unknown state.
    pub(super) names_unknown: bool,
    /// Whether the line belongs to a trace. A trace also has a line for the creation of a run.
    pub(super) is_of_trace: bool,
    /// The faults of the line.
    pub(super) faults: Vec<String>,
}

impl ParsedLine {
    /// Returns whether the line reports exactly this transition of the run.
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

/// The previous state in a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum From {
    /// The line does not contain it. The state of the earlier lines counts.
    #[default]
    Unsaid,
    /// There is none: the line reports the creation of the run.
    Nothing,
    State(GovernedRunStatus),
}

/// The fields of a line. A repeated field is refused, because its value would be ambiguous.
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

/// The fields that may contain a state. The first ones are those of RUN_STATE.json.
const STATES: [&str; 3] = ["current_state", "state", "to"];
const BEFORE: [&str; 2] = ["previous_state", "from"];
const RUNS: [&str; 2] = ["run_id", "run"];
const TIMES: [&str; 4] = ["at", "entered_at", "timestamp", "updated_at"];

/// Parses a line; `None` for a line without a state, because other programs may write lines of their own.
pub(super) fn read(line: &[u8]) -> Result<Option<ParsedLine>, String> {
    if line.first() != Some(&b'{') {
        return Err("column 1: expected a JSON object".to_owned());
    }
    let Fields(fields) = runstate::json::from_slice(line).map_err(|error| {
        let column = error.column();
        let message: String = runstate::json::without_place(&error).chars().take(200).collect();
        format!("column {column}: {message}")
    })?;
    let of_us = match fields.get("lifecycle") {
        None => false,
        Some(name) if *name == GovernedRunStatus::graph().name => true,
        // A line with a run id and a state of governed runs is about a governed run, even if its lifecycle is
        // misspelled.
        Some(name)
            if names_run(&fields) && first(&fields, &STATES).is_some_and(|(_, to)| known(to).is_some()) =>
        {
            let why =
                format!("lifecycle is {}, expected \"{}\"", shown(name), GovernedRunStatus::graph().name);
            return Ok(Some(ParsedLine { faults: vec![why], ..ParsedLine::default() }));
        }
        // In a log, only the lines of governed runs are validated.
        Some(name) if ["run", "instance", "event", "to"].iter().all(|field| fields.contains_key(*field)) => {
            let why = format!(
                "it is an event of the lifecycle {}, which is not looked at in a log; a trace has another file name",
                shown(name)
            );
            return Ok(Some(ParsedLine { faults: vec![why], ..ParsedLine::default() }));
        }
        Some(_) => return Ok(None),
    };
    let mut told = ParsedLine { is_of_trace: of_us, ..ParsedLine::default() };
    let from = first(&fields, &BEFORE);
    told.from = match from {
        Some((_, Value::Null)) => From::Nothing,
        Some((_, value)) => known(value).map_or(From::Unsaid, From::State),
        None => From::Unsaid,
    };
    let Some((name, to)) = first(&fields, &STATES) else {
        let why = "it names no state: expected the field `to`".to_owned();
        return Ok(of_us.then(|| ParsedLine { faults: vec![why], ..told }));
    };
    told.to = known(to);
    // `to` and `state` are ambiguous field names: a tool has states as well.
    let meant = match name {
        "current_state" => true,
        _ if of_us || told.to.is_some() || matches!(told.from, From::State(_)) => true,
        "state" if to.as_str().is_some_and(looks_like_one) => true,
        _ if !names_run(&fields) => false,
        _ if to.is_null() => from.is_some(),
        // In the line of a run, a word is a state if a word precedes it in `from`, or if the line is not about a
        // tool.
        _ => to.as_str().is_some_and(|to| {
            // An address may also be in a field `to`.
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
    let written = |value: &Value| value.as_str().map(str::to_owned);
    if told.to.is_none() {
        told.unknown_to = written(to);
        told.faults.push(format!("{name} is {}, which is no state of a governed run", shown(to)));
    }
    if let (Some((name, value)), From::Unsaid) = (from, &told.from) {
        told.unknown_from = written(value);
        told.faults.push(format!("{name} is {}, which is no state of a governed run", shown(value)));
    }
    if let Some((name, run)) = first(&fields, &RUNS) {
        let parsed = run.as_str().map(|run| run.parse::<RunId>());
        match parsed {
            Some(Ok(run)) => told.run = Some(run.to_string()),
            Some(Err(error)) => {
                told.unknown_run = written(run);
                told.faults.push(format!("{name}: {error}"));
            }
            None => told.faults.push(format!("{name} is {}, expected the id of a run", shown(run))),
        }
    }
    told.seq = fields.get("seq").and_then(Value::as_u64);
    told.event = fields.get("event").and_then(Value::as_str).filter(|_| of_us).map(str::to_owned);
    time(&fields, &mut told);
    Ok(Some(told))
}

/// Parses the time: in milliseconds, as a text, or both.
fn time(fields: &Map<String, Value>, told: &mut ParsedLine) {
    let ms = fields.get("at_ms").and_then(Value::as_u64).map(Timestamp::from_ms);
    let words = first(fields, &TIMES).filter(|(_, value)| value.is_string());
    let said = match words {
        None => None,
        Some((name, value)) => match value.as_str().unwrap_or_default().parse::<Timestamp>() {
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

/// The end of the year 9999, in milliseconds since 1970.
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

/// Returns whether the name is written in the form of states of governed runs.
fn looks_like_one(name: &str) -> bool {
    let is_more = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() > 3 && name.starts_with(|c: char| c.is_ascii_uppercase()) && name.bytes().all(is_more)
}

/// Returns whether the name may be a state in another program's words and letter case.
fn is_a_word(name: &str) -> bool {
    const LONGEST: usize = 60;
    name.chars().any(char::is_alphabetic) && name.chars().nth(LONGEST).is_none()
}

/// Returns whether the line is about a tool or about a call of a tool.
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
