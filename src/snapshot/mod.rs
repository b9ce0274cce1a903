//! The stored form of a machine: JSON with a checksum. A reader restores it as a type, or refuses it with the reason.
//!
//! A [`Snapshot`] holds the identity of the lifecycle, its schema version, the fingerprint of its graph, the status,
//! the record and the state's data; a checksum covers them all. The reader validates everything and repairs nothing
//! silently. The checksum covers the *content*: a database may change white space and the order of keys.
//!
//! # The checksum
//! The checksum detects damage, a manual edit, and a row of another machine. It does not stop an attacker: SHA-256
//! has no secret, so a program with write access to the storage can compute it. Bytes under a plain checksum are
//! trusted input.
//!
//! Code inside a process cannot forge a snapshot. A snapshot is only taken of a machine that `lifecycle!` generated
//! ([`SnapshotError::Unproven`]). A snapshot knows its lifecycle by type and not by name
//! ([`RestoreError::OtherLifecycle`]). No function recomputes the checksum of changed content; only the feature
//! `repair` has one, for the command with which a person repairs a file.

mod bundle;
mod canonical;
mod error;
mod key;
mod migration;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

pub use bundle::{Bundle, BundleLog, Graphs, Machines};
pub(crate) use canonical::digest;
pub use error::{Part, RestoreError, SnapshotError};
pub use key::{KeyError, Keyring, NoKeyring};
pub use migration::{Migration, Stored};

use crate::json::{nests_deeper, shortened, without_place};
use crate::kernel::{
    Fingerprint, Graph, Persist, ReadRecord, Record, Rehydration, Restore, Stateful, Status, Witness,
    proven_witness, status_from_name,
};

/// The maximum number of levels of a record or a state. A reader of JSON accepts 127; the rest is for the enclosing
/// format.
const MOST_LEVELS: usize = 110;

/// The stored form of a machine.
///
/// ```
/// use runstate::snapshot::{RestoreError, Snapshot};
/// use runstate::tool_call::{AnyToolCall, CallRecord};
///
/// let call = AnyToolCall::new(CallRecord::new("call_1", "read_file", Default::default()));
/// let json = Snapshot::of(&call)?.to_json();
///
/// // … a process later:
/// let call: AnyToolCall = Snapshot::from_json(json.as_bytes())?.restore()?;
/// assert_eq!(call.status().name(), "New");
///
/// // A changed byte is detected, and the error names the problem.
/// let forged = json.replace("read_file", "drop_table");
/// let error = Snapshot::from_json(forged.as_bytes())?.restore::<AnyToolCall>().unwrap_err();
/// assert!(matches!(error, RestoreError::Digest { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Snapshot {
    lifecycle: String,
    version: u32,
    fingerprint: String,
    status: String,
    record: Value,
    state: Value,
    seal: Seal,
}

/// The evidence for the content of a snapshot.
#[derive(Debug, Clone, PartialEq)]
enum Seal {
    /// The digest that was read with the content, for a later comparison.
    Read(String),
    /// The snapshot was taken in this process from a machine of the lifecycle with this witness. Its fields have been
    /// private since then.
    Taken(&'static Witness),
    /// The snapshot was read from a bundle with a checksum of its own, or a person accepted its content.
    Vouched,
}

/// The JSON form of a snapshot.
#[derive(Deserialize)]
#[serde(rename = "Snapshot", deny_unknown_fields)]
struct Read {
    lifecycle: String,
    version: u32,
    fingerprint: String,
    status: String,
    record: Value,
    state: Value,
    digest: String,
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Read { lifecycle, version, fingerprint, status, record, state, digest } =
            Read::deserialize(deserializer)?;
        Ok(Snapshot { lifecycle, version, fingerprint, status, record, state, seal: Seal::Read(digest) })
    }
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Snapshot", 7)?;
        fields.serialize_field("lifecycle", &self.lifecycle)?;
        fields.serialize_field("version", &self.version)?;
        fields.serialize_field("fingerprint", &self.fingerprint)?;
        fields.serialize_field("status", &self.status)?;
        fields.serialize_field("record", &self.record)?;
        fields.serialize_field("state", &self.state)?;
        match &self.seal {
            Seal::Read(digest) => fields.serialize_field("digest", digest)?,
            Seal::Taken(_) | Seal::Vouched => fields.serialize_field("digest", &self.content_digest())?,
        }
        fields.end()
    }
}

