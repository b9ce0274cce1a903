//! The numbers of runs: none is given twice, though runs are removed with their folders.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::durable::{make_own_folder, replace};
use super::lock::{PATIENCE, lock};
use crate::failure::Failure;
use crate::input::{Links, contents, opened};

/// The folder with the highest number of each name. No run has this name: ids end with a number.
const FOLDER: &str = "numbers";

/// The lock file for giving a number. No scenario has this name: names have no dots.
const LOCK: &str = ".lock";

/// Its former name, which no scenario could have then: an empty file may remain.
const OLD_LOCK: &str = "lock";

/// The maximum size of a number with its line feed, in bytes.
const MOST: u64 = 64;

/// The numbers of one name, locked against other processes.
#[derive(Debug)]
pub(super) struct Numbers {
    path: PathBuf,
    highest: u64,
    /// Held until this is dropped.
    _lock: File,
}

impl Numbers {
    /// Locks the numbers of that name.
    ///
    /// # Errors
    /// Errors of the operating system, a file with other content, and another process that holds the lock.
    pub(super) fn of(state_dir: &Path, name: &str) -> Result<Self, Failure> {
        let folder = state_dir.join(FOLDER);
        make_own_folder(&folder)?;
        let locked = lock(&folder.join(LOCK), PATIENCE)?;
        let path = folder.join(name);
        let read = opened(File::options().read(true), &path, Links::Refused);
        let kept = match read
            .and_then(|file| contents(file, MOST))
            .map(|it| String::from_utf8_lossy(&it).into_owned())
        {
            Ok(text) if text.is_empty() && name == OLD_LOCK => 0,
            Ok(text) => text.trim().parse().map_err(|_| {
                Failure::new(format!("{}: expected a number, got {text:?}", path.display()))
                    .with_help("write the highest number of a run of that name into the file")
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error)
                if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::IsADirectory) =>
            {
                let got = format!("{}: expected a file with a number: {error}", path.display());
                return Err(Failure::new(got).with_help("remove it"));
            }
            Err(error) => return Err(Failure::io("read", &path, &error)),
        };
        // Folders may remain of runs from before numbers were stored.
        let highest = there(state_dir, name).max().unwrap_or(0).max(kept);
        Ok(Numbers { path, highest, _lock: locked })
    }

    /// The next number. It is not given again, in any case.
    ///
    /// # Errors
    /// Errors of the operating system, and no number left.
    pub(super) fn next(&mut self, least: u64) -> Result<u64, Failure> {
        let next = self.highest.checked_add(1).ok_or_else(|| {
            let (path, highest) = (self.path.display(), self.highest);
            Failure::new(format!("{path}: there is no number after {highest}"))
                .with_help("give the scenario another name, or --state-dir another folder")
        })?;
        let next = next.max(least);
        replace(&self.path, format!("{next}\n").as_bytes())
            .map_err(|error| Failure::io("write", &self.path, &error))?;
        self.highest = next;
        Ok(next)
    }
}

/// The numbers of the folders of that name; none if the folder cannot be read.
fn there(state_dir: &Path, name: &str) -> impl Iterator<Item = u64> {
    let entries = fs::read_dir(state_dir).into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    ids.filter_map(move |id| id.strip_prefix(name)?.strip_prefix('-')?.parse().ok())
}
