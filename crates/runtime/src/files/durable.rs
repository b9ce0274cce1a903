//! Durable file operations: replace a file, append to a file, move a file.

use std::io;
use std::path::{Path, PathBuf};

use super::{Disk, DiskFile, Open};

/// Replaces a file as a whole. A reader, also after a crash, finds either the old content or the new content.
///
/// The new content is written to a file with the suffix `.new` in the same folder. That file is synced and renamed;
/// then the folder is synced. Concurrent writers of one file must hold a lock.
///
/// # Errors
/// The errors of the disk. The old content remains; if only the final sync failed, the new content may be visible.
pub fn replace(disk: &dyn Disk, path: &Path, content: &[u8]) -> io::Result<()> {
    write_atomic_unsynced(disk, path, content)?;
    disk.sync_folder(folder(path))
}

/// Replaces a file without the sync of its folder. The caller syncs the folder, and can tell which of the two failed.
///
/// # Errors
/// The errors of the disk. The old content remains.
pub fn write_atomic_unsynced(disk: &dyn Disk, path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = beside(path)?;
    let mut file = disk.open(&beside, Open::Write)?;
    let written = file.write(content).and_then(|()| file.sync());
    drop(file);
    if let Err(error) = written.and_then(|()| disk.rename(&beside, path)) {
        // A leftover temporary file is harmless, and the first error matters more than a second one.
        drop(disk.remove(&beside));
        return Err(error);
    }
    Ok(())
}

/// Appends `bytes` in one write to a file opened with [`Open::Append`], and syncs the file. A new file also needs a
/// [`Disk::sync_folder`].
///
/// # Errors
/// The errors of the disk. A part of the bytes may be in the file then.
pub fn append(file: &mut dyn DiskFile, bytes: &[u8]) -> io::Result<()> {
    file.write(bytes)?;
    file.sync()
}

/// Writes `content` to the new place, and removes the old file afterwards. At any crash, at least one of the two
/// files exists.
///
/// # Errors
/// The errors of the disk. Both files may exist then.
pub fn move_to(disk: &dyn Disk, from: &Path, to: &Path, content: &[u8]) -> io::Result<()> {
    replace(disk, to, content)?;
    match disk.remove(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(()) => disk.sync_folder(folder(from)),
    }
}

fn beside(path: &Path) -> io::Result<PathBuf> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_os_string();
    name.push(".new");
    Ok(path.with_file_name(name))
}

/// The parent folder of a path.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
