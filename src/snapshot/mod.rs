//! A machine at rest: JSON with a checksum that can be read back into a type, or is refused with the reason.
//!
//! A [`Snapshot`] holds the identity of the lifecycle, its schema version, the fingerprint of its graph, the status, the record
//! and the state's data; a checksum covers them all. Reading is parsing: nothing is assumed, and nothing is repaired in
//! silence. The checksum is over the *content*: white space and the order of keys may change on the way through a database.
//!
//! # The checksum
//! It holds off damage, an edit by hand, a row of another machine. It does not hold off an attacker: SHA-256 has no secret, so that a
//! program that writes the storage can compute it. Bytes under a plain checksum are trusted input.
//!
//! Inside a process no such bytes are needed, and none are made for a forger: a snapshot is taken only of a machine that
//! `lifecycle!` generated ([`SnapshotError::Unproven`]), it remembers its lifecycle by type and not by name
//! ([`RestoreError::OtherLifecycle`]), and no function computes a checksum anew for changed content. The feature `repair` has one, for
//! the command that a person uses to repair a file.

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
    Fingerprint, Graph, Machine, Persist, ReadRecord, Record, Rehydration, Status, Witness, proven_witness,
    status_from_name,
};

/// The most levels of a record or a state. A reader of JSON takes 127; some are left for what a snapshot is stored in.
const MOST_LEVELS: usize = 110;

/// A machine at rest.
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
/// // A changed byte is noticed, and names what is wrong.
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

/// The warrant for the content of a snapshot.
#[derive(Debug, Clone, PartialEq)]
enum Seal {
    /// The digest that was read with it, to be compared.
    Read(String),
    /// It was taken in this process of a machine whose lifecycle has this witness, and its fields are private since.
    Taken(&'static Witness),
    /// It was read from a bundle that has a seal of its own, or its content was accepted by a person.
    Vouched,
}

/// The form of a snapshot in JSON.
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

/// Snapshots are equal when their content and their written digests are.
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
    /// Takes a snapshot of a machine, typed or dynamic, which goes on.
    ///
    /// # Errors
    /// [`SnapshotError::Unwritable`] when the record or the state has no form in JSON, such as a map with keys that are
    /// no text; [`SnapshotError::TooDeep`] when one of them nests deeper than 110 levels; [`SnapshotError::Unproven`] when
    /// `P` is an implementation by hand that names the graph of another lifecycle.
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

    /// Reads a snapshot's own form; whether its content is sound, [`restore`](Snapshot::restore) tells.
    ///
    /// # Errors
    /// [`SnapshotError::Syntax`], with line and column, when the bytes are no JSON, lack a field or have a foreign one.
    pub fn from_json(bytes: &[u8]) -> Result<Snapshot, SnapshotError> {
        crate::json::from_slice(bytes).map_err(|e| SnapshotError::Syntax {
            line: e.line(),
            column: e.column(),
            message: without_place(&e),
        })
    }

    /// The snapshot as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self)
            .unwrap_or_else(|_| unreachable!("texts, a number and JSON values are JSON"))
    }

    /// The identity of the lifecycle: `package/name`, unless its definition says another.
    pub fn lifecycle(&self) -> &str {
        &self.lifecycle
    }

    /// The name of the state, as stored.
    pub fn status(&self) -> &str {
        &self.status
    }

    /// The schema version it was written under.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The fingerprint of the graph it was written under, in 16 hexadecimal digits.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// What all states share, as stored.
    pub fn record(&self) -> &Value {
        &self.record
    }

    /// The data of the state, as stored; null for a state without.
    pub fn state(&self) -> &Value {
        &self.state
    }

    /// Accepts the content as it stands: for a person who changed a stored file and answers for it.
    ///
    /// Only the feature `repair` has it. A program that calls it on content of others vouches for whatever that content says.
    #[cfg(feature = "repair")]
    pub fn reseal(&mut self) {
        self.seal = Seal::Vouched;
    }

    /// Checks that the digest fits the content.
    ///
    /// # Errors
    /// [`RestoreError::Digest`] when it does not.
    pub fn verify(&self) -> Result<(), RestoreError> {
        let Seal::Read(got) = &self.seal else { return Ok(()) };
        // The refusal does not say the right checksum: a forger would copy it.
        if *got == self.content_digest() { Ok(()) } else { Err(RestoreError::Digest { got: got.clone() }) }
    }

    /// Brings the machine back.
    ///
    /// # Errors
    /// A [`RestoreError`] for a broken seal, another lifecycle, another version or graph, an unknown status, or a record
    /// or state that is not exactly what a machine in that status would write.
    pub fn restore<M>(&self) -> Result<M, RestoreError>
    where
        M: Machine,
        M::Record: Serialize + ReadRecord,
    {
        self.restore_with(&[])
    }

    /// Brings the machine back, through migrations if it was written under an older version.
    ///
    /// # Errors
    /// As [`restore`](Snapshot::restore); and [`RestoreError::Migration`] when one of them fails.
    pub fn restore_with<M>(&self, migrations: &[Migration]) -> Result<M, RestoreError>
    where
        M: Machine,
        M::Record: Serialize + ReadRecord,
    {
        self.verify()?;
        let expected = M::GRAPH.identity().to_string();
        let mut fingerprint = self.fingerprint.clone();
        if self.lifecycle != expected {
            // Version 0.1.0 stored the name alone, and counted it into the fingerprint.
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

fn other_lifecycle<M: Persist>(got: &str) -> RestoreError {
    RestoreError::OtherLifecycle { got: got.to_owned(), expected: M::GRAPH.identity().to_string() }
}

/// The witness of a machine's lifecycle, if the machine may be stored under the identity of its graph: it is one of that graph,
/// and a graph with the identity of a documented lifecycle is that one.
fn sealable<P: Persist>() -> Result<&'static Witness, SnapshotError> {
    let witness = proven_witness::<P>().filter(|_| !is_pretended(P::GRAPH));
    witness.ok_or_else(|| SnapshotError::Unproven {
        machine: std::any::type_name::<P>(),
        lifecycle: P::GRAPH.identity().to_string(),
    })
}

/// Has the graph the identity of a documented lifecycle, and is another?
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

/// Record and state of a machine, as JSON.
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

/// A machine of this version from its verified parts.
pub(crate) fn rehydrate<M>(stored: Stored) -> Result<M, RestoreError>
where
    M: Machine,
    M::Record: Serialize + ReadRecord,
{
    // An implementation by hand that names the graph of another lifecycle is handed nothing of it.
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
    // What the types did not read, such as a field they do not know, shows when they write themselves again.
    let (record, state) = written(&machine).map_err(|e| shape(Part::State, e.to_string()))?;
    for (part, was, is) in [(Part::Record, &stored.record, &record), (Part::State, &stored.state, &state)] {
        if let Some(place) = canonical::first_difference(was, is) {
            return Err(shape(part, format!("{place} is not what this version writes there")));
        }
    }
    Ok(machine)
}
