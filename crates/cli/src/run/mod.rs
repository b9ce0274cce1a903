//! Driving a scenario: its model, its tools, the answers of people, its state on disk.

mod answers;
mod checkpoint;
mod clock;
mod gate;
mod progress;
mod report;
mod script;

use std::io::{stderr, stdin};
use std::path::Path;

use runstate::agent::{ActivationError, Agent, Outcome, RunState, Watch};
use runstate::kernel::Observer;
use runstate::run::RunStatus;
use runstate::trace::Recorder;

use crate::failure::Failure;
use crate::runs::RunFolder;
use crate::scenario::{FromFile, Scenario};
use crate::tools::Tools;
use answers::Inbox;
use checkpoint::{Checkpoints, StateFile};
use clock::RunClock;
use progress::Progress;
use script::Script;

pub(crate) use answers::Answers;
pub(crate) use report::report;

/// A run that this process drives, and the folder that it has to itself.
#[derive(Debug)]
pub(crate) struct Driven {
    folder: RunFolder,
    scenario: Scenario,
    state: RunState,
    recorder: Recorder,
    created_unix_ms: u64,
    trace_bytes: u64,
}

/// A recorder names the instances of all lifecycles of a run.
struct Recording<'a>(&'a Recorder);

impl Watch for Recording<'_> {
    fn observer(&self, _: &'static str, instance: &str) -> Observer {
        self.0.observer(instance)
    }
}

impl Driven {
    /// A new run in a folder of its own.
    ///
    /// # Errors
    /// What keeps the folder from being made.
    pub(crate) fn create(state_dir: &Path, file: FromFile) -> Result<Self, Failure> {
        let FromFile { scenario, source, base } = file;
        let template = scenario.folder.as_ref().map(|folder| base.join(&folder.value));
        let folder = RunFolder::create(state_dir, &scenario.name.value, &source.text, template.as_deref())?;
        let created_unix_ms = clock::unix_ms();
        let recorder = recorder(folder.id(), created_unix_ms, 1);
        let state = RunState::watched(folder.id(), &Recording(&recorder));
        Ok(Driven { folder, scenario, state, recorder, created_unix_ms, trace_bytes: 0 })
    }

    /// A run that was parked or interrupted, brought back as types.
    ///
    /// # Errors
    /// A run that there is not, or whose files do not hold one.
    pub(crate) fn restore(folder: RunFolder, scenario: Scenario) -> Result<Self, Failure> {
        let StateFile { created_unix_ms, trace_bytes, next_seq, state } = StateFile::read(&folder)?;
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
        let recorder = recorder(folder.id(), created_unix_ms, next_seq);
        state.watch(&Recording(&recorder));
        Ok(Driven { folder, scenario, state, recorder, created_unix_ms, trace_bytes })
    }

    /// What it is made from.
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Drives the run until it is over or waits for an answer that there is not.
    ///
    /// # Errors
    /// A run that cannot be begun, and a state that cannot be written.
    pub(crate) fn drive(&mut self, answers: &mut Answers, ask: bool) -> Result<Outcome, Failure> {
        let Driven { folder, scenario, state, recorder, created_unix_ms, trace_bytes } = self;
        let progress = Progress::on_stderr();
        progress.says(folder.id(), scenario.about.as_deref().unwrap_or_default());
        let clock = RunClock::since(*created_unix_ms);
        let mut script = Script::new(&scenario.model.value, &progress);
        let mut tools = Tools::open(&folder.work(), scenario.limits.max_file_bytes.value)
            .map_err(|error| Failure::io("open", &folder.work(), &error))?
            .each();
        let gate = gate::Approval::of(scenario);
        let mut committer = Checkpoints::open(folder, recorder, &progress, *created_unix_ms, *trace_bytes)?;
        // The run is on disk before anything happens, so that whatever happens it can be resumed.
        committer.write(state).map_err(|error| Failure::new(error.to_string()))?;
        let mut inbox = Inbox { answers, clock: &clock, progress: &progress, open: false };
        loop {
            let mut agent = Agent {
                model: &mut script,
                tools: &mut tools,
                gate: &gate,
                decisions: &mut inbox,
                committer: &mut committer,
                watch: &Recording(recorder),
                cancelled: &|| false,
                max_steps: Some(scenario.limits.max_rounds.value),
            };
            let outcome = match agent.resume(state) {
                Err(ActivationError::NotStartable { status: RunStatus::Running, .. }) => {
                    agent.start(state, &scenario.message)
                }
                other => other,
            };
            let outcome = outcome.map_err(|error| Failure::new(format!("{}: {error}", folder.id())))?;
            if outcome.waiting.is_empty() {
                return Ok(outcome);
            }
            inbox.open = true;
            let answered = inbox.answers.any_for(&state.pending()) || ask && asked(state, inbox.answers)?;
            if !answered {
                return Ok(outcome);
            }
        }
    }
}

fn recorder(run: &str, created_unix_ms: u64, first_seq: u64) -> Recorder {
    let clock = RunClock::since(created_unix_ms);
    Recorder::builder(run).first_seq(first_seq).clock(move || clock.now_ms()).build()
}

/// Asks about each call that waits; is there any answer?
fn asked(state: &RunState, answers: &mut Answers) -> Result<bool, Failure> {
    let mut any = false;
    for pending in state.pending() {
        let answer = answers::ask(&pending, &mut stdin().lock(), &mut stderr())
            .map_err(|error| Failure::new(format!("cannot ask at the terminal: {error}")))?;
        if let Some(answer) = answer {
            answers.add(pending.call, answer);
            any = true;
        }
    }
    Ok(any)
}
