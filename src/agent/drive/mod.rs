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

use super::answer::Usage;
use super::commit::CommitError;
use super::config::{Agent, Config};
use super::event::{EventSink, Redactor};
use super::modes::{Durability, ExecutionMode, WhenSuspended};
use super::state::RunState;
use super::tool::Progress;
use crate::checkpoint::{Due, Trigger};
use crate::run::RunStatus;
use crate::run_flow::FlowId;
use crate::termination::{FinalReason, TerminationReason};
use jobs::Jobs;

pub use io::{Input, Io};
pub use outcome::{ActivationError, Outcome, Unfinished};
pub use stream::{RunStream, run_loop_stream};

/// Words of a tool on how far it is that may be on their way before it has to wait.
const PROGRESS: usize = 64;

/// Drives a run until it is over or, where the agent or [its `Io`](Io::parking) parks, until it waits (document 000, `run_loop`).
///
/// Decisions are taken in at the gates; in [`ExecutionMode::Concurrent`] also while calls execute. For decisions while the
/// model speaks see [`run_loop_stream`].
///
/// # Errors
/// [`ActivationError::NotStartable`] when the run is not one for this input, [`ActivationError::Lost`] when a panic lost a machine of
/// it, and [`ActivationError::Unfinished`] when its end could not be committed. All other failures end the run, with [`TerminationReason::Error`].
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
/// ```
/// use runstate::agent::answer::{FinishReason, ModelEvent};
/// use runstate::agent::{
///     Agent, GateCall, InferenceRequest, Input, Io, Model, ModelStream, PhaseContext, Plugin, PluginError, RunState, Tool,
///     ToolContext, ToolSpec, Verdict, async_trait, cancel_run, run_loop,
/// };
/// use runstate::decision::Suspension;
/// use runstate::termination::TerminationReason;
/// use runstate::tool_result::ToolResult;
///
/// struct Calls;
///
/// impl Model for Calls {
///     fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
///         let call = ModelEvent::CallStart { index: 0, id: "a".into(), tool: "pay".into() };
///         Box::pin(futures_util::stream::iter([call, ModelEvent::Finish(FinishReason::ToolCalls)]))
///     }
/// }
///
/// struct Pay(ToolSpec);
///
/// #[async_trait]
/// impl Tool for Pay {
///     fn spec(&self) -> &ToolSpec {
///         &self.0
///     }
///     async fn call(&self, _: &mut ToolContext) -> ToolResult {
///         ToolResult::Success("paid".into())
///     }
/// }
///
/// struct AskFirst;
///
/// #[async_trait]
/// impl Plugin for AskFirst {
///     fn name(&self) -> &str {
///         "ask first"
///     }
///     async fn before_tool_execute(&self, _: &mut PhaseContext<'_>, _: &GateCall<'_>) -> Result<Verdict, PluginError> {
///         Ok(Verdict::Suspend(Suspension::ask("approve", "pay?")))
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let pay = Pay(ToolSpec::new("pay", "Pays."));
/// let agent = Agent::builder(Calls).tool(pay).plugin(AskFirst).build()?;
/// let mut state = RunState::new("r1");
/// assert_eq!(run_loop(&agent, &mut state, Input::message("pay"), Io::new()).await?.waiting, ["a"]);
/// assert_eq!(cancel_run(&agent, &mut state, Io::new()).await?.reason, TerminationReason::Cancelled);
///
/// // It is over: there is nothing to cancel.
/// let refused = cancel_run(&agent, &mut state, Io::new()).await.unwrap_err();
/// assert!(refused.to_string().starts_with("the run is Done: it is over; start a new run"), "{refused}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// [`ActivationError::NotCommitted`] when the commit failed: called again, this commits again.
/// [`ActivationError::NotStartable`] for a run that does not wait.
///
/// # Cancel safety
/// Dropped, it can be called again.
pub async fn cancel_run(agent: &Agent, state: &mut RunState, io: Io<'_>) -> Result<Outcome, ActivationError> {
    state.lost().map_or(Ok(()), |lost| Err(ActivationError::Lost(lost)))?;
    let events = io.events;
    let mut drive = Drive::new(agent, state, io, events, false);
    let ended = drive.cancel_waiting().await;
    drive.settle_inbox();
    ended
}

