//! Governed runs with commands as tools: a plan file, a working folder, a snapshot of it, processes that are ended by id.
//!
//! ```text
//! <state dir>/<run id>/          the run's files, and beside them
//!   plan.yaml                    the plan as it was when the run began, with the working folder
//!   work/                        the copy of the plan's folder that the tools work in, unless they work in place
//!   snapshot/                    the folder as it was before the first tool
//! <state dir>/command-center/    the ledger and the approvals of all runs
//! ```

mod auditors;
mod command_tool;
mod folder;
mod plan;
mod process;
mod snapshot;
mod strays;

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
use crate::output::{complain, printable};
use crate::store::quoted;

pub(crate) use plan::{PlanFile, read};

/// The name of the copy that tools work in, in the folder of its run.
const WORK: &str = "work";

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
        let source = fs::canonicalize(&source).map_err(|error| Failure::io("find", &source, &error))?;
        keys::keep_out_of(&source, self.key_file.as_deref())?;
        let mut stored = file.plan.clone();
        stored.ignore = stored.ignore.iter().map(|name| folder::plain(name)).collect();
        stored.ignore.extend(self.own_place(&source)?);
        // Of two that begin at once on one folder, the second sees the first.
        let _turn = self.turn()?;
        if stored.in_place {
            self.check_free(&source)?;
        }
        let listing = folder::list(&source, &stored.ignore)?;
        folder::check_copy(&source, &listing)?;
        // One that is made later shows as a change, and a rollback says that it was left.
        let kept = listing.iter().filter(|(_, kind)| **kind == folder::Kind::Runs);
        stored.ignore.extend(kept.map(|(name, _)| name.clone()));
        stored.folder = if stored.in_place { source.clone() } else { PathBuf::from(WORK) };
        let text = stored.text()?;
        // This governor makes a run and drives none, so that it needs no place.
        let governor = self.governor_of(stored.clone(), Path::new(""))?;
        let claimed = governor.claim(&stored.project).map_err(refused)?;
        let place = claimed.folder();
        let filled = self.fill(claimed.id(), &place, &source, &listing, &stored, &text);
        match filled {
            Ok(()) => claimed.begin(Some(stored.digest()?)).map_err(refused),
            Err(failure) => {
                // No run has begun there.
                drop(fs::remove_dir_all(&place));
                Err(failure)
            }
        }
    }

    /// Fills the folder of a run that has not begun.
    fn fill(
        &self,
        run: &RunId,
        place: &Path,
        source: &Path,
        listing: &folder::Listing,
        plan: &plan::Plan,
        text: &str,
    ) -> Result<(), Failure> {
        if !plan.in_place {
            folder::copy(source, &place.join(WORK), listing)?;
        }
        let path = place.join("plan.yaml");
        let text = plan::tagged(text, run, self.keys());
        crate::runs::replace(&path, text.as_bytes()).map_err(|error| Failure::io("write", &path, &error))
    }

    /// The folder of the runs as a name in the folder that tools work in, if it is there. A run ignores it.
    ///
    /// # Errors
    /// The two are one folder.
    fn own_place(&self, source: &Path) -> Result<Option<PathBuf>, Failure> {
        let runs =
            fs::canonicalize(&self.folder).map_err(|error| Failure::io("find", &self.folder, &error))?;
        match runs.strip_prefix(source) {
            Ok(inside) if inside.as_os_str().is_empty() => Err(Failure::new(format!(
                "the folder of the plan is the folder that runs are kept in: {}",
                source.display()
            ))
            .with_help("name another one with --state-dir")),
            Ok(inside) => Ok(Some(inside.to_path_buf())),
            Err(_) => Ok(None),
        }
    }

    /// The turn of one process among those that begin runs here: a lock of the folder itself, where the system has such.
    fn turn(&self) -> Result<fs::File, Failure> {
        let open = || -> std::io::Result<fs::File> {
            let folder = fs::File::open(&self.folder)?;
            folder.lock()?;
            Ok(folder)
        };
        open().map_err(|error| Failure::io("lock", &self.folder, &error))
    }

    /// Fails where another run that is not over works in this folder, in one around it or in one inside of it: the rollback of
    /// one would take away the results of the other.
    fn check_free(&self, folder: &Path) -> Result<(), Failure> {
        let entries =
            fs::read_dir(&self.folder).map_err(|error| Failure::io("read", &self.folder, &error))?;
        let runs = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<RunId>().ok());
        for run in runs {
            let place = self.folder_of(&run);
            let Ok(state) = fs::read(self.folders().state(&run)) else { continue };
            let status = runstate::governed::check_state(&state, None).ok().and_then(|report| report.status);
            if status.is_some_and(|status| status.state.is_terminal()) {
                continue;
            }
            let Ok(plan) = plan::read_stored(&place.join("plan.yaml"), &run, self.keys()) else { continue };
            if plan.in_place && (plan.folder.starts_with(folder) || folder.starts_with(&plan.folder)) {
                let why = format!("{run} works in {}, and is not over", plan.folder.display());
                return Err(Failure::new(why).with_help(
                    "a rollback of one run would take away what the other did: end it first, or work in a copy (without `in_place`)",
                ));
            }
        }
        Ok(())
    }

    /// A governor for a run that there is.
    ///
    /// # Errors
    /// No such run, or one whose plan is gone.
    pub(crate) fn governor(&self, run: &RunId) -> Result<Governor, Failure> {
        let place = self.folder_of(run);
        // The folder that tools work in does not depend on where the command was started.
        let place = fs::canonicalize(&place).unwrap_or(place);
        // What it would end of the run could be its own shell.
        if std::env::var_os(strays::MARKER).is_some_and(|of| of == place.as_os_str()) {
            let why = format!("{} in the environment says that this is a process of {run}", strays::MARKER);
            return Err(Failure::new(why)
                .with_help("a tool does not drive or answer its own run; elsewhere unset the variable"));
        }
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
        let plan = plan::read_stored(&path, run, self.keys()).unwrap_or_else(|failure| {
            // It can still expire, and be escalated. Nothing of it is executed: the run is bound to what the plan was.
            complain(&printable(&format!("{run}: {failure}")));
            plan::Plan::none(run)
        });
        self.governor_of(plan, &place)
    }

    fn governor_of(&self, plan: plan::Plan, place: &Path) -> Result<Governor, Failure> {
        let bound_to = Some(plan.digest()?);
        let rules = Rules {
            bound_to,
            gates: plan.gates.clone(),
            limits: plan.limits().map_err(Failure::new)?,
            rollback_ms: Rules::default().rollback_ms,
            chained: plan.chained_ledger,
        };
        let parts: Parts = plan.parts(place);
        let governor =
            Governor::new(Arc::new(RealDisk), self.folders(), Arc::new(unix_clock()), parts, rules)
                .map_err(refused)?;
        let place = place.to_path_buf();
        let governor = governor.setting_aside(|damaged, kept| {
            complain(&format!(
                "{} could not be read on: it is kept as {}, and begun anew from the states of the runs",
                damaged.display(),
                kept.display()
            ));
        });
        let governor = governor.taking(move |run| {
            let ended = strays::end_of(&place);
            if ended > 0 {
                complain(&format!("{run}: ended {ended} processes that a killed command had left running"));
            }
        });
        Ok(match &self.keys {
            Some(keys) => governor.keyed(keys.clone()),
            None => governor,
        })
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
