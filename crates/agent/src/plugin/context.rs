//! The context of a plugin call.

use runstate::termination::FinalReason;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::super::history::History;
use super::super::keys::{Key, KeyError, Patches, StateView};
use super::phase::Phase;

/// The context of a plugin call.
#[derive(Debug)]
pub struct PhaseContext<'a> {
    pub(crate) phase: Phase,
    pub(crate) run: &'a str,
    pub(crate) thread: &'a str,
    pub(crate) activation: u32,
    pub(crate) step: u32,
    pub(crate) now_ms: u64,
    pub(crate) history: &'a History,
    pub(crate) view: StateView,
    pub(crate) patches: Patches,
    pub(crate) stop: Option<FinalReason>,
    pub(crate) cancelled: &'a CancellationToken,
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

    /// The number of the activation in the run, from 1.
    pub fn activation(&self) -> u32 {
        self.activation
    }

    /// The step, from 1; 0 before the first. In [`Phase::StepStart`] and [`Phase::BeforeInference`], it is the step
    /// that begins.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// The time, in milliseconds on the agent's clock.
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// The messages so far.
    pub fn history(&self) -> &History {
        self.history
    }

    /// A token that is cancelled with the run.
    pub fn cancelled(&self) -> &CancellationToken {
        self.cancelled
    }

    /// Ends the run for this reason before its next step. The first reason counts. In [`Phase::RunEnd`] it has no
    /// effect.
    pub fn end_run(&mut self, reason: FinalReason) {
        self.stop.get_or_insert(reason);
    }

    /// Ends the run as `BehaviorRequested` without another request to the model. Before the inference of a step, that
    /// step is skipped; later, the next one.
    pub fn skip_inference(&mut self) {
        self.end_run(FinalReason::BEHAVIOR_REQUESTED);
    }

    /// Returns the value of the key.
    ///
    /// # Errors
    /// [`KeyError`] when the value is not a `T`.
    pub fn get<T: DeserializeOwned>(&self, key: &Key<T>) -> Result<Option<T>, KeyError> {
        self.patches.get(key, &self.view)
    }

    /// Sets the value of the key. The next plugin sees it.
    ///
    /// # Errors
    /// [`KeyError`] when the value has no JSON form or nests deeper than 96 levels.
    pub fn set<T: Serialize + DeserializeOwned>(&mut self, key: &Key<T>, value: &T) -> Result<(), KeyError> {
        self.patches.set(key, value)
    }

    /// Removes the value of the key.
    pub fn remove<T>(&mut self, key: &Key<T>) {
        self.patches.remove(key);
    }
}
