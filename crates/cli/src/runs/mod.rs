//! Where runs live: a folder per run, with its state, its trace, its scenario and the folder its tools work in.
//!
//! ```text
//! <state dir>/<run id>/
//!   state.json      what the run is: replaced as a whole at every checkpoint
//!   trace.jsonl     what happened: appended to
//!   scenario.yaml   the scenario as it was when the run began
//!   work/           the copy of the scenario's folder
//!   lock            held by the process that drives the run
//! ```

mod copy;
mod durable;
mod home;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

pub(crate) use durable::replace;
pub(crate) use home::state_dir;

/// The folder of one run, locked for as long as this value lives.
#[derive(Debug)]
pub(crate) struct RunFolder {
    id: String,
    path: PathBuf,
    _lock: File,
}

impl RunFolder {
    /// Makes the folder of a new run, with the scenario's text and a fresh copy of its folder.
    ///
    /// Run ids count up: `tidy-folder-1`, `tidy-folder-2`. Making the folder is what takes the number, so two runs that
    /// begin at once do not share one.
    ///
    /// # Errors
    /// Whatever keeps the folder from being made; a half-made folder is taken away again.
    pub(crate) fn create(
        state_dir: &Path,
        name: &str,
        scenario: &str,
        template: Option<&Path>,
    ) -> Result<Self, Failure> {
        fs::create_dir_all(state_dir).map_err(|error| Failure::io("make the folder", state_dir, &error))?;
        let (id, path) = claim(state_dir, name)?;
        let made = fill(&path, scenario, template).and_then(|()| lock(&path));
        match made {
            Ok(lock) => Ok(RunFolder { id, path, _lock: lock }),
            Err(failure) => {
                // The failure is worth more than what is left behind.
                drop(fs::remove_dir_all(&path));
                Err(failure)
            }
        }
    }

    /// Opens the folder of a run that was parked or interrupted.
    ///
    /// # Errors
    /// A run that there is not, or that another process drives.
    pub(crate) fn open(state_dir: &Path, id: &str) -> Result<Self, Failure> {
        let one_name = Path::new(id).components().count() == 1 && id != "." && id != "..";
        let path = state_dir.join(id);
        if !one_name || !path.join("state.json").is_file() {
            return Err(Failure::new(format!("there is no run {id:?} in {}", state_dir.display()))
                .with_help(known(state_dir)));
        }
        let lock = lock(&path)?;
        Ok(RunFolder { id: id.to_owned(), path, _lock: lock })
    }

    /// The run's id.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The run's state.
    pub(crate) fn state(&self) -> PathBuf {
        self.path.join("state.json")
    }

    /// The run's trace.
    pub(crate) fn trace(&self) -> PathBuf {
        self.path.join("trace.jsonl")
    }

    /// The run's scenario.
    pub(crate) fn scenario(&self) -> PathBuf {
        self.path.join("scenario.yaml")
    }

    /// The folder its tools work in.
    pub(crate) fn work(&self) -> PathBuf {
        self.path.join("work")
    }
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

/// Takes the first free number after the highest that was ever taken.
fn claim(state_dir: &Path, name: &str) -> Result<(String, PathBuf), Failure> {
    let mut number = 1 + ids(state_dir)
        .iter()
        .filter_map(|id| id.strip_prefix(name)?.strip_prefix('-')?.parse::<u64>().ok())
        .max()
        .unwrap_or(0);
    loop {
        let id = format!("{name}-{number}");
        let path = state_dir.join(&id);
        match fs::create_dir(&path) {
            Ok(()) => return Ok((id, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(Failure::io("make the folder", &path, &error)),
        }
    }
}

fn fill(path: &Path, scenario: &str, template: Option<&Path>) -> Result<(), Failure> {
    let work = path.join("work");
    match template {
        Some(template) => copy::folder(template, &work)?,
        None => fs::create_dir(&work).map_err(|error| Failure::io("make the folder", &work, &error))?,
    }
    let copy = path.join("scenario.yaml");
    replace(&copy, scenario.as_bytes()).map_err(|error| Failure::io("write", &copy, &error))
}

fn lock(path: &Path) -> Result<File, Failure> {
    let place = path.join("lock");
    let file = File::create(&place).map_err(|error| Failure::io("open", &place, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Failure::new(format!("another process drives the run in {}", path.display()))
                .with_help("wait for it to end, or end it"))
        }
        Err(TryLockError::Error(error)) => Err(Failure::io("lock", &place, &error)),
    }
}

/// The ids of the runs there are, sorted; none where the folder cannot be read.
fn ids(state_dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(state_dir) else { return Vec::new() };
    let mut ids: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    ids.sort();
    ids
}

fn known(state_dir: &Path) -> String {
    let ids = ids(state_dir);
    match ids.as_slice() {
        [] => "there are no runs there; `--state-dir` names another place".to_owned(),
        ids => {
            let last: Vec<&str> = ids.iter().rev().take(10).map(String::as_str).collect();
            format!("there are {}", last.join(", "))
        }
    }
}
