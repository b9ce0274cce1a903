//! A fresh copy of a scenario's folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The most files and folders that are copied.
const MOST_ENTRIES: usize = 10_000;
/// The most bytes that are copied.
const MOST_BYTES: u64 = 256 << 20;

/// Refuses what is no folder.
///
/// # Errors
/// A folder that there is not, and a file.
pub(super) fn check(from: &Path) -> Result<(), Failure> {
    let about =
        fs::metadata(from).map_err(|error| Failure::io("read the scenario's folder", from, &error))?;
    if !about.is_dir() {
        return Err(Failure::new(format!("the scenario's folder {} is a file", from.display())));
    }
    Ok(())
}

/// Copies the files and folders of `from` to `to`, which must not exist yet.
///
/// # Errors
/// Whatever cannot be read or written; symlinks and special files, of which a copy could lead out of the folder; more
/// than the limits of this module.
pub(super) fn folder(from: &Path, to: &Path) -> Result<(), Failure> {
    check(from)?;
    let (mut entries, mut bytes) = (0, 0);
    let mut open: Vec<(PathBuf, PathBuf)> = vec![(from.to_path_buf(), to.to_path_buf())];
    while let Some((from, to)) = open.pop() {
        fs::create_dir(&to).map_err(|error| Failure::io("make the folder", &to, &error))?;
        let listing = fs::read_dir(&from).map_err(|error| Failure::io("read", &from, &error))?;
        for entry in listing {
            let entry = entry.map_err(|error| Failure::io("read", &from, &error))?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            let about = entry.metadata().map_err(|error| Failure::io("read", &source, &error))?;
            entries += 1;
            bytes += if about.is_file() { about.len() } else { 0 };
            if entries > MOST_ENTRIES || bytes > MOST_BYTES {
                return Err(Failure::new(format!(
                    "the scenario's folder has more than {MOST_ENTRIES} entries or {MOST_BYTES} bytes"
                )));
            }
            if about.is_dir() {
                open.push((source, target));
            } else if about.is_file() {
                fs::copy(&source, &target).map_err(|error| Failure::io("copy", &source, &error))?;
            } else {
                return Err(Failure::new(format!(
                    "cannot copy {}: it is a symlink or a special file",
                    source.display()
                ))
                .with_help("a scenario's folder has files and folders alone"));
            }
        }
    }
    Ok(())
}
