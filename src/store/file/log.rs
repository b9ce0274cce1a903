//! Files that grow: a line of JSON for each row. What counts of them is said by the run's state: so many bytes of the file, and
//! behind those the lines that are in the state itself until they are enough for a sync of their own. What else is in the
//! file was written by a commit that was not made.

use std::io::{self, ErrorKind};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::error::StoreError;
use super::layout::MOST_READ;
use super::problem::{damaged, failed, fits, too_large, unsynced};
use crate::files::{Disk, Open, append};

/// What counts of a log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Log {
    /// How many bytes of the file.
    bytes: u64,
    /// How many bytes there were before the last commit, those of fresh lines included.
    before: u64,
    /// The lines behind those in the file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    fresh: String,
}

impl Log {
    /// Adds the lines of a commit, where the log has at most so many bytes then. They are durable with the state.
    pub(super) fn add(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        lines: &str,
        again: bool,
        most: u64,
    ) -> Result<(), StoreError> {
        let mut lines = lines;
        if again {
            // What was given before is most of the time what is given now, and something behind it.
            let there = self.read(disk, path, self.before)?;
            lines = lines.strip_prefix(&*there).unwrap_or(lines);
        } else {
            self.before = self.bytes + self.fresh();
        }
        fits(path, self.bytes.saturating_add(self.fresh() + lines.len() as u64), most)?;
        self.fresh.push_str(lines);
        Ok(())
    }

    /// Was nothing ever added to it?
    pub(super) fn is_unused(&self) -> bool {
        *self == Log::default()
    }

    /// How many bytes are in the state and not in the file.
    pub(super) fn fresh(&self) -> u64 {
        self.fresh.len() as u64
    }

    /// Moves fresh lines into the file and syncs it. They count there once the state that says so is in place. What no commit
    /// had is cut off before, and noted in `cut`.
    pub(super) fn settle(
        &mut self,
        disk: &dyn Disk,
        path: &Path,
        cut: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        if self.fresh.is_empty() {
            return Ok(());
        }
        // A run of an earlier version has no file of events.
        let is_missing = |opened: &io::Result<_>| {
            opened.as_ref().is_err_and(|error: &io::Error| error.kind() == ErrorKind::NotFound)
        };
        let is_new = self.bytes == 0 && is_missing(&disk.open(path, Open::Read).map(drop));
        let mut file = disk.open(path, Open::Append).map_err(failed(path))?;
        let length = file.len().map_err(failed(path))?;
        if length < self.bytes {
            return Err(too_short(path, length, self.bytes));
        }
        let torn = length - self.bytes;
        if torn > 0 {
            file.cut(self.bytes).map_err(failed(path))?;
            cut.push(format!("{}: {torn} bytes that no commit had were cut off", path.display()));
        }
        append(&mut *file, self.fresh.as_bytes()).map_err(failed(path))?;
        if let Some(folder) = path.parent().filter(|_| is_new) {
            // The state that counts on the file must not be durable before its name is.
            disk.sync_folder(folder).map_err(unsynced(folder))?;
        }
        self.bytes += self.fresh();
        self.fresh.clear();
        Ok(())
    }

    /// The lines that count, each read as a row.
    pub(super) fn rows<T: DeserializeOwned>(
        &self,
        disk: &dyn Disk,
        path: &Path,
    ) -> Result<Vec<T>, StoreError> {
        let bytes = self.read_bytes(disk, path, 0)?;
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').zip(1..);
        let row = |(line, number): (&[u8], u64)| {
            crate::json::from_slice(line)
                .map_err(|error| damaged(path, format_args!("line {number}: {error}")))
        };
        lines.map(row).collect()
    }

    /// The lines that count, as text.
    pub(super) fn lines(&self, disk: &dyn Disk, path: &Path) -> Result<String, StoreError> {
        self.read(disk, path, 0)
    }

    /// Reads the lines that count. Bytes that are no UTF-8 are replaced.
    pub(super) fn text(&self, disk: &dyn Disk, path: &Path) -> Result<String, StoreError> {
        Ok(String::from_utf8_lossy(&self.read_bytes(disk, path, 0)?).into_owned())
    }

    /// How many lines there were before the last commit.
    pub(super) fn lines_before_last(&self, disk: &dyn Disk, path: &Path) -> Result<usize, StoreError> {
        let before = usize::try_from(self.before).unwrap_or(usize::MAX);
        let bytes = self.read_bytes(disk, path, 0)?;
        Ok(bytes.iter().take(before).filter(|byte| **byte == b'\n').count())
    }

    fn read(&self, disk: &dyn Disk, path: &Path, from: u64) -> Result<String, StoreError> {
        String::from_utf8(self.read_bytes(disk, path, from)?).map_err(|error| damaged(path, error))
    }

    /// What counts from there on.
    fn read_bytes(&self, disk: &dyn Disk, path: &Path, from: u64) -> Result<Vec<u8>, StoreError> {
        let mut bytes = if from < self.bytes { read(disk, path, from, self.bytes)? } else { Vec::new() };
        let known = usize::try_from(from.saturating_sub(self.bytes)).unwrap_or(usize::MAX);
        bytes.extend_from_slice(self.fresh.as_bytes().get(known..).unwrap_or_default());
        Ok(bytes)
    }
}

fn read(disk: &dyn Disk, path: &Path, from: u64, to: u64) -> Result<Vec<u8>, StoreError> {
    let mut file = match disk.open(path, Open::Read) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(damaged(path, "it is not there")),
        file => file.map_err(failed(path))?,
    };
    if to > MOST_READ {
        let (place, path) = (path, path.display());
        return Err(too_large(
            place,
            format_args!("{path}: {to} bytes of it count, more than the {MOST_READ} that are read of it"),
        ));
    }
    let bytes = file.read_from(from, to - from.min(to)).map_err(failed(path))?;
    let length = from + bytes.len() as u64;
    if length < to { Err(too_short(path, length, to)) } else { Ok(bytes) }
}

fn too_short(path: &Path, length: u64, expected: u64) -> StoreError {
    damaged(path, format_args!("it has {length} bytes, and the last commit left {expected}"))
}
