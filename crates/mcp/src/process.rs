//! Servers that are programs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

use crate::error::one_line;

/// The end of standard error that is kept, in bytes.
const TAIL: usize = 2 * 1024;

/// The longest wait for the end of standard error.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The processes of a server. Its drop ends all of them.
pub(crate) struct Process {
    child: Child,
    tail: Arc<Mutex<Vec<u8>>>,
    /// Whether standard error is at its end.
    told: watch::Receiver<bool>,
}

/// The input and output of a server.
pub(crate) type Pipes = (Lines<ChildStdout>, ChildStdin);

/// The groups of processes that live.
static LIVE: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn live() -> MutexGuard<'static, BTreeSet<u32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the processes of all servers that this process started. It is for a process that ends without dropping its servers.
pub fn end_servers() {
    live().iter().for_each(|id| kill(*id));
}

#[cfg(unix)]
fn kill(group: u32) {
    if let Some(group) = rustix::process::Pid::from_raw(group.cast_signed()) {
        // The group may have ended already.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    }
}

#[cfg(not(unix))]
fn kill(_: u32) {}

impl Process {
    /// Starts a program with these variables alone.
    pub(crate) fn start(
        command: &[OsString],
        env: &[(OsString, OsString)],
        folder: Option<&Path>,
        max_message: usize,
    ) -> io::Result<(Self, Pipes)> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program"));
        };
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        live().extend(child.id());
        let tail = Arc::new(Mutex::new(Vec::new()));
        let (tells, told) = watch::channel(false);
        if let Some(stderr) = child.stderr.take() {
            let tail = Arc::clone(&tail);
            tokio::spawn(async move {
                keep_tail(stderr, tail).await;
                tells.send_replace(true);
            });
        }
        let pipes = child.stdout.take().zip(child.stdin.take());
        let process = Process { child, tail, told };
        let (stdout, stdin) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
        Ok((process, (Lines::new(stdout, max_message), stdin)))
    }

    /// The last line of standard error of a program that has ended, for a message.
    pub(crate) async fn last_words(&self) -> Option<String> {
        let mut told = self.told.clone();
        // A process that it left behind may keep standard error open.
        drop(tokio::time::timeout(LAST_WORDS, told.wait_for(|told| *told)).await);
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail);
        text.lines().map(one_line).rfind(|line| !line.is_empty())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The child is not reaped yet, so its id is no other's.
        if let Some(id) = self.child.id() {
            kill(id);
            live().remove(&id);
        }
    }
}

async fn keep_tail(mut from: ChildStderr, tail: Arc<Mutex<Vec<u8>>>) {
    let mut chunk = [0_u8; 1024];
    while let Ok(count @ 1..) = from.read(&mut chunk).await {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&chunk[..count]);
        let more = tail.len().saturating_sub(TAIL);
        tail.drain(..more);
    }
}

/// A reader that fails at a line that is too long. The call of such a message would otherwise wait for its time limit.
pub(crate) struct Lines<R> {
    from: R,
    line: usize,
    most: usize,
}

impl<R> Lines<R> {
    pub(crate) fn new(from: R, most: usize) -> Self {
        Lines { from, line: 0, most }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.from).poll_read(cx, buf);
        if let Poll::Ready(Ok(())) = &read {
            let new = &buf.filled()[before..];
            self.line = match new.iter().rposition(|byte| *byte == b'\n') {
                Some(at) => new.len() - at - 1,
                None => self.line + new.len(),
            };
            if self.line > self.most {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "a message is too long")));
            }
        }
        read
    }
}
