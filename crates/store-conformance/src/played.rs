//! Runs that were driven without a store. Their commits can be sent to any store.

use std::fmt;

use async_trait::async_trait;
use runstate::checkpoint::Due;
use runstate::decision::Decision;
use runstate::tool_call::{AnyToolCall, ToolCallStatus};
use runstate::trace::Recorder;
use runstate::turn::Turn;
use runstate_agent::{
    Agent, CommitError, Delta, ExecutionMode, Input, MemoryCommitter, RunState, StateCommitter, StoredRun,
    Thread,
};
use runstate_store::{Commit, EventRow, Place, TraceRow};

use super::world::{NOW, agent, drive, hasty, in_mode};

/// A committer that keeps commits as rows. It also passes them to a memory committer, which has the stored run after
/// each commit.
struct Tape {
    recorder: Recorder,
    messages: u64,
    on_thread: bool,
    at_ms: u64,
    kept: Vec<Commit>,
    other: MemoryCommitter,
}

#[async_trait]
impl StateCommitter for Tape {
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        let mut trace = Vec::new();
        self.recorder.drain(|event| trace.push(TraceRow { seq: event.seq, json: event.to_json() }));
        let place =
            Place { again: false, at_ms: self.at_ms, messages: self.messages, on_thread: self.on_thread };
        let commit = Commit::of(delta, due.trigger(), place, trace).map_err(CommitError::new)?;
        self.messages += commit.messages.len() as u64;
        self.kept.push(commit);
        self.other.commit(due, delta).await
    }

    fn keeps_events(&self) -> bool {
        true
    }
}

/// A run that was driven without a store, and its commits. For tests and benchmarks of stores.
///
/// Its model answers from the script, and then with `done`. There are four tools. `say` returns its arguments. `ask`
/// waits for a decision first, with the argument `expires` until that time. `pay` returns its arguments after two
/// approvals. `note` stores the values `run` and `thread` of its arguments, and removes those that are null.
///
/// ```
/// use std::time::Duration;
/// use runstate_store::{Claim, MemoryStore, NewRun, RunData, RunQueue, StoreError};
/// use runstate_store_conformance::Played;
/// use runstate::turn::{CallRequest, Turn};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let asks = Turn { calls: vec![CallRequest::new("c0", "ask", serde_json::json!({}))], ..Turn::default() };
/// let played = Played::new("r1", &[asks]).await;
///
/// let store = MemoryStore::default();
/// store.create(&NewRun::new("r1", serde_json::Value::Null, 0)).await?;
/// let lease = store.claim(&Claim::of("r1", "me", Duration::from_secs(1))).await?.unwrap();
/// for commit in played.commits() {
///     store.commit(&lease, commit).await?;
/// }
/// assert_eq!(store.load("r1").await?.info.waiting, 1);
///
/// // Each commit is accepted once.
/// let refused = store.commit(&lease, played.commits().next().unwrap()).await.unwrap_err();
/// assert!(matches!(refused, StoreError::Version { got: 1, .. }));
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Played {
    agent: Agent,
    in_pieces: bool,
    tape: Tape,
    state: RunState,
}

impl Played {
    /// Drives a new run with this script until it waits or is over. Its commits have the time 1,000,000 ms.
    ///
    /// # Panics
    /// If the script cannot be run.
    ///
    /// # Cancel safety
    /// If the future is dropped, no run is created.
    pub async fn new(run: &str, script: &[Turn]) -> Self {
        Self::on_thread(run, Thread::new(run), agent(script)).await
    }

    /// Drives a new run with that mode for the calls of a round. With `in_pieces` the loop streams its answers.
    pub(super) async fn by(mode: ExecutionMode, in_pieces: bool, run: &str, script: &[Turn]) -> Self {
        Self::driven(run, Thread::new(run), in_mode(mode, script), in_pieces).await
    }

    /// Drives a new run that continues while any call of a round has a result.
    pub(super) async fn hasty(run: &str, script: &[Turn]) -> Self {
        Self::on_thread(run, Thread::new(run), hasty(script)).await
    }

    /// Drives a new run. The commit with number `n` has the time `at_ms + n`.
    pub(super) async fn at(at_ms: u64, run: &str, script: &[Turn]) -> Self {
        let mut played = Self::new(run, script).await;
        for (number, commit) in (1..).zip(&mut played.tape.kept) {
            commit.at_ms = at_ms + number;
        }
        played.tape.at_ms = at_ms;
        played
    }

    /// Drives a new run on a thread.
    pub(super) async fn on_thread(run: &str, thread: Thread, agent: Agent) -> Self {
        Self::driven(run, thread, agent, false).await
    }

