//! Records of sessions as data, for storage, replay and comparison.

mod compare;
mod log;
mod replay;

pub use compare::{Compare, Difference};
pub(super) use log::Log;
pub use replay::{ReplayError, Replayed};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::EventKind;

/// The record of a session: every event and every token, in order.
///
/// A session makes the record as it runs ([`Session::recording`](super::Session::recording)). Serde stores it
/// in any self-describing format, such as JSON. [`replay`](Recording::replay) runs it again without the
/// sources. [`first_difference`](Recording::first_difference) compares two records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Recording {
    version: Version,
    stream_id: String,
    meta: Value,
    fallbacks: u32,
    events: Log,
}

/// The version of the format: 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
struct Version;

impl From<Version> for u32 {
    fn from(Version: Version) -> u32 {
        1
    }
}

impl TryFrom<u32> for Version {
    type Error = String;

    fn try_from(version: u32) -> Result<Self, String> {
        if version == 1 { Ok(Version) } else { Err(format!("a recording of version {version}, expected 1")) }
    }
}

/// One event of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Recorded {
    /// The time of the event, in milliseconds of the session's clock.
    pub at_ms: u64,
    /// The kind of the event, with its fields.
    #[serde(flatten)]
    pub kind: EventKind,
}

impl Recording {
    pub(super) fn new(stream_id: &str, meta: &Value, fallbacks: u32, events: &Log) -> Self {
        Recording {
            version: Version,
            stream_id: stream_id.to_owned(),
            meta: meta.clone(),
            fallbacks,
            events: events.clone(),
        }
    }

    /// Returns the id of the session's stream.
    pub fn stream_id(&self) -> &str {
        &self.stream_id
    }

    /// Returns the user's data of the session.
    pub fn meta(&self) -> &Value {
        &self.meta
    }

    /// Returns the number of events, tokens included.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns whether the record has no events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the events in order. The first event has the sequence number 1.
    pub fn events(&self) -> impl Iterator<Item = Recorded> {
        self.events.iter()
    }
}
