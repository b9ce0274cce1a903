//! The process between the command and a tool: it outlives the command for the time it needs to end the tool, and all
//! processes of the tool.
//!
//! It is this program with another first argument. Its standard input is a socket to the command: it receives orders, with
//! the outputs of the tool and its folder, and sends the result of the tool. If the command closes the socket, or is killed,
//! the tool is ended. Processes that lose their parent become its children, in any session or group (Linux), so that none
//! survives its tool.
//!
//! If a tool left no process, its supervisor serves the next tool, since starting a program takes longer than many tools do.
//! An answer begins with the random word of its order. Nothing that a tool writes into the socket of its supervisor has that
//! word: it is no answer, and the supervisor is not used again. On Linux no process of a normal user opens the descriptors
//! or the memory of a supervisor.

use crate::governed::strays::{self, Swept};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, chdir, fchdir, kill_process, kill_process_group, waitid,
};
use std::ffi::OsStr;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The first argument of a supervisor.
pub(super) const WORD: &str = "supervise-tool";

/// The random word of an order, with which its answer begins.
type Word = [u8; 16];

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    word: Word,
    run: Vec<String>,
    /// Variables of its environment beside those of the supervisor.
    env: Vec<(String, String)>,
    /// The standard input of the tool; `None` for an empty one.
    input: Option<String>,
}

impl Order {
    /// An order of a program, with variables of its environment and its standard input.
    pub(super) fn new(
        run: Vec<String>,
        env: Vec<(String, String)>,
        input: Option<String>,
    ) -> io::Result<Self> {
        let mut word = Word::default();
        getrandom::fill(&mut word)?;
        Ok(Order { word, run, env, input })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// An error of the operating system, by its number.
    NotStarted(Option<i32>, String),
    Ended {
        /// As the operating system has it: an exit code or a signal.
        status: i32,
        /// The number of its remaining processes that were ended.
        strays: usize,
        /// The number of processes that could not be ended.
        left: usize,
    },
}

/// Sends a value: the first bytes, its length, and its text.
fn send(first: &[u8], value: &impl Serialize, mut to: impl Write) -> io::Result<()> {
    let text = serde_json::to_vec(value).map_err(io::Error::other)?;
    to.write_all(&[first, &(text.len() as u64).to_le_bytes(), &text].concat())
}

/// The maximum size of a sent value, in bytes.
const MOST: u64 = 64 << 20;

fn receive<T: DeserializeOwned>(mut from: impl Read) -> io::Result<T> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > MOST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut text = Vec::new();
    from.take(length).read_to_end(&mut text)?;
    serde_json::from_slice(&text).map_err(io::Error::other)
}

/// Is this process a supervisor, by its arguments?
pub(crate) fn is_one() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == OsStr::new(WORD))
}

/// The first word of a supervisor. It announces that this process ends all its descendants.
const HELLO: &[u8; 8] = b"runstate";
/// The time limit for its first word.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Supervisor {
    pub(super) process: Child,
    pub(super) socket: UnixStream,
}

impl Supervisor {
    /// Starts one, with the folder of a run in its environment.
    pub(super) fn start(run: &std::path::Path) -> io::Result<Self> {
        // A tool could send orders through the command's end of the socket.
        strays::close();
        let (socket, its) = UnixStream::pair()?;
        // This name is the running program, even if its file was replaced.
        let program =
            if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { std::env::current_exe()? };
        let mut command = Command::new(program);
        // Its environment is closed to the search for processes of a run, and its arguments are not.
        command.arg0("runstate").arg(WORD).arg(strays::marker(run)).process_group(0);
        command.stdin(Stdio::from(OwnedFd::from(its))).stdout(Stdio::null()).stderr(Stdio::null());
        // A tool with the key could write the files of its own run.
        command.env(strays::MARKER, strays::marker(run)).env_remove(crate::keys::VARIABLE);
        let supervisor = Supervisor { process: command.spawn()?, socket };
        supervisor.socket.set_read_timeout(Some(PATIENCE))?;
        let mut said = [0; HELLO.len()];
        if (&supervisor.socket).read_exact(&mut said).is_err() || said != *HELLO {
            let program = std::env::current_exe()?;
            return Err(io::Error::other(format!(
                "the supervisor of the tools does not answer: expected the program `runstate` at {}, which may be a loader",
                program.display()
            )));
        }
        supervisor.socket.set_read_timeout(None)?;
        Ok(supervisor)
    }
}

