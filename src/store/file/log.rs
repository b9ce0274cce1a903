//! Files that grow: a line of JSON for each row. Their lengths as of the last commit are part of the run's state; what is
//! behind that was written by a commit that was not made.

use std::io::ErrorKind;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::error::StoreError;
use super::problem::{damaged, failed};
use crate::files::{Disk, Open, append};

/// How much of a log counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Length {
    /// How many bytes there are.
    pub(super) bytes: u64,
    /// How many there were before the last commit.
    before: u64,
}

impl Length {
    /// Writes the lines of a commit and syncs them. They count once the state that has the new length is in place. Says
    /// how many bytes, which no commit had, were cut off before.
    pub(super) fn add(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        lines: &[u8],
        again: bool,
    ) -> Result<Option<u64>, StoreError> {
        let mut lines = lines;
        if again && self.bytes > self.before {
            // What was given before is most of the time what is given now, and something behind it.
            let there = read(disk, path, self.before, self.bytes)?;
            lines = lines.strip_prefix(&*there).unwrap_or(lines);
        }
        if !again {
            self.before = self.bytes;
        }
        if lines.is_empty() {
            return Ok(None);
        }
        let mut file = disk.open(path, Open::Append).map_err(failed(path))?;
        let length = file.len().map_err(failed(path))?;
        if length < self.bytes {
            return Err(too_short(path, length, self.bytes));
        }
        let torn = Some(length - self.bytes).filter(|torn| *torn > 0);
        if torn.is_some() {
            file.cut(self.bytes).map_err(failed(path))?;
        }
        append(&mut *file, lines).map_err(failed(path))?;
        self.bytes += lines.len() as u64;
        Ok(torn)
    }

    /// The lines that count, each read as a row.
    pub(super) fn rows<T: DeserializeOwned>(
        self,
        disk: &dyn Disk,
        path: &Path,
    ) -> Result<Vec<T>, StoreError> {
        let bytes = read(disk, path, 0, self.bytes)?;
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').zip(1..);
        let row = |(line, number): (&[u8], u64)| {
            serde_json::from_slice(line)
                .map_err(|error| damaged(path, format_args!("line {number}: {error}")))
        };
        lines.map(row).collect()
    }

    /// The lines that count, as text.
    pub(super) fn lines(self, disk: &dyn Disk, path: &Path) -> Result<String, StoreError> {
        let bytes = read(disk, path, 0, self.bytes)?;
        String::from_utf8(bytes).map_err(|error| damaged(path, error))
    }
}

fn read(disk: &dyn Disk, path: &Path, from: u64, to: u64) -> Result<Vec<u8>, StoreError> {
    let mut file = match disk.open(path, Open::Read) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(damaged(path, "it is not there")),
        file => file.map_err(failed(path))?,
    };
    let bytes = file.read_from(from, to - from.min(to)).map_err(failed(path))?;
    let length = from + bytes.len() as u64;
    if length < to { Err(too_short(path, length, to)) } else { Ok(bytes) }
}

fn too_short(path: &Path, length: u64, expected: u64) -> StoreError {
    damaged(path, format_args!("it has {length} bytes, and the last commit left {expected}"))
}
