//! Many machines and what belongs to them, under one checksum.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{RestoreError, Seal, Snapshot, SnapshotError, is_documented, sealable};
use crate::json::{hex, numbers_keep_their_text, without_place};
use crate::kernel::{Graph, Persist, Status};

/// Bytes of the checksum before the JSON: 64 hexadecimal digits and a space.
const CHECKSUM: usize = 65;

/// Machines and what belongs to them, read from text under one checksum, or from a [`BundleLog`].
///
/// A driver that stores many machines at each commit writes them together: one checksum over the text, the graphs told once, no
/// detour over JSON values. The text is the checksum, a space and one line of JSON.
///
/// ```
/// use runstate::kernel::Persist;
/// use runstate::snapshot::{Bundle, Graphs};
/// use runstate::tool_call::{AnyToolCall, CallRecord, Start};
///
/// let graphs = [AnyToolCall::GRAPH];
/// let call = AnyToolCall::new(CallRecord::new("call_1", "read_file", Default::default()));
/// let first = Bundle::write(&graphs, true, &"a round begins", |machines| machines.add("call_1", &call))?;
/// let call = call.apply(Start.into()).unwrap();
/// let second = Bundle::write(&graphs, false, &"a call begins", |machines| machines.add("call_1", &call))?;
///
/// // Bundles of one log are read in their order: the first one tells the graphs.
/// let mut graphs = Graphs::default();
/// Bundle::read(&first, &mut graphs)?;
/// let bundle = Bundle::read(&second, &mut graphs)?;
/// assert_eq!(bundle.content::<String>()?, "a call begins");
/// let call: AnyToolCall = bundle.machine("call_1").unwrap().restore()?;
/// assert_eq!(call.status().name(), "Running");
///
/// // A changed byte is noticed.
/// let forged = String::from_utf8(second)?.replace("read_file", "drop_table");
/// assert!(Bundle::read(forged.as_bytes(), &mut graphs).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bundle {
    machines: BTreeMap<String, Snapshot>,
    content: Value,
}

/// The graphs that the bundles of a log were written under, as far as they were read.
#[derive(Debug, Clone, Default)]
pub struct Graphs(Vec<Under>);

impl Graphs {
    /// The graph that an earlier bundle told in that place, of the documented lifecycle of that name.
    fn before(&self, place: usize, name: &str) -> Result<Under, RestoreError> {
        let identity = crate::documented_graphs().iter().find(|graph| graph.name == name);
        let identity = identity.map(|graph| graph.identity().to_string());
        match self.0.get(place) {
            Some(told) if Some(&told.0) == identity.as_ref() || told.0 == name => Ok(told.clone()),
            Some(told) => Err(bundle(format!(
                "its graph {place} is {name}, and an earlier bundle told {} in that place: it belongs to another log",
                told.0
            ))),
            None => Err(bundle(format!(
                "its graph {place} is {name}, as an earlier bundle of the log told it; that bundle is missing"
            ))),
        }
    }
}

/// One graph: the identity of its lifecycle, its schema version, its fingerprint.
#[derive(Debug, Clone, Deserialize)]
struct Under(String, u32, String);

/// A graph as a bundle names it: told, or by the name of a documented lifecycle that an earlier bundle told in that place.
#[derive(Deserialize)]
#[serde(untagged)]
enum Named {
    Told(Under),
    Before(String),
}

/// The form of a bundle in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    graphs: Vec<Named>,
    machines: BTreeMap<String, Member>,
    content: Value,
}

/// A machine in a bundle; `of` is the place of its graph.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    of: usize,
    status: String,
    record: Value,
    state: Value,
}

impl Bundle {
    /// Writes machines, and content that belongs to them, under one checksum.
    ///
    /// `machines` adds the machines, each of one of the `graphs`. `tells` says whether the bundle lists the graphs: the first
    /// one of a log does, and the first one of each process that goes on with it.
    ///
    /// # Errors
    /// [`SnapshotError`], when a machine or the content has no form in JSON, when a machine is not of its lifecycle
    /// ([`SnapshotError::Unproven`]), or when two have one name.
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

    /// Reads a bundle. `graphs` are those that earlier bundles of the log told; what this one tells takes their place.
    ///
    /// # Errors
    /// [`RestoreError::Bundle`] when the checksum does not fit, when the text is no bundle, or when it names a graph that was
    /// not told. `graphs` are as they were then.
    pub fn read(bytes: &[u8], graphs: &mut Graphs) -> Result<Bundle, RestoreError> {
        let Some((got, json)) = bytes.split_at_checked(CHECKSUM) else {
            return Err(bundle("this is no bundle: it has no checksum before its JSON"));
        };
        let (expected, got) = (checksum(json) + " ", String::from_utf8_lossy(got));
        if expected != got {
            let (expected, got) = (expected.trim_end(), got.trim_end());
            return Err(bundle(format!(
                "it was changed after it was written: its content has the checksum {expected}, it says {got:?}"
            )));
        }
        Self::vouched(json, graphs, |_| Seal::Vouched)
    }

