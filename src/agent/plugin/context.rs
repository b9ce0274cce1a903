//! What a plugin is asked with.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::super::history::History;
use super::super::keys::{Key, KeyError, Patches, StateView};
use super::phase::Phase;
use crate::termination::FinalReason;

/// What a plugin is asked with.
#[derive(Debug)]
pub struct PhaseContext<'a> {
    pub(in crate::agent) phase: Phase,
    pub(in crate::agent) run: &'a str,
    pub(in crate::agent) thread: &'a str,
    pub(in crate::agent) activation: u32,
    pub(in crate::agent) step: u32,
    pub(in crate::agent) now_ms: u64,
    pub(in crate::agent) history: &'a History,
    pub(in crate::agent) view: StateView,
    pub(in crate::agent) patches: Patches,
    pub(in crate::agent) stop: Option<FinalReason>,
    pub(in crate::agent) cancelled: &'a CancellationToken,
}

impl PhaseContext<'_> {
    /// The phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The run's id.
    pub fn run(&self) -> &str {
        self.run
    }

    /// The thread's id.
    pub fn thread(&self) -> &str {
        self.thread
    }

    /// Which activation of the run this is, from 1.
    pub fn activation(&self) -> u32 {
        self.activation
    }

    /// The step, from 1; 0 before the first. In [`Phase::StepStart`] and [`Phase::BeforeInference`] it is the one that begins.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// Milliseconds on the agent's clock.
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// What was said so far.
    pub fn history(&self) -> &History {
        self.history
    }

    /// Cancelled with the run.
    pub fn cancelled(&self) -> &CancellationToken {
        self.cancelled
    }

    /// Ends the run for this reason before its next step; the first to ask is heard. In [`Phase::RunEnd`] it is too late.
    pub fn end_run(&mut self, reason: FinalReason) {
        self.stop.get_or_insert(reason);
    }

    /// Asks no model, and ends the run as `BehaviorRequested`. Before the inference of this step it does; later, the next.
    pub fn skip_inference(&mut self) {
        self.end_run(FinalReason::BEHAVIOR_REQUESTED);
    }

    /// What is kept under the key.
    ///
    /// # Errors
    /// [`KeyError`] when the value under the key is no `T`.
    pub fn get<T: DeserializeOwned>(&self, key: &Key<T>) -> Result<Option<T>, KeyError> {
        self.patches.get(key, &self.view)
    }

    /// Keeps a value under the key; the next plugin sees it.
    ///
    /// # Errors
    /// [`KeyError`] when the value has no form in JSON or nests deeper than 96 levels.
    pub fn set<T: Serialize + DeserializeOwned>(&mut self, key: &Key<T>, value: &T) -> Result<(), KeyError> {
        self.patches.set(key, value)
    }

    /// Keeps nothing under the key any more.
    pub fn remove<T>(&mut self, key: &Key<T>) {
        self.patches.remove(key);
    }
}
