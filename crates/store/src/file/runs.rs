//! Operations on runs in the folder of a store.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::PoisonError;

use runstate_runtime::files::{Open, replace};

use super::super::NewRun;
use super::super::error::StoreError;
use super::super::lease::{Claim, Lease};
use super::commits::OpenRun;
use super::layout::{MOST_BYTES, Noted, Place};
use super::lock::{Lock, Pauses, try_lock};
use super::problem::{failed, fits, unsynced, without_state};
use super::state::State;
use super::work::Wanted;
use super::{Inner, REPAIRS};

/// How often a changing run is read without its lock.
const LOOKS: usize = 3;

impl Inner {
    /// Reads the current state of a run.
    pub(super) fn state(&self, run: &str) -> Result<Option<State>, StoreError> {
        let place = self.layout.run(run);
        let state = State::read(&*self.disk, &place, self.clock.boot())?;
        if let Some(state) = &state {
            state.is_of(run, &place.state())?;
        }
        Ok(state)
    }

    pub(super) fn with<T>(
        &self,
        run: &str,
        wanted: &Wanted,
        work: impl FnOnce(&mut OpenRun<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let place = self.layout.run(run);
        // No lock file is created for a run that does not exist.
        if !State::is_there(&*self.disk, &place)? {
            return Err(no_run(run));
        }
        let lock = self.lock(&place.lock, wanted)?;
        self.under(&lock, run, wanted, work)
    }

    /// Runs an operation on a run under its lock.
    fn under<T>(
        &self,
        _: &Lock,
        run: &str,
        wanted: &Wanted,
        work: impl FnOnce(&mut OpenRun<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        wanted.check()?;
        // After the lock: another machine may have registered meanwhile and use the run.
        self.enter(wanted)?;
        let state = self.state(run)?.ok_or_else(|| no_run(run))?;
        let mut run = self.open(run, state);
        let done = work(&mut run);
        // The cut bytes are gone even if the operation failed.
        self.repaired(run.cut);
        done
    }

    fn open(&self, run: &str, state: State) -> OpenRun<'_> {
        OpenRun { disk: &*self.disk, place: self.layout.run(run), state, now: self.now(), cut: Vec::new() }
    }

    /// Reads a run without its lock. This is possible because a state is replaced as a whole, and the valid part of
    /// its logs does not change. If the state differs after the read, the run is read again.
    pub(super) fn read<T>(
        &self,
        run: &str,
        wanted: &Wanted,
        work: impl Fn(&OpenRun<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let place = self.layout.run(run);
        let json = || State::json(&*self.disk, &place);
        let mut before = json()?;
        for _ in 0..LOOKS {
            let state = State::of(before.as_deref().ok_or_else(|| no_run(run))?, &place, self.clock.boot())?;
            state.is_of(run, &place.state())?;
            let read = work(&self.open(run, state));
            let now = json()?;
            if now == before {
                return read;
            }
            before = now;
        }
        self.with(run, wanted, |run| work(run))
    }

    pub(super) fn is_given(&self, run: &str) -> Result<bool, StoreError> {
        let place = self.layout.run(run);
        // The order matters: a removal between the two checks writes its mark before the state goes.
        Ok(State::is_there(&*self.disk, &place)? || self.is_noted(run)?)
    }

    /// Returns whether the id belongs to a removed run or to a message.
    fn is_noted(&self, id: &str) -> Result<bool, StoreError> {
        let run = match self.layout.run(id).noted(&*self.disk)? {
            Noted::Nothing => return Ok(false),
            Noted::Removed => return Ok(true),
            Noted::MessageOf(run) => run,
        };
        match self.state(&run)? {
            Some(state)
                if state.begins_with.as_deref() == Some(id)
                    || state.heard.iter().any(|heard| heard == id) =>
            {
                // The process that delivered the message may have got an error of the sync. Its repetition ends here
                // and needs a durable state.
                let folder = self.layout.run(&run).folder;
                match self.disk.sync_folder(&folder) {
                    Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => Ok(true),
                    synced => synced.map(|()| true).map_err(unsynced(&folder)),
                }
            }
            Some(_) => Ok(false),
            None => Ok(matches!(self.layout.run(&run).noted(&*self.disk)?, Noted::Removed)),
        }
    }

    pub(super) fn create(&self, new: &NewRun, wanted: &Wanted) -> Result<(), StoreError> {
        let taken = || StoreError::Taken { run: new.id.clone() };
        let place = self.layout.run(&new.id);
        let message = new.begins_with.as_ref().filter(|message| **message != new.id);
        // The lock order everywhere: message, thread, previous run, run.
        let mut paths: Vec<PathBuf> = message.map(|id| self.layout.run(id).lock).into_iter().collect();
        paths.extend(self.locks_of_thread(new)?);
        paths.push(place.lock.clone());
        let mut seen = HashSet::new();
        paths.retain(|path| seen.insert(path.clone()));
        let _locks = paths.iter().map(|path| self.lock(path, wanted)).collect::<Result<Vec<_>, _>>()?;
        wanted.check()?;
        self.enter(wanted)?;
        if self.state(&new.id)?.is_some() {
            // A creator that repeats a failed sync may take this error as proof of a durable run.
            self.disk.sync_folder(&place.folder).map_err(unsynced(&place.folder))?;
            return Err(taken());
        }
        // An older version of this program left a removed state without a note of its id.
        if self.is_noted(&new.id)? || self.is_removed(&place) {
            return Err(taken());
        }
        if let Some(id) = message
            && self.is_given(id)?
        {
            return Err(StoreError::Taken { run: id.clone() });
        }
        if new.thread.is_none() && self.is_begun(&new.id)? {
            return Err(taken());
        }
        self.enter_thread(new)?;
        if let Some(id) = message {
            self.layout.run(id).note(&*self.disk, &new.id)?;
        }
        if self.has_rows(&place)? {
            // The rows belong to a run that can be restored, not to an interrupted creation.
            return Err(without_state(&place).into());
        }
        place.make(&*self.disk)?;
        for log in LOGS {
            // Truncates the file: its bytes belong to an interrupted creation.
            let path = place.log(log);
            self.disk.open(&path, Open::Write).map(drop).map_err(failed(&path))?;
        }
        let (path, mut spec) =
            (place.spec(), serde_json::to_vec_pretty(&new.spec).map_err(StoreError::failed)?);
        spec.push(b'\n');
        fits(&path, spec.len() as u64, MOST_BYTES)?;
        replace(&*self.disk, &path, &spec).map_err(failed(&path))?;
        State::created(new, &*self.clock).write(&*self.disk, &place, MOST_BYTES)
    }

    /// Claims any run. A locked run is skipped, and tried again once no other run can be claimed.
    pub(super) fn claim_any(&self, claim: &Claim, wanted: &Wanted) -> Result<Option<Lease>, StoreError> {
        let mut pauses = Pauses::of(wanted.patience());
        let (mut refused, mut failed) = (Vec::new(), None);
        self.enter(wanted)?;
        let mut ready = self.ready()?;
        while !ready.is_empty() {
            let mut locked = Vec::new();
            for run in ready {
                match self.try_claim(&run, claim, wanted) {
                    Ok(Tried::Claimed(lease)) => {
                        self.note_refused(refused);
                        return Ok(Some(lease));
                    }
                    Ok(Tried::Locked) => locked.push(run),
                    // Corrupt since the list was made: lists report it.
                    Ok(Tried::Gone) | Err(StoreError::NoRun { .. } | StoreError::Unusable { .. }) => {}
                    Err(error) => match error.into_run_scoped() {
                        Ok(damage) => refused.push(damage),
                        // The error may concern this run alone, so the others are tried. Without a claim it is
                        // returned.
                        Err(error @ StoreError::Failed(_)) => drop(failed.get_or_insert(error)),
                        Err(error) => return Err(error),
                    },
                }
            }
            locked.retain(|run| !self.is_kept(&self.layout.run(run).lock));
            wanted.check()?;
            if !locked.is_empty() && !pauses.pause() {
                locked.drain(..).for_each(|run| self.note_kept(&self.layout.run(&run).lock));
            }
            ready = locked;
        }
        self.note_refused(refused);
        failed.map_or(Ok(None), Err)
    }

    fn try_claim(&self, run: &str, claim: &Claim, wanted: &Wanted) -> Result<Tried, StoreError> {
        let place = self.layout.run(run);
        let Some(lock) = try_lock(&*self.disk, &place.lock)? else { return Ok(Tried::Locked) };
        self.note_free(&place.lock);
        self.under(&lock, run, wanted, |run| {
            // Another process may have claimed the run meanwhile.
            if !run.state.can_go_on(run.now) {
                return Ok(Tried::Gone);
            }
            let lease = run.state.lease(claim, run.now);
            run.save()?;
            Ok(Tried::Claimed(lease))
        })
    }

    /// Removes a run. First its id is marked as used. Then the state is renamed, and with that the run is gone. The
    /// other files are deleted now, or when lists are made.
    pub(super) fn remove(&self, place: &Place) -> Result<(), StoreError> {
        place.mark(&*self.disk)?;
        let path = place.state();
        self.disk.rename(&path, &place.removed()).map_err(failed(&path))?;
        self.disk.sync_folder(&place.folder).map_err(unsynced(&place.folder))?;
        self.take_away(place).ok();
        Ok(())
    }

    /// Returns whether the run in that place was removed and still has files.
    pub(super) fn is_removed(&self, place: &Place) -> bool {
        self.disk.open(&place.removed(), Open::Read).is_ok()
    }

    /// Deletes the remaining files of a removed run.
    pub(super) fn clear(&self, place: &Place) -> io::Result<()> {
        // The remover may have been killed before the rename was durable.
        self.disk.sync_folder(&place.folder)?;
        self.take_away(place)
    }

    /// Deletes the files of a run whose removal is durable. The renamed state is the last to go.
    fn take_away(&self, place: &Place) -> io::Result<()> {
        let removed = place.removed();
        let paths = self.disk.list(&place.folder)?.into_iter().map(|name| place.folder.join(name));
        let others: Vec<_> = paths.filter(|path| *path != removed).collect();
        let gone: Vec<io::Result<()>> = others.iter().map(|path| self.disk.remove(path)).collect();
        gone.into_iter().collect::<io::Result<()>>()?;
        self.disk.sync_folder(&place.folder)?;
        self.disk.remove(&removed)?;
        self.disk.remove_folder(&place.folder).ok();
        Ok(())
    }

    pub(super) fn repaired(&self, cut: Vec<String>) {
        let mut repairs = self.repairs.lock().unwrap_or_else(PoisonError::into_inner);
        let room = REPAIRS.saturating_sub(repairs.len());
        repairs.extend(cut.into_iter().take(room));
    }
}

fn no_run(run: &str) -> StoreError {
    StoreError::NoRun { run: run.to_owned() }
}

/// The result of an attempt to claim a run.
enum Tried {
    Claimed(Lease),
    /// Another process has the lock of the run.
    Locked,
    /// The run cannot continue any more.
    Gone,
}

/// The logs of a run.
pub(super) const LOGS: [&str; 5] = ["messages", "calls", "decisions", "trace", "events"];
