//! A running program: under a supervisor and a time limit, with the last part of its output.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::net::Shutdown;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::plan;
use super::progress::Progress;
use super::strays;
use super::supervisor::{Order, Outcome, Supervisor, ordered};
use super::work::Work;

/// The kept part of each output: its end.
const KEPT: usize = 16 << 10;
/// The kept part of an output that is read as a whole.
pub(super) const KEPT_WHOLE: usize = 1 << 20;

#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) work: Work,
    pub(super) run: PathBuf,
    pub(super) progress: Arc<Progress>,
    pub(super) idle: Idle,
}

/// An idle supervisor between two commands of a drive. No rollback and no question begins before its end: nothing of a tool
/// is left then that could use it.
#[derive(Debug, Clone, Default)]
pub(super) struct Idle(Arc<Mutex<Option<Supervisor>>>);

impl Idle {
    fn take(&self) -> Option<Supervisor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, supervisor: Option<Supervisor>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = supervisor;
    }

    /// Ends the supervisor, and waits for its end.
    pub(super) fn end(&self) {
        drop(self.take());
    }
}

#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) env: Vec<(&'static str, String)>,
    /// Its standard input; `None` for an empty one.
    pub(super) input: Option<String>,
    /// Is its standard output read as a whole?
    pub(super) is_read_whole: bool,
}

#[derive(Debug)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) stdout: String,
    /// Was the beginning of the standard output omitted?
    pub(super) is_cut: bool,
    pub(super) stderr: String,
    /// The number of its remaining processes that were ended.
    pub(super) strays: usize,
    /// The number of processes that could not be ended.
    pub(super) left: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Exited(ExitStatus),
    /// It exceeded its time limit, and was ended.
    TimedOut,
    /// Its supervisor ended first, or another process answered for it: its own end is unknown.
    Unknown,
}

/// Runs a command to its end, and ends its remaining processes. If dropped, all of them are ended.
pub(super) async fn run(command: &plan::Command, place: &Place, told: Told) -> io::Result<Ended> {
    let folder = place.work.enter(&command.folder)?;
    let idle = place.idle.take();
    // A supervisor that ended meanwhile is no loss: it was idle.
    let lives = |mut idle: Supervisor| matches!(idle.process.try_wait(), Ok(None)).then_some(idle);
    let supervisor = match idle.and_then(lives) {
        Some(idle) => idle,
        None => Supervisor::start(&place.run)?,
    };
    let ((stdout, to_stdout), (stderr, to_stderr)) = (io::pipe()?, io::pipe()?);
    let most = if told.is_read_whole { KEPT_WHOLE } else { KEPT };
    let (stdout, stderr) = (tail(stdout, most), tail(stderr, KEPT));
    let env = told.env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let order = Order::new(command.run.clone(), env, told.input)?;
    let (said, mut outcome) = oneshot::channel();
    let socket = supervisor.socket.try_clone()?;
    let mut supervised = Supervised { supervisor: Some(supervisor), run: place.run.clone(), outcome: None };
    supervised.outcome = Some(thread::spawn(move || {
        drop(said.send(ordered(&socket, &order, [folder, to_stdout.into(), to_stderr.into()])))
    }));
    let limit = Duration::from_secs(command.time_limit_seconds);
    let in_time = tokio::time::timeout(limit, &mut outcome).await.ok();
    let is_in_time = in_time.is_some();
    let outcome = match in_time {
        Some(said) => {
            let outcome = said.ok().flatten();
            // Nothing of the tool remains, so the next one may use the supervisor.
            if matches!(outcome, Some(Outcome::NotStarted(..) | Outcome::Ended { left: 0, .. })) {
                place.idle.keep(supervised.supervisor.take());
            }
            outcome
        }
        None => {
            supervised.end();
            outcome.try_recv().ok().flatten()
        }
    };
    // All processes with the outputs have ended, so the outputs are at their end.
    drop(supervised);
    let (end, strays, left) = match outcome {
        Some(Outcome::NotStarted(Some(number), _)) => return Err(io::Error::from_raw_os_error(number)),
        Some(Outcome::NotStarted(None, why)) => return Err(io::Error::other(why)),
        Some(Outcome::Ended { status, strays, left }) if is_in_time => {
            (End::Exited(ExitStatus::from_raw(status)), strays, left)
        }
        Some(Outcome::Ended { strays, left, .. }) => (End::TimedOut, strays, left),
        // The remaining processes of the tool are unknown.
        None => (End::Unknown, 0, 0),
    };
    let ((stdout, is_cut), (stderr, _)) = (read(stdout).await, read(stderr).await);
    Ok(Ended { end, stdout, is_cut, stderr, strays, left })
}

/// A busy supervisor. Dropping it ends its tool, if that has not ended by itself. If the supervisor was killed, its
/// remaining processes are searched.
struct Supervised {
    /// `None` once its tool has ended.
    supervisor: Option<Supervisor>,
    run: PathBuf,
    outcome: Option<thread::JoinHandle<()>>,
}

/// The time for a supervisor to end the processes of its tool.
const RESPITE: Duration = Duration::from_secs(10);

impl Supervised {
    /// Ends the supervisor with its tool.
    fn end(&mut self) {
        let Some(mut supervisor) = self.supervisor.take() else { return };
        let (mut waited, mut pause) = (Duration::ZERO, Duration::from_micros(50));
        drop(supervisor.socket.shutdown(Shutdown::Write));
        let status = loop {
            match supervisor.process.try_wait() {
                Ok(None) if waited < RESPITE => {
                    thread::sleep(pause);
                    waited += pause;
                    pause = (2 * pause).min(Duration::from_millis(5));
                }
                ended => break ended.ok().flatten(),
            }
        };
        if !status.is_some_and(|status| status.success()) {
            drop(supervisor.process.kill());
            drop(supervisor.process.wait());
            strays::end_of(&self.run);
        }
        // The socket is at its end now, whatever other process has a copy.
        drop(supervisor.socket.shutdown(Shutdown::Both));
        drop(self.outcome.take().map(thread::JoinHandle::join));
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.end();
    }
}

/// The time to wait for the end of an output, once all its writers have ended.
const PATIENCE: Duration = Duration::from_secs(2);

async fn read(output: oneshot::Receiver<(String, bool)>) -> (String, bool) {
    match tokio::time::timeout(PATIENCE, output).await {
        Ok(read) => read.unwrap_or_default(),
        Err(_) => ("[unknown: a process that cannot be ended has it open]".to_owned(), false),
    }
}

/// Reads an output to its end, and keeps its last bytes. Returns whether a part was omitted.
fn tail(mut from: impl Read + Send + 'static, most: usize) -> oneshot::Receiver<(String, bool)> {
    let (told, output) = oneshot::channel();
    thread::spawn(move || {
        let (mut kept, mut cut, mut piece) = (VecDeque::new(), false, [0; 4096]);
        while let Ok(length @ 1..) = from.read(&mut piece) {
            kept.extend(&piece[..length]);
            let over = kept.len().saturating_sub(most);
            cut |= over > 0;
            kept.drain(..over);
        }
        let text = String::from_utf8_lossy(kept.make_contiguous()).into_owned();
        // The call may be over.
        drop(told.send((if cut { format!("[…] {text}") } else { text }, cut)));
    });
    output
}
