//! What is done with runs in the folder of a store.

use std::sync::PoisonError;

use super::super::NewRun;
use super::super::error::StoreError;
use super::super::lease::{Claim, Lease};
use super::commits::OpenRun;
use super::layout::Place;
use super::problem::failed;
use super::state::State;
use super::work::Wanted;
use super::{Inner, REPAIRS};
use crate::files::{Open, replace};

impl Inner {
    /// The state of a run, as it is at the moment.
    pub(super) fn state(&self, run: &str) -> Result<Option<State>, StoreError> {
        let place = self.layout.run(run);
        let state = State::read(&*self.disk, &place)?;
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
        let no_run = || StoreError::NoRun { run: run.to_owned() };
        // Locks are not made for what nobody has.
        self.state(run)?.ok_or_else(no_run)?;
        let place = self.layout.run(run);
        let _lock = place.lock(&*self.disk)?;
        wanted.check()?;
        let state = self.state(run)?.ok_or_else(no_run)?;
        work(&mut OpenRun { disk: &*self.disk, place, state })
    }

    pub(super) fn create(&self, new: &NewRun, wanted: &Wanted) -> Result<(), StoreError> {
        let taken = || StoreError::Taken { run: new.id.clone() };
        let place = self.layout.run(&new.id);
        let _lock = place.lock(&*self.disk)?;
        wanted.check()?;
        if self.state(&new.id)?.is_some() {
            return Err(taken());
        }
        place.make(&*self.disk)?;
        for log in LOGS {
            // What a run of that id left that was removed, or never was, is none of this one.
            let path = place.log(log);
            self.disk.open(&path, Open::Write).map(drop).map_err(failed(&path))?;
        }
        let (path, mut spec) =
            (place.spec(), serde_json::to_vec_pretty(&new.spec).map_err(StoreError::failed)?);
        spec.push(b'\n');
        replace(&*self.disk, &path, &spec).map_err(failed(&path))?;
        State::created(new, self.first_fence()?).write(&*self.disk, &place)
    }

    pub(super) fn claim_any(&self, claim: &Claim, wanted: &Wanted) -> Result<Option<Lease>, StoreError> {
        let mut refused = Ok(None);
        for run in self.ready(claim.now_ms)? {
            // Somebody may have taken it meanwhile.
            let claimed = self.with(&run, wanted, |run| {
                if !run.state.can_go_on(claim.now_ms) {
                    return Ok(None);
                }
                let lease = run.state.lease(claim);
                run.save()?;
                Ok(Some(lease))
            });
            match claimed {
                // Damaged meanwhile: lists tell.
                Ok(None) | Err(StoreError::NoRun { .. } | StoreError::Unusable { .. }) => {}
                // It may be about this run alone, and the others go on; if there is none, it is told.
                Err(StoreError::Failed(error)) if refused.is_ok() => refused = Err(StoreError::Failed(error)),
                Err(StoreError::Failed(_)) => {}
                claimed => return claimed,
            }
        }
        refused
    }

    /// First the state, with which the run is gone; what is left then is nobody's.
    pub(super) fn remove(&self, place: &Place) -> Result<(), StoreError> {
        let path = place.state();
        self.disk.remove(&path).map_err(failed(&path))?;
        self.disk.sync_folder(&place.folder).map_err(failed(&place.folder))?;
        for name in self.disk.list(&place.folder).unwrap_or_default() {
            self.disk.remove(&place.folder.join(name)).ok();
        }
        self.disk.remove_folder(&place.folder).ok();
        Ok(())
    }

    pub(super) fn repaired(&self, cut: Vec<String>) {
        let mut repairs = self.repairs.lock().unwrap_or_else(PoisonError::into_inner);
        let room = REPAIRS.saturating_sub(repairs.len());
        repairs.extend(cut.into_iter().take(room));
    }
}

/// The logs of a run.
pub(super) const LOGS: [&str; 4] = ["messages", "calls", "decisions", "trace"];
