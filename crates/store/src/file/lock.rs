//! Locks with a limited wait. A stopped process keeps its locks, for example after Ctrl-Z or in a paused container.

use std::io::ErrorKind;
use std::path::Path;
use std::thread;
use std::time::Duration;

use runstate_runtime::files::{Disk, DiskFile, Open};

use super::super::error::StoreError;
use super::problem::{failed, held_up};

/// The default time to wait for a lock. Its holder does a few writes and syncs meanwhile.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// A held lock. Dropping it releases it.
pub(super) type Lock = Box<dyn DiskFile>;

/// Takes a lock if it is free now.
pub(super) fn try_lock(disk: &dyn Disk, path: &Path) -> Result<Option<Lock>, StoreError> {
    let mut file = disk.open(path, Open::Append).map_err(failed(path))?;
    Ok(is_taken(&mut *file, path)?.then_some(file))
}

/// Takes a lock. Waits for its holder until the pauses are used up or `goes_on` fails.
pub(super) fn lock(
    disk: &dyn Disk,
    path: &Path,
    mut pauses: Pauses,
    goes_on: impl Fn() -> Result<(), StoreError>,
) -> Result<Lock, StoreError> {
    let mut file = disk.open(path, Open::Append).map_err(failed(path))?;
    while !is_taken(&mut *file, path)? {
        goes_on()?;
        if !pauses.pause() {
            return Err(held_up(path));
        }
    }
    Ok(file)
}

/// Tries to lock the file. Returns whether it succeeded.
fn is_taken(file: &mut dyn DiskFile, path: &Path) -> Result<bool, StoreError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(failed(path)(error)),
    }
}

/// Pauses between attempts, the short ones first. Their sum is the elapsed time: no clock is read here.
#[derive(Debug)]
pub(super) struct Pauses {
    left: Duration,
    next: Duration,
}

impl Pauses {
    const FIRST: Duration = Duration::from_millis(1);
    const LONGEST: Duration = Duration::from_millis(20);

    /// Creates pauses with a total of `patience`.
    pub(super) fn of(patience: Duration) -> Self {
        Pauses { left: patience, next: Self::FIRST }
    }

    /// Waits for the next attempt. Returns false if the time is used up.
    pub(super) fn pause(&mut self) -> bool {
        if self.left.is_zero() {
            return false;
        }
        let pause = self.next.min(self.left);
        thread::sleep(pause);
        self.left -= pause;
        self.next = (self.next * 2).min(Self::LONGEST);
        true
    }
}
