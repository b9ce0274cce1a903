//! Files that exist completely or not at all, after a crash too.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use runstate_runtime::files::{Disk, RealDisk};

use crate::failure::Failure;

/// Replaces a file atomically: a reader, or a start after a crash, finds the old content or the new, never a part.
///
/// # Errors
/// Errors of the operating system.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    runstate_runtime::files::replace(&RealDisk, path, content)
}

/// Makes a folder and its ancestors, durably. On Unix new folders are closed to other users of the machine: they contain the
/// data of agents.
///
/// # Errors
/// Errors of the operating system.
pub(crate) fn make_folders(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        make_folders(parent)?;
    }
    match make_folder(folder) {
        // Another process may have been faster; its folder must be durable all the same.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !folder.is_dir() => Err(error),
        _ => sync_folder_of(folder),
    }
}

/// Makes a folder in the folder of all runs, as [`make_folders`] does. A link is not followed: another user may have put it
/// there.
///
/// # Errors
/// Errors of the operating system, and a link.
pub(super) fn make_own_folder(folder: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::io("make the folder", folder, &error);
    if fs::symlink_metadata(folder).is_ok_and(|about| about.is_symlink()) {
        return Err(failed(io::Error::other("expected a file, got a link: links are not followed")));
    }
    make_folders(folder).map_err(failed)
}

/// Makes a folder that is closed to other users of the machine.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    RealDisk.create_private_folder(folder)
}

/// Makes the complete content of a folder durable.
///
/// # Errors
/// Errors of the operating system.
pub(super) fn sync_below(folder: &Path) -> io::Result<()> {
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() { open.push(entry.path()) } else { sync_file(&entry.path())? }
        }
        RealDisk.sync_folder(&folder)?;
    }
    Ok(())
}

/// A file that is opened for reading can be synced, except on Windows.
fn sync_file(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(path)?.sync_all()
    } else {
        File::options().append(true).open(path)?.sync_all()
    }
}

/// A new file is for its user alone.
#[cfg(unix)]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}

#[cfg(not(unix))]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// A name is durable once its folder is.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    RealDisk.sync_folder(parent.unwrap_or(Path::new(".")))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn folders_that_are_made_are_for_their_user_alone() {
        let place = tempfile::tempdir().unwrap();
        let there = place.path().join("there");
        fs::create_dir(&there).unwrap();
        fs::set_permissions(&there, fs::Permissions::from_mode(0o755)).unwrap();
        make_folders(&there.join("runstate/runs")).unwrap();
        make_folders(&there).unwrap();
        let mode = |path: &str| fs::metadata(there.join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode("."), mode("runstate"), mode("runstate/runs")], [0o755, 0o700, 0o700]);
    }
}
