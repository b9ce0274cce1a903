//! The loop: consecutive activations of a run, until it is over or waits.

mod activation;
mod doubt;
mod execution;
mod exit;
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

pub use io::{Input, RunHandles};
use jobs::Jobs;
pub use outcome::{ActivationError, Outcome, Unfinished};
use runstate::checkpoint::{Due, Trigger};
use runstate::run::RunStatus;
use runstate::run_flow::FlowId;
use runstate::termination::{FinalReason, TerminationReason};
pub use stream::{RunStream, run_loop_stream};
use tokio::sync::mpsc;

use super::answer::Usage;
use super::commit::CommitError;
use super::config::{Agent, Config};
use super::event::{EventSink, Redactor};
use super::modes::{Durability, ExecutionMode, WhenSuspended};
use super::state::RunState;
use super::tool::Progress;

/// Capacity of the channel for progress reports of tools. A tool waits while it is full.
const PROGRESS: usize = 64;

/// Drives a run until it is over, or until it waits if the agent or [its `RunHandles`](RunHandles::parking) parks.
///
/// Decisions are processed at the gates; in [`ExecutionMode::Concurrent`], also while calls execute. With
/// [`run_loop_stream`] they are also processed while the model answers.
///
/// # Errors
/// [`ActivationError::NotStartable`] when the run's status does not allow this input, [`ActivationError::Lost`] when
/// a panic lost a state machine of the run, and [`ActivationError::Unfinished`] when the end could not be committed.
/// All other failures end the run with [`TerminationReason::Error`].
///
/// # Cancel safety
/// The future may be dropped at any await, and no committed state is lost. The run is then an interrupted run, in
/// memory and in the store. [`Input::Resume`] continues it; the calls that were executing are in doubt.
pub async fn run_loop(
    agent: &Agent,
    state: &mut RunState,
    input: Input,
    io: RunHandles<'_>,
) -> Result<Outcome, ActivationError> {
    let events = io.events;
    Drive::new(agent, state, io, events, false).run(input).await
}

/// Cancels a waiting run, and its waiting calls, in one commit. The run goes from `Waiting` to `Done`.
///
/// A run in `Running` is cancelled with the token of its [`RunHandles`].
///
/// ```
/// use runstate_agent::answer::{FinishReason, ModelEvent};
/// use runstate_agent::{
///     Agent, GateCall, InferenceRequest, Input, RunHandles, Model, ModelStream, PhaseContext, Plugin, PluginError, RunState, Tool,
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
/// assert_eq!(run_loop(&agent, &mut state, Input::message("pay"), RunHandles::new()).await?.waiting, ["a"]);
/// assert_eq!(cancel_run(&agent, &mut state, RunHandles::new()).await?.reason, TerminationReason::Cancelled);
///
/// // The run is over, so `cancel_run` refuses.
/// let refused = cancel_run(&agent, &mut state, RunHandles::new()).await.unwrap_err();
/// assert!(refused.to_string().starts_with("the run is Done: it is over; start a new run"), "{refused}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// [`ActivationError::NotCommitted`] when the commit failed. A second call repeats the commit.
/// [`ActivationError::NotStartable`] for a run that does not wait.
///
/// # Cancel safety
/// If the future is dropped, the function can be called again.
pub async fn cancel_run(
    agent: &Agent,
    state: &mut RunState,
    io: RunHandles<'_>,
) -> Result<Outcome, ActivationError> {
    state.lost().map_or(Ok(()), |lost| Err(ActivationError::Lost(lost)))?;
    let events = io.events;
    let mut drive = Drive::new(agent, state, io, events, false);
    let ended = drive.cancel_waiting().await;
    drive.settle_inbox();
    ended
}

