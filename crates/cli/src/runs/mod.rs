//! The folders that the tools of runs work in, one for each run.
//!
//! ```text
//! <state dir>/
//!   runs.db             the runs, unless --store says another place
//!   <run id>/work/      the copy of the scenario's folder
//!   <run id>/owner      what says that it is that very run's
//!   numbers/<name>      the highest number that a run of that name has had
//! ```

mod copy;
mod durable;
mod home;
mod lock;
mod numbers;
mod owner;

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::failure::Failure;
use numbers::Numbers;

pub(crate) use durable::{make_folders, replace};
pub(crate) use home::state_dir;
pub(crate) use owner::{Owner, Token, mark_of, owner};

/// The id of the run of that name and number.
pub(crate) fn id(name: &str, number: u64) -> String {
    format!("{name}-{number}")
}

/// The folder of a run that is being created. It goes with this value, unless it is [kept](RunFolder::keep).
#[derive(Debug)]
pub(crate) struct RunFolder {
    id: String,
    path: PathBuf,
    token: Token,
    is_kept: bool,
}

impl RunFolder {
    /// Makes an empty folder of its own for a new run.
    ///
    /// Run ids count up: `tidy-folder-1`, `tidy-folder-2`. No number is given twice, not even when its run was removed: what
    /// was done for one run must not pass for what was done for another.
    ///
    /// # Errors
    /// Whatever keeps the folder from being made.
    pub(crate) fn claim(state_dir: &Path, name: &str, least: u64) -> Result<Self, Failure> {
        make_folders(state_dir).map_err(|error| Failure::io("make the folder", state_dir, &error))?;
        // The folder's place is kept with the run: it must not depend on where a later command is started.
        let state_dir =
            state_dir.canonicalize().map_err(|error| Failure::io("find the folder", state_dir, &error))?;
        let token = Token::fresh()?;
        let mut numbers = Numbers::of(&state_dir, name)?;
        loop {
            let id = id(name, numbers.next(least)?);
            let path = state_dir.join(&id);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(RunFolder { id, path, token, is_kept: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::io("make the folder", &path, &error)),
            }
        }
    }

    /// The run's id.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The number in it.
    pub(crate) fn number(&self) -> u64 {
        self.id.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder its tools work in.
    pub(crate) fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// What the run is to say, so that the folder is known to be its own.
    pub(crate) fn token(&self) -> &Token {
        &self.token
    }

    /// Puts a copy of the scenario's folder there, or an empty one, and marks it. It is durable when this returns.
    ///
    /// # Errors
    /// Whatever keeps it from being made.
    pub(crate) fn fill(&self, template: Option<&Path>) -> Result<(), Failure> {
        let work = self.work();
        match template {
            Some(template) => copy::folder(template, &work)?,
            None => fs::create_dir(&work).map_err(|error| Failure::io("make the folder", &work, &error))?,
        }
        self.token.mark(&work).map_err(|error| Failure::io("write", &mark_of(&work), &error))?;
        // A store that says that a run is there has nothing in it but where its folder is.
        durable::sync_below(&self.path)
            .and_then(|()| durable::sync_folder_of(&self.path))
            .map_err(|error| Failure::io("sync the folder", &self.path, &error))
    }

    /// There is a run that it belongs to, or there may be.
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            // Why it was not made is worth more than what is left behind.
            drop(fs::remove_dir_all(&self.path));
        }
    }
}

/// What became of the folder of a run that was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folder {
    /// It is gone with the run.
    Removed,
    /// It was not there.
    Absent,
    /// It is none that a command with this folder of all runs has made: nothing was done to it, if it is there.
    Left,
    /// It is not known to be this run's, and may well be another's with the same place: nothing was done to it.
    Others,
}

/// Takes away the folder of a run that was removed, if it is one that a command with this folder of all runs has made, for this
/// very run.
///
/// # Errors
/// Those of the operating system.
pub(crate) fn remove(
    state_dir: &Path,
    id: &str,
    work: &Path,
    token: Option<&Token>,
) -> Result<Folder, Failure> {
    // A store that others write to must not be able to name just any folder.
    let Ok(state_dir) = state_dir.canonicalize() else { return Ok(Folder::Left) };
    let path = state_dir.join(id);
    let mut names = Path::new(id).components();
    let is_a_name = matches!((names.next(), names.next()), (Some(Component::Normal(_)), None));
    if !is_a_name || work != path.join("work") {
        return Ok(Folder::Left);
    }
    if !work.is_dir() {
        return Ok(Folder::Absent);
    }
    // Where machines share a store, the same place is that of another run on each of them.
    match owner(work, token).map_err(|error| Failure::io("read", &mark_of(work), &error))? {
        Owner::This => {}
        Owner::Another | Owner::Unknown => return Ok(Folder::Others),
    }
    fs::remove_dir_all(&path).map_err(|error| Failure::io("remove the folder", &path, &error))?;
    Ok(Folder::Removed)
}

/// Refuses what is no folder, before anything is made.
///
/// # Errors
/// As a copy of it would.
pub(crate) fn check_template(template: Option<&Path>) -> Result<(), Failure> {
    template.map_or(Ok(()), copy::check)
}

/// A copy of a scenario's folder that goes when this value does.
///
/// # Errors
/// Whatever keeps it from being made.
pub(crate) fn throwaway(template: Option<&Path>) -> Result<tempfile::TempDir, Failure> {
    let refuse = |error| Failure::io("make a folder in", &std::env::temp_dir(), &error);
    let folder = tempfile::tempdir().map_err(refuse)?;
    if let Some(template) = template {
        // A copy wants to make its folder itself.
        fs::remove_dir(folder.path()).map_err(refuse)?;
        copy::folder(template, folder.path())?;
    }
    Ok(folder)
}
