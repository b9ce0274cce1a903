//! Rows as lines of JSON.

use runstate::decision::Suspension;
use runstate::tool_call::CallKey;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::commit::{CallRow, Commit, EventRow, MessageRow, PendingQuestion, TraceRow};
use super::super::error::StoreError;
use super::super::time::Now;

/// JSON on one line.
pub(super) type Raw = Box<RawValue>;

/// Converts JSON text into a part of a line. The text stays unchanged unless it has several lines.
pub(super) fn raw(json: &str) -> Result<Raw, StoreError> {
    if json.contains(['\n', '\r']) {
        let value: Value = runstate::json::from_str(json).map_err(StoreError::failed)?;
        return RawValue::from_string(value.to_string()).map_err(StoreError::failed);
    }
    RawValue::from_string(json.to_owned()).map_err(StoreError::failed)
}

/// A line of `messages.jsonl`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageLine {
    pub(super) seq: u64,
    role: String,
    pub(super) message: Raw,
}

impl MessageLine {
    pub(super) fn of(row: &MessageRow) -> Result<Self, StoreError> {
        Ok(MessageLine { seq: row.seq, role: row.role.to_owned(), message: raw(&row.json)? })
    }
}

/// A call: in the state while it is open, a line of `calls.jsonl` once it is settled.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallLine {
    pub(super) name: String,
    pub(super) id: String,
    key: CallKey,
    pub(super) tool: String,
    status: String,
    pub(super) executions: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) waits: Option<WaitsEntry>,
    pub(super) snapshot: Raw,
}

/// The question of a suspended call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitsEntry {
    pub(super) suspension: Suspension,
    pub(super) arguments: Raw,
    #[serde(alias = "args_digest")]
    digest: String,
    /// Whether a decision was accepted, taken or not.
    pub(super) decided: bool,
    /// The expiry by the store's clock; none for an expiry at a date and for no expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lapses_at_ms: Option<u64>,
}

impl CallLine {
    /// Creates the line of a call that is committed at `at_ms` by the clock of the run.
    pub(super) fn of(row: &CallRow, at_ms: u64, now: Now) -> Result<Self, StoreError> {
        let waits = row.waits.as_ref().map(|waits: &PendingQuestion| {
            Ok::<_, StoreError>(WaitsEntry {
                suspension: waits.suspension.clone(),
                arguments: raw(&waits.arguments)?,
                digest: waits.digest.clone(),
                decided: false,
                lapses_at_ms: waits.left_at(at_ms).map(|left| now.after(left)),
            })
        });
        Ok(CallLine {
            name: row.name.clone(),
            id: row.id.clone(),
            key: row.key,
            tool: row.tool.clone(),
            status: row.status.to_string(),
            executions: row.passes,
            waits: waits.transpose()?,
            snapshot: raw(&row.snapshot)?,
        })
    }
}

/// The number in the JSON of a trace event.
#[derive(Deserialize)]
struct Numbered {
    seq: u64,
}

/// The numbers in the JSON of a run event.
#[derive(Deserialize)]
struct Spanning {
    seq: u64,
    #[serde(default)]
    last: Option<u64>,
}

/// Returns the trace events as lines: they are a trace that any reader of traces accepts.
pub(super) fn trace_lines(commit: &Commit) -> Result<String, StoreError> {
    let number = |json: &str| number(json).map(|seq| (seq, seq));
    numbered_lines(commit.trace.iter().map(|TraceRow { seq, json }| (*seq, *seq, &**json)), number)
}

/// Returns the events of the run as lines.
pub(super) fn event_lines(commit: &Commit) -> Result<String, StoreError> {
    numbered_lines(commit.events.iter().map(|EventRow { seq, last, json }| (*seq, *last, &**json)), numbers)
}

fn numbered_lines<'a>(
    rows: impl Iterator<Item = (u64, u64, &'a str)>,
    numbers: impl Fn(&str) -> Result<(u64, u64), serde_json::Error>,
) -> Result<String, StoreError> {
    let mut lines = String::new();
    for (seq, last, json) in rows {
        if numbers(json).map_err(StoreError::failed)? != (seq, last) || json.contains(['\n', '\r']) {
            let to = if last == seq { String::new() } else { format!(" and whose `last` is {last}") };
            let why = format!(
                "event {seq} has to be one line of JSON whose `seq` is that number{to}, and is {json}"
            );
            return Err(StoreError::failed(why));
        }
        lines.push_str(json);
        lines.push('\n');
    }
    Ok(lines)
}

/// Returns the number of a trace event.
pub(super) fn number(json: &str) -> Result<u64, serde_json::Error> {
    runstate::json::from_str(json).map(|Numbered { seq }| seq)
}

/// Returns the number of a run event, and that of the last event in its row.
pub(super) fn numbers(json: &str) -> Result<(u64, u64), serde_json::Error> {
    runstate::json::from_str(json).map(|Spanning { seq, last }| (seq, last.unwrap_or(seq)))
}

/// Returns rows as lines.
pub(super) fn lines<T: Serialize>(rows: impl IntoIterator<Item = T>) -> Result<String, StoreError> {
    let mut lines = String::new();
    for row in rows {
        lines.push_str(&serde_json::to_string(&row).map_err(StoreError::failed)?);
        lines.push('\n');
    }
    Ok(lines)
}
