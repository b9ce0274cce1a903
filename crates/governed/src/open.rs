//! A locked run: it is read once, and written after each transition.

use std::io;
use std::path::Path;

use runstate::approval::{AnyApproval, Approval, ApprovalId, ApprovalRecord, ApprovalStatus};
use runstate::governed_run::{AnyGovernedRun, GovernedRunStatus, Reviewers, RunId, RunRecord};
use runstate::kernel::{Observer, Persist, State};
use runstate::snapshot::Snapshot;
use runstate_runtime::files::{Disk, Open, replace};

use super::aside::{self, AsideReason, SettingAside};
use super::chain::Chain;
use super::document::{Document, MOST_BYTES, RESERVE};
use super::error::GovernedError;
use super::faults::faults;
use super::folders::Folders;
use super::governor::Result;
use super::lines::{Transition, transitions};
use super::lock::{self, Lock};
use super::logs::{self, Mark};
use super::notes::{Notes, folder_of};
use super::parts::RunView;
use super::repair::Repairs;
use super::typed::{self, Foreign};

/// Factory of observers for the machines of a run, by the machine's name.
pub(super) type Observers = dyn Fn(&RunId, &str) -> Observer + Send + Sync;

/// The location of the runs, the form of their ledger, and the observers of their transitions.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) folders: &'a Folders,
    /// The chaining of the ledger. With keys, the state of each run is tagged too.
    pub(super) chain: Chain<'a>,
    pub(super) observers: &'a Observers,
    pub(super) setting_aside: &'a SettingAside,
}

/// A locked run. Its lock is released when it is dropped.
pub(super) struct OpenRun<'a> {
    pub(super) place: Place<'a>,
    pub(super) id: RunId,
    pub(super) notes: Notes,
    pub(super) repairs: Repairs,
    /// Whether a ledger that must be read from its beginning is left for a later command. With it, an answer takes no
    /// longer with a long ledger.
    pub(super) leaves_the_ledger: bool,
    /// Whether the moved reports of its tools are lost.
    pub(super) are_lost: bool,
    foreign: Foreign,
    /// The approvals that changed since the last write, each with the previous folder of its record.
    changed: Vec<(Snapshot, Option<&'static str>)>,
    /// `None` once the lock was passed on.
    lock: Option<Lock>,
}

/// A newly locked run, with its file.
pub(super) struct Found<'a> {
    pub(super) open: OpenRun<'a>,
    /// `None` for a finished run of another program.
    pub(super) run: Option<AnyGovernedRun>,
    pub(super) document: Document,
}

/// A governed run in any state, typed or dynamic.
pub(super) trait Run: Persist<Record = RunRecord, Status = GovernedRunStatus> {}

impl<M: Persist<Record = RunRecord, Status = GovernedRunStatus>> Run for M {}

impl<'a> Place<'a> {
    /// Reserves the first free id from `id` on, by creating its folder. Two processes cannot create the same folder.
    ///
    /// The lock is held from then on. A folder with a free lock and no state belongs to a run that will never begin.
    pub(super) fn claim(self, mut id: RunId) -> Result<(RunId, Lock)> {
        self.make()?;
        // This check comes before the folder is created, so that a ledger under other keys leaves no folder behind.
        let ledger = self.folders.ledger();
        logs::can_follow(self.disk, &ledger, self.chain).map_err(GovernedError::io(&ledger))?;
        loop {
            let folder = self.folders.run(&id);
            match self.disk.create_folder(&folder) {
                Ok(()) => {
                    let runs = self.folders.runs();
                    self.disk.sync_folder(runs).map_err(GovernedError::io(runs))?;
                    match self.lock(&id) {
                        // Another process removed the empty folder.
                        Err(GovernedError::NoSuchRun { .. }) => {}
                        lock => return Ok((id, lock?)),
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => id = id.next_second()?,
                Err(error) => return Err(GovernedError::Io { path: folder, error }),
            }
        }
    }

    /// Creates the missing folders that all runs share.
    pub(super) fn make(self) -> Result<()> {
        let made = self.folders.make(self.disk, self.setting_aside);
        made.map_err(|(path, error)| GovernedError::Io { path, error })
    }

    /// Begins a new run under a reserved id.
    pub(super) fn begin(self, id: RunId, lock: Lock) -> OpenRun<'a> {
        // The id is new, so the ledger has no line of this run.
        let notes = Notes { ledger: Some(Mark::default()), ..Notes::default() };
        OpenRun::new(self, id, notes, Foreign::default(), Some(lock))
    }

    pub(super) fn lock(self, id: &RunId) -> Result<Lock> {
        let path = self.folders.lock(id);
        // A child process of a killed process may hold the lock for a moment.
        match Lock::wait(self.disk, &path, self.setting_aside, lock::SHORT) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(self.no_such(id)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(GovernedError::Busy { run: id.clone(), by: lock::holder(&path) })
            }
            lock => lock.map_err(GovernedError::io(&path)),
        }
    }

