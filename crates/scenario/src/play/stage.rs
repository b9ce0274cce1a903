//! A run that is driven in one process, with its external inputs.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use runstate::run::{AnyRun, RunStatus};
use runstate::termination::TerminationReason;
use runstate_agent::event::EventSink;
use runstate_agent::{
    ActivationError, Agent, CancellationToken, Inbox, Incoming, Input, ObserverFactory, Outcome, RunHandles,
    RunState, StateCommitter, Tool, inbox, run_loop, run_loop_stream,
};
use runstate_runtime::clock::Clock;
use tokio::time::sleep;

use super::board::{Board, Outside, Ready, ReplyObserver, Woken};
use super::committer::Staged;
use super::played::{Ended, PlayError, Sent};
use crate::Scenario;
use crate::file::Driver;
use crate::script::{self, Asks, Cast, Ledger, Requests};

/// The maximum of tries of a failed final commit.
const MOST_RETRIES: u32 = 100;

/// The settings of a stage.
pub struct Setting {
    /// The clock of the run: the clock of the stage's runtime, or of the machine in real time.
    pub clock: Arc<dyn Clock>,
    /// Tools beside the scripted ones.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The clock's time at which the scenario began: its own times count from there.
    pub began_ms: u64,
    /// The prepared answers, in place of the scenario's own decisions.
    pub answers: Option<Vec<Ready>>,
    /// A further receiver of events.
    pub events: Option<Arc<dyn EventSink>>,
    /// The receiver of replies to external inputs.
    pub replies: Option<ReplyObserver>,
    /// The maximum duration of the run, in milliseconds of its own time.
    pub limit_ms: u64,
    /// Does a store judge the decisions and the expiry of questions? Then no question expires by the clock of the run, and
    /// the stage is left before that clock passes the expiry of a question.
    pub judged_in_store: bool,
    /// Did the run begin in an earlier process? Steps before now do not happen again.
    pub is_resumed: bool,
}

impl Setting {
    /// A clock and defaults.
    pub fn new(clock: impl Clock + 'static) -> Self {
        Setting {
            clock: Arc::new(clock),
            tools: Vec::new(),
            began_ms: 0,
            answers: None,
            events: None,
            replies: None,
            limit_ms: u64::MAX,
            judged_in_store: false,
            is_resumed: false,
        }
    }
}

/// A run of a scenario that is driven in one process.
pub struct Stage<'s> {
    scenario: &'s Scenario,
    agent: Agent,
    board: Arc<Board>,
    inbox: Inbox,
    clock: Arc<dyn Clock>,
    limit_ms: u64,
    judged_in_store: bool,
    ended: Vec<Ended>,
}

/// A handle to a run on a stage, for inputs from elsewhere. Clones lead to one run.
#[derive(Clone)]
pub struct Line {
    board: Arc<Board>,
}

impl Line {
    /// Gives decisions that a store has accepted.
    pub fn post(&self, decisions: Vec<Incoming>) {
        self.board.post(decisions);
    }

    /// Cancels the run.
    pub fn cancel(&self) {
        self.board.cancel();
    }
}

/// The state of a run when a stage is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It is over.
    Over {
        /// The reason.
        reason: TerminationReason,
        /// Errors that could no longer change the end.
        problems: Vec<String>,
    },
    /// It waits, and no input can resume it.
    Waiting,
    /// The process must end.
    Crashed,
}

/// The first event while a loop was driven.
enum Came {
    Ended(Result<Outcome, ActivationError>),
    Dropped,
    Stuck,
}

/// The result of one loop.
enum Loop {
    Stop(Stop),
    Parked,
    Dropped,
    NotCommitted,
}

impl<'s> Stage<'s> {
    /// Makes a stage for a run of the scenario.
    ///
    /// # Errors
    /// [`PlayError::Config`], for a scenario that makes no valid agent.
    pub fn new(scenario: &'s Scenario, mut setting: Setting) -> Result<Self, PlayError> {
        let mut outside = Outside::of(scenario);
        if let Some(answers) = setting.answers.take() {
            outside = outside.answered_by(answers);
        }
        if setting.is_resumed {
            let gone_ms = setting.clock.now_ms().saturating_sub(setting.began_ms);
            outside = outside.going_on_at(gone_ms);
        }
        Self::going_on(scenario, setting, outside, (Ledger::default(), Requests::default(), Asks::default()))
    }

