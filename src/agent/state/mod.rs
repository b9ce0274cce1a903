//! What a run is, between and during activations.

mod calls;
mod counts;
mod decided;
mod error;
mod fold;
mod moves;
mod offer;
#[cfg(feature = "store")]
mod parts;
mod pending;
mod round;
mod sound;
mod stored;
mod writes;

use std::sync::Arc;

use super::answer::Usage;
use super::event::PendingEvents;
use super::history::{History, Message};
use super::keys::{Changed, Key, KeyError, Values};
use super::stop::StopCounters;
use super::thread::Thread;
use super::tool::path;
use super::{Unwatched, Watch};
use crate::decision::{Decision, Suspension};
use crate::kernel::{Lost, Slot};
use crate::run::{AnyRun, RunRecord, RunStatus};
use crate::tool_call::{AnyToolCall, ToolCallStatus};

pub(super) use calls::{Call, Calls};
pub(super) use counts::Counts;
pub(super) use decided::Decided;
pub use error::StateError;
pub(super) use fold::{CALL, Fold, Head, RUN};
pub(super) use offer::Offer;
#[cfg(feature = "store")]
pub(crate) use parts::{Core, RunParts};
pub use pending::Pending;
use round::Round;
pub use stored::StoredRun;

/// A run with its thread, its calls and the decisions that were made: all that an activation reads and changes.
///
/// Between activations it is at rest, in memory or [stored](StoredRun). One that was left in the middle of an activation,
/// by a crash or because its loop was dropped, goes on from there.
#[derive(Debug)]
pub struct RunState {
    pub(super) id: Arc<str>,
    pub(super) run: Slot<AnyRun>,
    /// What the store has of the counts; nothing before the first commit from this process, which says it all.
    pub(super) saved: Option<Counts>,
    /// Did the run move since the last commit?
    pub(super) run_changed: bool,
    pub(super) calls: Calls,
    pub(super) thread: Thread,
    /// How many messages the thread had when the run began.
    pub(super) base: usize,
    pub(super) values: Values,
    pub(super) decided: Decided,
    pub(super) counters: StopCounters,
    /// Steps taken, over all activations.
    pub(super) steps: u32,
    /// What the last of them offered the model.
    pub(super) offer: Offer,
    /// Flows begun, those that a crash cut off included: their names in traces are never used twice.
    pub(super) flows: u32,
    /// The number of the last event that was told.
    pub(super) events: u64,
    /// Events of the commit that is under way: their numbers are taken once it is made.
    pub(super) following: u64,
    /// Events that are not durable, where the committer keeps them.
    pub(super) pending_events: PendingEvents,
    /// Decisions that the next commit has, with their calls: it tells of them, and of what came of them.
    pub(super) untold: Vec<(usize, Decision)>,
    /// Commits made, over all activations.
    pub(super) commits: u64,
    /// Did a result come in since the last answer, for the model to read?
    pub(super) unread: bool,
    /// Was it left in the middle of an activation?
    pub(super) interrupted: bool,
    /// Messages that are not committed yet, in the order in which they came.
    pub(super) unsaved: Vec<Message>,
    pub(super) changed_values: Changed,
    round: Round,
}

impl RunState {
    /// A new run on a thread of its own, which has the run's id.
    pub fn new(id: impl Into<String>) -> Self {
        Self::watched(id, &Unwatched)
    }

    /// A new run on a thread of its own, whose transitions are told from the first on.
    pub fn watched(id: impl Into<String>, watch: &dyn Watch) -> Self {
        let id = id.into();
        let thread = Thread::new(id.as_str());
        Self::on_thread_watched(id, thread, watch)
    }

    /// A new run on a thread that earlier runs may have left.
    pub fn on_thread(id: impl Into<String>, thread: Thread) -> Self {
        Self::on_thread_watched(id, thread, &Unwatched)
    }

    /// The same, with transitions told from the first on.
    pub fn on_thread_watched(id: impl Into<String>, thread: Thread, watch: &dyn Watch) -> Self {
        let record = RunRecord::new(id);
        let id: Arc<str> = record.id().into();
        let observer = watch.observer("run", &id);
        RunState {
            run: Slot::new(AnyRun::new(record.observed(observer))),
            saved: None,
            run_changed: true,
            id,
            calls: Calls::default(),
            base: thread.history.len(),
            unsaved: Vec::new(),
            thread,
            values: Values::default(),
            decided: Decided::default(),
            counters: StopCounters::new(0),
            steps: 0,
            offer: Offer::default(),
            flows: 0,
            events: 0,
            following: 0,
            pending_events: PendingEvents::default(),
            untold: Vec::new(),
            commits: 0,
            unread: false,
            interrupted: false,
            changed_values: Changed::default(),
            round: Round::default(),
        }
    }

    /// Tells `watch` of all transitions from now on: for a run that was read from storage.
    pub fn watch(&mut self, watch: &dyn Watch) {
        let observer = watch.observer("run", &self.id);
        self.run.get_mut().observe(observer);
        self.calls.watch(watch);
    }

    /// The loss of a machine of the run, after a panic in a transition that unwound out of a loop: in a hook of a record or in an
    /// observer. A lost run is not driven, cancelled or stored any more; its store has it as it was committed last.
    pub fn lost(&self) -> Option<Lost> {
        let of_calls = || self.calls.iter().find_map(|call| call.machine.try_get().err());
        self.run.try_get().err().or_else(of_calls)
    }

