//! What can be wrong with a snapshot.

use std::error::Error;
use std::fmt;

use crate::kernel::UnknownStatus;

/// A part of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What all states share.
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

/// Why a snapshot could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The record or the state has no form in JSON.
    Unwritable {
        /// Which of the two.
        part: Part,
        /// What the serializer says.
        message: String,
    },
    /// The record or the state nests so deep that a reader of JSON would not take it back.
    TooDeep {
        /// Which of the two.
        part: Part,
        /// The most levels.
        most: usize,
    },
    /// The bytes are not a snapshot's JSON.
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
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
            SnapshotError::Syntax { line, column, message } => {
                write!(f, "line {line}, column {column}: not a snapshot: {message}")
            }
        }
    }
}

impl Error for SnapshotError {}

/// Why a snapshot did not give a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The content is not what was sealed.
    Digest {
        /// The digest in the snapshot.
        got: String,
        /// The digest of its content.
        expected: String,
    },
    /// It is a snapshot of another lifecycle.
    Lifecycle {
        /// The lifecycle it names.
        got: String,
        /// The lifecycle that was asked for.
        expected: &'static str,
    },
    /// It was written under another schema version, and no migration starts there.
    Version {
        /// The lifecycle.
        lifecycle: &'static str,
        /// The version it was written under.
        got: u32,
        /// The version of this code.
        expected: u32,
    },
    /// It was written under another graph of the same version.
    Fingerprint {
        /// The lifecycle.
        lifecycle: &'static str,
        /// The fingerprint it was written under.
        got: String,
        /// The fingerprint of this code's graph.
        expected: String,
    },
    /// It names a state that the lifecycle does not have.
    Status(UnknownStatus),
    /// Its record or state is not what a machine in that status writes.
    Shape {
        /// The status.
        status: &'static str,
        /// Which of the two.
        part: Part,
        /// What is wrong with it.
        message: String,
    },
    /// A migration failed.
    Migration {
        /// Its name.
        name: &'static str,
        /// What it says.
        message: String,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::Digest { got, expected } => write!(
                f,
                "the content was changed after it was sealed: its digest is {expected}, the seal says {got:?}; \
                 restore the file from a backup, or seal it anew if the change is meant"
            ),
            RestoreError::Lifecycle { got, expected } => {
                write!(f, "expected a snapshot of {expected}, got one of {got:?}")
            }
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
                "{lifecycle} was stored under another graph: fingerprint {got:?}, expected {expected}; a changed graph \
                 wants a new version and a migration"
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

/// What `serde_json` says, less the place that it appends and the whole of a text that it quotes.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    shortened(match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    })
}

/// What the reader says, without the whole of a text that it quotes.
pub(super) fn shortened(mut message: String) -> String {
    const MOST: usize = 200;
    if let Some((end, _)) = message.char_indices().nth(MOST) {
        message.truncate(end);
        message.push('…');
    }
    message
}