    /// Makes a stage that takes over from a crashed one.
    pub(super) fn going_on(
        scenario: &'s Scenario,
        setting: Setting,
        outside: Outside,
        (ledger, requests, asks): (Ledger, Requests, Asks),
    ) -> Result<Self, PlayError> {
        let Setting { clock, tools, began_ms, events, replies, limit_ms, judged_in_store, .. } = setting;
        let cast = Cast::new(Arc::clone(&clock), ledger, requests, asks.clone());
        let gone = cast.gone();
        let agent = script::cast_agent(scenario, &tools, cast).map_err(PlayError::Config)?;
        let (handle, inbox) = inbox();
        let time = (Arc::clone(&clock), began_ms);
        let board = Arc::new(Board::new(scenario, outside, handle, time, (asks, gone), events, replies));
        if judged_in_store {
            board.leave_expiry_to_store();
        }
        Ok(Stage { scenario, agent, board, inbox, clock, limit_ms, judged_in_store, ended: Vec::new() })
    }

    /// The token that cancels the run.
    pub fn token(&self) -> CancellationToken {
        self.board.token.clone()
    }

    /// The external inputs and their replies so far.
    pub fn sent(&self) -> Vec<Sent> {
        self.board.sent()
    }

    /// The unused answers so far.
    pub fn unused(&self) -> Vec<Ready> {
        self.board.unused()
    }

    /// Gives decisions to the run.
    pub fn send(&self, decisions: Vec<Incoming>) {
        self.board.send(decisions);
    }

    /// A handle to the run for inputs from elsewhere while the stage drives it.
    pub fn line(&self) -> Line {
        Line { board: Arc::clone(&self.board) }
    }

    pub(super) fn leave(self) -> (Outside, Vec<Ended>) {
        drop(self.agent);
        let outside = match Arc::try_unwrap(self.board) {
            Ok(board) => board.into_outside(),
            Err(board) => board.take_outside(),
        };
        (outside, self.ended)
    }

    /// Drives the run until it is over, or waits with no input possible.
    ///
    /// # Errors
    /// [`PlayError::Activation`] for a run that cannot begin, [`PlayError::Endless`] for a run that takes too long.
    ///
    /// # Cancel safety
    /// If dropped at any await, the run is left interrupted, as by `run_loop`.
    pub async fn drive(
        &mut self,
        state: &mut RunState,
        mut committer: Option<&mut dyn StateCommitter>,
        watch: &dyn ObserverFactory,
    ) -> Result<Stop, PlayError> {
        let is_new = state.run().status() == RunStatus::Running && state.history().is_empty();
        let mut input = if is_new { Input::message(&*self.scenario.message) } else { Input::Resume };
        self.board.take_over(state);
        match state.run() {
            AnyRun::Running(_) => {}
            AnyRun::Waiting(_) => self.board.look_at(state),
            // The process before this one ended after the run was done.
            AnyRun::Done(run) => {
                let (reason, problems) = (run.reason().clone(), Vec::new());
                let at_ms = self.clock.now_ms();
                self.ended.push(Ended::Returned {
                    at_ms,
                    reason: reason.clone(),
                    problems: problems.clone(),
                });
                return Ok(Stop::Over { reason, problems });
            }
        }
        let mut retries = 0;
        loop {
            let staged = committer
                .as_deref_mut()
                .map(|committer| Staged::new(&self.scenario.commits, Arc::clone(&self.board), committer));
            let came = self.once(state, input, staged, watch).await?;
            input = Input::Resume;
            match came {
                Loop::Stop(stop) => return Ok(stop),
                Loop::Dropped => self.ended.push(Ended::Dropped { at_ms: self.clock.now_ms() }),
                Loop::NotCommitted => {
                    retries += 1;
                    if retries > MOST_RETRIES {
                        return Err(PlayError::Endless { after_ms: self.clock.now_ms() });
                    }
                }
                Loop::Parked => match self.board.woken().await {
                    _ if self.board.is_crashed() => return Ok(self.crash()),
                    Some(Woken::Message(text)) => input = Input::message(text),
                    Some(Woken::Look) => {}
                    None => {
                        self.ended.push(Ended::Waiting { at_ms: self.clock.now_ms() });
                        return Ok(Stop::Waiting);
                    }
                },
            }
        }
    }

