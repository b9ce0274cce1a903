//! What happened in a session, as data: to be stored, replayed and compared.

mod compare;
mod log;
mod replay;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::EventKind;

pub use compare::{Compare, Difference};
pub(super) use log::Log;
pub use replay::{ReplayError, Replayed};

/// The record of a session: every event and every token, in order.
///
/// A session makes it as it goes ([`Session::recording`](super::Session::recording)). It is stored by serde, in any format
/// that knows its own shape, such as JSON; [`replay`](Recording::replay) runs it again without the sources, and
/// [`first_difference`](Recording::first_difference) compares two.
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
    /// When it happened, in milliseconds of the session's clock.
    pub at_ms: u64,
    /// What happened.
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

    /// The id of the session's stream.
    pub fn stream_id(&self) -> &str {
        &self.stream_id
    }

    /// What the user gave the session to carry along.
    pub fn meta(&self) -> &Value {
        &self.meta
    }

    /// How many events there are, tokens among them.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The events, in order: the first has the sequence number 1.
    pub fn events(&self) -> impl Iterator<Item = Recorded> {
        self.events.iter()
    }
}