/// Snapshots are equal when their contents and their written digests are equal.
impl PartialEq for Snapshot {
    fn eq(&self, other: &Snapshot) -> bool {
        let content =
            |of: &Snapshot| (of.version, of.lifecycle.clone(), of.fingerprint.clone(), of.status.clone());
        let digest = |of: &Snapshot| match &of.seal {
            Seal::Read(digest) => digest.clone(),
            Seal::Taken(_) | Seal::Vouched => of.content_digest(),
        };
        content(self) == content(other)
            && (&self.record, &self.state) == (&other.record, &other.state)
            && digest(self) == digest(other)
    }
}

impl Snapshot {
    /// Takes a snapshot of a machine, typed or dynamic. The machine stays in use.
    ///
    /// # Errors
    /// [`SnapshotError::Unwritable`] when the record or the state has no JSON form, such as a map with keys that are
    /// not texts; [`SnapshotError::TooDeep`] when one of them has more than 110 levels; [`SnapshotError::Unproven`]
    /// when `P` is a manual implementation with the graph of another lifecycle.
    pub fn of<P: Persist>(machine: &P) -> Result<Snapshot, SnapshotError>
    where
        P::Record: Serialize,
    {
        let witness = sealable::<P>()?;
        let (record, state) = written(machine)?;
        Ok(Snapshot {
            lifecycle: P::GRAPH.identity().to_string(),
            version: P::GRAPH.version,
            fingerprint: P::GRAPH.fingerprint().to_string(),
            status: machine.status().name().to_owned(),
            record,
            state,
            seal: Seal::Taken(witness),
        })
    }

    /// Parses a snapshot from its JSON form. [`restore`](Snapshot::restore) validates its content.
    ///
    /// # Errors
    /// [`SnapshotError::Syntax`], with line and column, when the bytes are no JSON, lack a field or have an unknown
    /// one.
    pub fn from_json(bytes: &[u8]) -> Result<Snapshot, SnapshotError> {
        crate::json::from_slice(bytes).map_err(|e| SnapshotError::Syntax {
            line: e.line(),
            column: e.column(),
            message: without_place(&e),
        })
    }

    /// Writes the snapshot as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self)
            .unwrap_or_else(|_| unreachable!("texts, a number and JSON values are JSON"))
    }

    /// The identity of the lifecycle. Default: `package/name`; the definition's `identity` line replaces it.
    pub fn lifecycle(&self) -> &str {
        &self.lifecycle
    }

    /// The name of the state, as stored.
    pub fn status(&self) -> &str {
        &self.status
    }

    /// The schema version at the time of writing.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The fingerprint of the graph at the time of writing, in 16 hexadecimal digits.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The record, as stored.
    pub fn record(&self) -> &Value {
        &self.record
    }

    /// The data of the state, as stored; null for a state without data.
    pub fn state(&self) -> &Value {
        &self.state
    }

    /// Accepts the content without a check; [`to_json`](Self::to_json) then writes a new checksum. It is for a person
    /// that changed a stored file and takes responsibility.
    ///
    /// Only the feature `repair` provides it. A program that calls it on foreign content vouches for that content.
    #[cfg(feature = "repair")]
    pub fn recompute_checksum(&mut self) {
        self.seal = Seal::Vouched;
    }

    /// Checks that the digest matches the content.
    ///
    /// # Errors
    /// [`RestoreError::Digest`] when it does not match.
    pub fn verify(&self) -> Result<(), RestoreError> {
        let Seal::Read(got) = &self.seal else { return Ok(()) };
        // The error does not contain the correct checksum, because a forger would copy it.
        if *got == self.content_digest() { Ok(()) } else { Err(RestoreError::Digest { got: got.clone() }) }
    }

    /// Restores the machine.
    ///
    /// # Errors
    /// A [`RestoreError`] for a wrong checksum, another lifecycle, another version or graph, an unknown status, or a
    /// record or state that differs from the output of a machine in that status.
    pub fn restore<M>(&self) -> Result<M, RestoreError>
    where
        M: Restore,
        M::Record: Serialize + ReadRecord,
    {
        self.restore_with(&[])
    }

    /// Restores the machine, with migrations if it has an older version.
    ///
    /// # Errors
    /// As [`restore`](Snapshot::restore); and [`RestoreError::Migration`] when a migration fails.
    pub fn restore_with<M>(&self, migrations: &[Migration]) -> Result<M, RestoreError>
    where
        M: Restore,
        M::Record: Serialize + ReadRecord,
    {
        self.verify()?;
        let expected = M::GRAPH.identity().to_string();
        let mut fingerprint = self.fingerprint.clone();
        if self.lifecycle != expected {
            // Version 0.1.0 stored only the name, and included it in the fingerprint.
            if self.lifecycle != M::GRAPH.name {
                return Err(RestoreError::Lifecycle { got: self.lifecycle.clone(), expected });
            }
            if let Ok(former) = fingerprint.parse::<Fingerprint>() {
                fingerprint = former.without_name(M::GRAPH.name).to_string();
            }
        }
        if let Seal::Taken(witness) = self.seal
            && witness != M::GRAPH.witness()
        {
            return Err(other_lifecycle::<M>(&self.lifecycle));
        }
        let stored = Stored {
            version: self.version,
            fingerprint,
            status: self.status.clone(),
            record: self.record.clone(),
            state: self.state.clone(),
        };
        rehydrate(migration::migrate(stored, M::GRAPH, migrations)?)
    }

    fn content_digest(&self) -> String {
        digest(&[
            &Value::from(self.lifecycle.as_str()),
            &Value::from(self.version),
            &Value::from(self.fingerprint.as_str()),
            &Value::from(self.status.as_str()),
            &self.record,
            &self.state,
        ])
    }
}