    fn crash(&mut self) -> Stop {
        self.ended.push(Ended::Crashed { at_ms: self.clock.now_ms() });
        Stop::Crashed
    }

    /// One loop, from its input to its end.
    async fn once(
        &mut self,
        state: &mut RunState,
        input: Input,
        mut staged: Option<Staged<'_>>,
        watch: &dyn ObserverFactory,
    ) -> Result<Loop, PlayError> {
        let (board, clock, agent) = (Arc::clone(&self.board), Arc::clone(&self.clock), &self.agent);
        let limit_ms = self.limit_ms;
        let left = Duration::from_millis(limit_ms.saturating_sub(clock.now_ms()));
        let ended = {
            let mut io = RunHandles::new()
                .inbox(&mut self.inbox)
                .events(&*board)
                .cancelled_by(board.token.clone())
                .watch(watch);
            if self.judged_in_store {
                io = io.judged_in_store();
            }
            if let Some(staged) = &mut staged {
                io = io.committer(staged);
            }
            let streams = self.scenario.driver == Driver::Stream;
            let driven = async {
                if !streams {
                    return run_loop(agent, state, input, io).await;
                }
                let mut stream = run_loop_stream(agent, state, input, io);
                while stream.next().await.is_some() {}
                stream.outcome().await
            };
            let mut driven = std::pin::pin!(driven);
            let mut limit = std::pin::pin!(sleep(left));
            board.loop_begins();
            loop {
                tokio::select! {
                    biased;
                    () = board.crashed() => break Came::Stuck,
                    () = board.dropped() => break Came::Dropped,
                    // The scheduled end of the loop precedes its own progress at that time.
                    () = board.cut() => {}
                    ended = &mut driven => break Came::Ended(ended),
                    () = board.turn() => {}
                    () = board.stuck() => break Came::Stuck,
                    () = &mut limit => return Err(PlayError::Endless { after_ms: limit_ms }),
                }
            }
        };
        board.hear_now();
        match ended {
            _ if board.is_crashed() => Ok(Loop::Stop(self.crash())),
            Came::Stuck => {
                self.ended.push(Ended::Waiting { at_ms: clock.now_ms() });
                Ok(Loop::Stop(Stop::Waiting))
            }
            Came::Dropped => Ok(Loop::Dropped),
            Came::Ended(ended) => self.ended(ended, state, staged, watch).await,
        }
    }

    async fn ended(
        &mut self,
        ended: Result<Outcome, ActivationError>,
        state: &mut RunState,
        mut staged: Option<Staged<'_>>,
        watch: &dyn ObserverFactory,
    ) -> Result<Loop, PlayError> {
        let mut ended = ended;
        let mut retries = 0;
        loop {
            let at_ms = self.clock.now_ms();
            match ended {
                Ok(outcome) => {
                    let (reason, problems) = (outcome.reason, outcome.problems);
                    self.ended.push(Ended::Returned {
                        at_ms,
                        reason: reason.clone(),
                        problems: problems.clone(),
                    });
                    return Ok(match reason {
                        TerminationReason::Suspended => Loop::Parked,
                        reason => Loop::Stop(Stop::Over { reason, problems }),
                    });
                }
                Err(ActivationError::Unfinished(unfinished)) => {
                    self.ended.push(Ended::Unfinished { at_ms, error: unfinished.error().to_string() });
                    retries += 1;
                    let Some(staged) = staged.as_mut().filter(|_| retries <= MOST_RETRIES) else {
                        return Err(PlayError::Activation(ActivationError::Unfinished(unfinished)));
                    };
                    let io = RunHandles::new().committer(staged).events(&*self.board).watch(watch);
                    let again = unfinished.retry(&self.agent, state, io);
                    tokio::select! {
                        biased;
                        () = self.board.crashed() => return Ok(Loop::Stop(self.crash())),
                        again = again => ended = again.map_err(ActivationError::Unfinished),
                    }
                }
                Err(ActivationError::NotCommitted(error)) => {
                    self.ended.push(Ended::Unfinished { at_ms, error: error.to_string() });
                    return Ok(Loop::NotCommitted);
                }
                Err(error) => return Err(PlayError::Activation(error)),
            }
        }
    }
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setting").field("tools", &self.tools.len()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Stage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage")
            .field("scenario", &self.scenario.name)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
