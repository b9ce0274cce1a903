//! A folder that is gone with the test.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use runstate_runtime::clock::SetClock;

/// A folder that is not there yet, and that is removed in the end.
pub(crate) struct Folder {
    path: PathBuf,
    pub(crate) clock: SetClock,
}

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("runstate-store-{}-{number}", std::process::id()));
        // A process of that number may have been killed.
        std::fs::remove_dir_all(&path).ok();
        Folder { path, clock: SetClock::default() }
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.path).ok();
    }
}
