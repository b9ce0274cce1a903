//! A program as a system under test: one JSON object a line, over its standard input and output.

use std::ffi::OsString;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::pipes::{Errors, LINE, Line, read_lines, write_lines};
use crate::sut::{Broken, Reply, Sut};

/// The lines that may wait for a reader.
const LINES: usize = 16;
/// The time that a program has to end after its standard input was closed.
const END: Duration = Duration::from_secs(2);
/// The time for the status and the last errors of a program that closed its output.
const LAST: Duration = Duration::from_millis(500);
/// The time that a program has to change its state by itself, in milliseconds.
const OBSERVE_MS: u64 = 50;

/// A program behind protocol 1. Its documentation is `docs/fuzzing.md`.
///
/// The program runs in a process group of its own. The group is killed when the value is dropped.
#[derive(Debug)]
pub struct Program {
    command: Vec<OsString>,
    lifecycle: String,
    seed: u64,
    start_timeout: Duration,
    timeout: Duration,
    is_fresh: bool,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    /// The lines to the thread that writes them: a program that stops reading holds that thread alone.
    input: Option<SyncSender<Vec<u8>>>,
    lines: Receiver<Line>,
    errors: Errors,
    /// The id of the next request.
    id: u64,
    can_reset: bool,
    is_broken: bool,
}

/// A request line.
#[derive(Serialize)]
struct Request<'a> {
    id: u64,
    #[serde(flatten)]
    body: Body<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Body<'a> {
    Hello { hello: Hello<'a> },
    Reset { reset: bool },
    Observe { observe_ms: u64 },
    Event { event: &'a str, payload: &'a Value },
}

#[derive(Serialize)]
struct Hello<'a> {
    protocol: u32,
    lifecycle: &'a str,
    seed: u64,
}

#[derive(Deserialize)]
struct Answer {
    id: Option<u64>,
    ready: Option<Ready>,
    state: Option<String>,
    #[serde(default)]
    taken: bool,
    refused: Option<Value>,
    error: Option<Value>,
    data: Option<Value>,
}

#[derive(Deserialize)]
struct Ready {
    #[serde(default)]
    reset: bool,
}

impl Program {
    /// Makes the system of a program with its arguments. It is not started yet.
    ///
    /// # Panics
    /// If the command has no program.
    pub fn new(command: Vec<OsString>, lifecycle: impl Into<String>, seed: u64) -> Self {
        assert!(!command.is_empty(), "a command begins with its program");
        Program {
            command,
            lifecycle: lifecycle.into(),
            seed,
            start_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(5),
            is_fresh: false,
            running: None,
        }
    }

    /// Sets the time for the first answer. Default: 10 s.
    #[must_use]
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = timeout;
        self
    }

    /// Sets the time for each other answer. Default: 5 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets whether each sequence has a process of its own, although the program can reset itself. Default: no.
    #[must_use]
    pub fn fresh(mut self, is_fresh: bool) -> Self {
        self.is_fresh = is_fresh;
        self
    }

    fn start(&mut self) -> Result<String, Broken> {
        self.end();
        let name = self.command[0].to_string_lossy().into_owned();
        let unusable = |why: String| Broken::Unusable(format!("the program {name:?} {why}"));
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| {
            let has_words = self.command.len() == 1 && name.contains(' ');
            let hint =
                if has_words { "; its arguments are words of their own, not part of its name" } else { "" };
            unusable(format!("cannot be started: {error}{hint}"))
        })?;
        let (to, lines) = sync_channel(LINES);
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || read_lines(output, &to));
        }
        let errors = child.stderr.take().ok_or_else(|| unusable("has no standard error".to_owned()))?;
        let errors = Errors::of(errors).map_err(|error| unusable(format!("cannot be started: {error}")))?;
        let input = child.stdin.take().map(|input| {
            let (to, lines) = sync_channel(1);
            thread::spawn(move || write_lines(input, &lines));
            to
        });
        self.running =
            Some(Running { child, input, lines, errors, id: 0, can_reset: false, is_broken: false });
        let lifecycle = self.lifecycle.clone();
        let hello = Hello { protocol: 1, lifecycle: &lifecycle, seed: self.seed };
        let said = self.ask(Body::Hello { hello }, self.start_timeout);
        let errors = || {
            let errors = self.log();
            let last = errors.lines().next_back().unwrap_or_default();
            if last.is_empty() { String::new() } else { format!("; its last line of errors is {last:?}") }
        };
        let answer = match said {
            Ok(answer) => answer,
            Err(
                Broken::Crash(why)
                | Broken::Timeout(why)
                | Broken::Garbage(why)
                | Broken::Flood(why)
                | Broken::Unusable(why),
            ) => {
                return Err(unusable(format!("gave no valid reply to `hello`: {why}{}", errors())));
            }
        };
        let (Some(ready), Some(state)) = (answer.ready, answer.state) else {
            let why = "gave no valid reply to `hello`: expected the fields `ready` and `state`";
            return Err(unusable(why.to_owned()));
        };
        if let Some(running) = &mut self.running {
            running.can_reset = ready.reset;
        }
        Ok(state)
    }

    /// Sends a request and waits for the answer.
    fn ask(&mut self, body: Body<'_>, timeout: Duration) -> Result<Answer, Broken> {
        let Some(running) = &mut self.running else {
            return Err(Broken::Unusable("no process runs".to_owned()));
        };
        let answer = running.ask(body, timeout);
        // A process that did not answer gets no time to end.
        running.is_broken = answer.is_err();
        answer
    }

    fn end(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        drop(running.input.take());
        let grace = if running.is_broken { Duration::ZERO } else { END };
        let ended = wait(&mut running.child, grace);
        #[cfg(unix)]
        if let Ok(group) = i32::try_from(running.child.id())
            && let Some(group) = rustix::process::Pid::from_raw(group)
        {
            // Processes of the group may outlive the program.
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
        }
        if ended.is_none() {
            running.child.kill().ok();
            running.child.wait().ok();
        }
    }
}

