//! Governed runs with commands as tools: a plan file, a working folder with its snapshot, and processes that are ended by
//! id.
//!
//! ```text
//! <state dir>/<run id>/          the run's files, and beside them
//!   plan.yaml                    the plan at the start of the run, with the working folder
//!   work/                        the copy of the plan's folder for the tools, unless they work in place
//!   snapshot/                    the folder before the first tool
//! <state dir>/command-center/    the ledger and the approvals of all runs
//! ```

mod auditors;
mod below;
mod command_tool;
mod copy;
mod disk;
mod folder;
mod held;
mod plan;
mod process;
mod progress;
mod snapshot;
mod strays;
mod supervisor;
mod work;

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind, IsTerminal};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runstate::approval::ApprovalId;
use runstate::governed_run::RunId;
use runstate::snapshot::Keyring;
use runstate_governed::{AsideReason, Folders, Governor, Rules};
use runstate_runtime::clock::unix_clock;
use runstate_runtime::files::RealDisk;

use crate::failure::Failure;
use crate::input;
use crate::keys;
use crate::meant::did_you_mean;
use crate::output::{complain, printable};
use crate::store::quoted;

use below::Below;
use progress::Progress;

pub(crate) use plan::{PlanFile, read};
pub(crate) use supervisor::{is_one as is_supervisor, supervise};

/// The maximum size of a state, in bytes.
const MOST_STATE: u64 = 16 << 20;
/// The name of the tools' copy in the folder of its run.
const WORK: &str = "work";

/// The governed runs of a folder.
#[derive(Debug)]
pub(crate) struct Runs {
    pub(crate) folder: PathBuf,
    /// The keys of the runs' files, if there are any.
    pub(crate) keys: Option<Keyring>,
    key_file: Option<PathBuf>,
    /// The options for both, each with a leading space, for a shown command.
    options: String,
    pub(crate) progress: Arc<Progress>,
}

impl Runs {
    /// The runs in that folder, or in the user's.
    pub(crate) fn new(folder: Option<&Path>, key_file: Option<&Path>) -> Result<Self, Failure> {
        let option = |name: &str, path: Option<&Path>| {
            path.map_or_else(String::new, |path| format!(" {name} {}", quoted(&path.to_string_lossy())))
        };
        let options = option("--state-dir", folder) + &option("--key-file", key_file);
        let keys = keys::read(key_file)?;
        let folder = match folder {
            Some(given) => {
                crate::runs::check_state_dir(given)?;
                given.to_path_buf()
            }
            None => crate::runs::state_dir(None)?.with_file_name("governed"),
        };
        // A tool may have closed it, or an ancestor that is its working folder.
        open_closed(&folder, READ);
        let progress = Arc::new(Progress::new(false, &options));
        Ok(Runs { folder, keys, key_file: key_file.map(Path::to_path_buf), options, progress })
    }

    /// Reports the progress of commands on request, or if standard error is a terminal.
    pub(crate) fn told(self, is_asked_for: bool) -> Self {
        let is_told = is_asked_for || io::stderr().is_terminal();
        Runs { progress: Arc::new(Progress::new(is_told, &self.options)), ..self }
    }

    /// A command for the runs of this place, for display.
    pub(crate) fn command(&self, words: &str) -> String {
        format!("runstate governed {words}{}", self.options)
    }

    /// The command that continues a run.
    pub(crate) fn recover(&self, run: &RunId) -> String {
        self.command(&format!("recover {run}"))
    }

    pub(crate) fn folders(&self) -> Folders {
        Folders::new(&self.folder)
    }

    /// Each run, in order; and each folder of a run without a state, which has not begun or was killed before.
    pub(crate) fn listed(&self) -> Result<(Vec<RunId>, Vec<RunId>), Failure> {
        let runs = self.folders().list(&RealDisk).map_err(|error| {
            let failure = Failure::io("read the folder of runs", &self.folder, &error);
            let run = self.command("run PLAN");
            failure.with_help(format!("`--state-dir` names another folder; `{run}` creates it"))
        })?;
        Ok(runs.into_iter().partition(|run| may_have_state(&self.folder_of(run))))
    }

