//! The player of scenarios.

mod board;
mod committer;
mod played;
mod process;
mod stage;

use std::sync::Arc;

use runstate::trace::Event;
use runstate_agent::Tool;
use runstate_agent::event::AgentEvent;
use tokio::runtime::Builder;

use crate::Scenario;
use crate::script::{Asks, Ledger, Requests};
use board::Outside;
use process::{Memory, Process};

pub use board::{Ready, ReplyObserver};
pub use played::{Ended, ExternalInput, PlayError, Played, Replied, Sent};
pub use stage::{Line, Setting, Stage, Stop};

/// The options of a play.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// In real time, instead of a virtual clock that advances when every task waits.
    pub real_time: bool,
    /// The maximum duration of the run, in milliseconds of its own time. Default: a year.
    pub limit_ms: u64,
    /// Tools beside the scripted ones.
    pub tools: Vec<Arc<dyn Tool>>,
}

impl Default for Options {
    fn default() -> Self {
        Options { real_time: false, limit_ms: 365 * 24 * 3_600_000, tools: Vec::new() }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Options { real_time, limit_ms, tools } = self;
        let tools = tools.len();
        f.debug_struct("Options")
            .field("real_time", real_time)
            .field("limit_ms", limit_ms)
            .field("tools", &tools)
            .finish()
    }
}

/// Plays a scenario to its end, or to a wait that no input can end.
///
/// Each crash of the scenario ends a process. The rest is played in a new runtime, from the committed bytes alone.
///
/// # Errors
/// [`PlayError`]. A run that fails is no error; it has its [`Ended`].
///
/// # Panics
/// Within a tokio runtime, since it makes its own.
pub fn play(scenario: &Scenario, options: Options) -> Result<Played, PlayError> {
    play_in(&mut Memory::default(), scenario, &options)
}

/// A play without an end, and the part of it that was committed.
pub(crate) struct Unplayed {
    pub(crate) error: PlayError,
    pub(crate) trace: Vec<Event<'static>>,
    pub(crate) events: Vec<AgentEvent>,
}

/// As [`play`], with the committed part of a play without an end.
pub(crate) fn play_or_begin(scenario: &Scenario, options: &Options) -> Result<Played, Box<Unplayed>> {
    let mut memory = Memory::default();
    let played = play_in(&mut memory, scenario, options);
    played.map_err(|error| Box::new(Unplayed { error, trace: memory.trace, events: memory.events }))
}

fn play_in(memory: &mut Memory, scenario: &Scenario, options: &Options) -> Result<Played, PlayError> {
    let (ledger, requests, asks) = (Ledger::default(), Requests::default(), Asks::default());
    let mut outside = Outside::of(scenario);
    let mut ended = Vec::new();
    let mut now_ms = 0;
    loop {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(!options.real_time)
            .build()
            .map_err(PlayError::Runtime)?;
        let process =
            Process { scenario, options, ledger: &ledger, requests: &requests, asks: &asks, now_ms };
        let left = runtime.block_on(process.run(outside, memory))?;
        ended.extend(left.ended);
        outside = left.outside;
        now_ms = left.now_ms.saturating_add(std::mem::take(&mut outside.away_ms));
        if let Some(state) = left.state {
            return Ok(Played {
                trace: std::mem::take(&mut memory.trace),
                missed: outside.missed(),
                events: outside.events,
                committed: std::mem::take(&mut memory.events),
                sent: outside.sent,
                ended,
                effects: ledger.effects(),
                asked: requests.all(),
                state,
                stored: memory.committer.stored().ok(),
                commits: outside.commits,
                at_ms: now_ms,
            });
        }
    }
}
