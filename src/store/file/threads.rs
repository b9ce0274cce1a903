//! Threads: a file of each one that has more than one run, or a name of its own, with the ids of its runs.

use std::io::ErrorKind;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::super::NewRun;
use super::super::error::StoreError;
use super::super::thread::{Superseded, ThreadPlace, UserMessage};
use super::Inner;
use super::layout::MOST_READ;
use super::lock::Lock;
use super::problem::{damaged, failed, fits, too_large};
use super::state::State;
use super::work::Wanted;
use crate::files::replace;
use crate::run::RunStatus;

/// The runs of a thread. An id is written before its run is made: one that has no run is passed over.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThreadFile {
    thread: String,
    runs: Vec<String>,
}

/// What is held while a run comes to its place on a thread.
pub(super) struct Held {
    _thread: Lock,
    _anchor: Option<Lock>,
}

impl Inner {
    fn thread_file(&self, thread: &str) -> PathBuf {
        self.layout.thread(thread)
    }

    fn read_thread(&self, thread: &str) -> Result<Option<ThreadFile>, StoreError> {
        let path = self.thread_file(thread);
        let json = match self.disk.read(&path, MOST_READ) {
            Ok(json) => json,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == ErrorKind::FileTooLarge => return Err(too_large(&path, error)),
            Err(error) => return Err(failed(&path)(error)),
        };
        let read: ThreadFile = crate::json::from_slice(&json).map_err(|error| damaged(&path, error))?;
        if read.thread != thread {
            return Err(damaged(&path, format_args!("it is that of the thread {:?}", read.thread)));
        }
        Ok(Some(read))
    }

    /// The state of a run, where that is on the thread.
    fn on_thread(&self, thread: &str, run: &str) -> Result<Option<State>, StoreError> {
        let is_on_it = |state: &State| match &state.thread {
            Some(place) => place.thread == thread,
            None => run == thread,
        };
        Ok(self.state(run)?.filter(is_on_it))
    }

    pub(super) fn last_of_thread(&self, thread: &str) -> Result<Option<State>, StoreError> {
        for run in self.read_thread(thread)?.into_iter().flat_map(|file| file.runs).rev() {
            if let Some(state) = self.on_thread(thread, &run)? {
                return Ok(Some(state));
            }
        }
        self.on_thread(thread, thread)
    }

    /// Was the thread that has this id begun by a run of another id?
    pub(super) fn is_begun(&self, thread: &str) -> Result<bool, StoreError> {
        Ok(self.read_thread(thread)?.is_some() && self.last_of_thread(thread)?.is_some())
    }

    /// Writes a new run into the file of its thread, under the locks of the thread and of the run before it. They are held until the run
    /// is made, so that the run before it is not removed meanwhile.
    pub(super) fn enter_thread(&self, new: &NewRun, wanted: &Wanted) -> Result<Option<Held>, StoreError> {
        let Some(ThreadPlace { thread, after }) = &new.thread else { return Ok(None) };
        let held = self.lock_thread(thread, after.as_deref(), &new.id, wanted)?;
        let last = self.last_of_thread(thread)?;
        match (&last, after) {
            (None, None) => {}
            (None, Some(after)) => return Err(StoreError::NoRun { run: after.clone() }),
            (Some(last), Some(after)) if last.id == *after && last.status == RunStatus::Done => {}
            // This creation, which is given again.
            (Some(last), _) if last.id == new.id => return Ok(Some(held)),
            (Some(last), _) => {
                let (thread, run) = (thread.clone(), last.id.clone());
                return Err(StoreError::Busy { thread, run, status: last.status });
            }
        }
        let mut runs = self.read_thread(thread)?.map_or_else(Vec::new, |file| file.runs);
        while let Some(run) = runs.last() {
            if self.on_thread(thread, run)?.is_some() {
                break;
            }
            runs.pop();
        }
        if let (true, Some(after)) = (runs.is_empty(), after) {
            runs.push(after.clone());
        }
        runs.push(new.id.clone());
        let path = self.thread_file(thread);
        let mut json = serde_json::to_vec_pretty(&ThreadFile { thread: thread.clone(), runs })
            .map_err(StoreError::failed)?;
        json.push(b'\n');
        fits(&path, json.len() as u64, MOST_READ)?;
        replace(&*self.disk, &path, &json).map_err(failed(&path))?;
        Ok(Some(held))
    }

    /// The locks are taken in this order everywhere: thread, run before, new run.
    fn lock_thread(
        &self,
        thread: &str,
        after: Option<&str>,
        new: &str,
        wanted: &Wanted,
    ) -> Result<Held, StoreError> {
        self.layout.make_threads(&*self.disk)?;
        let held = self.lock(&self.layout.lock_of_thread(thread), wanted)?;
        // Without a run before it, a run of the thread's own id would be that.
        let anchor = Some(after.unwrap_or(thread)).filter(|anchor| *anchor != new);
        let anchor = anchor.map(|anchor| self.lock(&self.layout.run(anchor).lock, wanted)).transpose()?;
        Ok(Held { _thread: held, _anchor: anchor })
    }

    /// The run behind that one, whose lock is held.
    pub(super) fn behind(&self, state: &State) -> Result<Option<String>, StoreError> {
        let thread = state.thread.as_ref().map_or(&state.id, |place| &place.thread);
        let Some(file) = self.read_thread(thread)? else { return Ok(None) };
        let behind = file.runs.iter().skip_while(|run| **run != state.id).skip(1);
        for run in behind {
            if self.on_thread(thread, run)?.is_some() {
                return Ok(Some(run.clone()));
            }
        }
        Ok(None)
    }

    /// Gives a waiting run a message.
    pub(super) fn supersede(
        &self,
        run: &str,
        message: &UserMessage,
        wanted: &Wanted,
    ) -> Result<Superseded, StoreError> {
        if !State::is_there(&*self.disk, &self.layout.run(run))? {
            return Err(StoreError::NoRun { run: run.to_owned() });
        }
        if message.id == run {
            return Ok(Superseded::Duplicate);
        }
        let place = self.layout.run(&message.id);
        let _id = self.lock(&place.lock, wanted)?;
        if self.is_given(&message.id)? {
            return Ok(Superseded::Duplicate);
        }
        let superseded = self.with(run, wanted, |run| {
            let state = &mut run.state;
            let is_it = state.message.as_ref().is_some_and(|known| known.id == message.id);
            let superseded = match state.status {
                // A process that was killed before its id was noted.
                _ if is_it => Superseded::Duplicate,
                RunStatus::Done => Superseded::Over,
                RunStatus::Running => Superseded::Busy,
                RunStatus::Waiting if state.has_mail() || state.cancel.is_some() => Superseded::Busy,
                RunStatus::Waiting => {
                    state.message = Some(message.clone());
                    run.save()?;
                    return Ok(Superseded::Accepted);
                }
            };
            run.sync()?;
            Ok(superseded)
        })?;
        if matches!(superseded, Superseded::Accepted | Superseded::Duplicate) {
            place.mark(&*self.disk)?;
        }
        Ok(superseded)
    }
}
