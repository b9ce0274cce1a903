//! Locks: one is waited for, but not for ever. A process that was stopped, by Ctrl-Z or with the container that it is in, keeps
//! those that it has.

use std::io::ErrorKind;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::super::error::StoreError;
use super::problem::{failed, held_up};
use crate::files::{Disk, DiskFile, Open};

/// How long one is waited for, if nothing else is said. Who has it does some writes and syncs meanwhile.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// It is given back when this goes.
pub(super) type Lock = Box<dyn DiskFile>;

/// Takes a lock, if it is free now.
pub(super) fn try_lock(disk: &dyn Disk, path: &Path) -> Result<Option<Lock>, StoreError> {
    let mut file = disk.open(path, Open::Append).map_err(failed(path))?;
    Ok(is_taken(&mut *file, path)?.then_some(file))
}

/// Takes a lock, and waits for whoever has it for as long as these pauses last and `goes_on` lets it.
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

/// Takes it; says whether it did.
fn is_taken(file: &mut dyn DiskFile, path: &Path) -> Result<bool, StoreError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(failed(path)(error)),
    }
}

/// Pauses between looks, short ones first. Time is what was waited in them: no clock is read here.
#[derive(Debug)]
pub(super) struct Pauses {
    left: Duration,
    next: Duration,
}

impl Pauses {
    const FIRST: Duration = Duration::from_millis(1);
    const LONGEST: Duration = Duration::from_millis(20);

    /// So many that they last so long.
    pub(super) fn of(patience: Duration) -> Self {
        Pauses { left: patience, next: Self::FIRST }
    }

    /// Waits for the next look. Says whether there is one.
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