    /// Drives a new run on a thread whose earlier messages are in the store.
    pub(super) async fn behind(run: &str, thread: Thread, agent: Agent) -> Self {
        Self::of(run, thread, agent, false, true).await
    }

    /// Drives a new run after `before` on its thread, for a store that has the earlier messages.
    ///
    /// # Panics
    /// If the previous run is not over.
    ///
    /// # Cancel safety
    /// If the future is dropped, no run is created.
    pub async fn following(run: &str, before: Played, script: &[Turn]) -> Self {
        Self::behind(run, before.into_thread(), agent(script)).await
    }

    async fn driven(run: &str, thread: Thread, agent: Agent, in_pieces: bool) -> Self {
        Self::of(run, thread, agent, in_pieces, false).await
    }

    async fn of(run: &str, thread: Thread, agent: Agent, in_pieces: bool, on_thread: bool) -> Self {
        let recorder = Recorder::new(run);
        let state = RunState::on_thread_watched(run, thread, &recorder);
        let tape = Tape {
            recorder,
            messages: 0,
            on_thread,
            at_ms: NOW,
            kept: Vec::new(),
            other: MemoryCommitter::default(),
        };
        let mut played = Played { agent, in_pieces, tape, state };
        played.go_on(Input::message("begin"), &[]).await;
        played
    }

    /// Resumes the run with these decisions. Returns the indexes of the new commits, from 0.
    ///
    /// # Panics
    /// If the run does not wait.
    ///
    /// # Cancel safety
    /// If the future is dropped, the run is in the state of an interrupted one.
    pub async fn resume(&mut self, decisions: &[Decision]) -> std::ops::Range<usize> {
        let before = self.tape.kept.len();
        self.go_on(Input::Resume, decisions).await;
        before..self.tape.kept.len()
    }

    /// Resumes the run with a message. Returns the indexes of the new commits, from 0. If a store has the message,
    /// the first of them must [contain](Commit::takes) it.
    ///
    /// # Panics
    /// If the run does not wait.
    ///
    /// # Cancel safety
    /// If the future is dropped, the run is in the state of an interrupted one.
    pub async fn send(&mut self, message: Input) -> std::ops::Range<usize> {
        let before = self.tape.kept.len();
        self.go_on(message, &[]).await;
        before..self.tape.kept.len()
    }

    async fn go_on(&mut self, input: Input, decisions: &[Decision]) {
        let recorder = self.tape.recorder.clone();
        let driver = (&self.agent, self.in_pieces);
        drive(driver, &mut self.state, input, &mut self.tape, &recorder, decisions).await;
    }

    /// Returns whether the call has a result of its tool.
    pub(super) fn executed(&self, call: &str) -> bool {
        let is_it = |(name, machine): (&str, &AnyToolCall)| {
            name == call && machine.status() == ToolCallStatus::Succeeded
        };
        self.state.calls().any(is_it)
    }

    /// Returns the commits in order.
    pub fn commits(&self) -> impl ExactSizeIterator<Item = &Commit> {
        self.tape.kept.iter()
    }

    /// Returns a commit by its number, from 1, for a store.
    pub(super) fn commit(&self, version: usize) -> Commit {
        self.tape.kept[version - 1].clone()
    }

    /// Returns the last commit.
    pub(super) fn last(&self) -> Commit {
        self.commit(self.tape.kept.len())
    }

    /// Returns the stored run after each commit.
    ///
    /// # Panics
    /// The iterator panics if a commit cannot be read, which is a bug.
    pub fn stored(&self) -> impl Iterator<Item = StoredRun> {
        let after = |commits| self.tape.other.stored_after(commits);
        (1..=self.tape.kept.len()).map(move |commits| {
            after(commits).unwrap_or_else(|error| panic!("the suite's run after commit {commits}: {error}"))
        })
    }

    /// Returns the state of the run.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// Returns the thread of a run that is over.
    pub(super) fn into_thread(self) -> Thread {
        self.state.into_thread().unwrap_or_else(|_| panic!("the suite's run is not over"))
    }

    /// Returns the events in order.
    pub fn events(&self) -> Vec<EventRow> {
        self.commits().flat_map(|commit| commit.events.iter().cloned()).collect()
    }

    /// Returns the trace events in order.
    pub fn trace(&self) -> Vec<TraceRow> {
        self.commits().flat_map(|commit| commit.trace.iter().cloned()).collect()
    }
}

impl fmt::Debug for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Played({:?}, {} commits)", self.state.id(), self.tape.kept.len())
    }
}
