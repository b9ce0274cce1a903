//! A store that fails, and dies, at the commits of the case.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use runstate::checkpoint::{Due, Trigger};
use runstate_agent::event::EventKind;
use runstate_agent::{
    CommitError, Delta, MemoryCommitter, RunState, StateCommitter, StateError, StoredRun, async_trait,
};
use serde_json::Value;

use super::log::{Durable, What};
use super::world::World;
use crate::case::Trouble;

pub(super) struct Store {
    world: Arc<World>,
    memory: MemoryCommitter,
    /// The number of commit tries.
    tried: u32,
    durable: Durable,
    /// The number of transitions before the last successful commit.
    pub(super) kept: u64,
    /// The number of events of the stored run.
    pub(super) events: u64,
    /// The calls that its events report as done.
    done: BTreeSet<String>,
    /// May the process die in it? Not where the player itself commits an end.
    pub(super) mortal: bool,
    /// Was a commit begun and not made?
    behind: bool,
    /// Is the sum of the commits compared with the run each time?
    thorough: bool,
}

impl Store {
    pub(super) fn new(world: &Arc<World>) -> Store {
        let durable = Durable { kept: true, ..Durable::default() };
        world.set_durable(durable.clone());
        let thorough = world.case.seed % 8 == 3;
        let memory = MemoryCommitter::default();
        Store {
            world: Arc::clone(world),
            memory,
            tried: 0,
            durable,
            kept: 0,
            events: 0,
            done: BTreeSet::new(),
            mortal: true,
            behind: false,
            thorough,
        }
    }

    pub(super) fn restore(&self) -> Result<RunState, StateError> {
        self.memory.restore()
    }

    /// Does memory have more than the store, because a commit failed or was dropped?
    pub(super) fn is_behind(&self) -> bool {
        self.behind
    }

    pub(super) fn is_empty(&self) -> bool {
        self.memory.size() == 0
    }

    /// Do the commits add up to the current run? The number of the commit is one lower before it is made.
    pub(super) fn compare(&self, state: &RunState) {
        if self.behind {
            return;
        }
        let whole = StoredRun::of(state).map(|whole| without_version(&whole));
        let sum = self.memory.stored().map(|sum| without_version(&sum));
        match (whole, sum) {
            (Ok(whole), Ok(sum)) if whole == sum => {}
            (Ok(whole), Ok(sum)) => {
                let parts = [
                    "__run",
                    "__tool_call_states",
                    "__suspended_tool_calls",
                    "__resume_decisions",
                    "messages",
                    "values",
                    "counters",
                    "steps",
                    "flows",
                    "events",
                ];
                let differ: Vec<_> = parts
                    .iter()
                    .filter(|part| whole[**part] != sum[**part])
                    .map(|part| format!("{part}: {} in memory, {} stored", whole[*part], sum[*part]))
                    .collect();
                self.world.wrong(format!("fold: the commits do not add up to the run: {differ:?}"));
            }
            (Err(error), _) | (_, Err(error)) => self.world.wrong(format!("fold: {error}")),
        }
    }

    /// Do the events of a commit follow the stored events, up to the stored number?
    fn follow_on(&mut self, trigger: Trigger, delta: &Delta<'_>, stored: Option<u64>) {
        let mut last = self.events;
        for event in delta.events() {
            if let EventKind::ToolCallDone { call, .. } = &event.kind {
                self.done.insert(call.clone());
            }
            if event.seq != last + 1 {
                self.world
                    .wrong(format!("events: after event {last} is stored event {}: {event:?}", event.seq));
            }
            last = event.last();
        }
        if stored != Some(last) {
            self.world.wrong(format!(
                "events: the last stored event is {last}, and {stored:?} is stored as its number"
            ));
        }
        let kind = delta.events().last().map(|event| &event.kind);
        let mut kinds = delta.events().map(|event| &event.kind);
        let resumes = kinds.any(|kind| matches!(kind, EventKind::ToolCallResumed { .. }));
        if trigger == Trigger::DecisionAccepted && !resumes {
            self.world.wrong(format!("events: commit {} does not report its decision", delta.version()));
        }
        if !matches!(kind, Some(EventKind::Checkpoint { .. } | EventKind::RunFinished { .. })) {
            self.world.wrong(format!("events: commit {} ends with {kind:?}", delta.version()));
        }
    }

