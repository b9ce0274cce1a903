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

use crate::failure::Failure;

pub(crate) use plan::{PlanFile, read};

/// The run of the project of a plan, made and with its folder in place.
///
/// # Errors
/// A folder that cannot be copied, an id that cannot be had.
pub(crate) fn create(state_dir: &Path, file: &PlanFile) -> Result<RunId, Failure> {
    fs::create_dir_all(state_dir).map_err(|error| Failure::io("make the folder", state_dir, &error))?;
    // Before there is a run, so that a plan whose folder cannot be used leaves nothing behind.
    let source = file.folder()?;
    let listing = folder::list(&source, &file.plan.ignore)?;
    let governor = governor_of(state_dir, file.plan.clone(), &Place::nowhere())?;
    let run = governor.create(&file.plan.project).map_err(refused)?;
    let place = Place::of(state_dir, &run);
    let work = if file.plan.in_place {
        fs::canonicalize(&source).map_err(|error| Failure::io("find", &source, &error))?
    } else {
        let work = place.run.join("work");
        folder::copy(&source, &work, &listing)?;
        work
    };
    let plan = file.stored(&work)?;
    let path = place.run.join("plan.yaml");
    crate::runs::replace(&path, plan.as_bytes()).map_err(|error| Failure::io("write", &path, &error))?;
    Ok(run)
}

/// Where one run is.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) run: PathBuf,
}

impl Place {
    pub(crate) fn of(state_dir: &Path, run: &RunId) -> Place {
        Place { run: state_dir.join(run.as_str()) }
    }

    /// For a governor that makes a run and drives none.
    fn nowhere() -> Place {
        Place { run: PathBuf::new() }
    }
}

/// A governor for a run that there is.
///
/// # Errors
/// No such run, or one whose plan is gone.
pub(crate) fn governor(state_dir: &Path, run: &RunId) -> Result<Governor, Failure> {
    let place = Place::of(state_dir, run);
    let path = place.run.join("plan.yaml");
    if !place.run.join("RUN_STATE.json").is_file() {
        return Err(Failure::new(format!("there is no run {run} in {}", state_dir.display()))
            .with_help("`runstate governed status` lists the runs; `--state-dir` names another place"));
    }
    if !path.is_file() {
        let state = fs::read(folders(state_dir).state(run)).unwrap_or_default();
        let state = runstate::governed::check_state(&state, None).map(|report| report.status.state);
        // It was killed before its plan was written: nothing can have run, and it expires like any other.
        if matches!(state, Ok(GovernedRunStatus::Init)) {
            return governor_of(state_dir, plan::Plan::none(run), &place);
        }
        return Err(Failure::new(format!("run {run} has no plan.yaml, so its tools are not known"))
            .with_help("it is another program's, perhaps; `runstate check` reads its state"));
    }
    let file = read(&path.to_string_lossy())?;
    governor_of(state_dir, file.plan, &place)
}

fn governor_of(state_dir: &Path, plan: plan::Plan, place: &Place) -> Result<Governor, Failure> {
    let rules = Rules {
        gates: plan.gates.clone(),
        limits: plan.limits().map_err(Failure::new)?,
        rollback_ms: Rules::default().rollback_ms,
        chained: plan.chained_ledger,
    };
    let parts: Parts = plan.parts(place);
    Governor::new(Arc::new(RealDisk), folders(state_dir), Arc::new(unix_clock()), parts, rules)
        .map_err(refused)
}

/// The folders of all runs.
pub(crate) fn folders(state_dir: &Path) -> Folders {
    Folders::new(state_dir)
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

/// Ends what an earlier process of this run left running.
pub(crate) fn end_leftover(state_dir: &Path, run: &RunId) -> Option<String> {
    leftover::end(&Place::of(state_dir, run).run)
}
