//! The state of a run, during and between activations.

mod calls;
mod counts;
mod decided;
mod error;
mod fold;
mod moves;
mod offer;
mod parts;
mod pending;
mod round;
mod stored;
mod validate;
mod writes;

use std::sync::Arc;

pub(super) use calls::{Call, Calls};
pub(super) use counts::Counts;
pub(super) use decided::Decided;
pub use error::StateError;
pub(super) use fold::{CALL, Fold, Head, RUN};
pub(super) use offer::Offer;
pub use parts::{Core, RunParts};
pub use pending::Pending;
use round::Round;
use runstate::decision::{Decision, Suspension};
use runstate::kernel::{Lost, Slot};
use runstate::run::{AnyRun, RunRecord, RunStatus};
use runstate::tool_call::{AnyToolCall, ToolCallStatus};
pub use stored::StoredRun;

use super::answer::Usage;
use super::event::PendingEvents;
use super::history::{History, Message};
use super::keys::{Changed, Key, KeyError, Values};
use super::stop::StopCounters;
use super::thread::Thread;
use super::tool::path;
use super::{NoObservers, ObserverFactory};

/// A run with its thread, its calls and its decisions: the whole state that an activation reads and changes.
///
/// Between activations, the run is in memory or [stored](StoredRun). A run may be interrupted in the middle of an
/// activation, by a crash or because its loop was dropped. It can be continued.
#[derive(Debug)]
pub struct RunState {
    pub(super) id: Arc<str>,
    pub(super) run: Slot<AnyRun>,
    /// The counters in the store; `None` before the first commit of this process, which writes all of them.
    pub(super) saved: Option<Counts>,
    /// Whether the run changed since the last commit.
    pub(super) run_changed: bool,
    pub(super) calls: Calls,
    pub(super) thread: Thread,
    /// The number of messages that the thread had before the run.
    pub(super) base: usize,
    pub(super) values: Values,
    pub(super) decided: Decided,
    pub(super) counters: StopCounters,
    /// The number of steps, over all activations.
    pub(super) steps: u32,
    /// The tools that the last step offered.
    pub(super) offer: Offer,
    /// The number of flows begun, interrupted ones included. So their names in traces are never used twice.
    pub(super) flows: u32,
    /// The number of the last emitted event.
    pub(super) events: u64,
    /// The number of events of the commit in progress. Their numbers are used once the commit is made.
    pub(super) following: u64,
    /// The events that are not durable, if the committer stores events.
    pub(super) pending_events: PendingEvents,
    /// The decisions of the next commit, with their calls. The commit emits the decisions and their outcomes.
    pub(super) untold: Vec<(usize, Decision)>,
    /// The number of commits, over all activations.
    pub(super) commits: u64,
    /// Whether a result for the model arrived since the last answer.
    pub(super) unread: bool,
    /// Whether the run was interrupted in the middle of an activation.
    pub(super) interrupted: bool,
    /// The uncommitted messages, in order of arrival.
    pub(super) unsaved: Vec<Message>,
    pub(super) changed_values: Changed,
    round: Round,
}

impl RunState {
    /// Creates a run on a new thread. The thread has the run's id.
    pub fn new(id: impl Into<String>) -> Self {
        Self::watched(id, &NoObservers)
    }

    /// Creates a run on a new thread, with observers from the first transition on.
    pub fn watched(id: impl Into<String>, watch: &dyn ObserverFactory) -> Self {
        let id = id.into();
        let thread = Thread::new(id.as_str());
        Self::on_thread_watched(id, thread, watch)
    }

    /// Creates a run on a thread that may have earlier runs.
    pub fn on_thread(id: impl Into<String>, thread: Thread) -> Self {
        Self::on_thread_watched(id, thread, &NoObservers)
    }

