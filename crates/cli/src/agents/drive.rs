//! Drives a run of an agent file in this process.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runstate::termination::TerminationReason;
use runstate::trace::{Verdict, check_jsonl};
use runstate_agent::{CancellationToken, Incoming, Reply, RunState};
use runstate_runtime::clock::unix_clock;
use runstate_schema::JsonSchemas;
use runstate_store::{ApprovalFilter, Ended, Worker, decide};
use serde_json::json;

use super::command::end_commands;
use super::live::Live;
use super::{AgentFiles, FromFile};
use crate::clock::unix_ms;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::RunExecutor;
use crate::machine;
use crate::migrations;
use crate::output::{Output, complain, printable};
use crate::rules::Laws;
use crate::run::{Lines, Progress, asked, load};
use crate::signals::Signals;
use crate::store::{Opened, StoreArgs, StoredTrace, beside, end_leases, quoted, waiting, waiting_to_json};

/// A driver of the runs of one agent file.
pub(crate) struct Driver<'a> {
    pub(crate) opened: &'a Opened,
    pub(crate) file: FromFile,
    /// The actor at the terminal.
    pub(crate) actor: String,
    pub(crate) lease: Duration,
    /// Whether the actor is asked about each call that waits.
    pub(crate) asks: bool,
    /// Whether the text of answers goes to standard output as it arrives.
    pub(crate) streams: bool,
    pub(crate) interrupts: Interrupts,
}

/// The end of a drive.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The run is over.
    Over(TerminationReason),
    /// Calls wait for decisions.
    Waits,
}

impl Driver<'_> {
    /// Makes the agent, before a run is created for it: a run that failed here would execute later.
    ///
    /// # Errors
    /// A mistake of the file, or an MCP server that cannot be used.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        self.opened.handle().block_on(self.file.agent(self.streams, None)).map(drop)
    }

    /// Drives a run until it is over, or waits without an answer.
    ///
    /// # Errors
    /// Another process has the run, the store refuses, or the agent cannot be made.
    pub(crate) fn drive(&self, run: &str, lines: &mut Option<Lines>) -> Result<Ending, Failure> {
        // Mistakes of the file show before the run is claimed.
        self.prepare()?;
        let Driver { opened, .. } = *self;
        let progress = Arc::new(Progress::on_stderr());
        let live = Live::new(Arc::clone(&progress), self.streams);
        let (state_dir, marks) = (opened.state_dir().map(Path::to_owned), Arc::clone(opened.marks()));
        let files = AgentFiles::One(Box::new(self.file.clone()));
        let host = RunExecutor::new(unix_clock(), state_dir, marks)
            .with_agents(files)
            .telling(Arc::new(live), self.streams);
        let worker =
            Worker::new(Arc::clone(&opened.store), machine::holder()).clock(unix_clock()).lease(self.lease);
        // A process that was killed leaves its lease.
        beside(opened.handle(), end_leases(&*opened.store)).ok();
        let cancelled = self.interrupts.driving(run);
        let ended = loop {
            let ended = opened.ask(worker.run_one(&host, run, CancellationToken::new()))?;
            match ended {
                Ended::Over(reason) => break Ok(Ending::Over(reason)),
                // The end of a cancelled run is committed.
                Ended::Waits(_) if cancelled.is_cancelled() => continue,
                Ended::Waits(_) if self.asks && self.ask(run, &progress, lines, &cancelled)? => continue,
                Ended::Waits(_) => break Ok(Ending::Waits),
                Ended::Lost(error) => break Err(self.interrupted(run, opened.failure(&error).message())),
                Ended::Deferred(why) => break Err(self.interrupted(run, &why)),
                ended => break Err(self.interrupted(run, &ended.to_string())),
            }
        };
        self.interrupts.driven();
        ended
    }

    fn interrupted(&self, run: &str, why: &str) -> Failure {
        let (again, run) = (self.opened.again(), quoted(run));
        let file = quoted(&self.file.path);
        Failure::new(format!("{run}: {why}")).of_the_run().with_help(format!(
            "the run is at its last commit; continue with: runstate chat {file} --thread {run}{again}{}",
            again.note()
        ))
    }

    /// Asks about the calls that wait. Returns whether the run goes on.
    fn ask(
        &self,
        run: &str,
        progress: &Progress,
        lines: &mut Option<Lines>,
        cancelled: &CancellationToken,
    ) -> Result<bool, Failure> {
        let state = state(self.opened, run)?;
        let lines = match lines {
            Some(lines) => lines,
            none => none.insert(Lines::of_stdin()?),
        };
        let mut given = Vec::new();
        let asking = asked(&state, &self.actor, progress, lines, &mut given);
        let is_cancelled = self.opened.handle().block_on(async {
            tokio::select! {
                asked = asking => asked.map(|()| false),
                () = cancelled.cancelled() => Ok(true),
            }
        })?;
        if is_cancelled {
            return Ok(true);
        }
        let (mut goes_on, schemas) = (false, JsonSchemas::new());
        for incoming in given {
            let incoming = Incoming { run_id: Some(run.to_owned()), ..incoming };
            let deciding = decide(&*self.opened.store, &incoming, unix_ms(), &schemas);
            let reply = self.opened.ask(deciding)?;
            let became = if reply == Reply::Accepted { String::new() } else { format!(" ({reply})") };
            progress.decided(&incoming, &became);
            // Another process may have decided first: the run goes on with that decision.
            goes_on |= matches!(reply, Reply::Accepted | Reply::Duplicate | Reply::Conflict(_));
        }
        Ok(goes_on)
    }

    /// Reports the end of a run, and checks its trace.
    ///
    /// # Errors
    /// The run or its trace cannot be read again.
    pub(crate) fn report(
        &self,
        run: &str,
        ending: &Ending,
        (place, as_json): (&StoreArgs, bool),
        out: &mut Output,
    ) -> Result<Exit, Failure> {
        let Driver { opened, .. } = *self;
        let state = state(opened, run)?;
        let trace = check_jsonl(StoredTrace::of(opened, run).reader(), &Laws::builtin()?.book)
            .map_err(|error| Failure::rendered(error.named(run).report()))?;
        let exit = match (ending, trace.verdict) {
            (_, Verdict::Violates | Verdict::Interrupted) => Exit::Bad,
            (Ending::Over(TerminationReason::NaturalEnd), _) => Exit::Good,
            (Ending::Waits, _) => Exit::Waiting,
            (Ending::Over(_), _) => Exit::Bad,
        };
        let waiting = waiting(opened, ApprovalFilter::Run(run.to_owned()))?;
        let answer = state.thread().last_answer().map(|turn| turn.text.as_str()).unwrap_or_default();
        let reason = match ending {
            Ending::Over(reason) => reason.to_string(),
            Ending::Waits => TerminationReason::Suspended.to_string(),
        };
        if as_json {
            out.json(&json!({
                "run": run,
                "status": state.run().status(),
                "reason": reason,
                "exit": exit.code(),
                "answer": answer,
                "steps": state.steps(),
                "usage": state.usage(),
                "waiting": waiting.iter().map(waiting_to_json).collect::<Vec<_>>(),
                "verdict": trace.verdict,
                "store": opened.url(),
            }));
            return Ok(exit);
        }
        match ending {
            Ending::Over(_) if exit == Exit::Good => out.lines(&format!("{answer}\n")),
            Ending::Over(reason) => out.line(&printable(&format!("{run} is done: {reason}"))),
            Ending::Waits if waiting.len() == 1 => {
                out.line(&printable(&format!("{run} waits for a decision")))
            }
            Ending::Waits => out.line(&printable(&format!("{run} waits for {} decisions", waiting.len()))),
        }
        let (run, place) = (quoted(run), place.to_repeat());
        let note = place.note();
        complain(&format!(
            "{}trace    {}",
            if exit == Exit::Good { "\n" } else { "" },
            trace.summary().trim_end()
        ));
        complain(&format!("show it with: runstate show {run}{place}{note}"));
        if exit == Exit::Waiting {
            let file = quoted(&self.file.path);
            complain(&format!("decide with: runstate approvals --run {run}{place}{note}"));
            complain(&format!(
                "continue with: runstate chat {file} --thread {run}{place}{note}, or by a worker"
            ));
        }
        Ok(exit)
    }
}