    /// Removes the folder of a run that never began, with its copy of the plan's folder. Returns whether it did: a folder
    /// that a process is filling stays, and so does a folder with other content.
    ///
    /// # Errors
    /// A folder or a file that cannot be removed.
    pub(crate) fn remove_unbegun(&self, run: &RunId) -> Result<bool, Failure> {
        const OWN: [&str; 5] = [WORK, "lock", "plan.yaml", "plan.yaml.new", "RUN_STATE.json.new"];
        let place = self.folder_of(run);
        let is_folder = fs::symlink_metadata(&place).is_ok_and(|found| found.is_dir());
        // Held like the lock of an open run, which is a lock of its folder too.
        let lock = fs::File::open(&place).ok().filter(|folder| is_folder && folder.try_lock().is_ok());
        let Some(_lock) = lock else { return Ok(false) };
        let cannot = |error: io::Error| Failure::io("remove", &place, &error);
        let names = fs::read_dir(&place).map_err(cannot)?.map(|entry| entry.map(|entry| entry.file_name()));
        let names: Vec<_> = names.collect::<Result<_, _>>().map_err(cannot)?;
        if names.iter().any(|name| !OWN.iter().any(|own| name == own)) {
            return Ok(false);
        }
        // A tool of another run, or the maker, may have closed them; a folder is read with fewer rights.
        for folder in [&self.folder, &place] {
            open_closed(folder, WRITE);
        }
        for name in names {
            let path = place.join(name);
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
            if is_folder { below::remove_tree(&path) } else { fs::remove_file(&path) }.map_err(cannot)?;
        }
        fs::remove_dir(&place).map_err(cannot)?;
        Ok(true)
    }

    pub(crate) fn folder_of(&self, run: &RunId) -> PathBuf {
        self.folder.join(run.as_str())
    }

