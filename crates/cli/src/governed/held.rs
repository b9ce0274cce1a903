//! Folders that runs work in place in, of all state folders of the user: one run at a time has a folder, with the folders around it and in
//! it. A rollback of one run would take away the work of another.
//!
//! ```text
//! <data folder>/runstate/held/<run id>-<number>.json    which folder the run has, by device and inode
//! ```
//!
//! A run that is over, or that is not there any more, has no folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use runstate::governed_run::RunId;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The most bytes of a note that are read.
const MOST: u64 = 1 << 20;

/// The note on a run.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    run: RunId,
    folder: PathBuf,
    /// The folder and those around it, from the innermost out.
    ids: Vec<Id>,
    /// Its RUN_STATE.json, which tells whether it is over.
    state: PathBuf,
}

/// A device and an inode.
type Id = (u64, u64);

/// The turn of one process among those that begin runs in place.
#[derive(Debug)]
pub(super) struct Turn {
    notes: PathBuf,
    _lock: File,
}

impl Turn {
    /// Waits for the turn, with notes in that folder.
    ///
    /// # Errors
    /// A folder that cannot be made or locked.
    pub(super) fn take(notes: PathBuf) -> Result<Self, Failure> {
        let lock = || -> io::Result<File> {
            fs::create_dir_all(&notes)?;
            let lock = File::options().append(true).create(true).open(notes.join("lock"))?;
            lock.lock()?;
            Ok(lock)
        };
        let lock = lock().map_err(|error| Failure::io("lock", &notes, &error))?;
        Ok(Turn { notes, _lock: lock })
    }

    /// Fails where another run that is not over works in this folder, in one around it or in one inside of it.
    ///
    /// # Errors
    /// As it says; a folder that cannot be looked at.
    pub(super) fn check_free(&self, folder: &Path) -> Result<(), Failure> {
        let own = ids(folder)?;
        let path_of = fs::canonicalize(folder).map_err(|error| Failure::io("find", folder, &error))?;
        let entries = fs::read_dir(&self.notes).map_err(|error| Failure::io("read", &self.notes, &error))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_none_or(|kind| kind != "json") {
                continue;
            }
            let note = crate::input::read_text(&path.to_string_lossy(), MOST)
                .ok()
                .and_then(|text| serde_json::from_str::<Note>(&text.text).ok());
            let Some(note) = note.filter(Note::is_of_a_run) else {
                drop(fs::remove_file(&path));
                continue;
            };
            let is_one_in_the_other = |a: &[Id], b: &[Id]| a.first().is_some_and(|first| b.contains(first));
            // A rollback works by the path: a folder that took the place of the other one would be lost.
            let is_by_path = path_of.starts_with(&note.folder) || note.folder.starts_with(&path_of);
            if is_by_path || is_one_in_the_other(&own, &note.ids) || is_one_in_the_other(&note.ids, &own) {
                let (run, folder) = (&note.run, note.folder.display());
                return Err(Failure::new(format!("{run} works in {folder}, and is not over")).with_help(
                    "a rollback of one run would take away what the other did: end it first, or work in a copy (without `in_place`)",
                ));
            }
        }
        Ok(())
    }

    /// Notes that a run has this folder. The note counts as long as the state says that the run is not over.
    ///
    /// # Errors
    /// A note that cannot be written.
    pub(super) fn note(&self, run: &RunId, folder: &Path, state: PathBuf) -> Result<(), Failure> {
        // Runs in two state folders may have one id.
        let free =
            (1..).map(|number| self.notes.join(format!("{run}-{number}.json"))).find(|path| !path.exists());
        let path = free.unwrap_or_else(|| self.notes.join("last.json"));
        let note = Note { run: run.clone(), folder: folder.to_path_buf(), ids: ids(folder)?, state };
        let text = serde_json::to_string(&note)
            .map_err(|error| Failure::new(format!("cannot note {run}: {error}")))?;
        crate::runs::replace(&path, text.as_bytes()).map_err(|error| Failure::io("write", &path, &error))
    }
}

impl Note {
    fn is_of_a_run(&self) -> bool {
        // A pipe in its place would be waited for.
        let is_file = fs::metadata(&self.state).map(|found| found.is_file());
        match is_file.and_then(|is_file| if is_file { fs::read(&self.state) } else { Ok(Vec::new()) }) {
            Err(error) => error.kind() != io::ErrorKind::NotFound,
            // A state that cannot be read is that of a run that was not found to be over.
            Ok(state) => runstate::governed::check_state(&state, None).map_or(true, |report| {
                report.run == self.run && report.status.is_none_or(|status| !status.state.is_terminal())
            }),
        }
    }
}

/// The ids of a folder and of those around it, from the innermost out.
fn ids(folder: &Path) -> Result<Vec<Id>, Failure> {
    let folder = fs::canonicalize(folder).map_err(|error| Failure::io("find", folder, &error))?;
    folder.ancestors().map(|path| id(path).map_err(|error| Failure::io("look at", path, &error))).collect()
}

#[cfg(unix)]
fn id(path: &Path) -> io::Result<Id> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

/// A system without inodes: the path counts.
#[cfg(not(unix))]
fn id(path: &Path) -> io::Result<Id> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hash = DefaultHasher::new();
    path.hash(&mut hash);
    Ok((0, hash.finish()))
}
