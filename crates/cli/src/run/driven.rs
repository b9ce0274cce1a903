//! A run that this process drives.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use runstate::termination::TerminationReason;
use runstate::trace::Recorder;
use runstate_agent::{CancellationToken, RunState};
use runstate_runtime::clock::{Clock, unix_clock};
use runstate_scenario::{Ready, Scenario, Sent, Setting, Stage, Stop};
use runstate_store::{Loaded, Lost, RunStore, StoreCommitter, StoreError, expire_run};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::ask::{Lines, asked};
use super::begin::behind_ms;
use super::commits::Commits;
use super::lease::Held;
use super::mailbox::{Mailbox, goes_on};
use super::progress::{Heard, Progress};
use crate::clock::{RunClock, unix_ms};
use crate::failure::Failure;
use crate::output::{complain, printable};
use crate::spec::Spec;
use crate::store::{Opened, give_up_lapsed_of, quoted};

/// A run that this process drives, and holds while this value lives.
#[derive(Debug)]
pub(crate) struct Driven {
    pub(super) state: RunState,
    pub(super) scenario: Scenario,
    pub(super) spec: Spec,
    pub(super) recorder: Recorder,
    // Dropped before the run is released.
    pub(super) runtime: Runtime,
    pub(super) clock: RunClock,
    pub(super) loaded: Loaded,
    // Released before the store is closed.
    pub(super) held: Held,
    pub(super) opened: Opened,
}

/// The options of a drive.
#[derive(Debug)]
pub(crate) struct How {
    /// The prepared answers.
    pub(crate) answers: Vec<Ready>,
    /// Whether the person at the terminal is asked the other questions.
    pub(crate) ask: bool,
    /// The name of that person.
    pub(crate) actor: String,
    /// Does a question expire by the virtual time of the run? For the demonstration of a new run. Every other question
    /// expires by the clock of its store.
    pub(crate) plays_expiry: bool,
}

/// The result of a drive, as far as it went.
#[derive(Debug)]
pub(crate) struct Ending {
    /// The reason for the end of its last activation.
    pub(crate) reason: TerminationReason,
    /// The unused answers.
    pub(crate) unused: Vec<Ready>,
    /// Did a message close the questions of the run? A worker continues it then.
    pub(crate) has_message: bool,
}

impl Driven {
    /// Its scenario.
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Its store.
    pub(crate) fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Its id.
    pub(crate) fn id(&self) -> &str {
        &self.loaded.info.id
    }

