//! Lock acquisition with a time limit: a stopped process keeps its locks.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::durable::private;
use crate::failure::Failure;
use crate::input::{Links, opened};

/// The time limit. The holder of a lock writes and syncs a file meanwhile.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(10);

/// Takes a lock, which is released when the file is dropped. The time is counted in pauses: no clock is read here.
///
/// # Errors
/// Errors of the operating system, and a lock that another process holds for that time.
pub(super) fn lock(path: &Path, patience: Duration) -> Result<File, Failure> {
    let failed = |error| Failure::io("lock", path, &error);
    let file =
        opened(private(File::options().append(true).create(true)), path, Links::Refused).map_err(failed)?;
    let mut left = patience;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if !left.is_zero() => {}
            Err(TryLockError::WouldBlock) => return Err(kept(path, patience)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let pause = PAUSE.min(left);
        thread::sleep(pause);
        left -= pause;
    }
}

fn kept(path: &Path, patience: Duration) -> Failure {
    let (path, seconds) = (path.display(), patience.as_secs());
    Failure::new(format!("cannot lock {path}: another process has the lock since {seconds} s")).with_help(
        "each `runstate run` has this lock for a moment when it begins, and a stopped process (Ctrl-Z, a paused container) \
         keeps it: continue or end that process, and try again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_another_keeps_is_not_waited_for_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".lock");
        let held = lock(&path, Duration::ZERO).unwrap();
        let refused = lock(&path, PAUSE * 2).unwrap_err().to_string();
        assert!(refused.contains("another process has the lock"), "{refused}");
        assert!(refused.contains("a stopped process"), "{refused}");
        drop(held);
        lock(&path, Duration::ZERO).unwrap();
    }
}