/// One loop over one run. It is the only one that changes the run's state.
struct Drive<'d, 'io> {
    config: &'d Config,
    state: &'d mut RunState,
    io: Io<'io>,
    events: Option<&'d dyn EventSink>,
    /// Does the committer keep events?
    keeps_events: bool,
    /// Who reads them, where they are those of a stream.
    reader: Option<&'d stream::Told>,
    /// Are decisions taken in while the model speaks and tools execute?
    live: bool,
    redactor: Redactor,
    jobs: Jobs,
    /// Calls that were in doubt when this activation began.
    in_doubt: Vec<usize>,
    /// The flow of the activation, to which executions belong.
    flow: Option<FlowId>,
    progress: mpsc::Sender<Progress>,
    progressed: mpsc::Receiver<Progress>,
    /// Calls that moved since the last commit: what they ask is shown with the next.
    unpublished: Vec<usize>,
    /// Does one of them ask?
    asks: bool,
    /// The decision that an activation begins with, until it is replayed.
    first: Option<intake::Taken>,
    /// Do holders of a handle see the questions of this run?
    is_open: bool,
    /// Tokens that the activation used.
    used: Usage,
    /// What a plugin, a gate or a condition wants the run to end with. Once it is there no decision is taken any more.
    stop: Option<FinalReason>,
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
        let keeps_events = io.committer.as_ref().is_some_and(|committer| committer.keeps_events());
        let config = &*agent.config;
        Drive {
            config,
            state,
            io,
            events,
            keeps_events,
            reader: None,
            live,
            redactor: config
                .redact
                .as_ref()
                .map_or_else(Redactor::show_all, |redact| Redactor::new(Arc::clone(redact))),
            jobs: Jobs::default(),
            in_doubt: Vec::new(),
            flow: None,
            progress,
            progressed,
            unpublished: Vec::new(),
            asks: false,
            first: None,
            is_open: false,
            stop: None,
            used: Usage::default(),
            problems: Vec::new(),
        }
    }

    async fn run(mut self, input: Input) -> Result<Outcome, ActivationError> {
        self.state.lost().map_or(Ok(()), |lost| Err(ActivationError::Lost(lost)))?;
        // What an activation that was cut off has not committed is shown with its first commit.
        if !self.state.interrupted {
            self.open_inbox(false);
        }
        let ended = self.go(input).await;
        self.settle_inbox();
        ended
    }

    async fn go(&mut self, input: Input) -> Result<Outcome, ActivationError> {
        let mut outcome = self.first(input).await?;
        while self.config.when_suspended == WhenSuspended::WaitInPlace
            && !self.io.parks
            && outcome.reason == TerminationReason::Suspended
            && self.can_wait()
        {
            outcome = self.wait_and_go_on().await?;
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
                self.activate().await
            }
            (RunStatus::Running, Input::Message(_)) => {
                refused("it was interrupted; resume it before you write to it")
            }
            (RunStatus::Running, Input::Resume) if self.state.flows == 0 => {
                refused("it has not begun; start it with a message")
            }
            (RunStatus::Running, Input::Resume) => self.activate().await,
            (RunStatus::Waiting, input) => self.first_of_waiting(input).await,
            (RunStatus::Done, Input::Resume) if self.state.interrupted => self.commit_end().await,
            (RunStatus::Done, Input::Message(_)) if self.state.interrupted => refused(waiting::END_OWED),
            (RunStatus::Done, _) => refused(waiting::OVER),
        }
    }

    async fn first_of_waiting(&mut self, input: Input) -> Result<Outcome, ActivationError> {
        if self.is_cancelled() {
            return match input {
                Input::Message(text) => self.cancel_behind(Some(text)).await,
                Input::Resume => self.cancel_waiting().await,
            };
        }
        // An activation that was cut off in its last commit owes that first: who listens was not told that it waits.
        let told = if self.state.interrupted { Some(self.commit_end().await?) } else { None };
        match input {
            Input::Message(text) => self.supersede(text).await,
            Input::Resume => match self.next_accepted() {
                Some(accepted) => self.resume(accepted).await,
                None => Ok(told.unwrap_or_else(|| Outcome::waiting(self.state.waiting()))),
            },
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
        self.write(due, None).await.map_err(Halt::failed)
    }

    /// The same where nothing is left to apply, and a failure does not end the run: it has ended. The commit of an `end` tells it.
    ///
    /// # Errors
    /// When the committer failed.
    async fn write(
        &mut self,
        due: Due,
        end: Option<(&TerminationReason, Usage)>,
    ) -> Result<crate::checkpoint::Receipt, CommitError> {
        // The results of its calls are committed with it, or the end.
        let is_put_off = self.config.durability == Durability::Step
            && due.trigger() == Trigger::AssistantTurnCommitted
            && self.io.committer.is_some();
        if is_put_off {
            return Ok(crate::checkpoint::without_committer(due));
        }
        let events = self.events_of_commit(due.trigger(), end);
        let following = self.count_of_commit(end.is_some());
        let receipt = match &mut self.io.committer {
            None => crate::checkpoint::without_committer(due),
            Some(committer) => {
                // A process that goes on from the store gives none of these numbers again.
                self.state.following = following;
                if self.keeps_events {
                    self.state.pending_events.offer(events.clone());
                }
                let delta = super::commit::Delta::of(self.state);
                let write = crate::checkpoint::commit_async(due, committer.commit(due, &delta));
                let written = self.jobs.beside(write).await;
                self.state.following = 0;
                written.inspect_err(|_| self.state.pending_events.refused())?
            }
        };
        let decided = self.state.committed();
        self.publish_all(&decided);
        self.state.events += following;
        self.state.untold.clear();
        for event in &events {
            self.emit(event);
        }
        Ok(receipt)
    }
}
