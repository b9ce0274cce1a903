//! The world outside of a process: it outlives the process, and a process can die at each contact with it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use runstate::agent::{
    CommitError, DecisionSource, Effect, Incoming, Model, ModelError, Pending, Reply, RunState,
    StateCommitter, StoredRun, Tool, ToolInput,
};
use runstate::checkpoint::Due;
use runstate::decision::DecisionAction;
use runstate::tool_result::ToolResult;
use runstate::trace::Recorder;
use runstate::turn::Turn;
use serde_json::json;

use super::super::parts::{assert_ready_for_the_model, turn};
use super::super::tools::{KINDS, Kind};
use super::case::{Arrival, Case, Kind as Arriving};

/// What a process dies of. No hook is told of it.
pub(super) struct Crash;

/// An execution of a tool.
pub(super) struct Execution {
    pub key: String,
    pub call: String,
    pub tool: &'static str,
    pub effect: Effect,
}

/// What is outside, shared by its parts.
#[derive(Default)]
pub(super) struct Outside {
    crashes: Vec<usize>,
    contacts: Cell<usize>,
    /// Is the process dead? The driver catches the panics of tools, so that it may live on for a moment.
    dead: Cell<bool>,
    pub asked: Cell<usize>,
    pub ledger: RefCell<Vec<Execution>>,
    /// The state of the run as of the last commit.
    pub stored: RefCell<String>,
    /// The first event that is not of that commit.
    pub seq: Cell<u64>,
    commits: Cell<usize>,
    pub failed_commits: Cell<usize>,
    failing: Vec<usize>,
}

impl Outside {
    pub(super) fn of(case: &Case) -> Rc<Self> {
        let (crashes, failing) = (case.crashes.clone(), case.failing_commits.clone());
        Rc::new(Outside { crashes, failing, seq: Cell::new(1), ..Outside::default() })
    }

    /// Nothing comes from a process that is dead.
    pub(super) fn live(&self) {
        if self.dead.get() {
            std::panic::resume_unwind(Box::new(Crash));
        }
    }

    /// A contact, at which the process may die.
    pub(super) fn contact(&self) {
        self.live();
        let contact = self.contacts.replace(self.contacts.get() + 1);
        if self.crashes.contains(&contact) {
            self.dead.set(true);
            self.live();
        }
    }

    pub(super) fn restart(&self) {
        self.dead.set(false);
    }
}

pub(super) struct Answers {
    pub outside: Rc<Outside>,
    pub turns: Vec<Turn>,
    pub fails_at: Option<u32>,
}

impl Answers {
    pub(super) fn of(case: &Case, outside: &Rc<Outside>) -> Self {
        Answers {
            outside: Rc::clone(outside),
            turns: case.turns.iter().map(|calls| turn(calls)).collect(),
            fails_at: case.model_fails_at,
        }
    }
}

impl Model for Answers {
    fn infer(&mut self, step: u32, state: &RunState) -> Result<Turn, ModelError> {
        self.outside.contact();
        assert_ready_for_the_model(state);
        assert_eq!(step, state.steps() + 1);
        self.outside.contact();
        if self.fails_at == Some(step) {
            return Err(ModelError::new("the line is dead"));
        }
        Ok(self.turns.get(step as usize - 1).cloned().unwrap_or_default())
    }
}

/// A tool whose process may die before and after it did its work.
struct Mortal {
    kind: Kind,
    outside: Rc<Outside>,
}

impl Tool for Mortal {
    fn name(&self) -> &str {
        self.kind.0
    }

    fn effect(&self) -> Effect {
        self.kind.1
    }

    fn call(&mut self, input: &ToolInput<'_>) -> ToolResult {
        self.outside.contact();
        if let Some(decision) = input.decision() {
            let durable = format!("\"decision_id\": {}", json!(decision.decision_id));
            assert!(
                self.outside.stored.borrow().contains(&durable),
                "{decision:?} is replayed but not durable"
            );
        }
        self.outside.ledger.borrow_mut().push(Execution {
            key: input.idempotency_key(),
            call: input.call().to_owned(),
            tool: self.kind.0,
            effect: self.kind.1,
        });
        self.outside.contact();
        (self.kind.2)(input)
    }
}

pub(super) fn tools(outside: &Rc<Outside>) -> Vec<Box<dyn Tool>> {
    let tool =
        |kind: &Kind| -> Box<dyn Tool> { Box::new(Mortal { kind: *kind, outside: Rc::clone(outside) }) };
    KINDS.iter().map(tool).collect()
}

pub(super) struct Store {
    pub outside: Rc<Outside>,
    pub recorder: Recorder,
}

impl StateCommitter<RunState> for Store {
    fn commit(&mut self, _: Due, state: &RunState) -> Result<(), CommitError> {
        let outside = &self.outside;
        outside.contact();
        if outside.failing.contains(&outside.commits.replace(outside.commits.get() + 1)) {
            outside.failed_commits.set(outside.failed_commits.get() + 1);
            return Err(CommitError::new("the disk is full"));
        }
        *outside.stored.borrow_mut() = StoredRun::of(state).unwrap().to_json();
        outside.seq.set(self.recorder.next_seq());
        outside.contact();
        Ok(())
    }
}

