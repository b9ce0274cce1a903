//! Files that survive a crash: the file operations needed for durability, as a trait.
//!
//! [`Disk`] is a file system. [`RealDisk`] is the file system of the machine. With the feature `testing`, `SimDisk`
//! is a simulated one, which loses unsynced data at a crash. Both guarantee that content is durable once its file is
//! synced. A created, renamed or removed name is durable once its folder is synced.
//!
//! ```
//! use runstate_runtime::files::{Disk, Open, RealDisk, replace};
//!
//! let folder = std::env::temp_dir().join(format!("runstate-files-{}", std::process::id()));
//! RealDisk.create_folder(&folder)?;
//! let path = folder.join("state.json");
//! replace(&RealDisk, &path, b"{}")?;
//! assert_eq!(RealDisk.read(&path, 1_000)?, b"{}");
//!
//! // The limit prevents an unexpectedly large file from being read into memory.
//! let refused = RealDisk.read(&path, 1).unwrap_err();
//! assert_eq!(refused.kind(), std::io::ErrorKind::FileTooLarge);
//! # RealDisk.remove(&path)?;
//! # std::fs::remove_dir(&folder)?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod change_token;
mod durable;
mod real;
#[cfg(feature = "testing")]
mod sim;

use std::fmt;
use std::io;
use std::path::Path;

pub use change_token::ChangeToken;
pub use durable::{append, move_to, replace, write_atomic_unsynced};
pub use real::RealDisk;
#[cfg(feature = "testing")]
pub use sim::{Crash, SimDisk, Survives};

/// A file system. All operations block. Only operations with a documented sync perform one.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// The errors of the operating system; [`io::ErrorKind::AlreadyExists`] for [`Open::New`] and an existing name;
    /// [`io::ErrorKind::IsADirectory`] for the name of a folder or of another non-file, such as a pipe.
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>>;

    /// Opens a folder for its lock. Returns `None` if folders have no locks; this is the default. Unlike a lock file,
    /// the folder cannot be removed while its files remain.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn open_folder(&self, _path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        Ok(None)
    }

    /// Renames a file atomically. An existing file of the new name is replaced.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// The errors of the operating system; [`io::ErrorKind::NotFound`] when the file does not exist.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Creates a folder in an existing folder.
    ///
    /// # Errors
    /// The errors of the operating system; [`io::ErrorKind::AlreadyExists`] when the name exists.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// Creates a folder that other users of the machine cannot read. The default, for a file system without users,
    /// creates an ordinary folder.
    ///
    /// # Errors
    /// See [`create_folder`](Self::create_folder).
    fn create_private_folder(&self, path: &Path) -> io::Result<()> {
        self.create_folder(path)
    }

    /// Removes an empty folder. The default leaves it.
    ///
    /// # Errors
    /// The errors of the operating system; [`io::ErrorKind::Unsupported`] by default.
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let why = format!("{}: folders are not removed here", path.display());
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }

    /// Makes the names in a folder durable.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// The names in a folder, sorted. Names that are not Unicode are omitted.
    ///
    /// # Errors
    /// The errors of the operating system; [`io::ErrorKind::NotFound`] when the folder does not exist.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;

    /// The change token of a file or of the names in a folder. Every later change gives another token. It is obtained
    /// without reading the content. `None` if a change might not change the token; this is the default.
    ///
    /// # Errors
    /// The errors of the operating system; [`io::ErrorKind::NotFound`] when the name does not exist.
    fn change_token(&self, _path: &Path) -> io::Result<Option<ChangeToken>> {
        Ok(None)
    }

    /// Returns whether the name is a link, whatever its target is. Default: `false`, for a file system without links.
    fn is_link(&self, _path: &Path) -> bool {
        false
    }

    /// Returns the whole content of a file of at most `most` bytes.
    ///
    /// # Errors
    /// The errors of the operating system, and [`io::ErrorKind::FileTooLarge`].
    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut file = self.open(path, Open::Read)?;
        let length = file.len()?;
        if length > most {
            return Err(too_large(path, length, most));
        }
        file.read_from(0, most)
    }
}

/// The mode in which a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// For reading. The file must exist.
    Read,
    /// For writing from the beginning. A missing file is created; an existing file is emptied.
    Write,
    /// For writing. The file must not exist.
    New,
    /// For reading, and for writing at the current end. A missing file is created.
    Append,
}

/// An open file. Its lock is released when it is dropped and closed.
pub trait DiskFile: fmt::Debug + Send {
    /// The length of the file in bytes.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn len(&mut self) -> io::Result<u64>;

    /// Returns whether the file has no content.
    ///
    /// # Errors
    /// See [`len`](Self::len).
    fn is_empty(&mut self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads at most `most` bytes from `offset` on. Fewer bytes are returned only at the end of the file.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn read_from(&mut self, offset: u64, most: u64) -> io::Result<Vec<u8>>;

    /// Writes all bytes after the previous write. In a file opened with [`Open::Append`], it writes at the end.
    ///
    /// # Errors
    /// The errors of the operating system. A part may have been written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Truncates the file to `length` bytes.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Makes the content durable.
    ///
    /// # Errors
    /// The errors of the operating system. It is then unknown which content is durable.
    fn sync(&mut self) -> io::Result<()>;

    /// Waits for the lock of the file, and takes it. The lock excludes other processes and other openings in this
    /// process.
    ///
    /// # Errors
    /// The errors of the operating system.
    fn lock(&mut self) -> io::Result<()>;

    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when another opening holds the lock.
    fn try_lock(&mut self) -> io::Result<()>;
}

fn too_large(path: &Path, length: u64, most: u64) -> io::Error {
    let why = format!("{} has {length} bytes, more than the {most} that are read of it", path.display());
    io::Error::new(io::ErrorKind::FileTooLarge, why)
}
