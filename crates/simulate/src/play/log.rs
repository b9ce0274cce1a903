//! The observations of a case.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use runstate::checkpoint::Trigger;
use runstate::decision::Decision;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::tool_call::{CallKey, ToolCallStatus};
use runstate::trace::Event;
use runstate_agent::event::AgentEvent;
use runstate_agent::{History, Incoming, Message, Phase, Reply, Verdict};
use serde_json::Value;

use crate::case::Case;

/// All observations.
#[derive(Debug)]
pub struct Seen {
    /// The case.
    pub case: Case,
    /// The entries outside of the machines, in order.
    pub entries: Vec<Entry>,
    /// The transitions of all machines, in order.
    pub trace: Vec<Event<'static>>,
    /// The final state of the run.
    pub end: Option<Final>,
}

/// An observation.
#[derive(Debug)]
pub struct Entry {
    /// The time.
    pub at_ms: u64,
    /// The number of earlier transitions.
    pub trace: u64,
    /// The observation.
    pub what: What,
}

/// The kinds of observations.
#[derive(Debug)]
pub enum What {
    /// A loop began.
    LoopBegan {
        /// The number of earlier process deaths.
        life: u32,
        /// With a message?
        message: bool,
        /// Its calls.
        calls: Vec<CallSeen>,
        /// The status of the run.
        status: RunStatus,
    },
    /// A loop ended.
    LoopEnded(Ended),
    /// The process died: data that is not durable is lost.
    Died {
        /// Later transitions of stored machines are lost.
        keep: u64,
        /// The number of stored events.
        events: u64,
    },
    /// An event.
    Event(Arc<AgentEvent>),
    /// The model was asked.
    Asked {
        /// The step.
        step: u32,
        /// Its messages.
        history: History,
        /// Are all of them durable?
        durable: bool,
    },
    /// A plugin was asked in a phase.
    Phase {
        /// The phase.
        phase: Phase,
        /// The step.
        step: u32,
    },
    /// Did a plugin request the end there?
    Acted {
        /// Does it fail?
        fails: bool,
    },
    /// A plugin wrote the number of the step.
    Wrote {
        /// The step.
        step: u32,
    },
    /// A gate was asked about a call.
    Gate {
        /// The call.
        call: String,
        /// Its place.
        key: CallKey,
        /// The plugin.
        plugin: u8,
        /// The decision that resumes it.
        decision: Option<Decision>,
        /// The verdict of the plugin.
        verdict: Verdict,
    },
    /// A tool began.
    Began {
        /// The call.
        call: String,
        /// Its place.
        key: CallKey,
        /// The number of the execution in the case.
        nth: usize,
        /// The key by which an external service recognises it.
        idempotency: String,
        /// The arguments.
        arguments: Value,
        /// The decision that resumed it.
        decision: Option<Decision>,
        /// The stored data at that time.
        durable: Option<Durable>,
    },
    /// A tool answered.
    Answered {
        /// The call.
        call: String,
        /// The number of the execution.
        nth: usize,
    },
    /// A tool was dropped.
    Dropped {
        /// The call.
        call: String,
    },
    /// A commit began.
    CommitBegan,
    /// It ended.
    CommitEnded {
        /// The trigger.
        trigger: Trigger,
        /// Was it made?
        made: bool,
        /// The stored data now.
        durable: Durable,
    },
    /// A decision was sent.
    Sent {
        /// Its number.
        number: usize,
        /// The decision.
        incoming: Incoming,
        /// The list of the handle at the time of the decision.
        shown: Arc<[Look]>,
    },
    /// A decision was answered; `None` if no process remained.
    Replied {
        /// Its number.
        number: usize,
        /// The reply.
        reply: Option<Reply>,
        /// Is it in the store?
        durable: bool,
    },
    /// A run that waits in place took a message of the user.
    Taken,
    /// The run was cancelled.
    Cancelled,
    /// An internal contradiction.
    Wrong(String),
}

/// A question as holders of a handle see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// The suspension.
    pub suspension: String,
    /// The digest of the question.
    pub digest: String,
    /// The arguments of the call.
    pub arguments: Value,
}

/// The end of a loop.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// With an outcome.
    Outcome(TerminationReason),
    /// Its end was not committed.
    Unfinished,
    /// It was dropped; does the state still exist?
    Dropped {
        /// Otherwise the process died.
        alive: bool,
    },
}

/// The stored data.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Durable {
    /// The status of the run.
    pub run: String,
    /// The status of each call.
    pub calls: Arc<BTreeMap<String, String>>,
    /// The ids of the decisions.
    pub decisions: Arc<BTreeSet<String>>,
    /// The number of messages.
    pub messages: usize,
    /// Is there a store?
    pub kept: bool,
}

/// A call of a state.
#[derive(Debug, Clone, PartialEq)]
pub struct CallSeen {
    /// As traces name it.
    pub name: String,
    /// Its place.
    pub key: CallKey,
    /// Its status.
    pub status: ToolCallStatus,
    /// The number of its questions.
    pub suspensions: u32,
    /// Its current question.
    pub waits_on: Option<String>,
}

/// The final state of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Final {
    /// Its status.
    pub status: RunStatus,
    /// The reason for its end.
    pub reason: Option<TerminationReason>,
    /// Its calls.
    pub calls: Vec<CallSeen>,
    /// The messages.
    pub history: Vec<Message>,
    /// The steps.
    pub steps: u32,
    /// The values of its keys.
    pub values: BTreeMap<String, Value>,
}
