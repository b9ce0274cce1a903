//! Questions at the terminal.

use std::io::{self, BufRead, IsTerminal, Read, stdin};
use std::sync::mpsc;
use std::thread;

use runstate::decision::{DecisionAction, ResumeMode};
use runstate_agent::{Incoming, Pending, RunState};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::progress::Progress;
use super::report::question;
use crate::failure::Failure;

/// A line of standard input, or one that is too long.
#[derive(Debug)]
enum Line {
    Whole(String),
    TooLong,
}

/// The maximum length of a line, in bytes.
const MOST: u64 = 1 << 20;

/// The lines of standard input. A thread reads each on request, so that a question can be abandoned before its line arrives.
#[derive(Debug)]
pub(crate) struct Lines {
    wanted: mpsc::Sender<()>,
    read: UnboundedReceiver<io::Result<Option<Line>>>,
    /// Whether the thread reads a line, or has read one that no question took.
    is_wanted: bool,
}

impl Lines {
    /// # Errors
    /// The thread cannot be made.
    pub(crate) fn of_stdin() -> Result<Self, Failure> {
        let (wanted, wants) = mpsc::channel();
        let (reads, read) = unbounded_channel();
        let reader = move || {
            while wants.recv().is_ok() && reads.send(line()).is_ok() {}
        };
        thread::Builder::new().name("answers".to_owned()).spawn(reader).map_err(|error| refused(&error))?;
        Ok(Lines { wanted, read, is_wanted: false })
    }

    /// Drops text that was typed before a question is shown: it cannot be its answer. Input from another source was written
    /// for the questions, in their order.
    fn drop_typed(&mut self) {
        #[cfg(unix)]
        if stdin().is_terminal() {
            // A lost terminal is reported when it is read.
            rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush).unwrap_or_default();
            self.is_wanted &= self.read.try_recv().is_err();
        }
    }

    /// The next line, without its end; an empty one at the end of the input. If dropped while waiting, it loses no line.
    async fn next(&mut self) -> Result<String, Failure> {
        Ok(match self.line().await? {
            Some(Line::Whole(line)) => line,
            // No answer: the question is asked again.
            Some(Line::TooLong) => "?".to_owned(),
            None => String::new(),
        })
    }

    /// The next line, without its end; none at the end of the input.
    async fn line(&mut self) -> Result<Option<Line>, Failure> {
        if !self.is_wanted {
            self.is_wanted = self.wanted.send(()).is_ok();
        }
        let line = self.read.recv().await;
        self.is_wanted = false;
        line.unwrap_or(Ok(None)).map_err(|error| refused(&error))
    }

    /// The next line as a message; none at the end of the input.
    ///
    /// # Errors
    /// The input cannot be read.
    #[cfg(feature = "agents")]
    pub(crate) fn next_message(
        &mut self,
        handle: &tokio::runtime::Handle,
    ) -> Result<Option<String>, Failure> {
        match handle.block_on(self.line())? {
            Some(Line::Whole(line)) => Ok(Some(line)),
            Some(Line::TooLong) => Err(Failure::new(format!("a message has more than {MOST} bytes"))
                .with_help("write the text to a file, and name the file in the message")),
            None => Ok(None),
        }
    }
}

/// A line of standard input. None at its end.
fn line() -> io::Result<Option<Line>> {
    let (mut line, mut stdin) = (String::new(), stdin().lock());
    // A longer line is read to its end, and is no answer.
    let count = stdin.by_ref().take(MOST).read_line(&mut line)? as u64;
    if count == MOST && !line.ends_with('\n') {
        stdin.skip_until(b'\n')?;
        return Ok(Some(Line::TooLong));
    }
    Ok((count > 0).then(|| Line::Whole(line.trim().to_owned())))
}

fn refused(error: &io::Error) -> Failure {
    Failure::new(format!("cannot ask at the terminal: {error}"))
}

/// Asks about each waiting call, and adds the answers. If dropped while waiting, it keeps the answers so far.
///
/// # Errors
/// The terminal cannot be read.
pub(crate) async fn asked(
    state: &RunState,
    actor: &str,
    progress: &Progress,
    lines: &mut Lines,
    given: &mut Vec<Incoming>,
) -> Result<(), Failure> {
    for pending in state.pending() {
        lines.drop_typed();
        progress.asks(&question(&pending));
        given.extend(answer(&pending, actor, progress, lines).await?);
    }
    Ok(())
}

/// The answer to one question; `None` for an empty line or the end of the input, which leave the call waiting.
async fn answer(
    pending: &Pending<'_>,
    actor: &str,
    progress: &Progress,
    lines: &mut Lines,
) -> Result<Option<Incoming>, Failure> {
    let suspension = pending.suspension;
    // A bare yes is not an answer to it.
    let wants_answer =
        suspension.resume_mode != ResumeMode::ReplayToolCall || suspension.response_schema.is_some();
    let mut incoming =
        Incoming::new(format!("{}/decision", suspension.id), pending.call, DecisionAction::Resume)
            .on(&suspension.id)
            .by(actor);
    let wants_text = suspension.response_schema.as_ref().is_some_and(|schema| schema["type"] == "string");
    loop {
        progress.prompts(match wants_answer {
            true if wants_text => TEXT,
            true => ANSWER,
            false => APPROVE,
        });
        let line = lines.next().await?;
        progress.is_answered();
        let (word, reason) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        match &*word.to_lowercase() {
            "" => {
                progress.asks("");
                return Ok(None);
            }
            "y" | "yes" if !wants_answer => {}
            // A text may begin with the word "no".
            "n" => incoming.action = DecisionAction::Cancel,
            "no" if !wants_text => incoming.action = DecisionAction::Cancel,
            _ if wants_text && !line.starts_with('"') => {
                return Ok(Some(incoming.with_result(Value::String(line))));
            }
            _ if wants_answer => match runstate::json::from_str::<Value>(&line) {
                Ok(result) if !result.is_null() => return Ok(Some(incoming.with_result(result))),
                Ok(_) => continue,
                Err(error) => {
                    progress.asks(&format!("expected JSON, {error}"));
                    continue;
                }
            },
            _ => continue,
        }
        incoming.reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        return Ok(Some(incoming));
    }
}

const APPROVE: &str =
    "[y] approve, [n] deny, either with a reason after it; [enter] leave the call waiting: ";
const TEXT: &str = "the answer, or [n] deny, with a reason after it; [enter] leave the call waiting: ";
const ANSWER: &str =
    "the answer as JSON, or [n] deny, with a reason after it; [enter] leave the call waiting: ";