    fn no_such(self, id: &RunId) -> GovernedError {
        GovernedError::NoSuchRun { run: id.clone(), runs: self.folders.runs().to_path_buf() }
    }

    /// Reads RUN_STATE.json. The lock is not needed, because the file is replaced as a whole. With `now`, a time in the
    /// future is a fault.
    pub(super) fn read(self, id: &RunId, now: Option<u64>) -> Result<Document> {
        let path = self.folders.state(id);
        let bytes = match self.disk.read(&path, MOST_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.no_such(id));
            }
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Err(GovernedError::damaged(&path, error.to_string()));
            }
            read => read.map_err(GovernedError::io(&path))?,
        };
        let document = Document::read(&bytes)
            .and_then(|document| document.untagged(self.chain.keys()))
            .map_err(|fault| GovernedError::damaged(&path, fault))?;
        if document.run_id != *id {
            let fault = format!("run_id is {}, its folder is that of {id}", document.run_id);
            return Err(GovernedError::damaged(&path, fault));
        }
        let mut faults = faults(&document, now);
        if faults.is_empty() {
            faults.extend(typed::fault(&document));
        }
        if faults.is_empty() { Ok(document) } else { Err(GovernedError::Damaged { path, faults }) }
    }

    pub(super) fn open(self, id: &RunId, reviewers: &Reviewers, now: Option<u64>) -> Result<Found<'a>> {
        // The state is read first, so that no lock file is created for a missing run.
        self.read(id, now)?;
        self.found(id, reviewers, now, Some(self.lock(id)?))
    }

    /// Reads a run whose lock is held.
    fn found(
        self,
        id: &RunId,
        reviewers: &Reviewers,
        now: Option<u64>,
        lock: Option<Lock>,
    ) -> Result<Found<'a>> {
        let mut document = self.read(id, now)?;
        let read = typed::read(&document, reviewers)
            .map_err(|fault| GovernedError::damaged(&self.folders.state(id), fault))?;
        let (mut run, mut notes, foreign) = (read.run, read.notes, read.foreign);
        let (reports, mut are_lost) = (self.folders.reports(id), false);
        if let Some(moved) = notes.tools_moved.clone() {
            let read = notes.tools.read_moved(self.disk, &reports, &moved, document.created_at);
            are_lost = !read.map_err(GovernedError::io(&reports))?;
            notes.tools_moved = Some(moved).filter(|_| !are_lost);
            if let Some(ours) = &mut document.runstate {
                ours.notes = notes.clone();
            }
        }
        if let Some(run) = &mut run {
            run.observe((self.observers)(id, id.as_str()));
        }
        let mut open = OpenRun::new(self, id.clone(), notes, foreign, lock);
        open.are_lost = are_lost;
        Ok(Found { open, run, document })
    }
}

impl<'a> OpenRun<'a> {
    fn new(place: Place<'a>, id: RunId, notes: Notes, foreign: Foreign, lock: Option<Lock>) -> Self {
        let (repairs, changed) = (Repairs::default(), Vec::new());
        OpenRun {
            place,
            id,
            notes,
            repairs,
            leaves_the_ledger: false,
            are_lost: false,
            foreign,
            changed,
            lock,
        }
    }

    /// Discards all unwritten changes. Returns the last written run; `None` for a finished run of another program.
    pub(super) fn read_again(&mut self, reviewers: &Reviewers, now: u64) -> Result<Option<AnyGovernedRun>> {
        let Found { open, run, .. } = self.place.found(&self.id, reviewers, Some(now), self.lock.take())?;
        let (repairs, leaves_the_ledger) = (std::mem::take(&mut self.repairs), self.leaves_the_ledger);
        *self = OpenRun { repairs, leaves_the_ledger, ..open };
        Ok(run)
    }
}

