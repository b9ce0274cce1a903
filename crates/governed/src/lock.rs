//! Locks of files and of their folders.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use runstate_runtime::files::{Disk, DiskFile, Open};

use super::aside::{self, AsideReason, SettingAside};

/// The number of attempts for a lock held by another process: for one second, and for ten seconds.
pub(super) const SHORT: u32 = 50;
pub(super) const LONG: u32 = 500;
const PAUSE: Duration = Duration::from_millis(20);

/// The lock of a file and of its folder. With the folder's lock, a process that removes and recreates the file cannot
/// lock it.
#[derive(Debug)]
pub(super) struct Lock {
    _file: Box<dyn DiskFile>,
    _folder: Option<Box<dyn DiskFile>>,
}

impl Lock {
    /// Waits for both locks, as [`wait_for`] does. A missing file is created.
    pub(super) fn wait(
        disk: &dyn Disk,
        path: &Path,
        setting_aside: &SettingAside,
        tries: u32,
    ) -> io::Result<Self> {
        wait_for(|| Lock::take(disk, open(disk, path, setting_aside)?, aside::folder(path)), path, tries)
    }

    /// Takes both locks. Fails with `WouldBlock` if another process holds one of them.
    fn take(disk: &dyn Disk, mut file: Box<dyn DiskFile>, folder: &Path) -> io::Result<Self> {
        file.try_lock()?;
        // On a file system without folder locks, only the file is locked.
        let mut folder = match disk.open_folder(folder) {
            // The folder was moved away together with the file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
            folder => folder.ok().flatten(),
        };
        match folder.as_mut().map(|folder| folder.try_lock()) {
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(Lock { _file: file, _folder: folder }),
        }
    }
}

/// Opens a file for its lock. A folder, a pipe or a dangling link of that name is set aside.
fn open(disk: &dyn Disk, path: &Path, setting_aside: &SettingAside) -> io::Result<Box<dyn DiskFile>> {
    match disk.open(path, Open::Append) {
        Err(error) if matches!(error.kind(), io::ErrorKind::IsADirectory | io::ErrorKind::NotFound) => {
            // If the name does not exist, its folder is gone.
            let kept = aside::keep(disk, path).map_err(|_| error)?;
            setting_aside(path, &kept, AsideReason::NoFile);
            disk.open(path, Open::Append)
        }
        opened => opened,
    }
}

/// Waits for a lock held by another process. `tries` is the number of attempts.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] if the lock is still held after all attempts.
pub(super) fn wait_for<L>(mut take: impl FnMut() -> io::Result<L>, path: &Path, tries: u32) -> io::Result<L> {
    for tried in 1.. {
        match take() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && tried < tries => thread::sleep(PAUSE),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            taken => return taken,
        }
    }
    let s = (PAUSE * tries).as_secs();
    let why = format!("another process has had {} for {s} s; end it, or try again", path.display());
    Err(io::Error::new(io::ErrorKind::WouldBlock, why))
}

/// The process that holds a locked file, if the system tells.
#[cfg(target_os = "linux")]
pub(super) fn holder(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let inode = std::fs::metadata(path).ok()?.ino().to_string();
    // `1: FLOCK  ADVISORY  WRITE 4711 08:01:131123 0 EOF`; a device may have another number there than elsewhere.
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let holders = locks.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, process, file, ..] = words.as_slice() else { return None };
        (file.rsplit(':').next() == Some(inode.as_str())).then(|| process.parse().ok())?
    });
    let holders: std::collections::BTreeSet<u32> = holders.filter(|process| *process != 0).collect();
    holders.first().copied().filter(|_| holders.len() == 1)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn holder(_: &Path) -> Option<u32> {
    None
}
