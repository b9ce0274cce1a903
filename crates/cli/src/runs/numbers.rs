//! The numbers that runs have had: none is given twice, though runs are removed with their folders.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::durable::{make_own_folder, replace};
use super::lock::{PATIENCE, lock};
use crate::failure::Failure;
use crate::input::{Links, contents, opened};

/// The folder that has the highest number of each name. No run is called so: ids end with a number.
const FOLDER: &str = "numbers";

/// What keeps others from giving a number meanwhile. No scenario is called so: names have no dots.
const LOCK: &str = ".lock";

/// What it was called before, when a scenario of that name could not run: an empty file is what is left of it.
const OLD_LOCK: &str = "lock";

/// The most bytes of a number and the line feed behind it.
const MOST: u64 = 64;

/// What is known of the numbers of one name, while nobody else gives one.
#[derive(Debug)]
pub(super) struct Numbers {
    path: PathBuf,
    highest: u64,
    /// Held until this is dropped.
    _lock: File,
}

impl Numbers {
    /// Those of that name, once no other process gives one.
    ///
    /// # Errors
    /// Those of the operating system, a file that holds something else, and another process that does not go on.
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
                    .with_help("write the highest number into it that a run of that name has had")
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
        // Folders may be there of runs that were made before numbers were kept.
        let highest = there(state_dir, name).max().unwrap_or(0).max(kept);
        Ok(Numbers { path, highest, _lock: locked })
    }

    /// The next one. It is not given again, whatever becomes of it.
    ///
    /// # Errors
    /// Those of the operating system, and no number that is left.
    pub(super) fn next(&mut self, least: u64) -> Result<u64, Failure> {
        let next = self.highest.checked_add(1).ok_or_else(|| {
            let (path, highest) = (self.path.display(), self.highest);
            Failure::new(format!("{path}: no number is left behind {highest}"))
                .with_help("give the scenario another name, or --state-dir another folder")
        })?;
        let next = next.max(least);
        replace(&self.path, format!("{next}\n").as_bytes())
            .map_err(|error| Failure::io("write", &self.path, &error))?;
        self.highest = next;
        Ok(next)
    }
}

/// The numbers of the runs of that name that have folders; none where the folder cannot be read.
fn there(state_dir: &Path, name: &str) -> impl Iterator<Item = u64> {
    let entries = fs::read_dir(state_dir).into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    ids.filter_map(move |id| id.strip_prefix(name)?.strip_prefix('-')?.parse().ok())
}