/// A stored run as types.
fn state(opened: &Opened, run: &str) -> Result<RunState, Failure> {
    let loaded = load(opened, run)?;
    let recorder = runstate::trace::Recorder::new(run);
    loaded
        .begin(migrations::OF_RUNS, migrations::OF_CALLS, &recorder)
        .map_err(|error| Failure::new(format!("{run}: the run cannot be restored: {error}")))
}

/// The signals of a command. While a run is driven, the first one cancels the run, and the second one ends the process: the
/// run then goes on from its last commit. At other times a signal ends the process.
#[derive(Debug, Clone)]
pub(crate) struct Interrupts {
    driven: Arc<Mutex<Option<(String, CancellationToken)>>>,
}

impl Interrupts {
    /// # Errors
    /// The system gives no signals.
    pub(crate) fn of(opened: &Opened) -> Result<Self, Failure> {
        let interrupts = Interrupts { driven: Arc::default() };
        let failed = |error: io::Error| Failure::new(format!("cannot wait for signals: {error}"));
        let mut signals = {
            let _in_runtime = opened.handle().enter();
            Signals::new().map_err(failed)?
        };
        let (known, store) = (interrupts.clone(), Arc::clone(&opened.store));
        opened.handle().spawn(async move {
            loop {
                let code = signals.next().await;
                let driven = known.lock().clone();
                let Some((run, token)) = driven.filter(|(_, token)| !token.is_cancelled()) else {
                    end_commands();
                    std::process::exit(code);
                };
                complain("cancelling the run; a second signal ends this command immediately");
                if let Err(error) = store.cancel(&run, "interrupted at the terminal").await {
                    complain(&printable(&format!("the run is not cancelled: {error}")));
                }
                token.cancel();
            }
        });
        Ok(interrupts)
    }

    fn lock(&self) -> MutexGuard<'_, Option<(String, CancellationToken)>> {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the driven run. Returns a token that its first signal cancels.
    fn driving(&self, run: &str) -> CancellationToken {
        let token = CancellationToken::new();
        *self.lock() = Some((run.to_owned(), token.clone()));
        token
    }

    fn driven(&self) {
        *self.lock() = None;
    }
}