/// An idle supervisor ends when its socket is closed, and is waited for: a command leaves no child behind. One that does not end is
/// killed.
impl Drop for Supervisor {
    fn drop(&mut self) {
        drop(self.socket.shutdown(std::net::Shutdown::Both));
        for _ in 0..200 {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        drop(self.process.kill().and_then(|()| self.process.wait()));
    }
}

/// The descriptors that a tool gets from the command: its working folder, its standard output and its standard error.
const FDS: usize = 3;

/// Orders a tool, in that folder and with those outputs, and waits for its end. `None` if the supervisor has ended.
pub(super) fn ordered(socket: &UnixStream, order: &Order, given: [OwnedFd; FDS]) -> Option<Outcome> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS))];
    let mut with = SendAncillaryBuffer::new(&mut space);
    let fds = given.each_ref().map(AsFd::as_fd);
    with.push(SendAncillaryMessage::ScmRights(&fds));
    sendmsg(socket, &[IoSlice::new(b"!")], &mut with, SendFlags::empty()).ok()?;
    // Only the supervisor and the tool keep these descriptors.
    drop(given);
    send(&[], order, socket).ok()?;
    let mut word = Word::default();
    (&mut &*socket).read_exact(&mut word).ok()?;
    if word != order.word {
        return None;
    }
    receive(socket).ok()
}

/// An order, with the descriptors of its tool.
fn received(socket: &UnixStream) -> io::Result<(Order, Vec<OwnedFd>)> {
    #[cfg(target_os = "linux")]
    const FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    const FLAGS: RecvFlags = RecvFlags::empty();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS))];
    let (mut with, mut mark) = (RecvAncillaryBuffer::new(&mut space), [0]);
    if recvmsg(socket, &mut [IoSliceMut::new(&mut mark)], &mut with, FLAGS)?.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut given = Vec::new();
    for message in with.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            given.extend(fds);
        }
    }
    Ok((receive(socket)?, given))
}

pub(crate) fn supervise() -> ExitCode {
    match supervised() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::output::complain(&format!("{WORD} is internal to this program: {error}"));
            ExitCode::from(2)
        }
    }
}

/// The running tool. Once it is reaped another process may get its id.
#[derive(Default)]
struct Current {
    leader: Option<Pid>,
    /// Did the command close the socket, or end? No tool is started then.
    is_over: bool,
}

fn locked(current: &Mutex<Current>) -> MutexGuard<'_, Current> {
    current.lock().unwrap_or_else(PoisonError::into_inner)
}

fn supervised() -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.peer_addr()?;
    strays::adopt();
    (&socket).write_all(HELLO)?;
    let current = Arc::new(Mutex::new(Current::default()));
    let orders = orders(socket.try_clone()?, Arc::clone(&current));
    for (order, given) in orders {
        let outcome = match start(&order, given, &current) {
            Err(error) => Outcome::NotStarted(error.raw_os_error(), error.to_string()),
            Ok((mut tool, leader)) => {
                if let (Some(text), Some(mut input)) = (order.input, tool.stdin.take()) {
                    // A program need not read it.
                    thread::spawn(move || drop(input.write_all(text.as_bytes())));
                }
                waitid(WaitId::Pid(leader), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
                let mut current = locked(&current);
                kill_process_group(leader, Signal::KILL).ok();
                current.leader = None;
                let status = tool.wait()?.into_raw();
                let Swept { ended, left } = strays::end_children();
                Outcome::Ended { status, strays: ended, left }
            }
        };
        // The command may have ended.
        drop(send(&order.word, &outcome, &socket));
    }
    Ok(())
}

/// Receives the orders of the command. When the command closes the socket, or ends, the tool is ended; its descendants are
/// ended like those of any other tool.
fn orders(socket: UnixStream, current: Arc<Mutex<Current>>) -> mpsc::Receiver<(Order, Vec<OwnedFd>)> {
    let (given, orders) = mpsc::channel();
    thread::spawn(move || {
        while let Ok(order) = received(&socket) {
            if given.send(order).is_err() {
                break;
            }
        }
        let mut current = locked(&current);
        current.is_over = true;
        if let Some(leader) = current.leader {
            kill_process_group(leader, Signal::KILL).ok();
            kill_process(leader, Signal::KILL).ok();
        }
    });
    orders
}

fn start(order: &Order, given: Vec<OwnedFd>, current: &Mutex<Current>) -> io::Result<(Child, Pid)> {
    let (program, arguments) = order.run.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let Ok([folder, stdout, stderr]) = <[OwnedFd; FDS]>::try_from(given) else {
        return Err(io::Error::other("the supervisor got no folder and no outputs of the tool"));
    };
    let input = if order.input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut command = Command::new(program);
    command.args(arguments);
    command.envs(order.env.iter().map(|(name, value)| (name, value)));
    command.stdin(input).stdout(stdout).stderr(stderr).process_group(0);
    // Either this check sees the end of the command, or the end sees the tool.
    let mut current = locked(current);
    if current.is_over {
        return Err(io::Error::other("the command has ended"));
    }
    // By the open folder, whatever has its name now. This process itself works in no folder, and blocks none.
    fchdir(&folder)?;
    let tool = command.spawn();
    chdir("/")?;
    let tool = tool?;
    let leader = i32::try_from(tool.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::Other)?;
    current.leader = Some(leader);
    Ok((tool, leader))
}