    /// Creates a run on a thread that may have earlier runs, with observers from the first transition on.
    pub fn on_thread_watched(id: impl Into<String>, thread: Thread, watch: &dyn ObserverFactory) -> Self {
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

    /// Sets the observers of all later transitions, for a restored run.
    pub fn watch(&mut self, watch: &dyn ObserverFactory) {
        let observer = watch.observer("run", &self.id);
        self.run.get_mut().observe(observer);
        self.calls.watch(watch);
    }

    /// The loss of a state machine, after a panic in a transition: in a hook of a record or in an observer. A lost
    /// run cannot be driven, cancelled or stored any more. Its store has the last commit.
    pub fn lost(&self) -> Option<Lost> {
        let of_calls = || self.calls.iter().find_map(|call| call.machine.try_get().err());
        self.run.try_get().err().or_else(of_calls)
    }

    /// The run's state machine.
    ///
    /// # Panics
    /// Panics if the run is [lost](RunState::lost).
    pub fn run(&self) -> &AnyRun {
        self.run.get()
    }

    /// The run's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The calls in the order of their creation, each with its name in traces.
    ///
    /// # Panics
    /// Panics if a call is [lost](RunState::lost).
    pub fn calls(&self) -> impl Iterator<Item = (&str, &AnyToolCall)> {
        self.calls.iter().map(|call| (&*call.name, call.machine.get()))
    }

    /// The thread of the run.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Returns the thread, once the run is over.
    ///
    /// # Errors
    /// The run itself, if it is not over.
    #[expect(clippy::result_large_err, reason = "a run that is not over is handed back by value")]
    pub fn into_thread(self) -> Result<Thread, Self> {
        match self.run.get().status() {
            RunStatus::Done => Ok(self.thread),
            RunStatus::Running | RunStatus::Waiting => Err(self),
        }
    }

    /// The messages of the run itself, without the earlier messages of its thread.
    pub fn own_history(&self) -> &[Message] {
        self.thread.history.get(self.base..).unwrap_or_default()
    }

    /// The messages that the model reads, in order. After each answer there is exactly one result for each of its
    /// calls.
    pub fn history(&self) -> &History {
        &self.thread.history
    }

    /// The number of steps, over all activations.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The number of commits, over all activations. It is the version of the stored run.
    pub fn commits(&self) -> u64 {
        self.commits
    }

    /// The tokens used, over all activations.
    pub fn usage(&self) -> Usage {
        self.counters.usage()
    }

    /// Returns the value of the key.
    ///
    /// # Errors
    /// [`KeyError`] when the value is not a `T`.
    pub fn get<T: serde::de::DeserializeOwned>(&self, key: &Key<T>) -> Result<Option<T>, KeyError> {
        self.view().get(key)
    }

    /// The open questions.
    pub fn pending(&self) -> Vec<Pending<'_>> {
        let pending = self.calls.suspended().filter_map(|call| {
            let call = &self.calls[call];
            call.suspended().map(|machine| Pending {
                call: &call.name,
                record: machine.record(),
                arguments: machine.asked_arguments(),
                suspension: machine.suspension(),
            })
        });
        pending.collect()
    }

    /// The run status that follows from the states of the calls.
    pub fn projection(&self) -> RunStatus {
        self.calls.projection()
    }

    /// Begins a new run with a message of the user.
    pub(super) fn begin(&mut self, now_ms: u64, message: Arc<str>) {
        self.counters = StopCounters::new(now_ms);
        self.say(Message::User(message));
    }

    /// The reason why the arguments of a call cannot be read.
    pub(super) fn unreadable(&self, call: usize) -> Option<&str> {
        match self.thread.history.get(self.calls[call].place)? {
            Message::Open(open) => open.turn.calls.get(open.ordinal as usize)?.unreadable.as_deref(),
            Message::User(_) | Message::Assistant(_) | Message::Result(_) => None,
        }
    }

    /// Returns whether the tool of the call was withheld in the call's step. Only calls of the last step are checked
    /// here. The calls of an earlier step were checked against the offer of that step, before a later step began.
    pub(super) fn withholds(&self, call: usize) -> bool {
        let record = self.calls[call].record();
        record.key().step == self.steps && !self.offer.has(record.tool())
    }

    /// The names of the waiting calls.
    pub(super) fn waiting(&self) -> Vec<String> {
        self.calls.suspended().map(|call| self.calls[call].name.to_string()).collect()
    }

    pub(super) fn suspension(&self, call: usize) -> Option<&Suspension> {
        self.calls[call].suspended().map(|call| call.suspension())
    }

    /// The calls that may still be started: the calls of the last round, and calls behind a suspended call.
    pub(super) fn startable(&self) -> Vec<usize> {
        let fresh = self.calls.fresh().iter().copied();
        fresh.filter(|call| self.thread.history.is_open(self.calls[*call].place)).collect()
    }

    /// The id of the next suspension of a call. It is unique, so that a decision never counts for another suspension.
    /// `wanted` is a suffix chosen by the tool; it follows a colon.
    pub(super) fn suspension_id(&self, call: usize, wanted: &str) -> String {
        let call = &self.calls[call];
        let id = format!("{}/{}", path(&self.id, &call.name), call.record().suspensions() + 1);
        match wanted {
            "" => id,
            // With a slash, the id could look like the id of another call.
            wanted => format!("{id}:{}", wanted.replace('/', "_")),
        }
    }

    /// The status of a call.
    pub(super) fn status_of(&self, call: usize) -> ToolCallStatus {
        self.calls[call].status()
    }

    /// Applies a transition to the run.
    pub(super) fn step_run(&mut self, step: impl FnOnce(AnyRun) -> AnyRun) {
        self.run.step(|run| (step(run), ()));
        self.run_changed = true;
    }

    /// Records that the whole state is committed. Returns the suspensions of the newly committed decisions.
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
