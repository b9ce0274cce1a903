//! Folders of runs in place, over all state folders of the user: one run at a time has a folder, with the folders around it
//! and in it. A rollback of one run would remove the work of another.
//!
//! ```text
//! <data folder>/runstate/held/<run id>-<number>.json    the folder of the run, by device and inode
//! ```
//!
//! A run that is over, or that is no longer in its state folder, holds no folder. While the state folder is unavailable, the
//! run holds it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use runstate::governed_run::RunId;
use serde::{Deserialize, Serialize};

use super::work::id;
use crate::failure::Failure;
use crate::output::{complain, printable};

/// The maximum size of a note, in bytes.
const MOST: u64 = 1 << 20;

/// The time that a command waits for another one that begins a run in place.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    run: RunId,
    folder: PathBuf,
    /// The ids of the folder and of its ancestors, from the innermost out.
    ids: Vec<String>,
    /// The state folder, and its id.
    runs: PathBuf,
    runs_id: String,
}

enum Holds {
    Yes,
    /// It is over, or it is not in its state folder.
    No,
    /// Its state folder is unavailable.
    Unknown(io::Error),
}

/// The turn of one process among the processes that begin runs in place.
#[derive(Debug)]
pub(super) struct Turn {
    notes: PathBuf,
    _lock: File,
}

impl Turn {
    /// Waits for the turn to begin a run of that state folder, with notes in the first writable one of those places.
    pub(super) fn take(places: &[PathBuf], runs: &Path) -> Result<Self, Failure> {
        let open = |notes: &PathBuf| -> io::Result<(PathBuf, File)> {
            fs::create_dir_all(notes)?;
            // A tool may have closed it.
            super::open_closed(notes, super::WRITE);
            // The folder itself is locked: a lock file in it could be removed.
            Ok((notes.clone(), File::open(notes)?))
        };
        let mut opened = Err(Failure::new("there is no folder for notes on runs"));
        for notes in places {
            opened = opened.or_else(|before: Failure| {
                open(notes).map_err(|error| Failure::io("lock", notes, &error)).inspect(|_| {
                    // The first place has the runs of all state folders.
                    if places.first() != Some(notes) {
                        complain(&printable(&format!("{before}; runs with a note there are not found")));
                    }
                })
            });
        }
        let (notes, lock) = opened?;
        let mut waited = Duration::ZERO;
        while let Err(why) = lock.try_lock() {
            if let TryLockError::Error(error) = why {
                return Err(Failure::io("lock", &notes, &error));
            }
            if waited >= PATIENCE {
                let holder = crate::input::read(&notes.join("lock"), MOST).unwrap_or_default();
                let holder = String::from_utf8_lossy(&holder);
                let (s, lock) = (PATIENCE.as_secs(), notes.join("lock"));
                return Err(Failure::new(format!(
                    "process {} has {} since {s} s, to begin a run in place",
                    printable(holder.trim()),
                    lock.display()
                ))
                .with_help("end the process, or try again"));
            }
            thread::sleep(PAUSE);
            waited += PAUSE;
        }
        // For the message of a waiting process.
        let holder = format!("{} of the state folder {}\n", std::process::id(), runs.display());
        drop(crate::runs::replace(&notes.join("lock"), holder.as_bytes()));
        Ok(Turn { notes, _lock: lock })
    }

