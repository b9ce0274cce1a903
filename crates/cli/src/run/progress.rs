//! What is said while a run goes on: lines on standard error, coloured on a terminal.

use std::env;
use std::io::{IsTerminal, stderr};

use runstate::agent::RunState;
use runstate::trace::Event;

use crate::output::{complain, printable};

/// How what is said looks.
#[derive(Debug)]
pub(crate) struct Progress {
    coloured: bool,
}

impl Progress {
    /// Coloured on a terminal, unless `NO_COLOR` is set.
    pub(crate) fn on_stderr() -> Self {
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Progress { coloured: stderr().is_terminal() && !unwanted }
    }

    /// Someone says something.
    pub(crate) fn says(&self, who: &str, what: &str) {
        if !what.is_empty() {
            let (who, what) = (format!("{:<14}", printable(who)), fit(what));
            complain(&if self.coloured {
                format!("{BOLD}{who}{PLAIN} {what}")
            } else {
                format!("{who} {what}")
            });
        }
    }

    /// What happened to calls since the last checkpoint: where each came to rest.
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

    fn line(&self, call: &str, state: &str, what: &str) {
        let (call, state, what) = (format!("{:<14}", printable(call)), format!("{state:<9}"), fit(what));
        let colour = match state.trim_end() {
            "Succeeded" => GREEN,
            "Suspended" => YELLOW,
            _ => RED,
        };
        complain(&if self.coloured {
            format!("{BOLD}{call}{PLAIN} {colour}{state}{PLAIN} {what}")
        } else {
            format!("{call} {state} {what}")
        });
    }
}

const BOLD: &str = "\u{1b}[1m";
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const RED: &str = "\u{1b}[31m";
const PLAIN: &str = "\u{1b}[0m";

/// What fits in a line.
fn fit(what: &str) -> String {
    const WIDEST: usize = 120;
    let mut what = printable(what);
    if let Some((cut, _)) = what.char_indices().nth(WIDEST) {
        what.truncate(cut);
        what.push('…');
    }
    what
}
