//! The working folders of runs, one for each run.
//!
//! ```text
//! <state dir>/
//!   runs.db             the runs, unless --store names another place
//!   <run id>/work/      the copy of the scenario's folder
//!   <run id>/owner      the token that ties the folder to its run
//!   <run id>/committed  the number of the run's last commit
//!   numbers/<name>      the highest number that a run of that name has had
//!   removed/<run id>    a folder that is still to be removed
//! ```

mod copy;
mod durable;
mod home;
mod lock;
mod marks;
mod numbers;
mod open;
mod owner;
mod remove;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::OpenOptions;

use crate::failure::Failure;
use numbers::Numbers;

pub(crate) use copy::Template;
pub(crate) use durable::{make_folders, replace};
pub(crate) use home::{check_state_dir, state_dir};
pub(crate) use marks::Marks;
pub(crate) use open::{WORK, open, work_of};
pub(crate) use owner::Token;
pub(crate) use remove::{Folder, Note, Notes};

/// The id of the run of that name and number.
pub(crate) fn id(name: &str, number: u64) -> String {
    format!("{name}-{number}")
}

/// The folder of a run that is being created. It is removed with this value, unless it is [kept](RunFolder::keep).
#[derive(Debug)]
pub(crate) struct RunFolder {
    id: String,
    path: PathBuf,
    token: Token,
    is_kept: bool,
}

impl RunFolder {
    /// Makes an empty folder for a new run.
    ///
    /// Run ids count up: `tidy-folder-1`, `tidy-folder-2`. No number is given twice, even after its run was removed: an
    /// action for one run must not pass for an action for another.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub(crate) fn claim(state_dir: &Path, name: &str, least: u64) -> Result<Self, Failure> {
        make_folders(state_dir).map_err(|error| Failure::io("make the folder", state_dir, &error))?;
        // The folder's place is stored with the run: it must not depend on the current directory of a later command.
        let state_dir =
            state_dir.canonicalize().map_err(|error| Failure::io("find the folder", state_dir, &error))?;
        let token = Token::fresh()?;
        let mut numbers = Numbers::of(&state_dir, name)?;
        loop {
            let id = id(name, numbers.next(least)?);
            let path = state_dir.join(&id);
            match durable::make_folder(&path) {
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

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of its tools.
    pub(crate) fn work(&self) -> PathBuf {
        self.path.join(WORK)
    }

    /// The token of the run, which identifies the folder as its own.
    pub(crate) fn token(&self) -> &Token {
        &self.token
    }

    /// Puts a copy of the scenario's folder there, or an empty one, and marks it. It is durable when this returns.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn fill(&self, template: Option<&Template>) -> Result<(), Failure> {
        let work = self.work();
        match template {
            Some(template) => copy::folder(template, &work)?,
            None => {
                durable::make_folder(&work).map_err(|error| Failure::io("make the folder", &work, &error))?
            }
        }
        let mark = owner::mark_of(&self.path);
        self.token.write(&mark).map_err(|error| Failure::io("write", &mark, &error))?;
        // A stored run refers to nothing but the place of its folder.
        durable::sync_below(&self.path)
            .and_then(|()| durable::sync_folder_of(&self.path))
            .map_err(|error| Failure::io("sync the folder", &self.path, &error))
    }

    /// Keeps the folder, since its run exists or may exist.
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            // The original error is more important than the remains.
            drop(remove::tree(&self.path));
        }
    }
}

/// Refuses a path that is no folder, and a folder that contains the folder of all runs, before anything is made.
///
/// # Errors
/// As for a copy of it.
pub(crate) fn check_template(template: Option<&Template>, state_dir: &Path) -> Result<(), Failure> {
    template.map_or(Ok(()), |template| copy::check(template, state_dir))
}

/// A folder that is removed with this value, at any depth.
#[derive(Debug)]
pub(crate) struct Throwaway(tempfile::TempDir);

impl Throwaway {
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        drop(remove::tree(self.0.path()));
    }
}

/// A copy of a scenario's folder that is removed with this value.
///
/// # Errors
/// It cannot be made.
pub(crate) fn throwaway(template: Option<&Template>) -> Result<Throwaway, Failure> {
    let refuse = |error| Failure::io("make a folder in", &std::env::temp_dir(), &error);
    let folder = tempfile::tempdir().map_err(refuse)?;
    if let Some(template) = template {
        // A copy makes its folder itself.
        fs::remove_dir(folder.path()).map_err(refuse)?;
        copy::folder(template, folder.path())?;
    }
    Ok(Throwaway(folder))
}

/// A pipe that replaced a file since the listing must not block.
#[cfg(unix)]
pub(crate) fn unblocked(options: &mut OpenOptions) -> &OpenOptions {
    use cap_std::fs::OpenOptionsExt;
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
}

#[cfg(not(unix))]
pub(crate) fn unblocked(options: &mut OpenOptions) -> &OpenOptions {
    options
}