    /// Fails if another unfinished run works in this folder, in an ancestor or in a descendant.
    pub(super) fn check_free(&self, folder: &Path) -> Result<(), Failure> {
        let own = ids(folder)?;
        let path_of = fs::canonicalize(folder).map_err(|error| Failure::io("find", folder, &error))?;
        let entries = fs::read_dir(&self.notes).map_err(|error| Failure::io("read", &self.notes, &error))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_none_or(|kind| kind != "json") {
                continue;
            }
            let text = crate::input::read_text(&path.to_string_lossy(), MOST);
            let note = text
                .map_err(|failure| failure.to_string())
                .and_then(|text| serde_json::from_str::<Note>(&text.text).map_err(|error| error.to_string()));
            // The folder of a run that may be unfinished is unknown.
            let note = note.map_err(|why| {
                let what = format!("{} is a damaged note on a run: {why}", path.display());
                Failure::new(printable(&what))
                    .with_help("end the run of that name in its state folder, and remove the file")
            })?;
            let holds = note.holds();
            if let Holds::No = holds {
                drop(fs::remove_file(&path));
                continue;
            }
            let is_one_in_the_other =
                |a: &[String], b: &[String]| a.first().is_some_and(|first| b.contains(first));
            // A rollback works by the path: a folder that replaced the other one would be lost.
            let is_by_path = path_of.starts_with(&note.folder) || note.folder.starts_with(&path_of);
            if !is_by_path && !is_one_in_the_other(&own, &note.ids) && !is_one_in_the_other(&note.ids, &own) {
                continue;
            }
            let (run, folder, runs) = (&note.run, note.folder.display(), note.runs.display());
            return Err(match holds {
                Holds::Unknown(error) => Failure::new(format!(
                    "{run} works in {folder}, and its state folder {runs} is unreadable: {error}"
                ))
                .with_help(format!(
                    "mount or restore the state folder, and end the run; if the run is lost, remove {}",
                    path.display()
                )),
                _ => Failure::new(format!(
                    "{run} works in {folder}, and is not over; its state folder is {runs}"
                ))
                .with_help(format!(
                    "a rollback of one run would undo changes of the other run: end the other run first, or work in a copy (without `in_place`); \
                     `runstate governed halt {run} --unreadable --state-dir {}` ends a run without its state",
                    crate::store::quoted(&note.runs.to_string_lossy())
                )),
            });
        }
        Ok(())
    }

    /// Records that a run holds this folder. The note counts while the state says that the run is unfinished.
    pub(super) fn note(&self, run: &RunId, folder: &Path, runs: &Path) -> Result<(), Failure> {
        // Runs in two state folders may have one id.
        let free =
            (1..).map(|number| self.notes.join(format!("{run}-{number}.json"))).find(|path| !path.exists());
        let path = free.unwrap_or_else(|| self.notes.join("last.json"));
        let runs = fs::canonicalize(runs).map_err(|error| Failure::io("find", runs, &error))?;
        let runs_id = id(&runs).map_err(|error| Failure::io("look at", &runs, &error))?;
        let note = Note { run: run.clone(), folder: folder.to_path_buf(), ids: ids(folder)?, runs, runs_id };
        let text = serde_json::to_string(&note)
            .map_err(|error| Failure::new(format!("cannot note {run}: {error}")))?;
        crate::runs::replace(&path, text.as_bytes()).map_err(|error| Failure::io("write", &path, &error))
    }
}

/// Removes the note of a run of that state folder. Its state may be moved then.
pub(super) fn forget(places: &[PathBuf], run: &RunId, runs: &Path) {
    let Ok(runs_id) = id(runs) else { return };
    let entries = places.iter().filter_map(|notes| fs::read_dir(notes).ok()).flatten().flatten();
    let prefix = format!("{run}-");
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)) {
        let note = crate::input::read(&entry.path(), MOST).ok();
        let note = note.and_then(|note| serde_json::from_slice::<Note>(&note).ok());
        if note.is_some_and(|note| note.run == *run && note.runs_id == runs_id) {
            // A remaining note has no effect while the state of the run is final.
            drop(fs::remove_file(entry.path()));
        }
    }
}

impl Note {
    fn holds(&self) -> Holds {
        let state = self.runs.join(self.run.as_str()).join("RUN_STATE.json");
        // A pipe in its place would block, and a hole has no end.
        let unread = [io::ErrorKind::Unsupported, io::ErrorKind::IsADirectory, io::ErrorKind::FileTooLarge];
        let read = match crate::input::read(&state, super::MOST_STATE) {
            Err(error) if unread.contains(&error.kind()) => Ok(Vec::new()),
            read => read,
        };
        match read {
            // The run was removed, or never began.
            Err(error) if error.kind() == io::ErrorKind::NotFound => match id(&self.runs) {
                Ok(is) if is == self.runs_id => Holds::No,
                Ok(_) => Holds::Unknown(io::Error::other("another folder has its path")),
                Err(error) => Holds::Unknown(error),
            },
            Err(error) => Holds::Unknown(error),
            Ok(state) => match runstate_governed::check_state(&state, None) {
                Ok(report)
                    if report.run != self.run
                        || report.status.as_ref().is_some_and(|status| status.state.is_terminal()) =>
                {
                    Holds::No
                }
                // A run with an unreadable state may be unfinished.
                _ => Holds::Yes,
            },
        }
    }
}

/// The ids of a folder and of those around it, from the innermost out.
fn ids(folder: &Path) -> Result<Vec<String>, Failure> {
    let folder = fs::canonicalize(folder).map_err(|error| Failure::io("find", folder, &error))?;
    folder.ancestors().map(|path| id(path).map_err(|error| Failure::io("look at", path, &error))).collect()
}
