//! A simulated file system in memory, which loses unsynced data at a crash.

mod state;
mod survive;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use self::state::{Inode, State};
pub use self::survive::Survives;
use super::{ChangeToken, Disk, DiskFile, Open};

/// The position of a simulated crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// Before the operation of that number. This operation and all later ones fail.
    Before(usize),
    /// During the operation of that number. The operation takes effect, but its caller gets an error.
    After(usize),
}

/// Simulated file system in memory. Tests can crash it at each of its operations in turn.
///
/// Changing operations are counted from 0: creating, emptying, writing, truncating, syncing, renaming and removing a
/// file; creating, removing and syncing a folder. After the crash, each of these and each read fails until
/// [`restart`](Self::restart). The restart decides which unsynced changes survive. Equal operations, crash and
/// survival give equal files. Clones share one file system. The folder `/` exists from the start.
///
/// ```
/// use runstate_runtime::files::{Crash, Disk, SimDisk, Survives, replace};
/// use std::path::Path;
///
/// let disk = SimDisk::new();
/// let path = Path::new("/state.json");
/// replace(&disk, path, b"old").unwrap();
/// let before = disk.operations();
///
/// // The first operation of the second `replace` creates the temporary file. The crash comes right after it.
/// disk.crash_at(Crash::After(before));
/// assert!(replace(&disk, path, b"new").is_err());
/// disk.restart(Survives::Nothing);
/// assert_eq!(disk.read(path, 100).unwrap(), b"old");
/// ```
#[derive(Clone)]
pub struct SimDisk(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    unlocked: Condvar,
}

impl SimDisk {
    /// Creates an empty file system.
    pub fn new() -> Self {
        SimDisk(Arc::new(Shared { state: Mutex::new(State::new()), unlocked: Condvar::new() }))
    }

    /// The number of changing operations so far, failed ones included.
    pub fn operations(&self) -> usize {
        self.state().operations()
    }

    /// Sets the position of the next crash.
    pub fn crash_at(&self, crash: Crash) {
        self.state().crash_at(crash);
    }

    /// Makes the operation of that number fail once with an error of that kind, without a crash. An example is a full
    /// disk.
    pub fn fail_at(&self, operation: usize, kind: io::ErrorKind) {
        self.state().fail_at(operation, kind);
    }

    /// Returns whether the crash has happened.
    pub fn is_crashed(&self) -> bool {
        self.state().is_crashed()
    }

    /// Restarts the machine, after a crash or without one. Locks are released and open files are closed. `survives`
    /// selects the unsynced changes that remain.
    pub fn restart(&self, survives: Survives) {
        self.state().restart(survives);
        self.0.unlocked.notify_all();
    }

    /// Creates an independent copy of the current file system.
    pub fn fork(&self) -> SimDisk {
        let state = self.state().clone();
        SimDisk(Arc::new(Shared { state: Mutex::new(state), unlocked: Condvar::new() }))
    }

    /// All files with their content, sorted by path.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        self.state().files()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for SimDisk {
    fn default() -> Self {
        SimDisk::new()
    }
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        write!(f, "SimDisk({} files, {} operations)", state.files().len(), state.operations())
    }
}

impl Disk for SimDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let (inode, boot) = self.state().open(path, how)?;
        Ok(Box::new(SimFile {
            disk: self.clone(),
            inode,
            boot,
            at: 0,
            appends: how == Open::Append,
            holds: false,
        }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.state().rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.state().remove(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.state().create_folder(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.state().remove_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.state().sync_folder(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.state().list(path)
    }

    fn change_token(&self, path: &Path) -> io::Result<Option<ChangeToken>> {
        self.state().change_token(path).map(Some)
    }
}

/// An open file: its number, the boot at which it was opened, and the position of the next write.
#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    inode: Inode,
    boot: u64,
    at: usize,
    appends: bool,
    holds: bool,
}

impl DiskFile for SimFile {
    fn len(&mut self) -> io::Result<u64> {
        Ok(self.disk.state().content(self.inode, self.boot)?.len() as u64)
    }

    fn read_from(&mut self, offset: u64, most: u64) -> io::Result<Vec<u8>> {
        let state = self.disk.state();
        let content = state.content(self.inode, self.boot)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
        let length = usize::try_from(most).unwrap_or(usize::MAX).min(content.len() - start);
        Ok(content[start..start + length].to_vec())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        let at = if self.appends { state.content(self.inode, self.boot)?.len() } else { self.at };
        state.write(self.inode, self.boot, at, bytes)?;
        self.at = at + bytes.len();
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.disk.state().cut(self.inode, self.boot, length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.state().sync(self.inode, self.boot)
    }

    fn lock(&mut self) -> io::Result<()> {
        let shared = Arc::clone(&self.disk.0);
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.take_lock(self.inode, self.boot)? {
            state = shared.unlocked.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.holds = true;
        Ok(())
    }

    fn try_lock(&mut self) -> io::Result<()> {
        if !self.disk.state().take_lock(self.inode, self.boot)? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.holds = true;
        Ok(())
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        if self.holds {
            self.disk.state().release(self.inode, self.boot);
            self.disk.0.unlocked.notify_all();
        }
    }
}
