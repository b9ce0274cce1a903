//! A run that this process drives.

use std::path::Path;
use std::sync::Arc;

use runstate::agent::{CancellationToken, RunState, StateCommitter};
use runstate::clock::{Clock, TokioClock};
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::trace::Recorder;
use runstate_scenario::{Ready, Scenario, Sent, Setting, Stage, Stop};
use tokio::runtime::{Builder, Runtime};

use super::ask::asked;
use super::checkpoint::{Checkpoints, StateFile};
use super::clock::unix_ms;
use super::progress::{Heard, Progress};
use crate::failure::Failure;
use crate::output::complain;
use crate::runs::RunFolder;
use crate::scenario::FromFile;
use crate::tools::Tools;

/// A run that this process drives, and the folder that it has to itself.
#[derive(Debug)]
pub(crate) struct Driven {
    pub(super) folder: RunFolder,
    pub(super) state: RunState,
    scenario: Scenario,
    recorder: Recorder,
    runtime: Runtime,
    clock: TokioClock,
    created_unix_ms: u64,
    trace_bytes: u64,
    is_resumed: bool,
}

/// How a run is driven.
#[derive(Debug)]
pub(crate) struct How {
    /// What people have ready.
    pub(crate) answers: Vec<Ready>,
    /// Is somebody at the terminal asked about what is left?
    pub(crate) ask: bool,
}

/// How a run came out, as far as it went.
#[derive(Debug)]
pub(crate) struct Ending {
    /// Why its last activation ended.
    pub(crate) reason: TerminationReason,
    /// The answers that nobody asked for.
    pub(crate) unused: Vec<Ready>,
}

impl Driven {
    /// A new run in a folder of its own.
    ///
    /// # Errors
    /// What keeps the folder from being made.
    pub(crate) fn create(state_dir: &Path, file: FromFile, real_time: bool) -> Result<Self, Failure> {
        let FromFile { scenario, source, base } = file;
        let template = scenario.folder.as_ref().map(|folder| base.join(folder));
        let folder = RunFolder::create(state_dir, &scenario.name, &source.text, template.as_deref())?;
        let (runtime, clock) = runtime(real_time, 0)?;
        let recorder = recorder(folder.id(), clock, 1);
        let state = RunState::watched(folder.id(), &recorder);
        Ok(Driven {
            folder,
            state,
            scenario,
            recorder,
            runtime,
            clock,
            created_unix_ms: unix_ms(),
            trace_bytes: 0,
            is_resumed: false,
        })
    }

    /// A run that was parked or interrupted, brought back as types.
    ///
    /// # Errors
    /// A run that there is not, or whose files do not hold one.
    pub(crate) fn restore(folder: RunFolder, scenario: Scenario, real_time: bool) -> Result<Self, Failure> {
        let StateFile { created_unix_ms, now_ms, trace_bytes, next_seq, state } = StateFile::read(&folder)?;
        let mut state = state.restore().map_err(|error| {
            Failure::new(format!("{}: {error}", folder.state().display()))
                .with_help("if the change is meant, `runstate seal` seals the file anew")
        })?;
        if state.id() != folder.id() {
            return Err(Failure::new(format!(
                "{} holds the run {:?}, expected {:?}",
                folder.state().display(),
                state.id(),
                folder.id()
            )));
        }
        if state.run().status() == RunStatus::Done {
            return Err(Failure::new(format!("{}: the run is Done: it is over", folder.id()))
                .with_help("`runstate run` begins a new one"));
        }
        // The time of a run goes on while nobody drives it, and never back.
        let gone_ms = unix_ms().saturating_sub(created_unix_ms);
        let (runtime, clock) = runtime(real_time, gone_ms.max(now_ms))?;
        let recorder = recorder(folder.id(), clock, next_seq);
        state.watch(&recorder);
        Ok(Driven {
            folder,
            state,
            scenario,
            recorder,
            runtime,
            clock,
            created_unix_ms,
            trace_bytes,
            is_resumed: true,
        })
    }

