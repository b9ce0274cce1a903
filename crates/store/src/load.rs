//! A run that is loaded from a store.

use runstate::decision::Decision;
use runstate::snapshot::Migration;
use runstate_agent::for_stores::RunParts;
use runstate_agent::keys::Scope;
use runstate_agent::{ObserverFactory, RunState, StateError, StoredRun, Thread};
use serde_json::Value;

use super::error::StoreError;
use super::keyed::{key_of, key_of_text, wants_key};
use super::query::RunInfo;
use super::thread::ThreadPlace;

/// The complete data of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Loaded {
    /// The entry of the run in lists.
    pub info: RunInfo,
    /// The specification with which the run was created.
    pub spec: Value,
    /// The position on a thread; none for a run with a thread of its own.
    pub thread: Option<ThreadPlace>,
    /// The stored state; none before the first commit.
    pub stored: Option<StoredRun>,
    /// The previous run of the thread, with all messages of the thread until its end. None for the first run of a
    /// thread, and if all previous runs ended before their first commit.
    pub before: Option<StoredRun>,
    /// The number of messages that are stored with this run. Earlier messages of its thread are not included.
    pub messages: u64,
    /// The number of the last trace event; 0 without any.
    pub traced: u64,
}

/// The rows of a run, as commits wrote them.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// The entry of the run in lists.
    pub info: RunInfo,
    /// The specification with which the run was created.
    pub spec: Value,
    /// The position on a thread; none for a run with a thread of its own.
    pub thread: Option<ThreadPlace>,
    /// The number of the last trace event; 0 without any.
    pub traced: u64,
    /// [`RunRow::snapshot`](super::RunRow) and [`RunRow::core`](super::RunRow) of the last commit; none before it.
    pub run: Option<(String, String)>,
    /// Name, number of executions and snapshot of each call, in any order.
    pub calls: Vec<(String, u32, String)>,
    /// The decisions that the run took, in any order.
    pub decisions: Vec<Decision>,
    /// The messages, by number.
    pub messages: Vec<String>,
    /// The current values, in any order.
    pub values: Vec<(Scope, String, String)>,
}

impl Parts {
    /// Checks that the rows have no tags. A run under a key is read through [`Keyed`](super::Keyed).
    ///
    /// # Errors
    /// [`StoreError::Unusable`], with the name of the key.
    pub fn untagged(&self) -> Result<(), StoreError> {
        let of_run = || self.run.as_ref().and_then(|(run, _)| key_of_text(run));
        match key_of(&self.spec).map(str::to_owned).or_else(of_run) {
            Some(key) => Err(wants_key(&self.info.id, &key)),
            None => Ok(()),
        }
    }
}

impl Loaded {
    /// Assembles the first run of a thread from its rows. [`runstate_store::load`](super::load) reads a run together with the
    /// previous ones.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] with the name of an unreadable part. Also for a run with a previous run, and for a
    /// run under a key: its store is read through [`Keyed`](super::Keyed).
    pub fn from_parts(parts: Parts) -> Result<Loaded, StoreError> {
        if let Some(after) = parts.thread.as_ref().and_then(|place| place.after.as_ref()) {
            return Err(StoreError::unusable(
                format_args!(
                    "the run {:?} follows the run {after:?}, whose messages are needed",
                    parts.info.id
                ),
                "read it with `runstate_store::load`",
            ));
        }
        Loaded::on_thread(parts, Vec::new())
    }

    /// Assembles a run and the previous runs of its thread, the last one first.
    pub(super) fn on_thread(parts: Parts, earlier: Vec<Parts>) -> Result<Loaded, StoreError> {
        let own = parts.messages.len() as u64;
        let mut runs: Vec<Parts> = earlier.into_iter().rev().filter(|run| run.run.is_some()).collect();
        let mut messages: Vec<Vec<String>> =
            runs.iter_mut().map(|run| std::mem::take(&mut run.messages)).collect();
        let stored = stored(&parts, &messages, &parts.messages)?;
        let last = runs.pop().zip(messages.pop());
        let before = last.map(|(run, own)| self::stored(&run, &messages, &own)).transpose()?.flatten();
        let base = before.as_ref().map_or(0, StoredRun::count_of_messages);
        if let Some(stored) =
            stored.as_ref().filter(|stored| before.is_some() && stored.earlier_messages() != base)
        {
            let (id, got) = (&parts.info.id, stored.earlier_messages());
            return Err(StoreError::unusable(
                format_args!(
                    "the run {id:?} began with {got} messages of its thread, and the runs before it have {base}"
                ),
                "restore the store from a backup",
            ));
        }
        let Parts { info, spec, thread, traced, .. } = parts;
        Ok(Loaded { info, spec, thread, stored, before, messages: own, traced })
    }
}

impl Loaded {
    /// Creates the state from which the run continues: that of its last commit, or a new one after the messages and
    /// values of its thread. The migrations convert runs and calls of older versions.
    ///
    /// # Errors
    /// The errors of [`StoredRun::restore_with`].
    pub fn begin(
        &self,
        of_run: &[Migration],
        of_calls: &[Migration],
        watch: &dyn ObserverFactory,
    ) -> Result<RunState, StateError> {
        if let Some(stored) = &self.stored {
            let mut state = stored.restore_with(of_run, of_calls)?;
            state.watch(watch);
            return Ok(state);
        }
        let id = &*self.info.id;
        let name = || self.thread.as_ref().map_or(id, |place| &place.thread);
        let thread = match &self.before {
            None => Thread::new(name()),
            Some(before) => before.restore_with(of_run, of_calls)?.into_thread().map_err(|state| {
                StateError::Inconsistency {
                    path: "__run".to_owned(),
                    what: format!("the run {:?} before it on its thread is not over", state.id()),
                }
            })?,
        };
        Ok(RunState::on_thread_watched(id, thread, watch))
    }
}

/// Assembles the stored state with the messages of the previous runs and its own; none before the first commit.
fn stored(
    parts: &Parts,
    earlier: &[Vec<String>],
    messages: &[String],
) -> Result<Option<StoredRun>, StoreError> {
    parts.untagged()?;
    let stored = parts.run.as_ref().map(|(run, core)| {
        StoredRun::from_parts(RunParts {
            version: parts.info.version,
            core,
            run,
            calls: &parts.calls,
            decisions: &parts.decisions,
            earlier,
            messages,
            values: &parts.values,
        })
    });
    stored.transpose().map_err(|error| {
        StoreError::unusable(
            format_args!("the run {:?} cannot be read: {error}", parts.info.id),
            "restore the store from a backup",
        )
    })
}
