//! One process of a play: from a fresh runtime to its end or its crash.

use runstate::checkpoint::Due;
use runstate::trace::{Event, Recorder};
use runstate_agent::event::AgentEvent;
use runstate_agent::{
    CommitError, Delta, MemoryCommitter, RunState, StateCommitter, StateError, async_trait,
};
use runstate_runtime::clock::{Clock, TokioClock};

use super::Options;
use super::board::Outside;
use super::played::{Ended, PlayError};
use super::stage::{Setting, Stage, Stop};
use crate::Scenario;
use crate::script::{Asks, Ledger, Requests};

/// The remains of a crashed process.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) committer: MemoryCommitter,
    /// The committed transitions.
    pub(super) trace: Vec<Event<'static>>,
    /// The committed events.
    pub(super) events: Vec<AgentEvent>,
}

pub(super) struct Process<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) options: &'a Options,
    pub(super) ledger: &'a Ledger,
    pub(super) requests: &'a Requests,
    pub(super) asks: &'a Asks,
    pub(super) now_ms: u64,
}

/// The result of a process.
pub(super) struct Left {
    pub(super) outside: Outside,
    pub(super) ended: Vec<Ended>,
    /// The run; `None` if the process crashed.
    pub(super) state: Option<RunState>,
    pub(super) now_ms: u64,
}

impl Process<'_> {
    pub(super) async fn run(self, outside: Outside, memory: &mut Memory) -> Result<Left, PlayError> {
        let clock = TokioClock::starting_at(self.now_ms);
        let first_seq = memory.trace.last().map_or(1, |event| event.seq + 1);
        let recorder = Recorder::builder(self.scenario.name.as_str())
            .first_seq(first_seq)
            .clock(move || clock.now_ms())
            .build();
        let mut state = match memory.committer.restore() {
            Ok(mut state) => {
                state.watch(&recorder);
                state
            }
            // The crash came before the first commit.
            Err(StateError::Nothing) => RunState::watched(self.scenario.name.as_str(), &recorder),
            Err(error) => return Err(PlayError::Restore(error)),
        };
        let mut setting = Setting::new(clock);
        setting.tools.clone_from(&self.options.tools);
        setting.limit_ms = self.options.limit_ms;
        let kept = (self.ledger.clone(), self.requests.clone(), self.asks.clone());
        let mut stage = Stage::going_on(self.scenario, setting, outside, kept)?;
        let mut traced = Traced { memory: &mut *memory, recorder: &recorder };
        let committer: Option<&mut dyn StateCommitter> =
            if self.scenario.commits.kept { Some(&mut traced) } else { None };
        let stop = stage.drive(&mut state, committer, &recorder).await?;
        let (outside, ended) = stage.leave();
        let state = match stop {
            Stop::Crashed => None,
            Stop::Over { .. } | Stop::Waiting => {
                memory.trace.extend(recorder.take());
                Some(state)
            }
        };
        Ok(Left { outside, ended, state, now_ms: clock.now_ms() })
    }
}

/// A commit keeps the transitions up to it.
struct Traced<'a> {
    memory: &'a mut Memory,
    recorder: &'a Recorder,
}

#[async_trait]
impl StateCommitter for Traced<'_> {
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        self.memory.committer.commit(due, delta).await?;
        self.memory.trace.extend(self.recorder.take());
        let events: Vec<AgentEvent> = delta.events().cloned().collect();
        // A repeated commit replaces its events.
        if let Some(first) = events.first() {
            let kept = self.memory.events.partition_point(|event| event.seq < first.seq);
            self.memory.events.truncate(kept);
        }
        self.memory.events.extend(events);
        Ok(())
    }

    fn keeps_events(&self) -> bool {
        true
    }
}
