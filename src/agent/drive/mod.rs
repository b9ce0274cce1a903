//! The loop: activations of a run, one after the other, until it is over or waits.

mod activation;
mod doubt;
mod execution;
mod gating;
mod inference;
mod intake;
mod io;
mod jobs;
mod outcome;
mod patches;
mod phases;
mod replay;
mod round;
mod stream;
mod tell;
mod waiting;

use std::fmt;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::commit::CommitError;
use super::config::{Agent, Config, ExecutionMode, WhenSuspended};
use super::decide::Envelope;
use super::event::{EventKind, EventSink, Redactor};
use super::state::RunState;
use super::tool::{Progress, ToolSpec};
use crate::checkpoint::{Due, Trigger};
use crate::run::RunStatus;
use crate::termination::{FinalReason, TerminationReason};
use jobs::Jobs;

pub use io::{Input, Io};
pub use outcome::{ActivationError, Outcome, Unfinished};
pub use stream::{RunStream, run_loop_stream};

/// Words of a tool on how far it is that may be on their way before it has to wait.
const PROGRESS: usize = 64;

/// Drives a run until it is over or, where the agent parks, until it waits (document 000, `run_loop`).
///
/// Decisions are taken in at the gates; in [`ExecutionMode::Concurrent`] also while calls execute. For decisions while the
/// model speaks see [`run_loop_stream`].
///
/// # Errors
/// [`ActivationError::NotStartable`] when the run is not one for this input, and [`ActivationError::Unfinished`] when its
/// end could not be committed. All other failures end the run, with [`TerminationReason::Error`].
///
/// # Cancel safety
/// Dropped at any await it loses nothing that was committed. The state is then that of an interrupted run, in memory and in
/// the store, and [`Input::Resume`] goes on from there: what was executing is in doubt.
pub async fn run_loop(
    agent: &Agent,
    state: &mut RunState,
    input: Input,
    io: Io<'_>,
) -> Result<Outcome, ActivationError> {
    let events = io.events;
    Drive::new(agent, state, io, events, false).run(input).await
}

/// Cancels a run that waits, and the calls that it waits for, in one commit (document 003: `Waiting` to `Done`).
///
/// A run that is executing is cancelled by the token of its [`Io`].
///
/// # Errors
/// [`ActivationError::NotCommitted`] when the commit failed: called again, this commits again.
/// [`ActivationError::NotStartable`] for a run that does not wait.
///
/// # Cancel safety
/// Dropped, it can be called again.
pub async fn cancel_run(agent: &Agent, state: &mut RunState, io: Io<'_>) -> Result<Outcome, ActivationError> {
    let events = io.events;
    Drive::new(agent, state, io, events, false).cancel_waiting().await
}

/// One loop over one run. It is the only one that changes the run's state.
struct Drive<'d, 'io> {
    config: &'d Config,
    state: &'d mut RunState,
    io: Io<'io>,
    events: Option<&'d dyn EventSink>,
    /// Who reads them, where they are those of a stream.
    reader: Option<&'d stream::Told>,
    /// Are decisions taken in while the model speaks and tools execute?
    live: bool,
    redactor: Redactor,
    jobs: Jobs,
    progress: mpsc::Sender<Progress>,
    progressed: mpsc::Receiver<Progress>,
    /// Decisions on calls that have not asked yet.
    held: Vec<Envelope>,
    /// What a plugin, a gate or a condition wants the run to end with.
    stop: Option<FinalReason>,
    /// The tools that the current step offers, where a plugin chose.
    offered: Option<Arc<[Arc<ToolSpec>]>>,
    /// Did the calls that wait change since they were last published?
    pending_changed: bool,
    /// What went wrong where it could not end the run any more.
    problems: Vec<String>,
}

/// Why an activation does not go on.
#[derive(Debug)]
enum Halt {
    /// The run was cancelled.
    Cancelled,
    /// The runtime failed.
    Failed(String),
}

impl Halt {
    fn failed(error: impl fmt::Display) -> Self {
        Halt::Failed(error.to_string())
    }
}

