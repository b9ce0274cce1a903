//! Files that survive a crash: the few operations that durability needs, as a trait.
//!
//! [`Disk`] is the file system. [`RealDisk`] is that of the machine; with the feature `testing` there is `SimDisk`, which
//! forgets at a crash what was not synced. What both promise: content is durable once its file is synced, and a name
//! (made, renamed or removed) once its folder is.
//!
//! ```
//! use runstate::files::{Disk, Open, RealDisk, replace};
//!
//! let folder = std::env::temp_dir().join(format!("runstate-files-{}", std::process::id()));
//! RealDisk.create_folder(&folder)?;
//! let path = folder.join("state.json");
//! replace(&RealDisk, &path, b"{}")?;
//! assert_eq!(RealDisk.read(&path, 1_000)?, b"{}");
//!
//! // A limit keeps a file that is larger than it should be out of memory.
//! let refused = RealDisk.read(&path, 1).unwrap_err();
//! assert_eq!(refused.kind(), std::io::ErrorKind::FileTooLarge);
//! # RealDisk.remove(&path)?;
//! # std::fs::remove_dir(&folder)?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod durable;
mod real;
#[cfg(feature = "testing")]
mod sim;
mod stamp;

use std::fmt;
use std::io;
use std::path::Path;

#[cfg(feature = "store")]
pub(crate) use durable::put;
pub use durable::{append, move_to, replace};
pub use real::RealDisk;
#[cfg(feature = "testing")]
pub use sim::{Crash, SimDisk, Survives};
pub use stamp::Stamp;

/// A file system. All operations block; none syncs by itself but those that say so.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::AlreadyExists`] for [`Open::New`] of a name that is taken;
    /// [`io::ErrorKind::IsADirectory`] for the name of a folder, or of anything else that is no file, such as a pipe.
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>>;

    /// Opens a folder, for its lock alone; none where folders have no locks, as where this is not implemented. Unlike a file for the lock it
    /// is not removed from beside the files that it protects.
    ///
    /// # Errors
    /// Those of the operating system.
    fn open_folder(&self, _path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        Ok(None)
    }

    /// Gives a file another name, in one step and in place of what had that name.
    ///
    /// # Errors
    /// Those of the operating system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::NotFound`] when there is none.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes a folder, in a folder that exists.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::AlreadyExists`] when the name is taken.
    fn create_folder(&self, path: &Path) -> io::Result<()>;

    /// The same, so that no other user of the machine looks into it. A file system without users, as where this is not
    /// implemented, makes a folder like any other.
    ///
    /// # Errors
    /// As [`create_folder`](Self::create_folder).
    fn create_private_folder(&self, path: &Path) -> io::Result<()> {
        self.create_folder(path)
    }

    /// Removes a folder that is empty. What cannot do that leaves it there.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::Unsupported`] where this is not implemented.
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let why = format!("{}: folders are not removed here", path.display());
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }

    /// Makes the names in a folder durable.
    ///
    /// # Errors
    /// Those of the operating system.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// The names in a folder, sorted; names that are no Unicode are left out.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::NotFound`] when there is no such folder.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;

    /// What a file, or the names in a folder, can be told by from what they are after any later change, without being read;
    /// none where they may change and still look the same, as where this is not implemented.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::NotFound`] when there is nothing of that name.
    fn stamp(&self, _path: &Path) -> io::Result<Option<Stamp>> {
        Ok(None)
    }

    /// Is there a link of that name, wherever it leads? No, on a file system without links, as where this is not implemented.
    fn is_link(&self, _path: &Path) -> bool {
        false
    }

    /// The whole content of a file of at most `most` bytes.
    ///
    /// # Errors
    /// Those of the operating system, and [`io::ErrorKind::FileTooLarge`].
    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut file = self.open(path, Open::Read)?;
        let length = file.len()?;
        if length > most {
            return Err(too_large(path, length, most));
        }
        file.read_from(0, most)
    }
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// To be read; it must exist.
    Read,
    /// To be written from its beginning; made when it does not exist, emptied when it does.
    Write,
    /// To be written; it must not exist.
    New,
    /// To be read, and written at its end, wherever that is at the time; made when it does not exist.
    Append,
}

/// An open file. Dropping it closes it, and releases its lock.
pub trait DiskFile: fmt::Debug + Send {
    /// How many bytes it has.
    ///
    /// # Errors
    /// Those of the operating system.
    fn len(&mut self) -> io::Result<u64>;

    /// Has it no content?
    ///
    /// # Errors
    /// As [`len`](Self::len).
    fn is_empty(&mut self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// At most `most` bytes from `offset` on; fewer only where the file ends.
    ///
    /// # Errors
    /// Those of the operating system.
    fn read_from(&mut self, offset: u64, most: u64) -> io::Result<Vec<u8>>;

    /// Writes all of it, behind what was written before or, in a file opened with [`Open::Append`], at the end.
    ///
    /// # Errors
    /// Those of the operating system. A part may have been written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file, so that it has `length` bytes.
    ///
    /// # Errors
    /// Those of the operating system.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Makes the content durable.
    ///
    /// # Errors
    /// Those of the operating system. Nobody can tell then what is durable and what is not.
    fn sync(&mut self) -> io::Result<()>;

    /// Waits for the lock of the file and takes it, against other processes and other openings in this one.
    ///
    /// # Errors
    /// Those of the operating system.
    fn lock(&mut self) -> io::Result<()>;

    /// Takes the lock, if it is free now.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when somebody else holds it.
    fn try_lock(&mut self) -> io::Result<()>;
}

fn too_large(path: &Path, length: u64, most: u64) -> io::Error {
    let why = format!("{} has {length} bytes, more than the {most} that are read of it", path.display());
    io::Error::new(io::ErrorKind::FileTooLarge, why)
}