    /// Makes the run of a plan's project, with its folder.
    pub(crate) fn create(&self, file: &PlanFile) -> Result<RunId, Failure> {
        // For the user alone: it contains the plans and the outputs of tools.
        let made = self
            .folder
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder));
        made.map_err(|error| Failure::io("make the folder", &self.folder, &error))?;
        // Before there is a run, so that an unusable folder leaves nothing behind.
        let source = file.folder()?;
        let source = fs::canonicalize(&source).map_err(|error| Failure::io("find", &source, &error))?;
        keys::keep_out_of(&source, self.key_file.as_deref())?;
        let mut stored = file.plan.clone();
        stored.ignore = stored.ignore.iter().map(|name| folder::plain(name)).collect();
        stored.ignore.extend(self.own_place(&source)?);
        // The notes on the folders of other runs, and their states. The folder may be made only when the first run begins.
        let of_user = crate::runs::state_dir(None).ok().and_then(|runs| Some(without_links(runs.parent()?)));
        let inside = of_user.as_ref().and_then(|of_user| of_user.strip_prefix(&source).ok());
        stored.ignore.extend(inside.filter(|inside| !inside.as_os_str().is_empty()).map(Path::to_path_buf));
        folder::check_size(&source, &stored.ignore, stored.in_place)?;
        let listing = folder::list(&source, &stored.ignore, folder::Reading::All, &mut HashMap::new())?;
        copy::check_copy(&source, &listing, stored.in_place)?;
        // A folder of runs that is made later shows as a change, and a rollback reports that it was left.
        let mut kept = listing.iter().filter(|(_, about)| about.kind == folder::Kind::Runs).peekable();
        if let Some((name, _)) = kept.peek().filter(|_| stored.in_place) {
            return Err(Failure::new(format!(
                "{} may be a folder of runs, and a rollback does not change such a folder",
                source.join(name).display()
            ))
            .with_help(
                "name the folder in the plan's `ignore`; if it has no runs, remove its `command-center`",
            ));
        }
        stored.ignore.extend(kept.map(|(name, _)| PathBuf::from(name)));
        stored.folder = if stored.in_place { source.clone() } else { PathBuf::from(WORK) };
        // Until the run has begun: of two runs that begin together in one folder, the second sees the first.
        let turn = stored.in_place.then(|| held::Turn::take(&self.held(), &self.folder)).transpose()?;
        if let Some(turn) = &turn {
            turn.check_free(&source)?;
        }
        // This governor makes a run and drives none, so it needs no place.
        let governor = self.governor_of(stored.clone(), Path::new(""))?;
        let claimed = governor.claim(&stored.project).map_err(refused)?;
        let place = claimed.folder();
        let filled = self.fill(claimed.id(), &place, &source, &listing, &mut stored);
        let noted = filled.and_then(|()| {
            let Some(turn) = &turn else { return Ok(()) };
            turn.note(claimed.id(), &source, &self.folder)
        });
        match noted {
            Ok(()) => claimed.begin(Some(stored.digest()?)).map_err(refused),
            Err(failure) => {
                // No run has begun there.
                drop(below::remove_tree(&place));
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
        plan: &mut plan::Plan,
    ) -> Result<(), Failure> {
        let work = if plan.in_place { source.to_path_buf() } else { place.join(WORK) };
        if !plan.in_place {
            copy::copy(source, &work, listing)?;
            // The run is durable before its snapshot, which is made of this copy.
            let synced = Below::open(&work).and_then(|below| below.sync(listing));
            synced.map_err(|error| Failure::io("sync", &work, &error))?;
        }
        let ids = plan.ignore.iter().filter(|_| plan.in_place);
        let ids = ids.filter_map(|name| Some((work::own_id(&source.join(name)).ok()?, name.clone())));
        plan.ignored = ids.collect();
        plan.taken = Some(work::id(&work).map_err(|error| Failure::io("look at", &work, &error))?);
        let path = place.join("plan.yaml");
        let text = plan::tagged(&plan.text()?, run, self.keys.as_ref());
        crate::runs::replace(&path, text.as_bytes()).map_err(|error| Failure::io("write", &path, &error))
    }

    /// The folder of the runs as a name in the tools' folder, if it is there. A run ignores it.
    fn own_place(&self, source: &Path) -> Result<Option<PathBuf>, Failure> {
        let runs =
            fs::canonicalize(&self.folder).map_err(|error| Failure::io("find", &self.folder, &error))?;
        match runs.strip_prefix(source) {
            Ok(inside) if inside.as_os_str().is_empty() => Err(Failure::new(format!(
                "the folder of the plan is the folder of the runs: {}",
                source.display()
            ))
            .with_help("name another folder with --state-dir")),
            Ok(inside) => Ok(Some(inside.to_path_buf())),
            Err(_) => Ok(None),
        }
    }

    /// The places for notes on folders in use: one for all runs of the user. If the user's data folder is not writable, only
    /// the runs of this state folder know of each other.
    fn held(&self) -> Vec<PathBuf> {
        let of_user = crate::runs::state_dir(None).map(|runs| runs.with_file_name("held"));
        of_user.into_iter().chain([self.folder.join("held")]).collect()
    }

    /// Releases the in-place folder of a finished run.
    pub(crate) fn let_go(&self, run: &RunId) {
        held::forget(&self.held(), run, &self.folder);
    }

    /// A governor for an existing run.
    pub(crate) fn governor(&self, run: &RunId) -> Result<Governor, Failure> {
        let place = self.folder_of(run);
        // The tools' folder does not depend on the current directory of the command.
        let place = fs::canonicalize(&place).unwrap_or(place);
        // The processes to end could include its own shell.
        if std::env::var_os(strays::MARKER).is_some_and(|of| of == strays::marker(&place)) {
            let why = format!("the variable {} marks this process as one of {run}", strays::MARKER);
            return Err(Failure::new(why).with_help(
                "a tool cannot drive or answer its own run; in any other process, unset the variable",
            ));
        }
        self.check_is_there(run)?;
        self.open_for(&place);
        let stored = plan::read_stored(&place.join("plan.yaml"), run, self.keys.as_ref());
        stored.and_then(|plan| self.governor_of(plan, &place)).or_else(|failure| {
            // The run can still expire, and be halted. Nothing of this plan is executed: the run is bound to the
            // original plan.
            complain(&printable(&format!("{run}: {failure}")));
            self.governor_of(plan::Plan::none(run), &place)
        })
    }

    /// Opens the written folders of an unfinished run.
    fn open_for(&self, place: &Path) {
        let state = input::read(&place.join("RUN_STATE.json"), MOST_STATE).unwrap_or_default();
        let status = runstate_governed::check_state(&state, None).ok().and_then(|report| report.status);
        if status.is_some_and(|status| status.state.is_terminal()) {
            return;
        }
        let center = self.folder.join("command-center");
        let shared = ["PENDING", "APPROVED", "REJECTED"].map(|folder| center.join(folder));
        for folder in [&self.folder, &center, place].into_iter().map(Path::to_path_buf).chain(shared) {
            open_closed(&folder, WRITE);
        }
    }

    /// A governor that only reads a run, without its plan.
    pub(crate) fn reader(&self, run: &RunId) -> Result<Governor, Failure> {
        self.check_is_there(run)?;
        self.governor_of(plan::Plan::none(run), Path::new(""))
    }

    fn check_is_there(&self, run: &RunId) -> Result<(), Failure> {
        let place = self.folder_of(run);
        if may_have_state(&place) {
            return Ok(());
        }
        if place.is_dir() {
            let why = format!(
                "{run} has no state: it did not begin, or its state was removed from {}",
                place.display()
            );
            return Err(Failure::new(why).with_help(format!(
                "`{}` removes the folder of a run that never began",
                self.command("sweep")
            )));
        }
        let runs = self.listed().unwrap_or_default().0.into_iter().map(|run| run.to_string());
        let near = did_you_mean(run.as_str(), runs.collect::<Vec<_>>().iter().map(String::as_str));
        let what = format!("there is no run {run} in {}{near}", self.folder.display());
        Err(Failure::new(what).with_help(format!(
            "`{}` lists the runs; `--state-dir` names another folder",
            self.command("status")
        )))
    }

    fn governor_of(&self, plan: plan::Plan, place: &Path) -> Result<Governor, Failure> {
        let rules = Rules {
            bound_to: Some(plan.digest()?),
            gates: plan.gates(),
            limits: plan.limits().map_err(Failure::new)?,
            chained: plan.chained_ledger,
            ..Rules::default()
        };
        let (disk, clock) = (Arc::new(disk::OwnDisk::new(&self.folder)), Arc::new(unix_clock()));
        let idle = process::Idle::default();
        let parts = plan.parts(place, Arc::clone(&self.progress), idle.clone());
        let governor = Governor::new(disk, self.folders(), clock, parts, rules).map_err(refused)?;
        let place = place.to_path_buf();
        let governor = governor.setting_aside(|damaged, kept, why| {
            let then = match why {
                AsideReason::OtherReports => "the run has lost its reports of tools",
                AsideReason::TooLarge | AsideReason::Unreadable => {
                    "a new one is written from the states of the runs"
                }
                _ => "a new one is written",
            };
            complain(&format!("{} {why}: it is kept as {}, and {then}", damaged.display(), kept.display()));
        });
        let governor = governor.taking(move |run| {
            let strays::Swept { ended, left } = strays::end_of(&place);
            for (count, done) in [(ended, "ended"), (left, "could not end")].into_iter().filter(|it| it.0 > 0)
            {
                let processes = if count == 1 { "process" } else { "processes" };
                complain(&format!("{run}: {done} {count} {processes} that a killed command left running"));
            }
        });
        let governor = governor.resting(move |_| idle.end());
        Ok(match &self.keys {
            Some(keys) => governor.keyed(keys.clone()),
            None => governor,
        })
    }
}