    /// Does the checksum fit what follows it? A bundle of a later version may be whole and yet not be read.
    pub fn is_whole(bytes: &[u8]) -> bool {
        let parts = bytes.split_at_checked(CHECKSUM);
        parts.is_some_and(|(got, json)| got.strip_suffix(b" ") == Some(checksum(json).as_bytes()))
    }

    /// Reads JSON that was verified, or that no other code could change. `seal` gives the seal of machines of a graph.
    fn vouched(
        json: &[u8],
        graphs: &mut Graphs,
        seal: impl Fn(usize) -> Seal,
    ) -> Result<Bundle, RestoreError> {
        let written: Written = serde_json::from_slice(json).map_err(|error| {
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

    /// The machine of that name.
    pub fn machine(&self, name: &str) -> Option<&Snapshot> {
        self.machines.get(name)
    }

    /// The machines, by name.
    pub fn machines(&self) -> impl Iterator<Item = (&str, &Snapshot)> {
        self.machines.iter().map(|(name, machine)| (name.as_str(), machine))
    }

    /// The machines by name, by value.
    pub fn into_machines(self) -> BTreeMap<String, Snapshot> {
        self.machines
    }

    /// What belongs to the machines.
    ///
    /// # Errors
    /// [`RestoreError::Bundle`] when it is not of that type.
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

/// Takes the machines of a bundle while it is written.
#[derive(Debug)]
pub struct Machines<'a> {
    out: &'a mut Vec<u8>,
    graphs: &'a [&'static Graph],
    /// Where each name stands in `out`. Most bundles have one machine, and need no list.
    first: Option<(usize, usize)>,
    more: Vec<(usize, usize)>,
    /// Why the last one was not added. Its bytes may stand in `out`, so the bundle fails with it.
    failed: Option<SnapshotError>,
}

impl Machines<'_> {
    /// Adds a machine, typed or dynamic, under a name of its own.
    ///
    /// # Errors
    /// As [`Bundle::write`], which then fails as well.
    pub fn add<P: Persist>(&mut self, name: impl fmt::Display, machine: &P) -> Result<(), SnapshotError>
    where
        P::Record: Serialize,
    {
        let added = self.write(name, machine);
        if let Err(error) = &added {
            self.failed = Some(error.clone());
        }
        added
    }

    fn write<P: Persist>(&mut self, name: impl fmt::Display, machine: &P) -> Result<(), SnapshotError>
    where
        P::Record: Serialize,
    {
        let is_documented = is_documented(P::GRAPH);
        sealable::<P>()?;
        let refused =
            |message: &str| SnapshotError::Bundle { name: name.to_string(), message: message.to_owned() };
        let Some(of) = self.graphs.iter().position(|graph| *graph == P::GRAPH) else {
            return Err(refused("its graph is not one of the bundle's"));
        };
        let failed = |error: serde_json::Error| refused(&error.to_string());
        if self.first.is_some() {
            self.out.push(b',');
        }
        let from = self.out.len();
        serde_json::to_writer(&mut *self.out, &Shown(&name)).map_err(failed)?;
        let to = self.out.len();
        if self.first.iter().chain(&self.more).any(|(a, b)| self.out[*a..*b] == self.out[from..to]) {
            return Err(refused("the bundle has one of that name"));
        }
        match self.first {
            None => self.first = Some((from, to)),
            Some(_) => self.more.push((from, to)),
        }
        self.out.push(b':');
        let from = self.out.len();
        serde_json::to_writer(&mut *self.out, &Borrowed { of, machine }).map_err(failed)?;
        // A `Serialize` of a foreign record may write raw text through a private name of `serde_json`, and so close its own
        // object and begin a forged one. A record of ours can where numbers keep their text.
        if !is_documented || numbers_keep_their_text() {
            serde_json::from_slice::<IgnoredAny>(&self.out[from..]).map_err(failed)?;
        }
        Ok(())
    }
}

/// A text that is written as it is made, without a copy.
struct Shown<'a, T>(&'a T);

impl<T: fmt::Display> Serialize for Shown<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.0)
    }
}

/// A machine of a bundle, as it is written.
struct Borrowed<'a, P> {
    of: usize,
    machine: &'a P,
}