/// One loop over one run. Only the loop changes the state of its run.
struct Drive<'d, 'io> {
    config: &'d Config,
    state: &'d mut RunState,
    io: RunHandles<'io>,
    events: Option<&'d dyn EventSink>,
    /// Whether the committer stores events.
    keeps_events: bool,
    /// The reader of the events, if the loop is a stream.
    reader: Option<&'d stream::UnreadEvents>,
    /// Whether decisions are processed while the model answers and tools execute.
    live: bool,
    redactor: Redactor,
    jobs: Jobs,
    /// The calls that were in doubt when this activation began.
    in_doubt: Vec<usize>,
    /// The flow of the activation. Executions belong to it.
    flow: Option<FlowId>,
    progress: mpsc::Sender<Progress>,
    progressed: mpsc::Receiver<Progress>,
    /// The calls that changed since the last commit. The next commit publishes their questions.
    unpublished: Vec<usize>,
    /// Whether one of these calls asks a question.
    asks: bool,
    /// The decision that the activation begins with, until its replay.
    first: Option<intake::Taken>,
    /// Whether the list of questions is published to holders of a handle.
    is_open: bool,
    /// The duration of the last commit, in milliseconds; zero if no event is made.
    commit_ms: u64,
    /// The tokens used by this activation.
    used: Usage,
    /// The termination reason requested by a plugin, a gate or a stop condition. Once it is set, no decision is
    /// accepted.
    stop: Option<FinalReason>,
    /// The errors that occurred too late to end the run.
    problems: Vec<String>,
}

/// The reason why an activation stopped early.
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
        io: RunHandles<'io>,
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
            commit_ms: 0,
            used: Usage::default(),
            problems: Vec::new(),
        }
    }

    async fn run(mut self, input: Input) -> Result<Outcome, ActivationError> {
        self.state.lost().map_or(Ok(()), |lost| Err(ActivationError::Lost(lost)))?;
        // The first commit publishes the uncommitted changes of an interrupted activation.
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

    /// Begins the first activation, according to the input and the status of the run.
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
        // An activation was interrupted in its last commit. That commit comes first, because the sinks have not
        // received its events.
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

    /// Returns whether several calls may be replayed concurrently.
    fn is_concurrent(&self) -> bool {
        self.config.mode == ExecutionMode::Concurrent
    }

    /// Are decisions taken in while calls execute?
    fn takes_in_rounds(&self) -> bool {
        self.live || self.is_concurrent()
    }

    /// Commits. Executions continue meanwhile.
    ///
    /// # Errors
    /// Fails if the committer fails, or if the writes of the calls conflict.
    async fn commit(&mut self, due: Due) -> Result<runstate::checkpoint::Receipt, Halt> {
        self.apply_patches()?;
        self.write(due, None).await.map_err(Halt::failed)
    }

    /// Commits without patches. A failure does not end the run, because the run has ended. `end` is part of the last
    /// commit, which emits it.
    ///
    /// # Errors
    /// Fails if the committer fails.
    async fn write(
        &mut self,
        due: Due,
        end: Option<(&TerminationReason, Usage)>,
    ) -> Result<runstate::checkpoint::Receipt, CommitError> {
        // The commit of the call results, or of the end, includes this one.
        let is_deferred = self.config.durability == Durability::Step
            && due.trigger() == Trigger::AssistantTurnCommitted
            && self.io.committer.is_some();
        if is_deferred {
            return Ok(runstate::checkpoint::without_committer(due));
        }
        let events = self.events_of_commit(due.trigger(), end);
        let following = self.count_of_commit(end.is_some());
        let began_ms = if events.is_empty() { 0 } else { self.config.clock.now_ms() };
        let receipt = match &mut self.io.committer {
            None => runstate::checkpoint::without_committer(due),
            Some(committer) => {
                // A process that continues from the store must not use these event numbers again.
                self.state.following = following;
                if self.keeps_events {
                    self.state.pending_events.offer(events.clone());
                }
                let delta = super::commit::Delta::of(self.state);
                let write = runstate::checkpoint::commit_async(due, committer.commit(due, &delta));
                let written = self.jobs.beside(write).await;
                self.state.following = 0;
                written.inspect_err(|_| self.state.pending_events.refused())?
            }
        };
        if !events.is_empty() {
            self.commit_ms = self.config.clock.now_ms().saturating_sub(began_ms);
        }
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
