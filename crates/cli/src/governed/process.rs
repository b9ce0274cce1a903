//! A program at work: in a process group of its own, under a time limit, its output kept to the last part.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::plan;
use super::strays;

/// How much of each output is kept: its end.
const KEPT: usize = 16 << 10;
/// The same of an output that is read as a whole.
pub(super) const KEPT_WHOLE: usize = 1 << 20;

/// The input of a program.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Variables of its environment.
    pub(super) env: Vec<(&'static str, String)>,
    /// Its standard input; none for an empty one.
    pub(super) input: Option<String>,
    /// Is its standard output read as a whole?
    pub(super) is_read_whole: bool,
}

/// How a program ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// None when its time was over and it was ended.
    pub(super) status: Option<ExitStatus>,
    pub(super) stdout: String,
    /// Was the beginning of the standard output left out?
    pub(super) is_cut: bool,
    pub(super) stderr: String,
    /// How many processes it had left running. They were ended.
    pub(super) strays: usize,
}

/// The process group of a program, ended when this is dropped before the program has ended by itself.
struct Group {
    pid: u32,
    /// Once it is reaped its id may be another's.
    reaped: Arc<Mutex<bool>>,
}

impl Drop for Group {
    fn drop(&mut self) {
        let reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        if !*reaped {
            end_group(self.pid);
            strays::end_children(self.pid);
        }
    }
}

/// Runs a command to its end, and ends the processes that it leaves. Dropped before that, all of it is ended.
///
/// # Errors
/// That it cannot be started.
pub(super) async fn run(command: &plan::Command, work: &Path, run: &Path, told: Told) -> io::Result<Ended> {
    super::folder::check_own(work)?;
    let (program, arguments) = command.run.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command_line = Command::new(program);
    command_line.args(arguments).current_dir(work.join(&command.folder));
    // A tool that has the key could write the files of its own run.
    command_line.envs(told.env).env(strays::MARKER, run).env_remove(crate::keys::VARIABLE);
    strays::adopt();
    let mut child = spawn(&mut command_line, told.input.is_some())?;
    if let (Some(text), Some(mut input)) = (told.input, child.stdin.take()) {
        // A program need not read it.
        thread::spawn(move || drop(input.write_all(text.as_bytes())));
    }
    let pid = child.id();
    let reaped = Arc::new(Mutex::new(false));
    let group = Group { pid, reaped: Arc::clone(&reaped) };
    let most = if told.is_read_whole { KEPT_WHOLE } else { KEPT };
    let (stdout, stderr) = (tail(child.stdout.take(), most), tail(child.stderr.take(), KEPT));
    let (said, ended) = oneshot::channel();
    thread::spawn(move || {
        let status = wait(&mut child, &reaped);
        // Nobody waits any more when the run was stopped meanwhile.
        drop(said.send(status));
    });
    let limit = Duration::from_secs(command.time_limit_seconds);
    let status = match tokio::time::timeout(limit, ended).await {
        Ok(Ok(status)) => Some(status?),
        Ok(Err(_)) => return Err(io::Error::other("the thread that waited for it is gone")),
        Err(_) => None,
    };
    drop(group);
    // All that had the outputs is gone, so they have come to their end.
    let strays = strays::end_children(pid);
    let ((stdout, is_cut), (stderr, _)) = (read(stdout).await, read(stderr).await);
    Ok(Ended { status, stdout, is_cut, stderr, strays })
}

/// How long the end of an output is waited for, once all that had it was ended.
const PATIENCE: Duration = Duration::from_secs(2);

async fn read(output: oneshot::Receiver<(String, bool)>) -> (String, bool) {
    match tokio::time::timeout(PATIENCE, output).await {
        Ok(read) => read.unwrap_or_default(),
        Err(_) => ("[unknown: a process that cannot be ended keeps it open]".to_owned(), false),
    }
}

/// Reads an output to its end, and keeps the last part of it, of so many bytes. Says whether that is not all.
fn tail(from: Option<impl Read + Send + 'static>, most: usize) -> oneshot::Receiver<(String, bool)> {
    let (told, output) = oneshot::channel();
    thread::spawn(move || {
        let Some(mut from) = from else { return };
        let (mut kept, mut cut, mut piece) = (VecDeque::with_capacity(KEPT), false, [0; 4096]);
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

#[cfg(unix)]
fn spawn(command: &mut Command, has_input: bool) -> io::Result<Child> {
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;
    let input = if has_input { Stdio::piped() } else { Stdio::null() };
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()
}

#[cfg(not(unix))]
fn spawn(_: &mut Command, _: bool) -> io::Result<Child> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "commands can be run under Unix alone: a process group is needed",
    ))
}

/// Waits for the leader, ends whoever is left of its group, and only then lets its id go.
#[cfg(unix)]
fn wait(child: &mut Child, reaped: &Mutex<bool>) -> io::Result<ExitStatus> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    }
    let mut reaped = reaped.lock().unwrap_or_else(PoisonError::into_inner);
    end_group(child.id());
    *reaped = true;
    child.wait()
}

#[cfg(not(unix))]
fn wait(child: &mut Child, _: &Mutex<bool>) -> io::Result<ExitStatus> {
    child.wait()
}

/// Ends the process group of that id; says whether there was one.
#[cfg(unix)]
pub(super) fn end_group(pid: u32) -> bool {
    use rustix::process::{Pid, Signal, kill_process_group};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| kill_process_group(pid, Signal::KILL).is_ok())
}

#[cfg(not(unix))]
pub(super) fn end_group(_: u32) -> bool {
    false
}