impl<P: Persist> Serialize for Borrowed<'_, P>
where
    P::Record: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("of", &self.of)?;
        map.serialize_entry("status", self.machine.status().name())?;
        map.serialize_entry("record", self.machine.record())?;
        map.serialize_entry("state", &State(self.machine))?;
        map.end()
    }
}

struct State<'a, P>(&'a P);

impl<P: Persist> Serialize for State<'_, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_state(serializer)
    }
}

fn write<T: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    graphs: &[&'static Graph],
    tells: bool,
    content: &T,
    machines: impl FnOnce(&mut Machines<'_>) -> Result<(), SnapshotError>,
) -> Result<(), SnapshotError> {
    // Each field is written even where it is empty, so that a second one, from raw text in the content, is a duplicate.
    out.extend_from_slice(b"{\"graphs\":");
    out.push(b'[');
    for (i, graph) in graphs.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        let written = match is_documented(graph) && !tells {
            // The name says which of the told graphs it is, so that no bundle is read with the graphs of another log.
            true => write!(out, "\"{}\"", graph.name),
            false => {
                let identity = Value::from(graph.identity().to_string());
                write!(out, "[{identity},{},\"{}\"]", graph.version, graph.fingerprint())
            }
        };
        written.unwrap_or_else(|_| unreachable!("writing to memory does not fail"));
    }
    out.push(b']');
    out.extend_from_slice(b",\"machines\":{");
    let mut added = Machines { out, graphs, first: None, more: Vec::new(), failed: None };
    machines(&mut added)?;
    if let Some(failed) = added.failed {
        return Err(failed);
    }
    out.extend_from_slice(b"},\"content\":");
    serde_json::to_writer(&mut *out, content)
        .map_err(|error| SnapshotError::Bundle { name: "content".to_owned(), message: error.to_string() })?;
    out.push(b'}');
    Ok(())
}

/// Bundles that stay in memory, one behind another, as the bytes that a disk would have.
///
/// They have no checksum: no code but this type's can change them.
///
/// ```
/// use runstate::kernel::Persist;
/// use runstate::run::{AnyRun, RunRecord};
/// use runstate::snapshot::BundleLog;
///
/// let mut log = BundleLog::default();
/// let run = AnyRun::new(RunRecord::new("r1"));
/// log.append(&[AnyRun::GRAPH], true, &(), |machines| machines.add("run", &run))?;
/// assert_eq!(log.len(), 1);
/// let bundle = log.read().next().unwrap()?;
/// assert_eq!(bundle.machine("run").unwrap().status(), "Running");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct BundleLog {
    bytes: Vec<u8>,
    /// Where each bundle ends.
    ends: Vec<usize>,
    /// The graphs of all of them, in their order.
    graphs: Vec<&'static Graph>,
}

impl BundleLog {
    /// Appends a bundle; the arguments are those of [`Bundle::write`]. All bundles of a log have the same graphs.
    ///
    /// # Errors
    /// As [`Bundle::write`]; and [`SnapshotError::Bundle`] when the graphs are others than before. The log is as it was then.
    pub fn append<T: Serialize + ?Sized>(
        &mut self,
        graphs: &[&'static Graph],
        tells: bool,
        content: &T,
        machines: impl FnOnce(&mut Machines<'_>) -> Result<(), SnapshotError>,
    ) -> Result<(), SnapshotError> {
        if self.is_empty() {
            self.graphs = graphs.to_vec();
        } else if self.graphs != graphs {
            let message = "the log has other graphs".to_owned();
            return Err(SnapshotError::Bundle { name: "graphs".to_owned(), message });
        }
        // What a panic in an earlier call has left goes.
        let before = self.ends.last().copied().unwrap_or(0);
        self.bytes.truncate(before);
        let outcome = write(&mut self.bytes, graphs, tells, content, machines);
        match outcome {
            Ok(()) => self.ends.push(self.bytes.len()),
            Err(_) => self.bytes.truncate(before),
        }
        outcome
    }

    /// Reads the bundles in their order.
    pub fn read(&self) -> impl Iterator<Item = Result<Bundle, RestoreError>> {
        let (mut from, mut graphs) = (0, Graphs::default());
        self.ends.iter().map(move |to| {
            let json = &self.bytes[from..*to];
            from = *to;
            // A place that the log has no graph for is refused before its seal counts.
            let none = || Seal::Read(String::new());
            let seal =
                |of: usize| self.graphs.get(of).map_or_else(none, |graph| Seal::Taken(graph.witness()));
            Bundle::vouched(json, &mut graphs, seal)
        })
    }

    /// How many bundles there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many bytes they have.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

impl fmt::Debug for BundleLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BundleLog({} bundles, {} bytes)", self.len(), self.size())
    }
}
