//! Files that are there as a whole or not at all, after a crash too.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Replaces a file: a reader, or a start after a crash, finds the old content or the new, never a part.
///
/// The new content is written beside the file, synced, and renamed over it; then the folder is synced.
///
/// # Errors
/// Those of the operating system. The old content is then still in place.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_os_string();
    name.push(".new");
    let beside = path.with_file_name(name);
    let written = write_synced(&beside, content).and_then(|()| fs::rename(&beside, path));
    if let Err(error) = written {
        drop(fs::remove_file(&beside));
        return Err(error);
    }
    sync_folder(path)
}

fn write_synced(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// A rename is durable once its folder is.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
