//! The environment of the run, which survives it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runstate::decision::Suspension;
use runstate::run::RunStatus;
use runstate::trace::Recorder;
use runstate_agent::event::{AgentEvent, EventKind, EventSink, Interrupt};
use runstate_agent::{CancellationToken, DecisionHandle, PendingCall, RunState};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::log::{CallSeen, Durable, Entry, Look, What};
use super::{send, veil};
use crate::case::Case;

/// The run's id.
pub const RUN: &str = "r1";

/// More entries than any case needs: a run beyond it does not progress.
const MOST_ENTRIES: usize = 6_000;

pub(super) struct World {
    pub(super) case: Case,
    pub(super) recorder: Recorder,
    pub(super) start: Instant,
    pub(super) token: CancellationToken,
    /// The process dies now.
    pub(super) death: Notify,
    /// Something was sent.
    pub(super) sent: Notify,
    /// The user wrote to a run that is parked.
    pub(super) written: Notify,
    state: Mutex<Outside>,
}

#[derive(Default)]
struct Outside {
    entries: Vec<Entry>,
    /// The questions of each call, in order.
    asked: HashMap<String, Vec<Suspension>>,
    /// Uncommitted questions: they are not shown.
    unshown: Vec<Interrupt>,
    handle: Option<DecisionHandle>,
    durable: Durable,
    sent: usize,
    /// Calls of `decide` that have not returned.
    unanswered: usize,
    /// Did the process die, without the loop noticing yet?
    dead: bool,
    /// Is the run parked, without a loop for messages?
    parked: bool,
}