/// Where decisions come from. What was taken and got no reply is offered again.
pub(super) struct People {
    outside: Rc<Outside>,
    arrivals: VecDeque<Option<Arrival>>,
    calls: Vec<&'static str>,
    /// Answers all that waits, by itself.
    pub answers_all: bool,
    /// All that came in, in order.
    pub given: Vec<Incoming>,
    taken: Option<Incoming>,
    again: Option<Incoming>,
    pub replies: Vec<(Incoming, Reply, usize)>,
    /// What waited when a decision was given, which a refusal does not change.
    waited: Option<String>,
    refused: bool,
    /// The calls that were in doubt.
    pub in_doubt: BTreeSet<String>,
    /// The suspensions on which a call was in doubt, by their ids.
    pub doubts: BTreeMap<String, String>,
}

impl People {
    pub(super) fn of(case: &Case, outside: &Rc<Outside>) -> Self {
        People {
            outside: Rc::clone(outside),
            arrivals: case.arrivals.iter().copied().collect(),
            calls: case.turns.iter().flatten().map(|(id, _)| *id).collect(),
            answers_all: false,
            given: Vec::new(),
            taken: None,
            again: None,
            replies: Vec::new(),
            waited: None,
            refused: false,
            in_doubt: BTreeSet::new(),
            doubts: BTreeMap::new(),
        }
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.arrivals.is_empty()
    }

    pub(super) fn restart(&mut self) {
        self.again = self.taken.take();
        self.waited = None;
        self.refused = false;
    }

    fn arriving(&mut self, arrival: Arrival, pending: &[Pending<'_>]) -> Option<Incoming> {
        let Arrival { kind, resume, names, pick } = arrival;
        let action = if resume { DecisionAction::Resume } else { DecisionAction::Cancel };
        let id = format!("d{}", self.given.len());
        let pick_of = |length: usize| (length > 0).then(|| pick % length);
        let mut incoming = match kind {
            Arriving::Answer => {
                let it = &pending[pick_of(pending.len())?];
                let mut incoming = Incoming::new(id, it.call, action);
                incoming.suspension_id = names.then(|| it.suspension.id.clone());
                incoming
            }
            Arriving::Again => self.given[pick_of(self.given.len())?].clone(),
            Arriving::Conflict => {
                let mut incoming = self.given[pick_of(self.given.len())?].clone();
                incoming.decision_id = id;
                incoming
            }
            Arriving::Stale => {
                let mut incoming = Incoming::new(id, pending[pick_of(pending.len())?].call, action);
                incoming.suspension_id = Some("long gone".into());
                incoming
            }
            Arriving::Early => Incoming::new(id, self.calls[pick_of(self.calls.len())?], action),
            Arriving::Unknown => Incoming::new(id, "nobody", action),
        };
        incoming.result = json!({ "said": "yes" });
        Some(incoming)
    }

    /// An answer that depends on the call alone, whenever it is given.
    fn answer(&self, pending: &[Pending<'_>]) -> Option<Incoming> {
        let it = pending.first()?;
        let denied = it.suspension.action != "in_doubt" && it.record.key().ordinal == 3;
        let action = if denied { DecisionAction::Cancel } else { DecisionAction::Resume };
        let mut incoming = Incoming::new(format!("d/{}", it.suspension.id), it.call, action);
        incoming.suspension_id = Some(it.suspension.id.clone());
        incoming.result = json!({ "said": "yes" });
        Some(incoming)
    }
}

impl DecisionSource for People {
    fn next(&mut self, pending: &[Pending<'_>]) -> Option<Incoming> {
        self.outside.contact();
        for it in pending.iter().filter(|it| it.suspension.action == "in_doubt") {
            self.in_doubt.insert(it.call.to_owned());
            self.doubts.insert(it.suspension.id.clone(), it.call.to_owned());
        }
        let waits = format!("{pending:?}");
        if self.refused {
            assert_eq!(self.waited.as_deref(), Some(&*waits), "a refused decision changed what waits");
        }
        self.waited = Some(waits);
        self.refused = false;
        let incoming = match self.again.take() {
            Some(again) => Some(again),
            None if self.answers_all => self.answer(pending),
            None => match self.arrivals.pop_front() {
                Some(Some(arrival)) => self.arriving(arrival, pending),
                Some(None) | None => None,
            },
        };
        if let Some(incoming) = &incoming {
            self.given.push(incoming.clone());
            self.taken = Some(incoming.clone());
        }
        incoming
    }

    fn replied(&mut self, incoming: &Incoming, reply: Reply) {
        self.outside.contact();
        assert_eq!(self.taken.take().as_ref(), Some(incoming), "a reply to what was not given");
        self.refused = reply != Reply::Accepted;
        let executions = self.outside.ledger.borrow().len();
        self.replies.push((incoming.clone(), reply, executions));
    }
}
