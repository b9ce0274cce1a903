//! Bundles: many machines under one checksum, with the content that belongs to them.

mod log;
mod write;

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{RestoreError, Seal, Snapshot, SnapshotError};
use crate::json::{hex, without_place};
use crate::kernel::Graph;

pub use log::BundleLog;
pub use write::Machines;
use write::write;

/// The bytes of the checksum before the JSON: 64 hexadecimal digits and a space.
const CHECKSUM: usize = 65;

/// Machines and their content, read from text under one checksum, or from a [`BundleLog`].
///
/// A driver that stores many machines at each commit writes them together. One checksum covers the text, the graphs
/// are listed once, and no intermediate JSON values are needed. The text is the checksum, a space and one line of
/// JSON.
///
/// ```
/// use runstate::kernel::Stateful;
/// use runstate::snapshot::{Bundle, Graphs};
/// use runstate::tool_call::{AnyToolCall, CallRecord, Start};
///
/// let graphs = [AnyToolCall::GRAPH];
/// let call = AnyToolCall::new(CallRecord::new("call_1", "read_file", Default::default()));
/// let first = Bundle::write(&graphs, true, &"a round begins", |machines| machines.add("call_1", &call))?;
/// let call = call.apply(Start.into()).unwrap();
/// let second = Bundle::write(&graphs, false, &"a call begins", |machines| machines.add("call_1", &call))?;
///
/// // The bundles of a log are read in order: the first one lists the graphs.
/// let mut graphs = Graphs::default();
/// Bundle::read(&first, &mut graphs)?;
/// let bundle = Bundle::read(&second, &mut graphs)?;
/// assert_eq!(bundle.content::<String>()?, "a call begins");
/// let call: AnyToolCall = bundle.machine("call_1").unwrap().restore()?;
/// assert_eq!(call.status().name(), "Running");
///
/// // A changed byte is detected.
/// let forged = String::from_utf8(second)?.replace("read_file", "drop_table");
/// assert!(Bundle::read(forged.as_bytes(), &mut graphs).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bundle {
    machines: BTreeMap<String, Snapshot>,
    content: Value,
}

/// The graphs of the bundles of a log, as read so far.
#[derive(Debug, Clone, Default)]
pub struct Graphs(Vec<Under>);

impl Graphs {
    /// Finds the graph that an earlier bundle listed at that index, for the documented lifecycle of that name.
    fn before(&self, place: usize, name: &str) -> Result<Under, RestoreError> {
        let identity = crate::documented_graphs().iter().find(|graph| graph.name == name);
        let identity = identity.map(|graph| graph.identity().to_string());
        match self.0.get(place) {
            Some(told) if Some(&told.0) == identity.as_ref() || told.0 == name => Ok(told.clone()),
            Some(told) => Err(bundle(format!(
                "its graph {place} is {name}, and an earlier bundle recorded {} in that place: it belongs to another log",
                told.0
            ))),
            None => Err(bundle(format!(
                "its graph {place} is {name}, as an earlier bundle of the log recorded it; that bundle is missing"
            ))),
        }
    }
}

/// One graph: the identity of its lifecycle, its schema version, its fingerprint.
#[derive(Debug, Clone, Deserialize)]
struct Under(String, u32, String);

/// A graph in a bundle: listed in full, or named as the documented lifecycle that an earlier bundle listed at that
/// index.
#[derive(Deserialize)]
#[serde(untagged)]
enum Named {
    Told(Under),
    Before(String),
}

/// The JSON form of a bundle.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    graphs: Vec<Named>,
    machines: BTreeMap<String, Member>,
    content: Value,
}

/// A machine in a bundle; `of` is the index of its graph.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    of: usize,
    status: String,
    record: Value,
    state: Value,
}