    /// The folder of its tools, if there is a folder of all runs.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        self.opened.work_of(self.id())
    }

    /// Drives the run until it is over, or waits without an answer.
    ///
    /// # Errors
    /// The run cannot begin, or its store refuses.
    pub(crate) fn drive(&mut self, how: How) -> Result<Ending, Failure> {
        let Driven { state, scenario, spec, recorder, runtime, clock, loaded, held, opened } = self;
        let id = &*loaded.info.id;
        let progress = Arc::new(Progress::on_stderr());
        progress.says(id, scenario.about.as_deref().unwrap_or_default());
        let mut setting = Setting::new(*clock);
        // The scenario's times count from the first drive, not from the creation of the run.
        setting.began_ms = match loaded.traced {
            0 => clock.now_ms(),
            _ => behind_ms(opened, loaded, 0)?,
        };
        setting.tools = match spec.tools(scenario, opened.state_dir(), id) {
            // A cancelled run needs no folder, which may be lost.
            Err(_) if opened.ask(opened.store.pending_signals(id))?.cancel.is_some() => Vec::new(),
            tools => tools?,
        };
        setting.answers = Some(how.answers);
        setting.events = Some(Arc::new(Heard::new(Arc::clone(&progress))));
        let told = Arc::clone(&progress);
        setting.replies = Some(Arc::new(move |sent: &Sent| told.replied(sent)));
        let in_store = !how.plays_expiry;
        setting.judged_in_store = in_store;
        setting.is_resumed = loaded.stored.is_some();
        let failed = |error: &dyn std::fmt::Display| Failure::new(format!("{id}: {error}"));
        let mut stage = Stage::new(scenario, setting).map_err(|error| failed(&error))?;
        held.begin();
        let store = Arc::clone(&opened.store);
        // Stored times are times of day.
        let committer =
            StoreCommitter::new(store, held.lease.clone(), loaded, recorder.clone(), Arc::new(unix_clock()));
        let mut commits = Commits::new(committer, opened.handle().clone(), recorder, &progress);
        let (mut lost, mut gone) = (commits.lost(), held.lost());
        let mailbox = Mailbox::new(Arc::clone(&opened.store), id, stage.line(), Arc::clone(&progress));
        let mailbox = Arc::new(mailbox);
        let look = || {
            if in_store {
                give_up_lapsed_of(opened, id);
            }
            opened.ask(mailbox.look())
        };
        let mut before = look()?;
        let mut lines = None;
        let looking = opened.handle().spawn(Arc::clone(&mailbox).keep_looking());
        let is_real = matches!(clock, RunClock::Real { .. });
        let expiring = (in_store && is_real)
            .then(|| opened.handle().spawn(keep_expiring(Arc::clone(&opened.store), id.to_owned())));
        let mut has_message = false;
        let ended = runtime.block_on(async {
            let _heard = hear_interrupts(stage.token());
            // The listener starts before the first step.
            tokio::task::yield_now().await;
            loop {
                let version = state.commits();
                let stop = tokio::select! {
                    biased;
                    why = told_of(&mut lost) => return Err(dropped(opened, id, &why)),
                    why = told_of(&mut gone) => return Err(taken(opened, id, &why)),
                    stop = stage.drive(state, Some(&mut commits), recorder) => stop.map_err(|error| failed(&error))?,
                };
                let reason = match stop {
                    Stop::Over { reason, problems } => {
                        for problem in problems {
                            complain(&printable(&format!("warning: {problem}")));
                        }
                        reason
                    }
                    // This command passes only decisions to a run. A message ends the acceptance of decisions.
                    Stop::Waiting if look()?.has_message => {
                        has_message = true;
                        complain(&printable(&format!("{id} continues with a message, driven by: {}", worker(opened))));
                        TerminationReason::Suspended
                    }
                    // A decision that arrived meanwhile need not wait for the next process.
                    Stop::Waiting if goes_on(&mut before, look()?, state.commits() > version) => continue,
                    Stop::Waiting if how.ask => {
                        let lines = match &mut lines {
                            Some(lines) => lines,
                            none => none.insert(Lines::of_stdin()?),
                        };
                        let (mut given, token) = (Vec::new(), stage.token());
                        let is_left = tokio::select! {
                            biased;
                            why = told_of(&mut gone) => return Err(taken(opened, id, &why)),
                            () = token.cancelled() => true,
                            () = mailbox.brings_more(before) => true,
                            asked = asked(state, &how.actor, &progress, lines, &mut given) => {
                                asked?;
                                false
                            }
                        };
                        if is_left || !given.is_empty() {
                            // A question may have expired at the terminal: its expiry comes before the answer.
                            look()?;
                            stage.send(given);
                            continue;
                        }
                        TerminationReason::Suspended
                    }
                    // In real time the store ends the wait.
                    Stop::Waiting if expiring.is_some() && has_expiry(state) => {
                        let token = stage.token();
                        tokio::select! {
                            biased;
                            why = told_of(&mut gone) => return Err(taken(opened, id, &why)),
                            () = token.cancelled() => {}
                            () = mailbox.brings_more(before) => {}
                        }
                        continue;
                    }
                    Stop::Waiting => TerminationReason::Suspended,
                    Stop::Crashed => {
                        return Err(failed(&"it crashed, as its scenario says")
                            .of_the_run()
                            .with_help(format!("continue with: {}", resume(opened, id))));
                    }
                };
                return Ok(Ending { reason, unused: stage.unused(), has_message });
            }
        });
        looking.abort();
        if let Some(expiring) = &expiring {
            expiring.abort();
        }
        if ended.is_ok() {
            held.pardon();
        }
        ended
    }
}

/// Returns whether a question of the run expires.
fn has_expiry(state: &RunState) -> bool {
    state.pending().iter().any(|pending| pending.suspension.expires_at_ms.is_some())
}

/// Gives up the expired calls of a run while it is driven.
async fn keep_expiring(store: Arc<dyn RunStore>, run: String) {
    loop {
        // A failed try is repeated.
        expire_run(&*store, &run, unix_ms()).await.ok();
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// The interval at which expired calls are looked for. A store has no notification of an expiry.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Waits for a value.
async fn told_of<T: Clone>(said: &mut watch::Receiver<Option<T>>) -> T {
    match said.wait_for(Option::is_some).await.map(|why| why.clone()) {
        Ok(Some(why)) => why,
        // No sender remains.
        Ok(None) | Err(_) => std::future::pending().await,
    }
}

/// Builds the failure for a commit that the store refused.
fn dropped(opened: &Opened, id: &str, why: &Lost) -> Failure {
    match why {
        Lost::Refused(error) => taken(opened, id, error),
        _ => Failure::new(format!("{id}: the run was released")),
    }
}

/// Builds the failure for a run that this process lost. The run stays at its last commit.
fn taken(opened: &Opened, id: &str, why: &StoreError) -> Failure {
    let (again, show) = (opened.again(), quoted(id));
    let help = match why {
        StoreError::Fenced { .. } => {
            let note = again.note();
            format!(
                "the process that took the run drives it; `runstate show {show}{again}`{note} shows its progress"
            )
        }
        StoreError::Superseded { .. } => {
            format!("the run continues with the message, driven by: {}", worker(opened))
        }
        _ => format!("the run is at its last commit; continue with: {}", resume(opened, id)),
    };
    Failure::new(opened.failure(why).message()).with_help(help)
}

/// The command that continues a run.
fn resume(opened: &Opened, id: &str) -> String {
    let again = opened.again();
    format!("runstate resume {}{again}{}", quoted(id), again.note())
}

/// The command that drives runs with their messages.
fn worker(opened: &Opened) -> String {
    let again = opened.again();
    format!("runstate worker{again}{}", again.note())
}

/// Ctrl-C cancels the run, and its end is then committed. The second one ends the process.
fn hear_interrupts(token: CancellationToken) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            complain("cancelling the run; a second Ctrl-C ends this command immediately");
            token.cancel();
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(130);
            }
        }
    })
}
