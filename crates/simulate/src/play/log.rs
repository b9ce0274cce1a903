//! What was seen of a case.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use runstate::agent::event::AgentEvent;
use runstate::agent::{History, Incoming, Message, Phase, Reply, Verdict};
use runstate::checkpoint::Trigger;
use runstate::decision::Decision;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::tool_call::{CallKey, ToolCallStatus};
use runstate::trace::Event;
use serde_json::Value;

use crate::case::Case;

/// All that was seen.
#[derive(Debug)]
pub struct Seen {
    /// The case.
    pub case: Case,
    /// What happened outside of the machines, in order.
    pub entries: Vec<Entry>,
    /// The transitions of all machines, in order.
    pub trace: Vec<Event<'static>>,
    /// How the run stood at the end.
    pub end: Option<Final>,
}

/// Something that happened.
#[derive(Debug)]
pub struct Entry {
    /// When.
    pub at_ms: u64,
    /// How many transitions came before it.
    pub trace: u64,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Debug)]
pub enum What {
    /// A loop began.
    LoopBegan {
        /// How many processes died before it.
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
    /// The process died: what is not durable is gone.
    Died {
        /// Transitions behind this one, of machines that are stored, are gone.
        keep: u64,
        /// How many events the store knows of.
        events: u64,
    },
    /// An event.
    Event(Arc<AgentEvent>),
    /// The model was asked.
    Asked {
        /// The step.
        step: u32,
        /// What it reads.
        history: History,
        /// Are there messages among them that are not durable?
        durable: bool,
    },
    /// A plugin was asked in a phase.
    Phase {
        /// The phase.
        phase: Phase,
        /// The step.
        step: u32,
    },
    /// Did a plugin do something there that ends the run?
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
        /// The decision that lets it go on.
        decision: Option<Decision>,
        /// What the plugin said.
        verdict: Verdict,
    },
    /// A tool began.
    Began {
        /// The call.
        call: String,
        /// Its place.
        key: CallKey,
        /// Which of its executions the case has for it.
        nth: usize,
        /// The key by which an outside service knows it again.
        idempotency: String,
        /// What it was called with.
        arguments: Value,
        /// The decision that let it go on.
        decision: Option<Decision>,
        /// What the store had then.
        durable: Option<Durable>,
    },
    /// A tool answered.
    Answered {
        /// The call.
        call: String,
        /// Which of its executions.
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
        /// What made it due.
        trigger: Trigger,
        /// Was it made?
        made: bool,
        /// What the store has now.
        durable: Durable,
    },
    /// A decision was sent.
    Sent {
        /// Its number.
        number: usize,
        /// The decision.
        incoming: Incoming,
        /// The list of the handle that it is given to, as its giver finds it.
        shown: Arc<[Look]>,
    },
    /// It was replied to; none where nobody was there any more.
    Replied {
        /// Its number.
        number: usize,
        /// The reply.
        reply: Option<Reply>,
        /// Is it in the store?
        durable: bool,
    },
    /// A run that waits in place took what the user wrote.
    Taken,
    /// The run was cancelled.
    Cancelled,
    /// Something that is wrong in itself.
    Wrong(String),
}

/// A question as holders of a handle find it.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// The suspension.
    pub suspension: String,
    /// The digest of the question.
    pub digest: String,
    /// The arguments of the call.
    pub arguments: Value,
}

/// How a loop ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// With an outcome.
    Outcome(TerminationReason),
    /// Its end was not committed.
    Unfinished,
    /// It was dropped; is the state still there?
    Dropped {
        /// Else the process died.
        alive: bool,
    },
}

/// What the store has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Durable {
    /// The status of the run.
    pub run: String,
    /// The status of each call.
    pub calls: Arc<BTreeMap<String, String>>,
    /// The ids of the decisions.
    pub decisions: Arc<BTreeSet<String>>,
    /// How many messages.
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
    /// How it stands.
    pub status: ToolCallStatus,
    /// How often it asked.
    pub suspensions: u32,
    /// What it waits on.
    pub waits_on: Option<String>,
}

/// How a run stood at the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Final {
    /// Its status.
    pub status: RunStatus,
    /// Why it is over.
    pub reason: Option<TerminationReason>,
    /// Its calls.
    pub calls: Vec<CallSeen>,
    /// What was said.
    pub history: Vec<Message>,
    /// The steps.
    pub steps: u32,
    /// What its keys have.
    pub values: BTreeMap<String, Value>,
}