    /// Reads a bundle: the JSON after its checksum.
    fn learn(&mut self, bundle: &Value) {
        let (machines, delta) = (&bundle["machines"], &bundle["content"]);
        let mut calls = (*self.durable.calls).clone();
        for (name, call) in machines.as_object().into_iter().flatten() {
            let Some(name) = name.strip_prefix("call/") else { continue };
            let status = call["status"].as_str().unwrap_or_default();
            let is_over = matches!(status, "Succeeded" | "Failed" | "Cancelled");
            if is_over && !self.done.contains(name) {
                self.world
                    .wrong(format!("events: {name} is stored as {status}, and no stored event says so"));
            }
            calls.insert(name.to_owned(), status.to_owned());
        }
        let mut decisions = (*self.durable.decisions).clone();
        for decision in delta["__resume_decisions"].as_object().into_iter().flatten().map(|(_, it)| it) {
            let id = decision["decision_id"].as_str().unwrap_or_default();
            if !decisions.insert(id.to_owned()) {
                self.world.wrong(format!("decisions: {id} was committed twice"));
            }
        }
        self.durable = Durable {
            // A bundle omits unchanged parts.
            run: machines["run"]["status"].as_str().unwrap_or(&self.durable.run).to_owned(),
            calls: Arc::new(calls),
            decisions: Arc::new(decisions),
            messages: self.durable.messages + delta["messages"].as_array().map_or(0, Vec::len),
            kept: true,
        };
        self.events = delta["events"].as_u64().unwrap_or_default();
    }

    async fn die(&self) -> ! {
        self.world.die();
        std::future::pending().await
    }
}

fn without_version(stored: &StoredRun) -> Value {
    let mut value = serde_json::to_value(stored).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.remove("version");
        fields.remove("digest");
        // Results are stored in order of arrival, and read in the order of their calls.
        if let Some(Value::Array(messages)) = fields.get_mut("messages") {
            messages.sort_by_cached_key(ToString::to_string);
        }
    }
    value
}

/// The data of an empty store, before its first commit.
pub(super) fn nothing_stored() -> Durable {
    Durable {
        run: String::new(),
        calls: Arc::new(BTreeMap::new()),
        decisions: Arc::new(BTreeSet::new()),
        messages: 0,
        kept: false,
    }
}

#[async_trait]
impl StateCommitter for Store {
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        self.world.note(What::CommitBegan);
        let kept = self.world.recorder.next_seq() - 1;
        self.tried += 1;
        self.behind = true;
        let troubles = &self.world.case.troubles;
        if self.mortal && troubles.contains(&Trouble::CrashBeforeCommit(self.tried)) {
            self.die().await;
        }
        let delays = &self.world.case.commit_ms;
        let delay = delays.get(self.tried as usize % delays.len().max(1)).copied().unwrap_or(0);
        if delay > 0 {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        if troubles.contains(&Trouble::CommitFails(self.tried)) {
            let (trigger, durable) = (due.trigger(), self.durable.clone());
            self.world.note(What::CommitEnded { trigger, made: false, durable });
            return Err(CommitError::new("no room on the disk"));
        }
        self.memory.commit(due, delta).await?;
        let bundle = delta.bundle().map_err(CommitError::new)?;
        let json = bundle.iter().position(|byte| *byte == b'{').map_or(&[][..], |start| &bundle[start..]);
        let value: Value = serde_json::from_slice(json).map_err(CommitError::new)?;
        self.follow_on(due.trigger(), delta, value["content"]["events"].as_u64());
        self.learn(&value);
        self.kept = kept;
        self.behind = false;
        self.world.set_durable(self.durable.clone());
        if self.thorough {
            self.compare(delta.state());
        }
        let (trigger, durable) = (due.trigger(), self.durable.clone());
        self.world.note(What::CommitEnded { trigger, made: true, durable });
        if self.mortal && self.world.case.troubles.contains(&Trouble::CrashAfterCommit(self.tried)) {
            self.die().await;
        }
        Ok(())
    }

    fn keeps_events(&self) -> bool {
        true
    }
}
