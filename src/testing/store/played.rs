//! Runs that were driven without a store: their commits, for the suite to give to one as it likes.

use async_trait::async_trait;

use super::world::{NOW, agent, drive, hasty};
use crate::agent::{
    Agent, CommitError, Delta, Input, MemoryCommitter, RunState, StateCommitter, StoredRun, Thread,
};
use crate::checkpoint::Due;
use crate::decision::Decision;
use crate::store::{Commit, Place, TraceRow};
use crate::trace::Recorder;
use crate::turn::Turn;

/// Keeps commits as rows, and in the form of another committer, which says what the run is after each.
struct Tape {
    recorder: Recorder,
    messages: u64,
    at_ms: u64,
    kept: Vec<Commit>,
    other: MemoryCommitter,
}

#[async_trait]
impl StateCommitter for Tape {
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        let mut trace = Vec::new();
        self.recorder.drain(|event| trace.push(TraceRow { seq: event.seq, json: event.to_json() }));
        let place = Place { again: false, at_ms: self.at_ms + delta.version(), messages: self.messages };
        let commit = Commit::of(delta, due.trigger(), place, trace).map_err(CommitError::new)?;
        self.messages += commit.messages.len() as u64;
        self.kept.push(commit);
        self.other.commit(due, delta).await
    }
}

/// A run that is driven without a store.
pub(super) struct Played {
    agent: Agent,
    tape: Tape,
    state: RunState,
}

impl Played {
    /// A new run with this script, driven until it waits or is over. Its commits are made at [`NOW`] and a number.
    pub(super) async fn new(run: &str, script: &[Turn]) -> Self {
        Self::on_thread(run, Thread::new(run), agent(script)).await
    }

    /// The same, going on as long as any call of a round has a result.
    pub(super) async fn hasty(run: &str, script: &[Turn]) -> Self {
        Self::on_thread(run, Thread::new(run), hasty(script)).await
    }

    /// The same, whose commits are made from that time on.
    pub(super) async fn at(at_ms: u64, run: &str, script: &[Turn]) -> Self {
        let mut played = Self::new(run, script).await;
        for (number, commit) in (1..).zip(&mut played.tape.kept) {
            commit.at_ms = at_ms + number;
        }
        played.tape.at_ms = at_ms;
        played
    }

    /// The same, on a thread.
    pub(super) async fn on_thread(run: &str, thread: Thread, agent: Agent) -> Self {
        let recorder = Recorder::new(run);
        let state = RunState::on_thread_watched(run, thread, &recorder);
        let tape =
            Tape { recorder, messages: 0, at_ms: NOW, kept: Vec::new(), other: MemoryCommitter::default() };
        let mut played = Played { agent, tape, state };
        played.go_on(Input::message("begin"), &[]).await;
        played
    }

    /// Goes on with these decisions. Says which commits are new, by their places.
    pub(super) async fn resume(&mut self, decisions: &[Decision]) -> std::ops::Range<usize> {
        let before = self.tape.kept.len();
        self.go_on(Input::Resume, decisions).await;
        before..self.tape.kept.len()
    }

    async fn go_on(&mut self, input: Input, decisions: &[Decision]) {
        let recorder = self.tape.recorder.clone();
        drive(&self.agent, &mut self.state, input, &mut self.tape, &recorder, decisions).await;
    }

    /// Its commits, in order.
    pub(super) fn commits(&self) -> impl ExactSizeIterator<Item = &Commit> {
        self.tape.kept.iter()
    }

    /// One of its commits, from 1, as a store may be given it.
    pub(super) fn commit(&self, version: usize) -> Commit {
        self.tape.kept[version - 1].clone()
    }

    /// Its last commit.
    pub(super) fn last(&self) -> Commit {
        self.commit(self.tape.kept.len())
    }

    /// The run as each commit left it.
    pub(super) fn stored(&self) -> impl Iterator<Item = StoredRun> {
        let after = |commits| self.tape.other.stored_after(commits);
        (1..=self.tape.kept.len()).map(move |commits| {
            after(commits).unwrap_or_else(|error| panic!("the suite's run after commit {commits}: {error}"))
        })
    }

    /// The run.
    pub(super) fn state(&self) -> &RunState {
        &self.state
    }

    /// The thread of a run that is over.
    pub(super) fn into_thread(self) -> Thread {
        self.state.into_thread().unwrap_or_else(|_| panic!("the suite's run is not over"))
    }

    /// The events of its trace, in order.
    pub(super) fn trace(&self) -> Vec<TraceRow> {
        self.commits().flat_map(|commit| commit.trace.iter().cloned()).collect()
    }
}