    /// What it is made from.
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Drives the run until it is over, or waits for an answer that there is not.
    ///
    /// # Errors
    /// A run that cannot be begun, and a state that cannot be written.
    pub(crate) fn drive(&mut self, how: How) -> Result<Ending, Failure> {
        let Driven { folder, state, scenario, recorder, runtime, clock, .. } = self;
        let progress = Arc::new(Progress::on_stderr());
        progress.says(folder.id(), scenario.about.as_deref().unwrap_or_default());
        let tools = Tools::open(&folder.work(), scenario.limits.max_file_bytes)
            .map_err(|error| Failure::io("open", &folder.work(), &error))?;
        let (created_unix_ms, trace_bytes) = (self.created_unix_ms, self.trace_bytes);
        let mut committer =
            Checkpoints::open(folder, recorder, &progress, *clock, created_unix_ms, trace_bytes)?;
        // The run is on disk before anything happens, so that whatever happens it can be resumed.
        committer.write(state).map_err(|error| Failure::new(error.to_string()))?;
        let mut setting = Setting::new(*clock);
        setting.tools = tools.each();
        setting.answers = Some(how.answers);
        setting.events = Some(Arc::new(Heard::new(Arc::clone(&progress))));
        let told = Arc::clone(&progress);
        setting.replies = Some(Arc::new(move |sent: &Sent| told.replied(sent)));
        // Who is asked is asked before that.
        setting.leaves_lapses = how.ask;
        setting.is_resumed = self.is_resumed;
        let failed = |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", folder.id()));
        let mut stage = Stage::new(scenario, setting).map_err(|error| failed(&error))?;
        let kept = scenario.commits.kept;
        runtime.block_on(async {
            let _heard = hear_interrupts(stage.token());
            // It listens from before the first step on.
            tokio::task::yield_now().await;
            loop {
                let committer: Option<&mut dyn StateCommitter> =
                    if kept { Some(&mut committer) } else { None };
                let stop = stage.drive(state, committer, recorder).await.map_err(|error| failed(&error))?;
                let reason = match stop {
                    Stop::Over { reason, problems } => {
                        for problem in problems {
                            complain(&format!("warning: {problem}"));
                        }
                        reason
                    }
                    Stop::Waiting if how.ask => {
                        let decisions = asked(state, &stage.token()).await?;
                        if !decisions.is_empty() || stage.token().is_cancelled() {
                            stage.send(decisions);
                            continue;
                        }
                        TerminationReason::Suspended
                    }
                    Stop::Waiting => TerminationReason::Suspended,
                    Stop::Crashed => {
                        return Err(failed(&"it crashed, as its scenario says")
                            .of_the_run()
                            .with_help(format!("go on with: runstate resume {}", folder.id())));
                    }
                };
                return Ok(Ending { reason, unused: stage.unused() });
            }
        })
    }

    /// Ends what may still wait for the terminal.
    pub(crate) fn leave(self) {
        self.runtime.shutdown_background();
    }
}

/// Ctrl-C cancels the run, whose end is then committed. The second one ends the process, as it does anywhere.
fn hear_interrupts(token: CancellationToken) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            complain("cancelling; again to leave at once");
            token.cancel();
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(130);
            }
        }
    })
}

/// A runtime whose clock is moved on whenever all wait for it, or goes by itself; and the run's clock, at that time.
fn runtime(real_time: bool, now_ms: u64) -> Result<(Runtime, TokioClock), Failure> {
    let made = Builder::new_current_thread().enable_all().start_paused(!real_time).build();
    let runtime = made.map_err(|error| Failure::new(format!("cannot make a runtime: {error}")))?;
    let clock = runtime.block_on(async { TokioClock::starting_at(now_ms) });
    Ok((runtime, clock))
}

fn recorder(run: &str, clock: TokioClock, first_seq: u64) -> Recorder {
    Recorder::builder(run).first_seq(first_seq).clock(move || clock.now_ms()).build()
}
