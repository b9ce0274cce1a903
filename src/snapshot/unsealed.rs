//! Snapshots inside of something that has a seal of its own.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::{Snapshot, fingerprint_text};
use crate::kernel::{Graph, Persist, Status};

/// Under which graph machines are written: once for all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenUnder {
    lifecycle: String,
    version: u32,
    fingerprint: String,
}

impl WrittenUnder {
    pub(crate) fn graph(graph: &Graph) -> Self {
        WrittenUnder {
            lifecycle: graph.name.to_owned(),
            version: graph.version,
            fingerprint: fingerprint_text(graph.fingerprint()),
        }
    }
}

/// A machine, written without a seal, without its graph and without a detour over values: what changes often is written
/// often.
pub(crate) struct Unsealed<'a, P>(pub(crate) &'a P);

impl<P: Persist> Serialize for Unsealed<'_, P>
where
    P::Record: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("status", self.0.status().name())?;
        map.serialize_entry("record", self.0.record())?;
        map.serialize_entry("state", &State(self.0))?;
        map.end()
    }
}

struct State<'a, P>(&'a P);

impl<P: Persist> Serialize for State<'_, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_state(serializer)
    }
}

/// What [`Unsealed`] wrote.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnsealedSnapshot {
    status: String,
    record: Value,
    state: Value,
}

impl UnsealedSnapshot {
    /// The snapshot, whose seal is still to be made.
    pub(crate) fn under(self, under: &WrittenUnder) -> Snapshot {
        let UnsealedSnapshot { status, record, state } = self;
        let WrittenUnder { lifecycle, version, fingerprint } = under.clone();
        Snapshot { lifecycle, version, fingerprint, status, record, state, digest: String::new() }
    }
}