    /// The run.
    ///
    /// # Panics
    /// When the run is [lost](RunState::lost).
    pub fn run(&self) -> &AnyRun {
        self.run.get()
    }

    /// The run's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The calls in the order of their making, each with its name in traces.
    ///
    /// # Panics
    /// When a call is [lost](RunState::lost).
    pub fn calls(&self) -> impl Iterator<Item = (&str, &AnyToolCall)> {
        self.calls.iter().map(|call| (&*call.name, call.machine.get()))
    }

    /// The thread that the run is on.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Gives the thread back, once the run is over.
    ///
    /// # Errors
    /// The run itself, when it is not over.
    #[expect(clippy::result_large_err, reason = "a run that is not over is handed back by value")]
    pub fn into_thread(self) -> Result<Thread, Self> {
        match self.run.get().status() {
            RunStatus::Done => Ok(self.thread),
            RunStatus::Running | RunStatus::Waiting => Err(self),
        }
    }

    /// The messages of the run itself: those that its thread had before it are not among them.
    pub fn own_history(&self) -> &[Message] {
        self.thread.history.get(self.base..).unwrap_or_default()
    }

    /// What the model reads: messages in order, and behind each answer exactly one result for each of its calls.
    pub fn history(&self) -> &History {
        &self.thread.history
    }

    /// Steps taken, over all activations.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Commits made, over all activations: the version of what is stored.
    pub fn commits(&self) -> u64 {
        self.commits
    }

    /// Tokens used, over all activations.
    pub fn usage(&self) -> Usage {
        self.counters.usage()
    }

    /// What is kept under the key.
    ///
    /// # Errors
    /// [`KeyError`] when the value under the key is no `T`.
    pub fn get<T: serde::de::DeserializeOwned>(&self, key: &Key<T>) -> Result<Option<T>, KeyError> {
        self.view().get(key)
    }

    /// What waits for a decision.
    pub fn pending(&self) -> Vec<Pending<'_>> {
        let pending = self.calls.suspended().filter_map(|call| {
            let call = &self.calls[call];
            match call.machine.get() {
                AnyToolCall::Suspended(machine) => Some(Pending {
                    call: &call.name,
                    record: machine.record(),
                    arguments: machine.asked_arguments(),
                    suspension: machine.suspension(),
                }),
                _ => None,
            }
        });
        pending.collect()
    }

    /// What the calls say of the run (document 003, "RunStatus Derived from ToolCall States").
    pub fn projection(&self) -> RunStatus {
        self.calls.projection()
    }

    /// A new run begins, with what the user wrote.
    pub(super) fn begin(&mut self, now_ms: u64, message: Arc<str>) {
        self.counters = StopCounters::new(now_ms);
        self.say(Message::User(message));
    }

    /// Why the arguments of a call cannot be read.
    pub(super) fn unreadable(&self, call: usize) -> Option<&str> {
        match self.thread.history.get(self.calls[call].place)? {
            Message::Open(open) => open.turn.calls.get(open.ordinal as usize)?.unreadable.as_deref(),
            Message::User(_) | Message::Assistant(_) | Message::Result(_) => None,
        }
    }

    /// Was the tool of the call not offered in the call's step? A call of an earlier step was held against what that one
    /// offered, all of them at once and before a later step began.
    pub(super) fn withholds(&self, call: usize) -> bool {
        let record = self.calls[call].record();
        record.key().step == self.steps && !self.offer.has(record.tool())
    }

    /// The names of the calls that wait.
    pub(super) fn waiting(&self) -> Vec<String> {
        self.calls.suspended().map(|call| self.calls[call].name.to_string()).collect()
    }

    pub(super) fn suspension(&self, call: usize) -> Option<&Suspension> {
        match self.calls[call].machine.get() {
            AnyToolCall::Suspended(machine) => Some(machine.suspension()),
            _ => None,
        }
    }

    /// The calls that may still be started: those of the last round, and those behind a call that waits.
    pub(super) fn startable(&self) -> Vec<usize> {
        let fresh = self.calls.fresh().iter().copied();
        fresh.filter(|call| self.thread.history.is_open(self.calls[*call].place)).collect()
    }

    /// The id of the next suspension of a call, which no other has or had: a decision on the one must never count for the
    /// other. A word that its tool wants in it stands behind a colon.
    pub(super) fn suspension_id(&self, call: usize, wanted: &str) -> String {
        let call = &self.calls[call];
        let id = format!("{}/{}", path(&self.id, &call.name), call.record().suspensions() + 1);
        match wanted {
            "" => id,
            // A slash would let it look like the id of another call.
            wanted => format!("{id}:{}", wanted.replace('/', "_")),
        }
    }

    /// The calls of a step that are not `New`, and how they stand.
    pub(super) fn status_of(&self, call: usize) -> ToolCallStatus {
        self.calls[call].status()
    }

    /// Moves the run on with typed code.
    pub(super) fn step_run(&mut self, step: impl FnOnce(AnyRun) -> AnyRun) {
        self.run.step(|run| (step(run), ()));
        self.run_changed = true;
    }

    /// All of it is in the store now. Gives the suspensions of the decisions that were not before.
    pub(super) fn committed(&mut self) -> Vec<String> {
        self.commits += 1;
        Counts::save(self);
        self.run_changed = false;
        self.calls.committed();
        self.unsaved.clear();
        self.pending_events.committed();
        self.changed_values = Changed::default();
        self.decided.committed()
    }
}
