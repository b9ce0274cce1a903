//! A machine at rest: sealed JSON that can be read back into a type, or is refused with the reason.
//!
//! A [`Snapshot`] holds the lifecycle, its schema version, the fingerprint of its graph, the status, the record and the
//! state's data; a digest seals them all. Reading is parsing: nothing is assumed, and nothing is repaired in silence.
//! Its digest is over the *content*: white space and the order of keys may change on the way through a database.

mod canonical;
mod error;
mod migration;
#[cfg(feature = "agent")]
mod unsealed;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kernel::{Machine, Persist, Rehydration, Status, status_from_name};

pub(crate) use canonical::{digest, nests_deeper};
use error::shortened;
pub(crate) use error::without_place;
pub use error::{Part, RestoreError, SnapshotError};
pub use migration::{Migration, Stored};
#[cfg(feature = "agent")]
pub(crate) use unsealed::{Unsealed, UnsealedSnapshot, WrittenUnder};

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    lifecycle: String,
    version: u32,
    fingerprint: String,
    status: String,
    record: Value,
    state: Value,
    digest: String,
}

impl Snapshot {
    /// Takes a snapshot of a machine, typed or dynamic, which goes on.
    ///
    /// # Errors
    /// [`SnapshotError::Unwritable`] when the record or the state has no form in JSON, such as a map with keys that are
    /// no text; [`SnapshotError::TooDeep`] when one of them nests deeper than 110 levels.
    pub fn of<P: Persist>(machine: &P) -> Result<Snapshot, SnapshotError>
    where
        P::Record: Serialize,
    {
        let unwritable = |part| {
            move |error: serde_json::Error| SnapshotError::Unwritable { part, message: error.to_string() }
        };
        let record = serde_json::to_value(machine.record()).map_err(unwritable(Part::Record))?;
        let state =
            machine.serialize_state(serde_json::value::Serializer).map_err(unwritable(Part::State))?;
        for (part, value) in [(Part::Record, &record), (Part::State, &state)] {
            if nests_deeper(value, MOST_LEVELS) {
                return Err(SnapshotError::TooDeep { part, most: MOST_LEVELS });
            }
        }
        let mut snapshot = Snapshot {
            lifecycle: P::GRAPH.name.to_owned(),
            version: P::GRAPH.version,
            fingerprint: fingerprint_text(P::GRAPH.fingerprint()),
            status: machine.status().name().to_owned(),
            record,
            state,
            digest: String::new(),
        };
        snapshot.reseal();
        Ok(snapshot)
    }

    /// Reads a snapshot's own form; whether its content is sound, [`restore`](Snapshot::restore) tells.
    ///
    /// # Errors
    /// [`SnapshotError::Syntax`], with line and column, when the bytes are no JSON, lack a field or have a foreign one.
    pub fn from_json(bytes: &[u8]) -> Result<Snapshot, SnapshotError> {
        serde_json::from_slice(bytes).map_err(|e| SnapshotError::Syntax {
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

    /// The name of the lifecycle.
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

    /// Seals the content as it stands: for a person who changed a stored file and answers for it.
    pub fn reseal(&mut self) {
        self.digest = self.content_digest();
    }

    /// Does the seal fit the content?
    ///
    /// # Errors
    /// [`RestoreError::Digest`] when it does not.
    pub fn verify(&self) -> Result<(), RestoreError> {
        let expected = self.content_digest();
        if self.digest == expected {
            return Ok(());
        }
        Err(RestoreError::Digest { got: self.digest.clone(), expected })
    }

    /// Brings the machine back.
    ///
    /// # Errors
    /// A [`RestoreError`] for a broken seal, another lifecycle, another version or graph, an unknown status, or a record
    /// or state that is not exactly what a machine in that status would write.
    pub fn restore<M>(&self) -> Result<M, RestoreError>
    where
        M: Machine,
        M::Record: Serialize + DeserializeOwned,
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
        M::Record: Serialize + DeserializeOwned,
    {
        self.verify()?;
        if self.lifecycle != M::GRAPH.name {
            return Err(RestoreError::Lifecycle { got: self.lifecycle.clone(), expected: M::GRAPH.name });
        }
        let stored = Stored {
            version: self.version,
            fingerprint: self.fingerprint.clone(),
            status: self.status.clone(),
            record: self.record.clone(),
            state: self.state.clone(),
        };
        let stored = migration::migrate(stored, M::GRAPH, migrations)?;
        let expected = fingerprint_text(M::GRAPH.fingerprint());
        if stored.fingerprint != expected {
            return Err(RestoreError::Fingerprint {
                lifecycle: M::GRAPH.name,
                got: stored.fingerprint,
                expected,
            });
        }
        rehydrate(stored)
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

fn fingerprint_text(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

fn rehydrate<M>(stored: Stored) -> Result<M, RestoreError>
where
    M: Machine,
    M::Record: Serialize + DeserializeOwned,
{
    let status: M::Status = status_from_name(&stored.status).map_err(RestoreError::Status)?;
    let shape = |part: Part, message: String| RestoreError::Shape { status: status.name(), part, message };
    let record =
        M::Record::deserialize(&stored.record).map_err(|e| shape(Part::Record, shortened(e.to_string())))?;
    let machine = M::rehydrate(Rehydration::permit(), status, record, &stored.state)
        .map_err(|e: serde_json::Error| shape(Part::State, shortened(e.to_string())))?;
    // What the types did not read, such as a field they do not know, shows when they write themselves again.
    let again = Snapshot::of(&machine).map_err(|e| shape(Part::State, e.to_string()))?;
    for (part, was, is) in
        [(Part::Record, &stored.record, &again.record), (Part::State, &stored.state, &again.state)]
    {
        if let Some(place) = canonical::first_difference(was, is) {
            return Err(shape(part, format!("{place} is not what this version writes there")));
        }
    }
    Ok(machine)
}
