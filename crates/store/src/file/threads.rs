//! Files of threads. A thread has one if it has more than one run, or a name of its own. The file lists the ids of
//! its runs.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::PathBuf;

use runstate::run::RunStatus;
use runstate_runtime::files::replace;
use serde::{Deserialize, Serialize};

use super::super::NewRun;
use super::super::error::StoreError;
use super::super::thread::{Superseded, ThreadPlace, UserMessage};
use super::Inner;
use super::layout::MOST_READ;
use super::problem::{damaged, failed, fits, too_large};
use super::state::State;
use super::work::Wanted;

/// The runs of a thread. An id is written before its run is created. An id without a run is skipped.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThreadFile {
    thread: String,
    runs: Vec<String>,
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
        let read: ThreadFile = runstate::json::from_slice(&json).map_err(|error| damaged(&path, error))?;
        if read.thread != thread {
            return Err(damaged(&path, format_args!("it is that of the thread {:?}", read.thread)));
        }
        Ok(Some(read))
    }

    /// Returns the state of a run if the run is on the thread.
    fn on_thread(&self, thread: &str, run: &str) -> Result<Option<State>, StoreError> {
        let is_on_it = |state: &State| match &state.thread {
            Some(place) => place.thread == thread,
            None => run == thread,
        };
        Ok(self.state(run)?.filter(is_on_it))
    }

    /// Returns the next run if its state names this one as the previous run. An id without a run belongs to an
    /// interrupted creation.
    pub(super) fn behind(&self, state: &State) -> Result<Option<State>, StoreError> {
        let Some(next) = &state.next else { return Ok(None) };
        let is_behind =
            |next: &State| next.thread.as_ref().is_some_and(|place| place.after.as_ref() == Some(&state.id));
        Ok(self.state(next)?.filter(is_behind))
    }

    /// Returns the last run of a thread. The file names a run to start from, and each run names the next one. So an
    /// old copy of the file, or a missing file, creates no second end.
    pub(super) fn last_of_thread(&self, thread: &str) -> Result<Option<State>, StoreError> {
        let mut last = None;
        for run in self.read_thread(thread)?.into_iter().flat_map(|file| file.runs).rev() {
            last = self.on_thread(thread, &run)?;
            if last.is_some() {
                break;
            }
        }
        if last.is_none() {
            last = self.on_thread(thread, thread)?;
        }
        let mut seen = HashSet::new();
        while let Some(state) = &last {
            if !seen.insert(state.id.clone()) {
                return Err(damaged(&self.layout.run(&state.id).state(), "the runs before it form a cycle"));
            }
            match self.behind(state)? {
                Some(next) => last = Some(next),
                None => break,
            }
        }
        Ok(last)
    }

    /// Returns whether a run with another id began the thread with this id.
    pub(super) fn is_begun(&self, thread: &str) -> Result<bool, StoreError> {
        Ok(self.read_thread(thread)?.is_some() && self.last_of_thread(thread)?.is_some())
    }

    /// Returns the locks for the creation of a run: that of the thread, and that of the previous run, which must not
    /// be removed meanwhile. Without a previous run, a run with the thread's own id would be that one.
    pub(super) fn locks_of_thread(&self, new: &NewRun) -> Result<Vec<PathBuf>, StoreError> {
        let Some(ThreadPlace { thread, after }) = &new.thread else { return Ok(Vec::new()) };
        self.layout.make_threads(&*self.disk)?;
        let before = after.as_ref().unwrap_or(thread);
        Ok(vec![self.layout.lock_of_thread(thread), self.layout.run(before).lock])
    }

    /// Writes a new run into the file of its thread.
    pub(super) fn enter_thread(&self, new: &NewRun) -> Result<(), StoreError> {
        let Some(ThreadPlace { thread, after }) = &new.thread else { return Ok(()) };
        let last = self.last_of_thread(thread)?;
        match (&last, after) {
            (None, None) => {}
            (None, Some(after)) => return Err(StoreError::NoRun { run: after.clone() }),
            (Some(last), Some(after)) if last.id == *after && last.status == RunStatus::Done => {}
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
        let file = ThreadFile { thread: thread.clone(), runs };
        let mut json = serde_json::to_vec_pretty(&file).map_err(StoreError::failed)?;
        json.push(b'\n');
        fits(&path, json.len() as u64, MOST_READ)?;
        replace(&*self.disk, &path, &json).map_err(failed(&path))?;
        // The lock of `last` is held. Until the new run exists, no run follows `last`.
        if let Some(mut last) = last {
            last.next = Some(new.id.clone());
            last.write(&*self.disk, &self.layout.run(&last.id), MOST_READ)?;
        }
        Ok(())
    }

    /// Stores a message for a waiting run.
    pub(super) fn supersede(
        &self,
        run: &str,
        message: &UserMessage,
        wanted: &Wanted,
    ) -> Result<Superseded, StoreError> {
        if !State::is_there(&*self.disk, &self.layout.run(run))? {
            return Err(StoreError::NoRun { run: run.to_owned() });
        }
        // The id of a run is already used, and the lock of that run may be held by a process that waits for the lock
        // of this one.
        if self.is_given(&message.id)? {
            return Ok(Superseded::Duplicate);
        }
        let place = self.layout.run(&message.id);
        let _id = self.lock(&place.lock, wanted)?;
        if self.is_given(&message.id)? {
            return Ok(Superseded::Duplicate);
        }
        self.with(run, wanted, |run| {
            let state = &mut run.state;
            let superseded = match state.status {
                RunStatus::Done => Superseded::Over,
                RunStatus::Running => Superseded::Busy,
                RunStatus::Waiting if state.has_mail() || state.cancel.is_some() => Superseded::Busy,
                RunStatus::Waiting => Superseded::Accepted,
            };
            if superseded != Superseded::Accepted {
                run.sync()?;
                return Ok(superseded);
            }
            // Before the state: the note is not valid without it.
            place.note(run.disk, &state.id)?;
            state.heard.push(message.id.clone());
            state.message = Some(message.clone());
            run.save()?;
            Ok(Superseded::Accepted)
        })
    }
}
