//! Progress of a run: lines on standard error, coloured on a terminal.

use std::env;
use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use runstate::decision::DecisionAction;
use runstate::trace::Event;
use runstate_agent::event::{AgentEvent, EventKind, EventSink};
use runstate_agent::{Incoming, Reply, RunState};
use runstate_scenario::{ExternalInput, Sent};

use crate::output::{complain, harmless, printable};

/// A line of parts, each with its colour and without arguments that may be secret.
fn line_of(coloured: bool, parts: &[(&str, &str)]) -> String {
    let shown = parts.iter().map(|(colour, text)| {
        let padding = &text[text.trim_end().len()..];
        let text = crate::quotable((*text).to_owned(), env::args_os()) + padding;
        if coloured && !colour.is_empty() { format!("{colour}{text}{PLAIN}") } else { text }
    });
    shown.collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

/// The format of progress lines.
#[derive(Debug)]
pub(crate) struct Progress {
    coloured: bool,
    /// Whether a prompt waits at the end of the last line.
    is_prompted: AtomicBool,
}

impl Progress {
    /// Coloured on a terminal, unless `NO_COLOR` is set.
    pub(crate) fn on_stderr() -> Self {
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Progress { coloured: stderr().is_terminal() && !unwanted, is_prompted: AtomicBool::new(false) }
    }

    /// Writes a question, or the response to its answer.
    pub(super) fn asks(&self, text: &str) {
        self.end_prompt();
        // Unlike other lines without a mask for secrets: the text is that of the call which an answer executes. Its parts are
        // harmless already.
        drop(writeln!(stderr(), "{}", harmless(text)));
    }

    /// Waits for an answer on this line. Progress before the answer begins a new line.
    pub(super) fn prompts(&self, text: &str) {
        let mut to = stderr().lock();
        self.is_prompted.store(true, Ordering::Relaxed);
        // A lost terminal is reported when it is read.
        drop(write!(to, "{text}").and_then(|()| to.flush()));
    }

    /// The line of a prompt has ended.
    pub(super) fn is_answered(&self) {
        self.is_prompted.store(false, Ordering::Relaxed);
    }

    fn end_prompt(&self) {
        if self.is_prompted.swap(false, Ordering::Relaxed) {
            complain("");
        }
    }

    /// Writes a line of parts, each with its colour.
    fn tell(&self, parts: &[(&str, &str)]) {
        self.end_prompt();
        // Colours are added behind the masks, which escape them.
        drop(writeln!(stderr(), "{}", line_of(self.coloured, parts)));
    }

    /// Writes a line of a speaker.
    pub(crate) fn says(&self, who: &str, what: &str) {
        if !what.is_empty() {
            self.tell(&[(BOLD, &format!("{:<14}", printable(who))), ("", &fit(what))]);
        }
    }

    /// Writes the transitions of calls since the last checkpoint: the final state of each.
    pub(crate) fn moved(&self, events: &[Event<'_>], state: &RunState) {
        for event in events.iter().filter(|event| event.lifecycle == "tool_call") {
            if !matches!(&*event.to, "Suspended" | "Succeeded" | "Failed" | "Cancelled") {
                continue;
            }
            let call = state.calls().find(|(name, _)| *name == event.instance);
            let what = call
                .map(|(_, call)| format!("{} {}", call.record().tool(), call.record().arguments()))
                .unwrap_or_default();
            self.line(&event.instance, &event.to, &what);
        }
    }

    /// Writes the reply to a decision or a message.
    pub(crate) fn replied(&self, sent: &Sent) {
        let reply = sent.replied.as_ref().and_then(|replied| replied.reply.as_ref());
        let became = match reply {
            Some(Reply::Accepted) => String::new(),
            Some(reply) => format!(" ({reply})"),
            None => " (not taken)".to_owned(),
        };
        match &sent.what {
            ExternalInput::Decision(incoming) => self.decided(incoming, &became),
            ExternalInput::Message(text) => self.says("user", &format!("{text}{became}")),
            _ => {}
        }
    }

    /// Writes a decision.
    pub(crate) fn decided(&self, incoming: &Incoming, became: &str) {
        let decided = match incoming.action {
            DecisionAction::Resume => "approves",
            DecisionAction::Cancel => "denies",
        };
        let who = incoming.actor.as_deref().unwrap_or("(no name)");
        let why = incoming.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        self.says(who, &format!("{decided} {}{why}{became}", incoming.call));
    }

    pub(crate) fn line(&self, call: &str, state: &str, what: &str) {
        let (call, state, what) = (format!("{:<14}", printable(call)), format!("{state:<9}"), fit(what));
        let colour = match state.trim_end() {
            "Succeeded" => GREEN,
            "Suspended" => YELLOW,
            _ => RED,
        };
        self.tell(&[(BOLD, &call), (colour, &state), ("", &what)]);
    }
}

/// Writes the answers of the model, once complete.
#[derive(Debug)]
pub(crate) struct Heard {
    progress: Arc<Progress>,
    text: Mutex<String>,
}

impl Heard {
    pub(crate) fn new(progress: Arc<Progress>) -> Self {
        Heard { progress, text: Mutex::default() }
    }
}

impl EventSink for Heard {
    fn emit(&self, event: &Arc<AgentEvent>) {
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        match &event.kind {
            EventKind::InferenceStarted { .. } => text.clear(),
            EventKind::TextDelta { text: delta, .. } => text.push_str(delta),
            EventKind::InferenceFinished { .. } => self.progress.says("model", &text),
            EventKind::Error { message } => self.progress.says("error", message),
            _ => {}
        }
    }
}

const BOLD: &str = "\u{1b}[1m";
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const RED: &str = "\u{1b}[31m";
const PLAIN: &str = "\u{1b}[0m";

/// The text that fits in a line.
fn fit(what: &str) -> String {
    const WIDEST: usize = 120;
    let mut what = printable(what);
    if let Some((cut, _)) = what.char_indices().nth(WIDEST) {
        what.truncate(cut);
        what.push('…');
    }
    what
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_no_part_of_the_masked_text() {
        let parts = [(BOLD, "c1  "), ("", "a \u{1b}[31m")];
        assert_eq!(line_of(true, &parts), "\u{1b}[1mc1  \u{1b}[0m a \\u{1b}[31m");
        assert_eq!(line_of(false, &parts), "c1   a \\u{1b}[31m");
    }
}
