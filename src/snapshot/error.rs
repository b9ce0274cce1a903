//! Errors of snapshots.

use std::error::Error;
use std::fmt;

use crate::kernel::UnknownStatus;

/// A part of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The record, which all states share.
    Record,
    /// The data of one state.
    State,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Record => "record",
            Part::State => "state",
        })
    }
}

/// The reason why a snapshot could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The record or the state has no form in JSON.
    Unwritable {
        /// The affected part.
        part: Part,
        /// The message of the serializer.
        message: String,
    },
    /// The record or the state has too many levels: a reader of JSON would refuse it.
    TooDeep {
        /// The affected part.
        part: Part,
        /// The maximum number of levels.
        most: usize,
    },
    /// The machine has no proof of its lifecycle: that `lifecycle!` did not generate it.
    Unproven {
        /// The type of the machine.
        machine: &'static str,
        /// The identity of the lifecycle.
        lifecycle: String,
    },
    /// A bundle lacks the graph of the machine, or already has a machine with that name.
    Bundle {
        /// The name of the machine in the bundle.
        name: String,
        /// The problem.
        message: String,
    },
    /// The bytes are not a snapshot's JSON.
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The problem at that place.
        message: String,
    },
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotError::Unwritable { part, message } => {
                write!(f, "the {part} has no form in JSON: {message}")
            }
            SnapshotError::TooDeep { part, most } => {
                write!(f, "the {part} nests deeper than {most} levels, and could not be read back")
            }
            SnapshotError::Unproven { machine, lifecycle } => write!(
                f,
                "{machine} is no machine of {lifecycle}: only a type that the `lifecycle!` of {lifecycle} generated is stored \
                 under that identity"
            ),
            SnapshotError::Bundle { name, message } => {
                write!(f, "the machine {name:?} cannot be bundled: {message}")
            }
            SnapshotError::Syntax { line, column, message } => {
                write!(f, "line {line}, column {column}: not a snapshot: {message}")
            }
        }
    }
}

impl Error for SnapshotError {}

/// The reason why a snapshot could not be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The checksum does not match the content.
    Digest {
        /// The checksum in the snapshot.
        got: String,
    },
    /// The snapshot is of another lifecycle.
    Lifecycle {
        /// The identity in the snapshot.
        got: String,
        /// The identity of the requested lifecycle.
        expected: String,
    },
    /// The snapshot was taken in this process from a machine of another lifecycle, possibly with an equal name.
    OtherLifecycle {
        /// The identity in the snapshot.
        got: String,
        /// The identity of the requested lifecycle.
        expected: String,
    },
    /// A bundle is corrupt, or incomplete.
    Bundle {
        /// The problem.
        message: String,
    },
    /// The snapshot has another schema version, and no migration starts there.
    Version {
        /// The lifecycle.
        lifecycle: &'static str,
        /// The version in the snapshot.
        got: u32,
        /// The version of this code.
        expected: u32,
    },
    /// The snapshot has another graph under the current version.
    Fingerprint {
        /// The lifecycle.
        lifecycle: &'static str,
        /// The fingerprint in the snapshot.
        got: String,
        /// The fingerprint of this code's graph.
        expected: String,
    },
    /// The snapshot names a state that the lifecycle does not have.
    Status(UnknownStatus),
    /// The record or the state is not valid for its status.
    Shape {
        /// The status.
        status: &'static str,
        /// The affected part.
        part: Part,
        /// The problem.
        message: String,
    },
    /// A migration failed.
    Migration {
        /// The name of the migration.
        name: &'static str,
        /// The message of the migration.
        message: String,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::Digest { got } => write!(
                f,
                "the content was changed after its checksum was computed: {got:?} does not fit it; restore the file from a \
                 backup, or seal it anew if the change is meant"
            ),
            RestoreError::Lifecycle { got, expected } => {
                write!(f, "expected a snapshot of {expected}, got one of {got:?}")
            }
            RestoreError::OtherLifecycle { got, expected } => write!(
                f,
                "expected a snapshot of {expected}, got one of another lifecycle that calls itself {got:?}: a definition \
                 restores only the machines that it generated"
            ),
            RestoreError::Bundle { message } => f.write_str(message),
            RestoreError::Version { lifecycle, got, expected } if got > expected => write!(
                f,
                "{lifecycle} was stored under version {got}, this is version {expected}: read it with the program that \
                 stored it, or a later one"
            ),
            RestoreError::Version { lifecycle, got, expected } => write!(
                f,
                "{lifecycle} was stored under version {got}, this is version {expected}: register a migration from \
                 {got}, or finish the run with the program that stored it"
            ),
            RestoreError::Fingerprint { lifecycle, got, expected } => write!(
                f,
                "{lifecycle} was stored under another graph: fingerprint {got:?}, expected {expected}; if \
                 states or transitions were only added, register `Migration::only_grew` from {got:?}, else raise the version \
                 and register a migration"
            ),
            RestoreError::Status(unknown) => unknown.fmt(f),
            RestoreError::Shape { status, part, message } => {
                write!(f, "the {part} is not that of a machine in {status}: {message}")
            }
            RestoreError::Migration { name, message } => write!(f, "migration '{name}' failed: {message}"),
        }
    }
}

impl Error for RestoreError {}