impl Bundle {
    /// Writes machines, and the content that belongs to them, under one checksum.
    ///
    /// `machines` adds the machines, each of one of the `graphs`. `tells` is whether the bundle lists the graphs. The
    /// first bundle of a log must list them, and so must the first bundle of each later process.
    ///
    /// # Errors
    /// [`SnapshotError`], when a machine or the content has no JSON form, when a machine is not of its lifecycle
    /// ([`SnapshotError::Unproven`]), or when two machines have one name.
    pub fn write<T: Serialize + ?Sized>(
        graphs: &[&'static Graph],
        tells: bool,
        content: &T,
        machines: impl FnOnce(&mut Machines<'_>) -> Result<(), SnapshotError>,
    ) -> Result<Vec<u8>, SnapshotError> {
        let mut bytes = vec![b' '; CHECKSUM];
        write(&mut bytes, graphs, tells, content, machines)?;
        let checksum = checksum(&bytes[CHECKSUM..]);
        bytes[..CHECKSUM - 1].copy_from_slice(checksum.as_bytes());
        Ok(bytes)
    }

    /// Reads a bundle. `graphs` are the graphs of the earlier bundles of the log. The graphs of this bundle replace
    /// them.
    ///
    /// # Errors
    /// [`RestoreError::Bundle`] when the checksum does not match, when the text is no bundle, or when it names a
    /// graph that no bundle listed. `graphs` are unchanged then.
    pub fn read(bytes: &[u8], graphs: &mut Graphs) -> Result<Bundle, RestoreError> {
        let Some((got, json)) = bytes.split_at_checked(CHECKSUM) else {
            return Err(bundle("this is no bundle: it has no checksum before its JSON"));
        };
        if !Self::is_whole(bytes) {
            // The error does not contain the correct checksum, because a forger would copy it.
            let got = String::from_utf8_lossy(got);
            return Err(bundle(format!(
                "it was changed after it was written: its checksum {:?} does not fit its content",
                got.trim_end()
            )));
        }
        Self::vouched(json, graphs, |_| Seal::Vouched)
    }

    /// Returns whether the checksum matches the text. A bundle of a later version may be intact and still be
    /// unreadable.
    pub fn is_whole(bytes: &[u8]) -> bool {
        let parts = bytes.split_at_checked(CHECKSUM);
        parts.is_some_and(|(got, json)| got.strip_suffix(b" ") == Some(checksum(json).as_bytes()))
    }

    /// Reads JSON that was verified, or that only this crate could change. `seal` returns the evidence for machines
    /// of a graph.
    fn vouched(
        json: &[u8],
        graphs: &mut Graphs,
        seal: impl Fn(usize) -> Seal,
    ) -> Result<Bundle, RestoreError> {
        let written: Written = crate::json::from_slice(json).map_err(|error| {
            let (column, message) = (error.column(), without_place(&error));
            bundle(format!("column {column}: {message}"))
        })?;
        let mut known = Vec::with_capacity(written.graphs.len());
        for (named, place) in written.graphs.into_iter().zip(0..) {
            known.push(match named {
                Named::Told(told) => told,
                Named::Before(name) => graphs.before(place, &name)?,
            });
        }
        let mut machines = BTreeMap::new();
        for (name, Member { of, status, record, state }) in written.machines {
            let Some(Under(lifecycle, version, fingerprint)) = known.get(of).cloned() else {
                return Err(bundle(format!(
                    "the machine {name:?} is of graph {of}, and the bundle names {}",
                    known.len()
                )));
            };
            let seal = seal(of);
            let machine = Snapshot { lifecycle, version, fingerprint, status, record, state, seal };
            machines.insert(name, machine);
        }
        graphs.0 = known;
        Ok(Bundle { machines, content: written.content })
    }

    /// Finds the machine of that name.
    pub fn machine(&self, name: &str) -> Option<&Snapshot> {
        self.machines.get(name)
    }

    /// The machines, by name.
    pub fn machines(&self) -> impl Iterator<Item = (&str, &Snapshot)> {
        self.machines.iter().map(|(name, machine)| (name.as_str(), machine))
    }

    /// Returns the machines with their names, by value.
    pub fn into_machines(self) -> BTreeMap<String, Snapshot> {
        self.machines
    }

    /// Deserializes the content that belongs to the machines.
    ///
    /// # Errors
    /// [`RestoreError::Bundle`] when the content does not fit that type.
    pub fn content<T: DeserializeOwned>(&self) -> Result<T, RestoreError> {
        T::deserialize(&self.content).map_err(|error| bundle(without_place(&error)))
    }
}

fn bundle(message: impl Into<String>) -> RestoreError {
    RestoreError::Bundle { message: message.into() }
}

fn checksum(json: &[u8]) -> String {
    hex(&Sha256::digest(json))
}