impl Running {
    /// The next line. A program that has ended gives none, even if a process that it left holds its output.
    fn line(&mut self, timeout: Duration) -> Result<Line, RecvTimeoutError> {
        const PAUSE: Duration = Duration::from_millis(50);
        let mut left = timeout;
        loop {
            let pause = PAUSE.min(left);
            match self.lines.recv_timeout(pause) {
                Err(RecvTimeoutError::Timeout) if matches!(self.child.try_wait(), Ok(Some(_))) => {
                    // It may have written a line just before its end.
                    return self.lines.recv_timeout(PAUSE).map_err(|_| RecvTimeoutError::Disconnected);
                }
                Err(RecvTimeoutError::Timeout) if left > pause => left -= pause,
                line => return line,
            }
        }
    }

    fn ask(&mut self, body: Body<'_>, timeout: Duration) -> Result<Answer, Broken> {
        // A line without a request.
        if let Ok(line) = self.lines.try_recv() {
            return Err(extra(line));
        }
        let id = self.id;
        self.id += 1;
        // A request only has texts, numbers and values, so its serialization cannot fail.
        let request = serde_json::to_string(&Request { id, body }).unwrap_or_default();
        let line = format!("{request}\n");
        if let Some(input) = &self.input {
            // A full channel or a gone thread: no reply comes.
            input.try_send(line.into_bytes()).ok();
        }
        let line = match self.line(timeout) {
            Ok(Line::Text(line)) => line,
            Ok(line) => return Err(extra(line)),
            Err(RecvTimeoutError::Timeout) => {
                let why = format!("no reply to {request} in {timeout:?}");
                return Err(Broken::Timeout(why));
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = wait(&mut self.child, LAST);
                // Its last words are read before they are told. A process that it left may hold its standard error.
                self.errors.wait(LAST);
                let status = status
                    .map_or_else(|| "closed its output".to_owned(), |status| format!("ended: {status}"));
                return Err(Broken::Crash(format!("the program {status}")));
            }
        };
        if !line.trim_start().starts_with('{') {
            return Err(Broken::Garbage(format!("the reply is {}; expected a JSON object", shown(&line))));
        }
        let answer: Answer = serde_json::from_str(&line)
            .map_err(|error| Broken::Garbage(format!("the reply is {}: {error}", shown(&line))))?;
        if answer.id != Some(id) {
            return Err(Broken::Garbage(format!("the reply is {}; expected the id {id}", shown(&line))));
        }
        if let Some(error) = &answer.error {
            return Err(Broken::Unusable(format!("the program cannot execute {request}: {error}")));
        }
        Ok(answer)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

impl Sut for Program {
    fn reset(&mut self) -> Result<String, Broken> {
        if self.is_fresh || !self.running.as_ref().is_some_and(|running| running.can_reset) {
            return self.start();
        }
        let answer = self.ask(Body::Reset { reset: true }, self.timeout)?;
        answer.state.ok_or_else(|| lacks("state"))
    }

    fn renew(&mut self) -> Result<String, Broken> {
        self.start()
    }

    fn state(&mut self) -> Result<String, Broken> {
        let timeout = self.timeout + Duration::from_millis(OBSERVE_MS);
        let answer = self.ask(Body::Observe { observe_ms: OBSERVE_MS }, timeout)?;
        answer.state.ok_or_else(|| lacks("state"))
    }

    fn apply(&mut self, event: &str, payload: &Value) -> Result<Reply, Broken> {
        let answer = self.ask(Body::Event { event, payload }, self.timeout)?;
        let state = answer.state.ok_or_else(|| lacks("state"))?;
        let reply = match (answer.taken, answer.refused) {
            (true, None) => Reply::taken(state),
            (false, Some(Value::String(reason))) => Reply::refused(reason, state),
            (false, Some(reason)) => Reply::refused(reason.to_string(), state),
            (true, Some(_)) => {
                return Err(Broken::Garbage("the reply has both `taken` and `refused`".to_owned()));
            }
            (false, None) => return Err(lacks("taken` or `refused")),
        };
        Ok(Reply { data: answer.data, ..reply })
    }

    /// The last 64 KiB that the current process wrote to standard error.
    fn log(&self) -> String {
        self.running.as_ref().map(|running| running.errors.last()).unwrap_or_default()
    }
}

fn lacks(field: &str) -> Broken {
    Broken::Garbage(format!("the reply lacks `{field}`"))
}

fn extra(line: Line) -> Broken {
    match line {
        Line::Text(line) => Broken::Garbage(format!("the line {} replies to no request", shown(&line))),
        Line::NoUtf8 => Broken::Garbage("a line is not UTF-8".to_owned()),
        Line::TooLong => Broken::Flood(format!("a line is longer than {LINE} bytes")),
    }
}

/// The beginning of a line, quoted.
fn shown(line: &str) -> String {
    let beginning: String = line.chars().take(200).collect();
    if beginning.len() < line.len() { format!("{beginning:?}…") } else { format!("{beginning:?}") }
}

/// Waits for the end of a process, at most for this time.
fn wait(child: &mut Child, limit: Duration) -> Option<std::process::ExitStatus> {
    const PAUSE: Duration = Duration::from_millis(5);
    let mut left = limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if !left.is_zero() => {}
            Ok(None) | Err(_) => return None,
        }
        let pause = PAUSE.min(left);
        thread::sleep(pause);
        left -= pause;
    }
}
