//! The process between the command and a tool: it outlives the command by as long as it takes to end the tool, and all that the tool
//! started.
//!
//! It is this program with another first argument. Its standard input is a socket to the command: the order comes in by it, how the tool
//! ended goes out, and when the command closes it, or is killed, the tool is ended. Processes that lose their parent become its children, in
//! whatever session or group they are (Linux), so that none is left when it ends.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;

use serde::{Deserialize, Serialize};

/// The first argument of a supervisor.
const WORD: &str = "supervise-tool";

/// A program to be run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) run: Vec<String>,
    /// The standard input of the tool; none for an empty one.
    pub(super) input: Option<String>,
}

/// How it ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// An error of the operating system, by its number.
    NotStarted(Option<i32>, String),
    Ended {
        /// As the operating system has it: an exit code or a signal.
        status: i32,
        /// How many processes it had left running. They were ended.
        strays: usize,
    },
}

impl Order {
    /// Sends it: its length, and the order.
    pub(super) fn send(&self, mut to: impl Write) -> io::Result<()> {
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        to.write_all(&(text.len() as u64).to_le_bytes())?;
        to.write_all(&text)
    }

    fn receive(mut from: impl Read) -> io::Result<Self> {
        let mut length = [0; 8];
        from.read_exact(&mut length)?;
        let mut text = Vec::new();
        from.take(u64::from_le_bytes(length)).read_to_end(&mut text)?;
        serde_json::from_slice(&text).map_err(io::Error::other)
    }
}

/// Is this process a supervisor, by its arguments?
pub(crate) fn is_one() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == OsStr::new(WORD))
}

#[cfg(unix)]
mod unix {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::sync::{Arc, Mutex, PoisonError};

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

    use super::{Child, Command, ExitCode, Order, Outcome, Read, Stdio, WORD, Write, io, thread};
    use crate::governed::strays;

    /// A supervisor that is not started yet, and the socket to it.
    pub(in super::super) fn prepared() -> io::Result<(Command, UnixStream)> {
        let (ours, its) = UnixStream::pair()?;
        // By this name it is the program that runs, also when its file was replaced.
        let program =
            if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { std::env::current_exe()? };
        let mut command = Command::new(program);
        command
            .arg0("runstate")
            .arg(WORD)
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(its)))
            .process_group(0);
        Ok((command, ours))
    }

    /// Supervises one tool.
    pub(crate) fn supervise() -> ExitCode {
        match supervised() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                crate::output::complain(&format!("{WORD} is for this program's own use: {error}"));
                ExitCode::from(2)
            }
        }
    }

    fn supervised() -> io::Result<()> {
        let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        let order = Order::receive(&socket)?;
        strays::adopt();
        let outcome = match start(&order) {
            Err(error) => Outcome::NotStarted(error.raw_os_error(), error.to_string()),
            Ok(mut tool) => {
                if let (Some(text), Some(mut input)) = (order.input, tool.stdin.take()) {
                    // A program need not read it.
                    thread::spawn(move || drop(input.write_all(text.as_bytes())));
                }
                let leader =
                    i32::try_from(tool.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::Other)?;
                // Once it is reaped its id may be another's.
                let lives = Arc::new(Mutex::new(true));
                end_with(socket.try_clone()?, leader, Arc::clone(&lives));
                waitid(WaitId::Pid(leader), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
                let mut lives = lives.lock().unwrap_or_else(PoisonError::into_inner);
                kill_process_group(leader, Signal::KILL).ok();
                *lives = false;
                let status = tool.wait()?.into_raw();
                Outcome::Ended { status, strays: strays::end_children() }
            }
        };
        // The command may be gone.
        drop((&socket).write_all(&serde_json::to_vec(&outcome).map_err(io::Error::other)?));
        Ok(())
    }

    fn start(order: &Order) -> io::Result<Child> {
        let (program, arguments) = order.run.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let input = if order.input.is_some() { Stdio::piped() } else { Stdio::null() };
        Command::new(program).args(arguments).stdin(input).process_group(0).spawn()
    }

    /// Ends the tool when the command closes the socket, or is no more. What the tool leaves is ended then like that of any other tool.
    fn end_with(mut socket: UnixStream, leader: Pid, lives: Arc<Mutex<bool>>) {
        thread::spawn(move || {
            let mut nothing = [0];
            while matches!(socket.read(&mut nothing), Ok(1..)) {}
            if *lives.lock().unwrap_or_else(PoisonError::into_inner) {
                kill_process_group(leader, Signal::KILL).ok();
                kill_process(leader, Signal::KILL).ok();
            }
        });
    }
}
#[cfg(unix)]
pub(super) use unix::prepared;
#[cfg(unix)]
pub(crate) use unix::supervise;

/// Commands can be run under Unix alone: a process group is needed.
#[cfg(not(unix))]
pub(crate) fn supervise() -> ExitCode {
    ExitCode::from(2)
}
