//! Opening a run: a new one, or a parked or interrupted one.

use std::time::Duration;

use runstate::run::RunStatus;
use runstate::trace::{JsonlReader, Recorder};
use runstate_runtime::clock::{Clock, TokioClock};
use runstate_store::Loaded;
use tokio::runtime::{Builder, Runtime};

use super::driven::Driven;
use super::lease::Held;
use crate::clock::{RunClock, unix_ms};
use crate::failure::Failure;
use crate::migrations;
use crate::spec::Spec;
use crate::store::{Opened, beside, quoted};

/// Claims a run and restores it as types.
///
/// # Errors
/// The run is unknown, over, driven by another process, or unreadable.
pub(crate) fn take(opened: Opened, run: &str, lease: Duration, real_time: bool) -> Result<Driven, Failure> {
    let before = going_on(&opened, run)?;
    let spec = Spec::of(&before)?;
    let scenario = spec.scenario()?;
    let held = Held::claim(&opened, run, lease)?;
    // The previous holder may have driven it until now.
    let loaded = going_on(&opened, run)?;
    // A cancellation changes nothing here: a worker that takes both keeps the message in the thread.
    if let Some(message) = opened.ask(opened.store.pending_signals(run))?.message {
        let again = opened.again();
        let id = &message.id;
        let why =
            format!("{run}: the run continues with the message {id:?}, which only a worker gives to it");
        return Err(
            Failure::new(why).with_help(format!("drive it with: runstate worker{again}{}", again.note()))
        );
    }
    let checked = opened.marks().check(run, spec.token(), loaded.info.version);
    checked.map_err(|why| {
        let (run, again) = (quoted(run), opened.again());
        Failure::new(format!("{}: {why}", opened.url())).with_help(format!(
            "restore the newer store; `runstate resume {run} --restored{again}`{} continues from this one: calls that executed since then execute again",
            again.note()
        ))
    })?;
    // The time of a run continues without a driver, and never goes back.
    let last_ms =
        loaded.traced.checked_sub(1).map(|before| behind_ms(&opened, &loaded, before)).transpose()?;
    let (runtime, clock) = runtime(real_time, last_ms.unwrap_or(0))?;
    let recorder = Recorder::builder(run)
        .first_seq(loaded.traced.saturating_add(1))
        .clock(move || clock.now_ms())
        .build();
    let state = loaded.begin(migrations::OF_RUNS, migrations::OF_CALLS, &recorder);
    let state = state.map_err(|error| unreadable(&opened, run, &error))?;
    Ok(Driven { state, scenario, spec, recorder, runtime, clock, loaded, held, opened })
}

/// Accepts the store unchanged, although it may be an older copy.
///
/// # Errors
/// The run is unknown, over, or unreadable.
pub(crate) fn accept_restored(opened: &Opened, run: &str) -> Result<(), Failure> {
    let loaded = going_on(opened, run)?;
    opened.marks().accept(run, Spec::of(&loaded)?.token(), loaded.info.version)
}

/// A claimed run that is not driven.
#[derive(Debug)]
pub(crate) struct Undriven(Held);

impl Undriven {
    /// Claims a run.
    ///
    /// # Errors
    /// The run is unknown, over, or driven by another process.
    pub(crate) fn claim(opened: &Opened, run: &str, lease: Duration) -> Result<Self, Failure> {
        going_on(opened, run)?;
        Held::claim(opened, run, lease).map(Undriven)
    }

    /// Releases the run to workers. A retry delay, or a mark that sets the run aside, no longer applies.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) fn give_back(mut self, opened: &Opened) -> Result<(), Failure> {
        self.0.pardon();
        self.0.give_back().map_err(|error| opened.of_change(&error))
    }
}

fn unreadable(opened: &Opened, run: &str, error: &dyn std::fmt::Display) -> Failure {
    let (show, again) = (quoted(run), opened.again());
    Failure::new(format!("{}: the run {run:?} cannot be restored: {error}", opened.url()))
        .with_help(format!(
            "nothing was changed; `runstate show {show}{again}`{} has its trace, `runstate seal -` seals a deliberate \
             change",
            again.note()
        ))
}

/// An unfinished run.
fn going_on(opened: &Opened, run: &str) -> Result<Loaded, Failure> {
    let loaded = load(opened, run)?;
    match loaded.info.status {
        RunStatus::Done => Err(Failure::new(format!(
            "the run {run:?} is over: expected a run that waits or was interrupted"
        ))
        .with_help("`runstate run` begins a new one")),
        RunStatus::Running | RunStatus::Waiting => Ok(loaded),
    }
}

/// The complete stored run.
///
/// # Errors
/// The run is unknown or unreadable.
pub(crate) fn load(opened: &Opened, run: &str) -> Result<Loaded, Failure> {
    beside(opened.handle(), opened.store.load(run)).map_err(|error| opened.failure(&error))
}

/// Returns the time of the trace event after the number `before`. With virtual delays it may be ahead of the
/// time of day.
pub(super) fn behind_ms(opened: &Opened, run: &Loaded, before: u64) -> Result<u64, Failure> {
    let rows = opened.ask(opened.store.trace(&run.info.id, before, 1))?;
    let Some(row) = rows.first() else { return Ok(0) };
    let mut reader = JsonlReader::new(row.json.as_bytes());
    let event = reader.read().map_err(|error| Failure::new(format!("{}: {error}", run.info.id)))?;
    Ok(event.map_or(0, |event| event.at_ms))
}

/// A runtime with a virtual clock that advances when every task waits, or with a real one; and the clock of a run with its
/// last event at `last_ms`.
fn runtime(real_time: bool, last_ms: u64) -> Result<(Runtime, RunClock), Failure> {
    let made = Builder::new_current_thread().enable_all().start_paused(!real_time).build();
    let runtime = made.map_err(|error| Failure::new(format!("cannot make a runtime: {error}")))?;
    let clock = if real_time {
        RunClock::real(last_ms)
    } else {
        let now_ms = unix_ms().max(last_ms);
        RunClock::Played(runtime.block_on(async { TokioClock::starting_at(now_ms) }))
    };
    Ok((runtime, clock))
}