impl World {
    pub(super) fn new(case: &Case) -> Arc<World> {
        let start = Instant::now();
        let recorder = Recorder::builder(RUN).clock(move || since(start)).build();
        Arc::new(World {
            case: case.clone(),
            recorder,
            start,
            token: CancellationToken::new(),
            death: Notify::new(),
            sent: Notify::new(),
            written: Notify::new(),
            state: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Outside> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now_ms(&self) -> u64 {
        since(self.start)
    }

    pub(super) fn note(&self, what: What) {
        let entry = Entry { at_ms: self.now_ms(), trace: self.recorder.next_seq() - 1, what };
        let mut outside = self.lock();
        if outside.entries.len() == MOST_ENTRIES {
            self.death.notify_one();
        }
        outside.entries.push(entry);
    }

    pub(super) fn wrong(&self, what: impl Into<String>) {
        self.note(What::Wrong(what.into()));
    }

    pub(super) fn is_endless(&self) -> bool {
        self.lock().entries.len() >= MOST_ENTRIES
    }

    pub(super) fn take_entries(&self) -> Vec<Entry> {
        std::mem::take(&mut self.lock().entries)
    }

    pub(super) fn durable(&self) -> Durable {
        self.lock().durable.clone()
    }

    pub(super) fn set_durable(&self, durable: Durable) {
        self.lock().durable = durable;
    }

    pub(super) fn handle(&self) -> Option<DecisionHandle> {
        self.lock().handle.clone()
    }

    pub(super) fn set_handle(&self, handle: Option<DecisionHandle>) {
        self.lock().handle = handle;
    }

    /// The process dies now: no new work begins in it.
    pub(super) fn die(&self) {
        self.lock().dead = true;
        self.death.notify_one();
    }

    pub(super) fn is_dead(&self) -> bool {
        self.lock().dead
    }

    pub(super) fn is_parked(&self) -> bool {
        self.lock().parked
    }

    pub(super) fn set_parked(&self, parked: bool) {
        self.lock().parked = parked;
    }

    /// Counts the calls of `decide` that have not returned.
    pub(super) fn asks(&self, change: isize) {
        let mut outside = self.lock();
        outside.unanswered = outside.unanswered.saturating_add_signed(change);
    }

    pub(super) fn unanswered(&self) -> usize {
        self.lock().unanswered
    }

    pub(super) fn next_number(&self) -> usize {
        let mut outside = self.lock();
        outside.sent += 1;
        outside.sent
    }

    /// The number of questions of a call's gate and tool, and of its tool alone. Questions of the runtime after a crash do
    /// not count, so that the case continues at its place.
    pub(super) fn lives(&self, call: &str) -> (u32, usize) {
        let outside = self.lock();
        let asked = outside.asked.get(call).map(Vec::as_slice).unwrap_or_default();
        let by = |who: &str| asked.iter().filter(|suspension| suspension.action == who).count();
        (u32::try_from(by("tool") + by("gate")).unwrap_or(u32::MAX), by("tool"))
    }

    /// The previous suspension of the call.
    pub(super) fn asked_before(&self, call: &str, than: &Suspension) -> Option<String> {
        let outside = self.lock();
        let asked = outside.asked.get(call)?;
        let at = asked.iter().rposition(|suspension| suspension.id == than.id)?;
        asked.get(at.checked_sub(1)?).map(|suspension| suspension.id.clone())
    }

    /// A process starts with the stored state: later questions of calls were never asked.
    pub(super) fn revive(self: &Arc<Self>, state: &RunState) {
        {
            let mut outside = self.lock();
            outside.dead = false;
            let calls: HashMap<&str, u32> =
                state.calls().map(|(name, call)| (name, call.record().suspensions())).collect();
            outside.asked.retain(|call, asked| {
                asked.truncate(calls.get(&**call).map_or(0, |count| *count as usize));
                true
            });
        }
        self.lock().unshown.clear();
        for pending in state.pending() {
            self.decide(pending.call, pending.suspension, None);
        }
    }

    /// The waiting questions, as holders of this handle see them.
    pub(super) fn looks(&self, handle: &DecisionHandle) -> Arc<[Look]> {
        handle.pending().iter().map(|pending| self.look(pending)).collect()
    }

    fn look(&self, pending: &PendingCall) -> Look {
        let mut arguments = pending.arguments.clone();
        if self.case.veiled
            && let Err(left) = veil::arguments(&pending.call, &mut arguments)
        {
            self.wrong(format!("redacted: in the list of waiting calls, {left}"));
        }
        Look { suspension: pending.suspension.id.clone(), digest: pending.digest.clone(), arguments }
    }

    fn asked(self: &Arc<Self>, interrupt: &Interrupt) {
        let call = interrupt.call.clone();
        self.lock().asked.entry(call).or_default().push(interrupt.suspension.clone());
        if self.case.committer {
            self.lock().unshown.push(interrupt.clone());
        } else {
            self.decide(&interrupt.call, &interrupt.suspension, Some(&interrupt.digest));
        }
    }

    /// Shows the questions that are committed now.
    fn show(self: &Arc<Self>) {
        let shown = std::mem::take(&mut self.lock().unshown);
        for interrupt in shown {
            self.decide(&interrupt.call, &interrupt.suspension, Some(&interrupt.digest));
        }
    }

    fn decide(self: &Arc<Self>, call: &str, suspension: &Suspension, digest: Option<&str>) {
        match key_of(suspension) {
            Some(key) => send::on_ask(self, call, key, self.lives(call).0, suspension, digest),
            None if suspension.action == "approve" => send::on_approval(self, call, suspension, digest),
            // The runtime itself asks: the case has one decision for all doubts.
            None => send::on_doubt(self, call, suspension),
        }
    }
}

/// The place of the asking call, as recorded by its gate or tool.
fn key_of(suspension: &Suspension) -> Option<runstate::tool_call::CallKey> {
    serde_json::from_value(suspension.parameters.get("key")?.clone()).ok()
}

fn since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Records events, and decides when a call asks.
pub(super) struct Sink(pub(super) Arc<World>);

impl EventSink for Sink {
    fn emit(&self, event: &Arc<AgentEvent>) {
        let unveiled =
            if self.0.case.veiled { veil::unveil(event).map(Arc::new) } else { Ok(Arc::clone(event)) };
        let event = unveiled.unwrap_or_else(|left| {
            self.0.wrong(format!("redacted: {left}"));
            Arc::clone(event)
        });
        match &event.kind {
            EventKind::ToolCallSuspended { interrupt } => {
                self.0.note(What::Event(Arc::clone(&event)));
                self.0.asked(interrupt);
                return;
            }
            EventKind::Checkpoint { .. } => {
                self.0.note(What::Event(Arc::clone(&event)));
                self.0.show();
                return;
            }
            EventKind::RunFinished { status: RunStatus::Waiting, waiting, .. } => self.listed(waiting),
            _ => {}
        }
        self.0.note(What::Event(event));
    }
}

impl Sink {
    /// Checks that holders of a handle see the waiting questions when they are reported.
    fn listed(&self, waiting: &[Interrupt]) {
        let Some(handle) = self.0.handle() else { return };
        let mut listed = Vec::new();
        for pending in handle.pending().iter() {
            let mut pending = (**pending).clone();
            if self.0.case.veiled {
                let unveiled = veil::suspension(&pending.call, &mut pending.suspension)
                    .and_then(|()| veil::arguments(&pending.call, &mut pending.arguments));
                if let Err(left) = unveiled {
                    self.0.wrong(format!("redacted: in the list of waiting calls, {left}"));
                }
            }
            listed.push((pending.call.to_string(), pending.digest, pending.suspension));
        }
        let told = waiting.iter().map(|it| (it.call.clone(), it.digest.clone(), it.suspension.clone()));
        if !told.eq(listed.iter().cloned()) {
            self.0.wrong(format!("told: {waiting:?} waits, and the handle lists {listed:?}"));
        }
    }
}

pub(super) fn calls_of(state: &RunState) -> Vec<CallSeen> {
    let pending: HashMap<String, String> = state
        .pending()
        .iter()
        .map(|pending| (pending.call.to_owned(), pending.suspension.id.clone()))
        .collect();
    let seen = state.calls().map(|(name, call)| CallSeen {
        name: name.to_owned(),
        key: call.record().key(),
        status: call.status(),
        suspensions: call.record().suspensions(),
        waits_on: pending.get(name).cloned(),
    });
    seen.collect()
}