fn other_lifecycle<M: Stateful>(got: &str) -> RestoreError {
    RestoreError::OtherLifecycle { got: got.to_owned(), expected: M::GRAPH.identity().to_string() }
}

/// Returns the witness of a machine's lifecycle, if the machine may be stored under the identity of its graph. The
/// machine must be of that graph. A graph with the identity of a documented lifecycle must be the graph of that
/// lifecycle.
fn sealable<P: Stateful>() -> Result<&'static Witness, SnapshotError> {
    let witness = proven_witness::<P>().filter(|_| !is_pretended(P::GRAPH));
    witness.ok_or_else(|| SnapshotError::Unproven {
        machine: std::any::type_name::<P>(),
        lifecycle: P::GRAPH.identity().to_string(),
    })
}

/// Returns whether a foreign graph has the identity of a documented lifecycle.
fn is_pretended(graph: &Graph) -> bool {
    !is_documented(graph) && {
        let identity = graph.identity().to_string();
        let name = identity.strip_prefix("runstate/").unwrap_or(&identity);
        crate::documented_graphs().iter().any(|known| known.name == name)
    }
}

fn is_documented(graph: &Graph) -> bool {
    crate::documented_graphs().iter().any(|known| std::ptr::eq(*known, graph))
}

/// Serializes record and state of a machine to JSON.
fn written<P: Persist>(machine: &P) -> Result<(Value, Value), SnapshotError>
where
    P::Record: Serialize,
{
    let unwritable =
        |part| move |error: serde_json::Error| SnapshotError::Unwritable { part, message: error.to_string() };
    let record = serde_json::to_value(machine.record()).map_err(unwritable(Part::Record))?;
    let state = machine.serialize_state(serde_json::value::Serializer).map_err(unwritable(Part::State))?;
    for (part, value) in [(Part::Record, &record), (Part::State, &state)] {
        if nests_deeper(value, MOST_LEVELS) {
            return Err(SnapshotError::TooDeep { part, most: MOST_LEVELS });
        }
    }
    Ok((record, state))
}

/// Restores a machine of the current version from its verified parts.
pub(crate) fn rehydrate<M>(stored: Stored) -> Result<M, RestoreError>
where
    M: Restore,
    M::Record: Serialize + ReadRecord,
{
    // A manual implementation with the graph of another lifecycle gets no parts of it.
    let Some(witness) = proven_witness::<M>() else {
        return Err(other_lifecycle::<M>(std::any::type_name::<M>()));
    };
    let status: M::Status = status_from_name(&stored.status).map_err(RestoreError::Status)?;
    let shape = |part: Part, message: String| RestoreError::Shape { status: status.name(), part, message };
    let record = M::Record::read_record(Rehydration::permit(witness), &stored.record)
        .map_err(|e| shape(Part::Record, shortened(e.to_string())))?;
    record.check_stored(status.name()).map_err(|why| shape(Part::Record, why))?;
    let machine = M::rehydrate(Rehydration::permit(witness), status, record, &stored.state)
        .map_err(|e: serde_json::Error| shape(Part::State, shortened(e.to_string())))?;
    // The types may have skipped parts, such as unknown fields. A second serialization reveals them.
    let (record, state) = written(&machine).map_err(|e| shape(Part::State, e.to_string()))?;
    for (part, was, is) in [(Part::Record, &stored.record, &record), (Part::State, &stored.state, &state)] {
        if let Some(place) = canonical::first_difference(was, is) {
            return Err(shape(
                part,
                format!("{place} differs from the value that this version writes there"),
            ));
        }
    }
    Ok(machine)
}