impl<'d, 'io> Drive<'d, 'io> {
    fn new(
        agent: &'d Agent,
        state: &'d mut RunState,
        io: Io<'io>,
        events: Option<&'d dyn EventSink>,
        live: bool,
    ) -> Self {
        let (progress, progressed) = mpsc::channel(PROGRESS);
        let config = &*agent.config;
        Drive {
            config,
            state,
            io,
            events,
            reader: None,
            live,
            redactor: config
                .redact
                .as_ref()
                .map_or_else(Redactor::show_all, |redact| Redactor::new(Arc::clone(redact))),
            jobs: Jobs::default(),
            progress,
            progressed,
            held: Vec::new(),
            stop: None,
            offered: None,
            pending_changed: true,
            problems: Vec::new(),
        }
    }

    async fn run(mut self, input: Input) -> Result<Outcome, ActivationError> {
        let mut outcome = self.first(input).await?;
        while self.config.when_suspended == WhenSuspended::WaitInPlace
            && outcome.reason == TerminationReason::Suspended
            && self.can_wait()
        {
            outcome = self.wait_and_go_on().await?;
        }
        if let Some(inbox) = &mut self.io.inbox {
            inbox.refuse_message();
        }
        Ok(outcome)
    }

    /// What the input means for the run as it is.
    async fn first(&mut self, input: Input) -> Result<Outcome, ActivationError> {
        let status = self.state.run.get().status();
        let refused = |hint| Err(ActivationError::NotStartable { status, hint });
        match (status, input) {
            (RunStatus::Running, Input::Message(text)) if self.state.flows == 0 => {
                self.state.begin(self.config.clock.now_ms(), text);
                self.activate(None).await
            }
            (RunStatus::Running, Input::Message(_)) => {
                refused("it was interrupted; resume it before you write to it")
            }
            (RunStatus::Running, Input::Resume) if self.state.flows == 0 => {
                refused("it has not begun; start it with a message")
            }
            (RunStatus::Running, Input::Resume) => self.activate(None).await,
            (RunStatus::Waiting, _) if self.io.cancelled.is_cancelled() => self.cancel_waiting().await,
            (RunStatus::Waiting, Input::Message(text)) => self.supersede(text).await,
            (RunStatus::Waiting, Input::Resume) => match self.next_accepted() {
                Some(accepted) => self.resume(accepted).await,
                None => {
                    self.keep_held();
                    self.publish();
                    Ok(Outcome::waiting(self.state.waiting()))
                }
            },
            (RunStatus::Done, Input::Resume) if self.state.interrupted => self.commit_end().await,
            (RunStatus::Done, _) => {
                refused("it is over; start a new run, on its thread if it is to go on from there")
            }
        }
    }

    fn is_cancelled(&self) -> bool {
        self.io.cancelled.is_cancelled()
    }

    /// Are several calls replayed at once?
    fn is_concurrent(&self) -> bool {
        self.config.mode == ExecutionMode::Concurrent
    }

    /// Are decisions taken in while calls execute?
    fn takes_in_rounds(&self) -> bool {
        self.live || self.is_concurrent()
    }

    /// Makes the commit that is due. What executes goes on meanwhile.
    ///
    /// # Errors
    /// When the committer failed, or what the calls wrote contradicts itself.
    async fn commit(&mut self, due: Due) -> Result<crate::checkpoint::Receipt, Halt> {
        self.apply_patches()?;
        self.write(due).await.map_err(Halt::failed)
    }

    /// The same where nothing is left to apply, and a failure does not end the run: it has ended.
    ///
    /// # Errors
    /// When the committer failed.
    async fn write(&mut self, due: Due) -> Result<crate::checkpoint::Receipt, CommitError> {
        let receipt = match &mut self.io.committer {
            None => crate::checkpoint::without_committer(due),
            Some(committer) => {
                // The commit itself is told, and the end of the activation: who goes on from the store gives neither
                // number again.
                let told = if due.trigger() == Trigger::RunFinished { 2 } else { 1 };
                self.state.following = if self.events.is_some() { told } else { 0 };
                let delta = super::commit::Delta::of(self.state);
                let write = crate::checkpoint::commit_async(due, committer.commit(due, &delta));
                let written = self.jobs.beside(write).await;
                self.state.following = 0;
                written?
            }
        };
        self.state.committed();
        if self.io.committer.is_some() {
            let commit = self.state.commits;
            self.tell(|_| EventKind::Checkpoint { trigger: due.trigger(), commit });
        }
        Ok(receipt)
    }
}
