//! What is durable when it returns: a file replaced, a line appended, a file moved.

use std::io;
use std::path::{Path, PathBuf};

use super::{Disk, DiskFile, Open};

/// Replaces a file as a whole: a reader, or a start after a crash, finds the old content or the new, never a part.
///
/// The new content is written beside the file under its name with `.new`, synced, and renamed over it; then the folder is
/// synced. Two that replace one file at once must hold a lock.
///
/// # Errors
/// Those of the disk. The old content is in place then, or, when the last sync alone failed, the new.
pub fn replace(disk: &dyn Disk, path: &Path, content: &[u8]) -> io::Result<()> {
    put(disk, path, content)?;
    disk.sync_folder(folder(path))
}

/// Replaces a file, and leaves it to its caller to sync the folder: who has to know which of the two failed.
///
/// # Errors
/// Those of the disk. The old content is in place then.
pub(crate) fn put(disk: &dyn Disk, path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = beside(path)?;
    let mut file = disk.open(&beside, Open::Write)?;
    let written = file.write(content).and_then(|()| file.sync());
    drop(file);
    if let Err(error) = written.and_then(|()| disk.rename(&beside, path)) {
        // What is left beside does no harm, and the first error is worth more than a second one.
        drop(disk.remove(&beside));
        return Err(error);
    }
    Ok(())
}

/// Appends `bytes`, in one write, to a file opened with [`Open::Append`], and syncs it. A file that was made for it needs a
/// [`Disk::sync_folder`] as well.
///
/// # Errors
/// Those of the disk. A part of the bytes may be in the file then.
pub fn append(file: &mut dyn DiskFile, bytes: &[u8]) -> io::Result<()> {
    file.write(bytes)?;
    file.sync()
}

/// Puts `content` where it belongs from now on, and takes the old file away after that: whenever a crash comes, at least
/// one of the two is there.
///
/// # Errors
/// Those of the disk. Both files may be there then.
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

/// The folder that a path's name is in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
