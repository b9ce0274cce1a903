//! Folders and files of governed runs.

use std::io;
use std::path::{Path, PathBuf};

use runstate::approval::ApprovalId;
use runstate::governed_run::RunId;
use runstate_runtime::files::{Disk, Open};

use super::aside::{self, AsideReason, SettingAside};
use super::lock;
use super::notes::{APPROVED, PENDING, REJECTED};

/// The folders and files of governed runs.
///
/// ```text
/// <runs>/<run id>/RUN_STATE.json      the authority
/// <runs>/<run id>/RUN_LOG.jsonl       its transitions
/// <runs>/<run id>/RUN_REPORTS.jsonl   the reports of its tools that RUN_STATE.json has no place for any more
/// <runs>/<run id>/FINAL_REPORT.md     when it is over
/// <runs>/<run id>/lock                held by the process that has the run in hand
/// <command centre>/RUN_LEDGER.jsonl   the transitions of all runs
/// <command centre>/lock               held while the ledger is written
/// <command centre>/PENDING/, APPROVED/, REJECTED/    a record for each approval
/// ```
///
/// A damaged log, and a ledger with a damaged end, are kept beside the new file with the suffix `.damaged-1` (2, 3,
/// …).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    runs: PathBuf,
    command_center: PathBuf,
}

impl Folders {
    /// Creates a layout with the runs below `runs`, and the command centre in its folder `command-center`.
    pub fn new(runs: impl Into<PathBuf>) -> Self {
        let runs = runs.into();
        let command_center = runs.join("command-center");
        Folders { runs, command_center }
    }

    /// Sets the folder of the command centre. Default: `command-center` in the folder of the runs.
    pub fn with_command_center(self, command_center: impl Into<PathBuf>) -> Self {
        Folders { command_center: command_center.into(), ..self }
    }

    /// The parent folder of all run folders.
    pub fn runs(&self) -> &Path {
        &self.runs
    }

    /// The ids of all run folders, sorted. A folder without a state belongs to a run that has not begun, perhaps
    /// because of a crash.
    ///
    /// # Errors
    /// The errors of the file system, also for a missing folder.
    pub fn list(&self, disk: &dyn Disk) -> io::Result<Vec<RunId>> {
        Ok(disk.list(&self.runs)?.into_iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// The folder of a run.
    pub fn run(&self, run: &RunId) -> PathBuf {
        self.runs.join(run.as_str())
    }

    /// The path of the run's RUN_STATE.json.
    pub fn state(&self, run: &RunId) -> PathBuf {
        self.run(run).join("RUN_STATE.json")
    }

    /// The path of the run's RUN_LOG.jsonl.
    pub fn log(&self, run: &RunId) -> PathBuf {
        self.run(run).join("RUN_LOG.jsonl")
    }

    pub(super) fn reports(&self, run: &RunId) -> PathBuf {
        self.run(run).join("RUN_REPORTS.jsonl")
    }

    /// The path of the run's FINAL_REPORT.md.
    pub fn report(&self, run: &RunId) -> PathBuf {
        self.run(run).join("FINAL_REPORT.md")
    }

    /// The path of the ledger of all runs.
    pub fn ledger(&self) -> PathBuf {
        self.command_center.join("RUN_LEDGER.jsonl")
    }

    /// The folder of the pending approvals.
    pub fn pending(&self) -> PathBuf {
        self.command_center.join(PENDING)
    }

    pub(super) fn lock(&self, run: &RunId) -> PathBuf {
        self.run(run).join("lock")
    }

    pub(super) fn ledger_lock(&self) -> PathBuf {
        self.command_center.join("lock")
    }

    pub(super) fn records(&self, folder: &str) -> PathBuf {
        self.command_center.join(folder)
    }

    pub(super) fn record(&self, folder: &str, approval: &ApprovalId) -> PathBuf {
        self.records(folder).join(format!("{approval}.json"))
    }

    /// Returns whether the command centre's name belongs to something other than a folder. If it cannot be inspected,
    /// the result is `false`.
    pub(super) fn lacks_command_center(&self, disk: &dyn Disk) -> bool {
        matches!(is_folder(disk, &self.command_center), Ok(false))
    }

    /// Creates the folders that all runs share. A file, a pipe or a dangling link of such a name is set aside.
    pub(super) fn make(
        &self,
        disk: &dyn Disk,
        setting_aside: &SettingAside,
    ) -> Result<(), (PathBuf, io::Error)> {
        make(disk, &self.runs).map_err(|error| (self.runs.clone(), error))?;
        let of_all = [PENDING, APPROVED, REJECTED].map(|folder| self.records(folder));
        for folder in [self.command_center.clone()].into_iter().chain(of_all) {
            let made = make(disk, &folder).and_then(|()| match is_folder(disk, &folder)? {
                true => Ok(()),
                false => self.make_anew(disk, &folder, setting_aside),
            });
            made.map_err(|error| (folder, error))?;
        }
        Ok(())
    }

    /// Sets the obstacle aside, and creates the folder. Another process may have created the folder meanwhile.
    fn make_anew(&self, disk: &dyn Disk, folder: &Path, setting_aside: &SettingAside) -> io::Result<()> {
        let mut lock = disk.open_folder(&self.runs).ok().flatten();
        if let Some(lock) = &mut lock {
            lock::wait_for(|| lock.try_lock(), &self.runs, lock::LONG)?;
        }
        if !is_folder(disk, folder)? {
            let kept = aside::keep(disk, folder)?;
            setting_aside(folder, &kept, AsideReason::NoFolder);
            make(disk, folder)?;
        }
        Ok(())
    }
}

/// A file, a pipe and a dangling link have no names below them.
fn is_folder(disk: &dyn Disk, path: &Path) -> io::Result<bool> {
    match disk.open(&path.join("."), Open::Read) {
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(true),
        Err(error) if !matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::NotFound) => {
            Err(error)
        }
        _ => Ok(false),
    }
}

/// Creates a folder and its missing parent folders.
fn make(disk: &dyn Disk, folder: &Path) -> io::Result<()> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let made = match disk.create_folder(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match parent {
            Some(parent) => make(disk, parent).and_then(|()| disk.create_folder(folder)),
            None => Err(error),
        },
        made => made,
    };
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => disk.sync_folder(parent.unwrap_or(Path::new("."))),
    }
}