/// A path without links, as far as it exists: the first run makes the rest.
fn without_links(path: &Path) -> PathBuf {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(path), ..) => path,
        (Err(_), Some(parent), Some(name)) => without_links(parent).join(name),
        _ => path.to_path_buf(),
    }
}

/// Can a folder contain the state of a run? A closed folder can.
fn may_have_state(folder: &Path) -> bool {
    open_closed(folder, READ);
    match fs::symlink_metadata(folder.join("RUN_STATE.json")) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

/// The modes of a folder for reading, and for writing.
const READ: u32 = 0o500;
const WRITE: u32 = 0o700;

/// Gives the user access to an own closed folder, and to its closed ancestors.
fn open_closed(folder: &Path, needed: u32) {
    let is_ours = |found: &fs::Metadata| found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
    let around: Vec<&Path> = folder.ancestors().filter(|path| !path.as_os_str().is_empty()).collect();
    for path in around.into_iter().rev() {
        let Ok(found) = fs::symlink_metadata(path) else { return };
        // For an ancestor, only traversal counts.
        let least = if path == folder { needed } else { 0o100 };
        let mode = found.mode() & 0o7777;
        if !is_ours(&found) || mode & least == least {
            continue;
        }
        if fs::set_permissions(path, fs::Permissions::from_mode(mode | least)).is_ok() {
            complain(&printable(&opened_up(path, mode, mode | least)));
        }
    }
}

/// Reports a changed mode.
fn opened_up(path: &Path, was: u32, is: u32) -> String {
    format!(
        "{} had the mode 0{was:o}, with which this command cannot use it: the mode is 0{is:o} now",
        path.display()
    )
}

/// The run of an approval, by its id.
pub(crate) fn run_of(approval: &ApprovalId) -> Result<RunId, Failure> {
    let run = approval.as_str().rsplit_once("-A").and_then(|(run, _)| run.parse().ok());
    run.ok_or_else(|| {
        Failure::new(format!("{approval} does not name its run")).with_help(
            "the id of an approval begins with the id of its run; for an id in another form, give --run",
        )
    })
}

/// A refusal by the library, as a failure of the command.
pub(crate) fn refused(error: runstate_governed::GovernedError) -> Failure {
    Failure::new(error.to_string())
}
