//! The progress of an agent, as it happens.

use std::collections::BTreeMap;
use std::io::{Write, stdout};
use std::sync::{Arc, Mutex, PoisonError};

use runstate_agent::event::{AgentEvent, CallOutcome, EventKind, EventSink};

use crate::output::harmless;
use crate::run::Progress;

/// Writes calls and answers of an agent. With `streams` the text of answers goes to standard output as it arrives.
#[derive(Debug)]
pub(super) struct Live {
    progress: Arc<Progress>,
    streams: bool,
    shown: Mutex<Shown>,
}

#[derive(Debug, Default)]
struct Shown {
    /// The tool and the arguments of each call.
    calls: BTreeMap<String, String>,
    text: String,
}

impl Live {
    pub(super) fn new(progress: Arc<Progress>, streams: bool) -> Self {
        Live { progress, streams, shown: Mutex::default() }
    }
}

/// Writes a piece of an answer. A closed output is reported at the end of the command.
fn write(text: &str) {
    let mut to = stdout().lock();
    drop(to.write_all(harmless(text).as_bytes()).and_then(|()| to.flush()));
}

impl EventSink for Live {
    fn emit(&self, event: &Arc<AgentEvent>) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        match &event.kind {
            EventKind::InferenceStarted { .. } => shown.text.clear(),
            EventKind::TextDelta { text, .. } => {
                shown.text.push_str(text);
                if self.streams {
                    write(text);
                }
            }
            EventKind::InferenceFinished { .. } if self.streams && !shown.text.is_empty() => write("\n"),
            EventKind::InferenceFinished { .. } if !self.streams => self.progress.says("model", &shown.text),
            EventKind::ToolCallReady { call, tool, arguments, .. } => {
                shown.calls.insert(call.clone(), format!("{tool} {arguments}"));
            }
            EventKind::ToolCallSuspended { interrupt } => {
                let what = shown.calls.get(&interrupt.call).unwrap_or(&interrupt.tool);
                self.progress.line(&interrupt.call, "Suspended", what);
            }
            EventKind::ToolCallDone { call, outcome } => {
                let (state, why) = match outcome {
                    CallOutcome::Succeeded { .. } => ("Succeeded", String::new()),
                    CallOutcome::Failed { error } => ("Failed", format!(": {error}")),
                    CallOutcome::Cancelled { reason, .. } => ("Cancelled", format!(": {reason}")),
                };
                let what = shown.calls.get(call).map_or("", String::as_str);
                self.progress.line(call, state, &format!("{what}{why}"));
            }
            EventKind::Error { message } => self.progress.says("error", message),
            _ => {}
        }
    }
}
