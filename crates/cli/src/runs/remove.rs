//! Removing the folders of runs.
//!
//! A folder to be removed is first noted in `removed/<run id>`, with its token. The note is removed with the folder: after a
//! crash or an error of the system, the next `runstate prune` finds the folder by its note.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::durable::make_own_folder;
use super::lock::{PATIENCE, lock};
use super::open::{below, is_a_name, work_of};
use super::owner::{Owner, Token, mark_of, owner};
use crate::failure::Failure;
use crate::input::{Links, opened};

/// The folder of the notes. No run has this name: ids end with a number.
const FOLDER: &str = "removed";

/// The lock file of the notes.
const LOCK: &str = ".lock";

/// The state of the folder of a removed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folder {
    /// It was removed with the run.
    Removed,
    /// It was missing.
    Absent,
    /// It belongs to another run of the same place, or has no mark: it was not changed.
    Others,
    /// It cannot be removed now. The next command finds it by its note.
    Left,
}

/// The notes, locked by one command.
#[derive(Debug)]
pub(crate) struct Notes {
    state_dir: PathBuf,
    /// Held until this is dropped.
    _lock: File,
}

/// A note on a folder to be removed.
#[derive(Debug)]
pub(crate) struct Note {
    state_dir: PathBuf,
    run: String,
    token: Token,
}

impl Notes {
    /// Locks the notes.
    ///
    /// # Errors
    /// Errors of the operating system, and another process that holds the lock.
    pub(crate) fn take(state_dir: &Path) -> Result<Self, Failure> {
        let folder = state_dir.join(FOLDER);
        make_own_folder(&folder)?;
        Ok(Notes { state_dir: state_dir.to_owned(), _lock: lock(&folder.join(LOCK), PATIENCE)? })
    }

    /// Notes the folder of a run that is about to be removed. `None` for an id without a folder: a store can hold any id.
    ///
    /// # Errors
    /// The note cannot be written.
    pub(crate) fn write(&self, run: &str, token: &Token) -> Result<Option<Note>, Failure> {
        if !is_a_name(run) {
            return Ok(None);
        }
        let note = Note { state_dir: self.state_dir.clone(), run: run.to_owned(), token: token.clone() };
        let path = note.path();
        token.write(&path).map_err(|error| Failure::io("write", &path, &error))?;
        Ok(Some(note))
    }

    /// The notes that earlier commands have left.
    pub(crate) fn all(&self) -> Vec<Note> {
        let entries = fs::read_dir(self.state_dir.join(FOLDER)).into_iter().flatten().flatten();
        let notes = entries.filter_map(|entry| {
            let run = entry.file_name().into_string().ok().filter(|run| is_a_name(run))?;
            let file = opened(File::options().read(true), &entry.path(), Links::Refused).ok()?;
            let token = Token::read(file).ok()??;
            Some(Note { state_dir: self.state_dir.clone(), run, token })
        });
        notes.collect()
    }
}

impl Note {
    /// The run.
    pub(crate) fn run(&self) -> &str {
        &self.run
    }

    /// The folder of its tools.
    pub(crate) fn work(&self) -> PathBuf {
        work_of(&self.state_dir, &self.run)
    }

    /// Removes the folder, if it is this run's, and then the note.
    ///
    /// # Errors
    /// Errors of the operating system. The note stays then.
    pub(crate) fn settle(&self) -> Result<Folder, Failure> {
        let folder = self.remove().map_err(|error| {
            let place = self.work();
            Failure::io("remove the folder", place.parent().unwrap_or(&place), &error)
        })?;
        self.forget();
        Ok(folder)
    }

    /// Removes the note.
    pub(crate) fn forget(&self) {
        // A note of a missing folder is harmless.
        drop(fs::remove_file(self.path()));
    }

    fn path(&self) -> PathBuf {
        self.state_dir.join(FOLDER).join(&self.run)
    }

    fn remove(&self) -> io::Result<Folder> {
        let all = Dir::open_ambient_dir(&self.state_dir, ambient_authority())?;
        let folder = match below(&all, &self.run) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Folder::Absent),
            Err(error) => return Err(error),
        };
        // On machines that share a store, the place may belong to another run on each of them.
        match owner(&folder, &self.token)? {
            Owner::This => {}
            Owner::Another | Owner::Unknown => return Ok(Folder::Others),
        }
        // The mark goes last: while it exists, another try finds the folder.
        let mark = mark_of(Path::new(""));
        clear(&folder, |name| Path::new(name) == mark)?;
        folder.remove_file(&mark)?;
        all.remove_dir(&self.run)?;
        Ok(Folder::Removed)
    }
}

/// Removes a folder with its content. Links are not followed.
pub(super) fn tree(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let parent = Dir::open_ambient_dir(parent, ambient_authority())?;
    clear(&below(&parent, &name.to_string_lossy())?, |_| false)?;
    parent.remove_dir(name)
}

/// Empties a folder, except for its kept files.
///
/// Each nested folder is moved up to `root` before it is emptied. So the depth never exceeds two levels, and three
/// descriptors are open, at any depth of the folder; `std::fs::remove_dir_all` has one open for each level.
fn clear(root: &Dir, is_kept: impl Fn(&str) -> bool) -> io::Result<()> {
    let (mut open, mut moved) = (Vec::new(), 0_u64);
    for entry in root.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_dir() {
            open.push(name);
        } else if name.to_str().is_none_or(|name| !is_kept(name)) {
            root.remove_file(&name)?;
        }
    }
    while let Some(name) = open.pop() {
        let folder = cap_fs_ext::DirExt::open_dir_nofollow(root, &name)?;
        for entry in folder.entries()? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                folder.remove_file(entry.file_name())?;
                continue;
            }
            let free = loop {
                moved += 1;
                let free = format!("moved-{moved}");
                if root.symlink_metadata(&free).is_err() {
                    break free;
                }
            };
            folder.rename(entry.file_name(), root, &free)?;
            open.push(free.into());
        }
        drop(folder);
        root.remove_dir(&name)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nested folders, made without a path that is too long.
    fn deep(root: &Path, levels: usize) {
        let mut folder = Dir::open_ambient_dir(root, ambient_authority()).unwrap();
        for level in 0..levels {
            folder.create_dir("d").unwrap();
            folder.write("f", "x").unwrap();
            if level % 100 == 0 {
                folder.create_dir("moved-1").unwrap();
            }
            folder = folder.open_dir("d").unwrap();
        }
    }

    #[test]
    fn a_deep_folder_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        fs::create_dir(&root).unwrap();
        deep(&root, 5_000);
        tree(&root).unwrap();
        assert!(!root.exists());
    }

    #[cfg(unix)]
    #[test]
    fn removal_does_not_follow_symlinks() {
        let place = tempfile::tempdir().unwrap();
        let [root, other] = ["root", "other"].map(|name| place.path().join(name));
        for folder in [&root, &other] {
            fs::create_dir_all(folder.join("a")).unwrap();
            fs::write(folder.join("a/f"), "x").unwrap();
        }
        std::os::unix::fs::symlink(&other, root.join("a/link")).unwrap();
        tree(&root).unwrap();
        assert!(!root.exists() && other.join("a/f").exists());
        std::os::unix::fs::symlink(&other, &root).unwrap();
        tree(&root).unwrap_err();
        assert!(other.join("a/f").exists());
    }
}
