//! Append-only logs with one line of JSON for each row. The state of the run defines the valid content: a number of
//! bytes of the file, followed by the lines in the state itself. The latter move to the file once they are worth a
//! sync. Other bytes in the file belong to a commit that was not made.

use std::io::{self, ErrorKind};
use std::path::Path;

use runstate_runtime::files::{Disk, Open, append};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::error::StoreError;
use super::layout::MOST_READ;
use super::problem::{damaged, failed, fits, too_large, unsynced};

/// The valid content of a log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Log {
    /// The number of valid bytes in the file.
    bytes: u64,
    /// The number of valid bytes before the last commit, including fresh lines.
    before: u64,
    /// The lines after those in the file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    fresh: String,
}

impl Log {
    /// Adds the lines of a commit. They are durable with the state. Refuses to exceed `most` bytes.
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
            // The new lines usually begin with the lines of the first try.
            let there = self.read(disk, path, self.before)?;
            lines = lines.strip_prefix(&*there).unwrap_or(lines);
        } else {
            self.before = self.bytes + self.fresh();
        }
        fits(path, self.bytes.saturating_add(self.fresh() + lines.len() as u64), most)?;
        self.fresh.push_str(lines);
        Ok(())
    }

    /// Returns whether nothing was ever added.
    pub(super) fn is_unused(&self) -> bool {
        *self == Log::default()
    }

    /// Returns the number of bytes in the state that are not in the file.
    pub(super) fn fresh(&self) -> u64 {
        self.fresh.len() as u64
    }

    /// Moves fresh lines into the file and syncs it. They count there from the next write of the state. Bytes of no
    /// commit are cut off first, and noted in `cut`.
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
            // The name of the file must be durable before the state that refers to it.
            disk.sync_folder(folder).map_err(unsynced(folder))?;
        }
        self.bytes += self.fresh();
        self.fresh.clear();
        Ok(())
    }

    /// Returns the valid lines, each parsed as a row.
    pub(super) fn rows<T: DeserializeOwned>(
        &self,
        disk: &dyn Disk,
        path: &Path,
    ) -> Result<Vec<T>, StoreError> {
        let bytes = self.read_bytes(disk, path, 0)?;
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').zip(1..);
        let row = |(line, number): (&[u8], u64)| {
            runstate::json::from_slice(line)
                .map_err(|error| damaged(path, format_args!("line {number}: {error}")))
        };
        lines.map(row).collect()
    }

    /// Returns the valid lines as text.
    pub(super) fn lines(&self, disk: &dyn Disk, path: &Path) -> Result<String, StoreError> {
        self.read(disk, path, 0)
    }

    /// Returns the valid lines as text. Invalid UTF-8 is replaced.
    pub(super) fn text(&self, disk: &dyn Disk, path: &Path) -> Result<String, StoreError> {
        Ok(String::from_utf8_lossy(&self.read_bytes(disk, path, 0)?).into_owned())
    }

    /// Returns the number of lines before the last commit.
    pub(super) fn lines_before_last(&self, disk: &dyn Disk, path: &Path) -> Result<usize, StoreError> {
        let before = usize::try_from(self.before).unwrap_or(usize::MAX);
        let bytes = self.read_bytes(disk, path, 0)?;
        Ok(bytes.iter().take(before).filter(|byte| **byte == b'\n').count())
    }

    fn read(&self, disk: &dyn Disk, path: &Path, from: u64) -> Result<String, StoreError> {
        String::from_utf8(self.read_bytes(disk, path, from)?).map_err(|error| damaged(path, error))
    }

    /// Reads the valid bytes from that position on.
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
