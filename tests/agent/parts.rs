//! Parts to drive a run with: a scripted model, tools that keep a ledger, decisions in a queue.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use runstate::agent::{
    Agent, CommitError, DecisionSource, Effect, Gate, Incoming, Model, ModelError, Outcome, Pending, Reply,
    RunState, StateCommitter, StoredRun, Tool, ToolInput, Verdict,
};
use runstate::checkpoint::{Due, Trigger};
use runstate::decision::{Decision, DecisionAction};
use runstate::tool_call::CallRecord;
use runstate::tool_result::ToolResult;
use runstate::trace::Recorder;
use runstate::turn::{CallRequest, Turn};
use serde_json::json;

/// Answers step by step; an empty answer once the script is over.
pub struct Script(pub Vec<Turn>);

impl Model for Script {
    fn infer(&mut self, step: u32, _: &RunState) -> Result<Turn, ModelError> {
        Ok(self.0.get(step as usize - 1).cloned().unwrap_or_default())
    }
}

pub fn turn(calls: &[(&str, &str)]) -> Turn {
    let request = |(id, tool): &(&str, &str)| CallRequest {
        id: (*id).to_owned(),
        tool: (*tool).to_owned(),
        arguments: json!({ "for": id }),
    };
    Turn { text: String::new(), calls: calls.iter().map(request).collect() }
}

/// What tools did, outside of the run.
pub type Ledger = Rc<RefCell<Vec<String>>>;

/// A tool that writes its idempotency key into a ledger and answers as it was told.
pub struct Noted {
    pub name: &'static str,
    pub effect: Effect,
    pub answer: fn(&ToolInput<'_>) -> ToolResult,
    pub ledger: Ledger,
}

impl Tool for Noted {
    fn name(&self) -> &str {
        self.name
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn call(&mut self, input: &ToolInput<'_>) -> ToolResult {
        self.ledger.borrow_mut().push(input.idempotency_key());
        (self.answer)(input)
    }
}

/// Suspends calls of the tools it names, unless a decision lets them go on.
pub struct Approve(pub &'static [&'static str]);

impl Gate for Approve {
    fn check(&self, call: &CallRecord, decision: Option<&Decision>) -> Verdict {
        if self.0.contains(&call.tool()) && decision.is_none() {
            return Verdict::Suspend {
                action: "approve".into(),
                message: format!("execute {}?", call.tool()),
            };
        }
        Verdict::Allow
    }
}

/// Decisions in a queue, and the replies to them.
#[derive(Default)]
pub struct Queue {
    pub incoming: VecDeque<Incoming>,
    pub replies: Vec<(String, Reply)>,
}

impl Queue {
    pub fn of(decisions: &[(&str, DecisionAction)]) -> Self {
        let incoming = decisions.iter().enumerate();
        let incoming = incoming
            .map(|(i, (call, action))| Incoming::new(format!("{call}-{i}"), *call, *action))
            .collect();
        Queue { incoming, replies: Vec::new() }
    }
}

impl DecisionSource for Queue {
    fn next(&mut self, _: &[Pending<'_>]) -> Option<Incoming> {
        self.incoming.pop_front()
    }

    fn replied(&mut self, incoming: &Incoming, reply: Reply) {
        self.replies.push((incoming.decision_id.clone(), reply));
    }
}

/// Keeps what was committed, as bytes.
#[derive(Default)]
pub struct Kept {
    pub triggers: Vec<Trigger>,
    pub json: String,
    pub fail_at: Option<usize>,
}

impl StateCommitter<RunState> for Kept {
    fn commit(&mut self, due: Due, state: &RunState) -> Result<(), CommitError> {
        if self.fail_at == Some(self.triggers.len()) {
            self.fail_at = None;
            return Err(CommitError::new("the disk is full"));
        }
        self.triggers.push(due.trigger());
        self.json = StoredRun::of(state).unwrap().to_json();
        Ok(())
    }
}

/// All of it, with a recorder.
pub struct World {
    pub script: Script,
    pub tools: Vec<Box<dyn Tool>>,
    pub gate: Approve,
    pub queue: Queue,
    pub kept: Kept,
    pub recorder: Recorder,
    pub ledger: Ledger,
    pub cancelled: bool,
}

impl World {
    pub fn new(turns: Vec<Turn>) -> Self {
        let ledger = Ledger::default();
        let noted = |name, effect, answer| -> Box<dyn Tool> {
            Box::new(Noted { name, effect, answer, ledger: Rc::clone(&ledger) })
        };
        let tools = vec![
            noted("read", Effect::Repeatable, |input| ToolResult::Success(input.arguments().clone())),
            noted("write", Effect::Once, |_| ToolResult::Success(json!("written"))),
            noted("fail", Effect::Repeatable, |_| ToolResult::Error("no such file".into())),
            noted("panic", Effect::Repeatable, |_| panic!("out of paper")),
        ];
        World {
            script: Script(turns),
            tools,
            gate: Approve(&["write"]),
            queue: Queue::default(),
            kept: Kept::default(),
            recorder: Recorder::new("r1"),
            ledger,
            cancelled: false,
        }
    }

    pub fn drive<T>(&mut self, drive: impl FnOnce(&mut Agent<'_>) -> T) -> T {
        let cancelled = self.cancelled;
        drive(&mut Agent {
            model: &mut self.script,
            tools: &mut self.tools,
            gate: &self.gate,
            decisions: &mut self.queue,
            committer: &mut self.kept,
            watch: &self.recorder,
            cancelled: &|| cancelled,
            max_steps: Some(20),
        })
    }

    pub fn start(&mut self, state: &mut RunState) -> Outcome {
        self.drive(|agent| agent.start(state, "tidy up")).unwrap()
    }

    pub fn resume(&mut self, state: &mut RunState) -> Outcome {
        self.drive(|agent| agent.resume(state)).unwrap()
    }

    pub fn state(&self) -> RunState {
        RunState::watched("r1", &self.recorder)
    }
}
