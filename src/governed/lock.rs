//! Locks of files, each with the folder that the file is in.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::aside::{self, AsideReason, SettingAside};
use crate::files::{Disk, DiskFile, Open};

/// How often a lock that another process has is tried: for a second, and for ten.
pub(super) const SHORT: u32 = 50;
pub(super) const LONG: u32 = 500;
const PAUSE: Duration = Duration::from_millis(20);

/// The lock of a file, and of the folder that it is in: a process that removes the file does not get the other one.
#[derive(Debug)]
pub(super) struct Lock {
    _file: Box<dyn DiskFile>,
    _folder: Option<Box<dyn DiskFile>>,
}

impl Lock {
    /// Waits for both, as [`wait_for`] does. The file is made where it is missing.
    pub(super) fn wait(
        disk: &dyn Disk,
        path: &Path,
        setting_aside: &SettingAside,
        tries: u32,
    ) -> io::Result<Self> {
        wait_for(|| Lock::take(disk, open(disk, path, setting_aside)?, aside::folder(path)), path, tries)
    }

    /// Takes both. It would block where another process has one of them.
    fn take(disk: &dyn Disk, mut file: Box<dyn DiskFile>, folder: &Path) -> io::Result<Self> {
        file.try_lock()?;
        // A file system that locks no folders has the file alone.
        let mut folder = match disk.open_folder(folder) {
            // It was moved away with the file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
            folder => folder.ok().flatten(),
        };
        match folder.as_mut().map(|folder| folder.try_lock()) {
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(Lock { _file: file, _folder: folder }),
        }
    }
}

/// Opens a file for its lock. A folder, a pipe or a link to nothing in its place is set aside.
fn open(disk: &dyn Disk, path: &Path, setting_aside: &SettingAside) -> io::Result<Box<dyn DiskFile>> {
    match disk.open(path, Open::Append) {
        Err(error) if matches!(error.kind(), io::ErrorKind::IsADirectory | io::ErrorKind::NotFound) => {
            // Where there is no such name, its folder is gone.
            let kept = aside::keep(disk, path).map_err(|_| error)?;
            setting_aside(path, &kept, AsideReason::NoFile);
            disk.open(path, Open::Append)
        }
        opened => opened,
    }
}

/// Waits for a lock that another process has.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] where it has it still after so many tries.
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