impl OpenRun<'_> {
    /// The view of the run for the parts.
    pub(super) fn view<'v>(&'v self, planned: &'v [String], completed: usize) -> RunView<'v> {
        let baseline = self.notes.plan.as_ref().and_then(|plan| plan.baseline.as_deref());
        RunView { run_id: &self.id, planned, completed, reports: &self.notes.tools, baseline }
    }

    pub(super) fn observer(&self, instance: &str) -> Observer {
        (self.place.observers)(&self.id, instance)
    }

    /// The approval of that id, with its observer.
    pub(super) fn approval(&self, id: &ApprovalId) -> Option<AnyApproval> {
        let mut approval = self.notes.approval(id)?;
        approval.observe(self.observer(id.as_str()));
        Some(approval)
    }

    /// Records an approval. The next transition writes its record.
    pub(super) fn keep<S>(&mut self, approval: &Approval<S>) -> Result<()>
    where
        S: State<Record = ApprovalRecord, Status = ApprovalStatus> + serde::Serialize,
    {
        let snapshot = Snapshot::of(approval).map_err(|error| self.inconsistent(error.to_string()))?;
        let was = self.notes.approval(approval.record().id()).map(|before| folder_of(before.status()));
        self.notes.keep(snapshot.clone());
        self.changed.push((snapshot, was));
        Ok(())
    }

    /// Writes changes within a state, without a transition. They do change `updated_at`.
    pub(super) fn progressed(&mut self, run: &impl Run) -> Result<()> {
        self.write(run).map(drop)
    }

    /// Writes a transition: the changed approval, the state, the log, the ledger, in this order.
    pub(super) fn moved(&mut self, run: &impl Run) -> Result<()> {
        let Place { disk, folders, .. } = self.place;
        // The called tool may have replaced the folder by something else.
        if folders.lacks_command_center(disk) {
            self.place.make()?;
        }
        // The line of this transition follows the current content of the ledger. So later lines of other processes
        // are never searched for it.
        let mark = logs::mark(self.place, self.notes.ledger.as_ref());
        self.notes.ledger = mark.map_err(GovernedError::io(&folders.ledger()))?;
        let all = self.write(run)?;
        if !all.is_empty() {
            let log = folders.log(&self.id);
            let set_aside = logs::log(disk, &log, &self.id, &all).map_err(GovernedError::io(&log))?;
            self.kept(&log, set_aside);
            self.repairs.ledger_lines += self.ledger(&all, true)?.saturating_sub(1);
        }
        if run.status().is_terminal() {
            self.report(&self.document(run)?)?;
        }
        Ok(())
    }

    fn document(&self, run: &impl Run) -> Result<Document<GovernedRunStatus, &Notes>> {
        typed::document(run, &self.notes, &self.foreign).map_err(|why| self.inconsistent(why))
    }

    /// Writes the changed records of approvals, and the state. Returns all transitions in the state.
    fn write(&mut self, run: &impl Run) -> Result<Vec<Transition>> {
        let Place { disk, folders, .. } = self.place;
        let (reports, Notes { tools, tools_moved, .. }) = (folders.reports(&self.id), &mut self.notes);
        tools.make_room(disk, &reports, tools_moved).map_err(GovernedError::io(&reports))?;
        let document = self.document(run)?;
        let path = folders.state(&self.id);
        let text = match self.place.chain.keys() {
            Some(keys) => document.clone().tagged(keys).text(),
            None => document.text(),
        };
        // A larger file could not be read again. The reserve is for a rollback and for the end of the run.
        let is_ending = run.status().is_terminal() || self.notes.standing.is_rolling_back();
        let most = if is_ending { MOST_BYTES } else { MOST_BYTES - RESERVE };
        if text.len() as u64 > most {
            let why = format!("it would have {} bytes, and the limit is {most}", text.len());
            return Err(GovernedError::Io { path, error: io::Error::new(io::ErrorKind::FileTooLarge, why) });
        }
        for (snapshot, was) in &self.changed {
            self.write_record(snapshot, *was)?;
        }
        self.put(&path, &text)?;
        let all = transitions(&document);
        self.changed.clear();
        Ok(all)
    }

    /// Writes the record of an approval to its current folder.
    pub(super) fn write_record(&self, snapshot: &Snapshot, was: Option<&'static str>) -> Result<()> {
        let Some(approval) = super::notes::restored(snapshot) else {
            return Err(self.inconsistent("an approval that was kept cannot be read".to_owned()));
        };
        let (id, folder) = (approval.record().id(), folder_of(approval.status()));
        let path = self.place.folders.record(folder, id);
        let text = super::notes::record_text(snapshot);
        self.put(&path, text.as_bytes())?;
        match was {
            Some(was) if was != folder => self.remove_record(was, id).map(drop),
            _ => Ok(()),
        }
    }

    /// Writes a file as a whole. A folder or a pipe with its name, or with the name of its temporary file, is set
    /// aside. The same applies to an obstacle in place of the parent folder.
    pub(super) fn put(&self, path: &Path, text: &[u8]) -> Result<()> {
        let disk = self.place.disk;
        let put = || replace(disk, path, text).map_err(GovernedError::io(path));
        match put() {
            Err(GovernedError::Io { error, .. }) => match error.kind() {
                io::ErrorKind::IsADirectory => {}
                io::ErrorKind::NotADirectory | io::ErrorKind::NotFound => {
                    self.place.make()?;
                    return put();
                }
                _ => return Err(GovernedError::Io { path: path.to_path_buf(), error }),
            },
            put => return put,
        }
        for path in [path, &path.with_added_extension("new")] {
            let found = disk.open(path, Open::Read);
            if found.is_err_and(|error| error.kind() == io::ErrorKind::IsADirectory) {
                let kept = aside::keep(disk, path).map_err(GovernedError::io(path))?;
                (self.place.setting_aside)(path, &kept, AsideReason::NoFile);
            }
        }
        put()
    }

    pub(super) fn inconsistent(&self, what: String) -> GovernedError {
        GovernedError::Inconsistent { run: self.id.clone(), what }
    }
}
