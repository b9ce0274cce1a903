//! Governed runs with commands as tools: a plan file, a working folder, a snapshot of it, processes that are ended by id.
//!
//! ```text
//! <state dir>/<run id>/          the run's files, and beside them
//!   plan.yaml                    the plan as it was when the run began, with the working folder
//!   work/                        the copy of the plan's folder that the tools work in, unless they work in place
//!   snapshot/                    the folder as it was before the first tool
//!   tool.json                    the process group of the tool under way
//! <state dir>/command-center/    the ledger and the approvals of all runs
//! ```

mod auditors;
mod command_tool;
mod folder;
mod leftover;
mod plan;
mod process;
mod snapshot;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runstate::approval::ApprovalId;
use runstate::clock::unix_clock;
use runstate::files::RealDisk;
use runstate::governed::{Folders, Governor, Parts, Rules};
use runstate::governed_run::{GovernedRunStatus, RunId};
use runstate::snapshot::Keyring;

use crate::failure::Failure;
use crate::keys;
use crate::store::quoted;

pub(crate) use plan::{PlanFile, read};

/// The governed runs of a folder.
#[derive(Debug)]
pub(crate) struct Runs {
    folder: PathBuf,
    /// The keys that the files of the runs are under, if they are under some.
    keys: Option<Keyring>,
    key_file: Option<PathBuf>,
    /// The options that name both, for a command that is shown.
    options: String,
}

impl Runs {
    /// Those in that folder, or in the user's.
    ///
    /// # Errors
    /// No folder was given and the user has none; keys that cannot be read.
    pub(crate) fn new(folder: Option<&Path>, key_file: Option<&Path>) -> Result<Self, Failure> {
        let option = |name: &str, path: Option<&Path>| {
            path.map_or_else(String::new, |path| format!(" {name} {}", quoted(&path.to_string_lossy())))
        };
        let options = option("--state-dir", folder) + &option("--key-file", key_file);
        let keys = keys::read(key_file)?;
        let folder = match folder {
            Some(given) => given.to_path_buf(),
            None => crate::runs::state_dir(None)?.with_file_name("governed"),
        };
        Ok(Runs { folder, keys, key_file: key_file.map(Path::to_path_buf), options })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where their files are.
    pub(crate) fn folders(&self) -> Folders {
        Folders::new(&self.folder)
    }

    /// The keys.
    pub(crate) fn keys(&self) -> Option<&Keyring> {
        self.keys.as_ref()
    }

    /// The options that name these runs, with a space before each, for a command that is shown.
    pub(crate) fn options(&self) -> &str {
        &self.options
    }

    /// The folder of one of them.
    pub(crate) fn folder_of(&self, run: &RunId) -> PathBuf {
        self.folder.join(run.as_str())
    }

    /// The run of the project of a plan, made and with its folder in place.
    ///
    /// # Errors
    /// A folder that cannot be copied, an id that cannot be had.
    pub(crate) fn create(&self, file: &PlanFile) -> Result<RunId, Failure> {
        fs::create_dir_all(&self.folder)
            .map_err(|error| Failure::io("make the folder", &self.folder, &error))?;
        // Before there is a run, so that a plan whose folder cannot be used leaves nothing behind.
        let source = file.folder()?;
        self.keep_key_out_of(&source)?;
        let listing = folder::list(&source, &file.plan.ignore)?;
        // This governor makes a run and drives none, so that it needs no place.
        let governor = self.governor_of(file.plan.clone(), Path::new(""))?;
        let run = governor.create(&file.plan.project).map_err(refused)?;
        let place = self.folder_of(&run);
        let work = if file.plan.in_place {
            fs::canonicalize(&source).map_err(|error| Failure::io("find", &source, &error))?
        } else {
            let work = place.join("work");
            folder::copy(&source, &work, &listing)?;
            work
        };
        let plan = file.stored(&work, &run, self.keys())?;
        let path = place.join("plan.yaml");
        crate::runs::replace(&path, plan.as_bytes()).map_err(|error| Failure::io("write", &path, &error))?;
        Ok(run)
    }

    /// Fails where the key file lies in the folder that tools work in: it would be copied into the state of the run.
    fn keep_key_out_of(&self, folder: &Path) -> Result<(), Failure> {
        let Some(key_file) = &self.key_file else { return Ok(()) };
        match (fs::canonicalize(key_file), fs::canonicalize(folder)) {
            (Ok(key), Ok(folder)) if key.starts_with(&folder) => Err(Failure::new(format!(
                "the key file {} lies in the folder that tools work in, {}",
                key_file.display(),
                folder.display()
            ))
            .with_help("move it out of there: a tool could read it, and copies of the folder would have it")),
            _ => Ok(()),
        }
    }

    /// A governor for a run that there is.
    ///
    /// # Errors
    /// No such run, or one whose plan is gone.
    pub(crate) fn governor(&self, run: &RunId) -> Result<Governor, Failure> {
        let place = self.folder_of(run);
        let path = place.join("plan.yaml");
        if !place.join("RUN_STATE.json").is_file() {
            return Err(Failure::new(format!("there is no run {run} in {}", self.folder.display()))
                .with_help("`runstate governed status` lists the runs; `--state-dir` names another place"));
        }
        if !path.is_file() {
            let state = fs::read(self.folders().state(run)).unwrap_or_default();
            let state = runstate::governed::check_state(&state, None).ok().and_then(|report| report.status);
            // It was killed before its plan was written: nothing can have run, and it expires like any other.
            if state.is_some_and(|status| status.state == GovernedRunStatus::Init) {
                return self.governor_of(plan::Plan::none(run), &place);
            }
            return Err(Failure::new(format!("run {run} has no plan.yaml, so its tools are not known"))
                .with_help("it is another program's, perhaps; `runstate check` reads its state"));
        }
        self.governor_of(plan::read_stored(&path, run, self.keys())?, &place)
    }

    fn governor_of(&self, plan: plan::Plan, place: &Path) -> Result<Governor, Failure> {
        let rules = Rules {
            gates: plan.gates.clone(),
            limits: plan.limits().map_err(Failure::new)?,
            rollback_ms: Rules::default().rollback_ms,
            chained: plan.chained_ledger,
        };
        let parts: Parts = plan.parts(place);
        let governor =
            Governor::new(Arc::new(RealDisk), self.folders(), Arc::new(unix_clock()), parts, rules)
                .map_err(refused)?;
        Ok(match &self.keys {
            Some(keys) => governor.keyed(keys.clone()),
            None => governor,
        })
    }

    /// Ends what an earlier process of a run left running.
    pub(crate) fn end_leftover(&self, run: &RunId) -> Option<String> {
        leftover::end(&self.folder_of(run))
    }
}

/// The run that an approval is of: its id says so.
///
/// # Errors
/// An id that is not one of this program's.
pub(crate) fn run_of(approval: &ApprovalId) -> Result<RunId, Failure> {
    let run = approval.as_str().rsplit_once("-A").and_then(|(run, _)| run.parse().ok());
    run.ok_or_else(|| {
        Failure::new(format!("{approval} does not say which run it is of"))
            .with_help("an approval of this program has the run's id in front; for any other give --run")
    })
}

/// What the library refused, for a person.
pub(crate) fn refused(error: runstate::governed::GovernedError) -> Failure {
    Failure::new(error.to_string())
}
