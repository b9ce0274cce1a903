//! The state of a run, derived from its transitions and events.

use std::collections::{BTreeMap, BTreeSet};

use runstate::decision::Suspension;
use runstate::run::RunStatus;
use runstate::tool_call::{CallKey, ToolCallStatus};
use runstate_agent::event::EventKind;

use super::{Findings, Step};
use crate::play::{Ended, What};

/// The state of a run.
#[derive(Debug, Default)]
pub struct ObservedRun {
    /// The time, in milliseconds.
    pub at_ms: u64,
    /// Its status.
    pub run: Option<RunStatus>,
    /// The state of its activation, while one is running.
    pub flow: Option<String>,
    /// Its calls, by their names.
    pub calls: BTreeMap<String, CallNow>,
    /// All questions so far, by their ids.
    pub asked: BTreeMap<String, Suspension>,
    /// The accepted decisions, by their suspensions.
    pub accepted: BTreeMap<String, String>,
    /// The ids of decisions that are in the store.
    pub durable: BTreeSet<String>,
    /// Tools that execute.
    pub executing: BTreeSet<String>,
    /// Is a commit being made?
    pub committing: bool,
    /// Was the run cancelled?
    pub cancelled: bool,
    /// The number of dropped loops, with or without a death.
    pub cuts: u32,
    died: bool,
}

/// The state of a call.
#[derive(Debug, Clone)]
pub struct CallNow {
    /// Its place.
    pub key: CallKey,
    /// Its status.
    pub status: ToolCallStatus,
    /// The number of its questions.
    pub suspensions: u32,
    /// Its last question.
    pub last_asked: Option<String>,
}

impl CallNow {
    /// Is it over?
    pub fn is_over(&self) -> bool {
        self.status.is_terminal()
    }
}

fn call_status(name: &str) -> Option<ToolCallStatus> {
    ToolCallStatus::ALL.iter().copied().find(|status| status.to_string() == name)
}

impl ObservedRun {
    /// Is an activation running?
    pub fn is_active(&self) -> bool {
        self.flow.is_some()
    }

    /// The status that the calls derive by the decision table; an independent implementation.
    pub fn projection(&self) -> RunStatus {
        use ToolCallStatus::{Resuming, Running, Suspended};
        let any = |wanted: &[ToolCallStatus]| self.calls.values().any(|call| wanted.contains(&call.status));
        match (any(&[Running, Resuming]), any(&[Suspended])) {
            (true, _) => RunStatus::Running,
            (false, true) => RunStatus::Waiting,
            (false, false) => RunStatus::Done,
        }
    }

    pub(crate) fn step(&mut self, step: Step<'_>, book: &mut Findings) {
        match step {
            Step::Moved(event) => {
                self.at_ms = event.at_ms;
                match &*event.lifecycle {
                    "run" => {
                        self.run = RunStatus::ALL.iter().copied().find(|to| to.to_string() == *event.to);
                    }
                    "run_flow" => {
                        self.flow = Some(event.to.to_string());
                    }
                    "tool_call" => self.call_moved(&event.instance, &event.to),
                    _ => {}
                }
            }
            Step::Entry(entry) => {
                self.at_ms = entry.at_ms;
                self.seen(&entry.what, book);
            }
        }
    }

    fn call_moved(&mut self, name: &str, to: &str) {
        let Some(status) = call_status(to) else { return };
        let call = self.calls.entry(name.to_owned()).or_insert(CallNow {
            key: CallKey::default(),
            status,
            suspensions: 0,
            last_asked: None,
        });
        call.status = status;
        call.suspensions += u32::from(status == ToolCallStatus::Suspended);
    }

    fn seen(&mut self, what: &What, book: &mut Findings) {
        match what {
            What::LoopBegan { calls, status, .. } => {
                let known: BTreeMap<String, CallNow> = calls
                    .iter()
                    .map(|call| {
                        let last_asked = match (&call.waits_on, self.calls.get(&call.name)) {
                            (Some(id), _) => Some(id.clone()),
                            (None, Some(before)) => before.last_asked.clone(),
                            (None, None) => None,
                        };
                        let (key, suspensions) = (call.key, call.suspensions);
                        (call.name.clone(), CallNow { key, status: call.status, suspensions, last_asked })
                    })
                    .collect();
                if !self.died {
                    let told = self.calls.iter().map(|(name, call)| (name, call.status));
                    if !told.eq(known.iter().map(|(name, call)| (name, call.status))) {
                        book.wrong("traces", "the calls are not where their transitions left them");
                    }
                }
                self.died = false;
                self.calls = known;
                self.run = Some(*status);
                self.flow = None;
            }
            What::LoopEnded(ended) => {
                if let Ended::Dropped { .. } = ended {
                    self.cuts += 1;
                }
                self.flow = None;
                self.committing = false;
                self.executing.clear();
            }
            What::Died { .. } => self.died = true,
            What::Event(event) => match &event.kind {
                EventKind::ToolCallSuspended { interrupt } => {
                    let suspension = interrupt.suspension.clone();
                    if let Some(call) = self.calls.get_mut(&interrupt.call) {
                        call.last_asked = Some(suspension.id.clone());
                    }
                    self.asked.insert(suspension.id.clone(), suspension);
                }
                EventKind::ToolCallResumed { suspension_id, decision_id, .. } => {
                    self.accepted.insert(suspension_id.clone(), decision_id.clone());
                }
                EventKind::RunFinished { .. } => self.flow = None,
                _ => {}
            },
            What::Gate { call, key, .. } | What::Began { call, key, .. } => {
                if let Some(call) = self.calls.get_mut(call) {
                    call.key = *key;
                }
                if let What::Began { call, .. } = what {
                    self.executing.insert(call.clone());
                }
            }
            What::Answered { call, .. } | What::Dropped { call } => {
                self.executing.remove(call);
            }
            What::CommitBegan => self.committing = true,
            What::CommitEnded { durable, .. } => {
                self.committing = false;
                self.durable = (*durable.decisions).clone();
            }
            What::Cancelled => self.cancelled = true,
            What::Asked { .. }
            | What::Phase { .. }
            | What::Acted { .. }
            | What::Wrote { .. }
            | What::Taken
            | What::Sent { .. }
            | What::Replied { .. }
            | What::Wrong(_) => {}
        }
    }
}
