//! Parts to drive a run with: a scripted model, decisions in a queue, a committer that fails when told, a recorder.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use runstate::agent::{
    ActivationError, Agent, CommitError, DecisionSource, Entry, Incoming, Model, ModelError, Outcome,
    Pending, Reply, RunState, StateCommitter, StoredRun, Tool,
};
use runstate::checkpoint::{Due, Trigger};
use runstate::decision::DecisionAction;
use runstate::run::RunStatus;
use runstate::trace::{Event, Recorder, Report, Rulebook, Verdict, check, to_text};
use runstate::turn::{CallRequest, Turn};
use serde_json::json;

use super::tools::{Ledger, Rules, tools};

/// Answers step by step; an empty answer once the script is over. What it reads is checked each time.
#[derive(Default)]
pub struct Script {
    pub turns: Vec<Turn>,
    /// At this step there is no answer.
    pub fails_at: Option<u32>,
    /// What it read, step by step.
    pub seen: Vec<Vec<String>>,
}

impl Model for Script {
    fn infer(&mut self, step: u32, state: &RunState) -> Result<Turn, ModelError> {
        assert_ready_for_the_model(state);
        self.seen.push(state.history().map(|entry| written(&entry)).collect());
        if self.fails_at == Some(step) {
            return Err(ModelError::new("the line is dead"));
        }
        Ok(self.turns.get(step as usize - 1).cloned().unwrap_or_default())
    }
}

/// Exactly one result behind each answer for each of its calls, in their order, and none of them waits or executes.
pub fn assert_ready_for_the_model(state: &RunState) {
    let mut owed = VecDeque::new();
    for entry in state.history() {
        match entry {
            Entry::User(_) => assert_eq!(owed, [""; 0], "results are missing before the user's message"),
            Entry::Assistant(turn) => {
                assert_eq!(owed, [""; 0], "results are missing before the next answer");
                owed.extend(turn.calls.iter().map(|call| call.id.as_str()));
            }
            Entry::Output { id, .. } | Entry::Error { id, .. } => {
                assert_eq!(owed.pop_front(), Some(id), "a result that no call asked for");
            }
        }
    }
    assert_eq!(owed, [""; 0], "results are missing at the end");
    assert_eq!(state.projection(), RunStatus::Done, "a call waits or executes while the model is asked");
}

/// An entry in a few words.
pub fn written(entry: &Entry<'_>) -> String {
    match entry {
        Entry::User(text) => format!("user: {text}"),
        Entry::Assistant(turn) => {
            let calls: Vec<_> = turn.calls.iter().map(|call| format!("{} {}", call.tool, call.id)).collect();
            format!("assistant: {}[{}]", turn.text, calls.join(", "))
        }
        Entry::Output { id, output, warning: None } => format!("{id}: {output}"),
        Entry::Output { id, output, warning: Some(warning) } => format!("{id}: {output} ({warning})"),
        Entry::Error { id, error } => format!("{id}: error: {error}"),
    }
}

/// An answer that asks for these calls, each an id and a tool.
pub fn turn(calls: &[(&str, &str)]) -> Turn {
    let request = |(id, tool): &(&str, &str)| CallRequest {
        id: (*id).to_owned(),
        tool: (*tool).to_owned(),
        arguments: json!({ "for": id }),
    };
    Turn { text: String::new(), calls: calls.iter().map(request).collect() }
}

/// Decisions in a queue, and the replies to them.
#[derive(Default)]
pub struct Queue {
    pub incoming: VecDeque<Incoming>,
    pub replies: Vec<(String, Reply)>,
    /// The commits made so far, as each reply was given.
    pub told_after: Vec<usize>,
    /// A decision comes in once its call waits, and not before.
    pub patient: bool,
    commits: Rc<Cell<usize>>,
}

impl Queue {
    /// A decision on each of the calls, with the id `d-` and its name.
    pub fn put(&mut self, decisions: &[(&str, DecisionAction)]) {
        for (call, action) in decisions {
            self.incoming.push_back(Incoming::new(format!("d-{call}"), *call, *action));
        }
    }
}

impl DecisionSource for Queue {
    fn next(&mut self, pending: &[Pending<'_>]) -> Option<Incoming> {
        let first = self.incoming.front()?;
        if self.patient && pending.iter().all(|pending| pending.call != first.call) {
            return None;
        }
        self.incoming.pop_front()
    }

    fn replied(&mut self, incoming: &Incoming, reply: Reply) {
        self.replies.push((incoming.decision_id.clone(), reply));
        self.told_after.push(self.commits.get());
    }
}

/// Keeps what was committed, as bytes.
#[derive(Default)]
pub struct Kept {
    pub triggers: Vec<Trigger>,
    pub json: String,
    /// This commit fails, counted from 0.
    pub fail_at: Option<usize>,
    /// And all after it.
    pub fail_on: bool,
    tries: usize,
    commits: Rc<Cell<usize>>,
}

impl StateCommitter<RunState> for Kept {
    fn commit(&mut self, due: Due, state: &RunState) -> Result<(), CommitError> {
        self.tries += 1;
        if self.fail_at.is_some_and(|at| at + 1 == self.tries || self.fail_on && at < self.tries) {
            return Err(CommitError::new("the disk is full"));
        }
        self.triggers.push(due.trigger());
        self.commits.set(self.triggers.len());
        self.json = StoredRun::of(state).unwrap().to_json();
        Ok(())
    }
}

/// All of it, with a recorder.
pub struct World {
    pub script: Script,
    pub tools: Vec<Box<dyn Tool>>,
    pub queue: Queue,
    pub kept: Kept,
    pub recorder: Recorder,
    pub ledger: Ledger,
    /// From this asking on the run is cancelled, counted from 0.
    pub cancelled_at: Option<usize>,
    /// How often it was asked.
    pub asked: Cell<usize>,
    pub max_steps: Option<u32>,
    /// Executions whose gate is open when their round is left: for a call that asked, or since the run was cancelled.
    /// They are abandoned, and their calls are executed anew later, if at all.
    pub abandoned: Vec<&'static str>,
}

impl World {
    /// With a script of answers, each a list of calls by id and tool.
    pub fn new(turns: &[&[(&str, &str)]]) -> Self {
        let ledger = Ledger::default();
        let commits = Rc::new(Cell::new(0));
        World {
            script: Script { turns: turns.iter().map(|calls| turn(calls)).collect(), ..Script::default() },
            tools: tools(&ledger),
            queue: Queue { commits: Rc::clone(&commits), ..Queue::default() },
            kept: Kept { commits, ..Kept::default() },
            recorder: Recorder::new("r1"),
            ledger,
            cancelled_at: None,
            asked: Cell::new(0),
            max_steps: Some(20),
            abandoned: Vec::new(),
        }
    }

    pub fn drive<T>(&mut self, drive: impl FnOnce(&mut Agent<'_>) -> T) -> T {
        let (asked, at) = (&self.asked, self.cancelled_at);
        drive(&mut Agent {
            model: &mut self.script,
            tools: &mut self.tools,
            gate: &Rules,
            decisions: &mut self.queue,
            committer: &mut self.kept,
            watch: &self.recorder,
            cancelled: &|| at.is_some_and(|at| asked.replace(asked.get() + 1) >= at),
            max_steps: self.max_steps,
        })
    }

    pub fn start(&mut self, state: &mut RunState) -> Outcome {
        self.drive(|agent| agent.start(state, "tidy up")).unwrap()
    }

    pub fn try_start(&mut self, state: &mut RunState) -> Result<Outcome, ActivationError> {
        self.drive(|agent| agent.start(state, "tidy up"))
    }

    pub fn resume(&mut self, state: &mut RunState) -> Outcome {
        self.drive(|agent| agent.resume(state)).unwrap()
    }

    /// Puts decisions in, and resumes.
    pub fn decide(&mut self, state: &mut RunState, decisions: &[(&str, DecisionAction)]) -> Outcome {
        self.queue.put(decisions);
        self.resume(state)
    }

    pub fn state(&self) -> RunState {
        RunState::watched("r1", &self.recorder)
    }

    /// The run as another process finds it: from the bytes of the last commit.
    pub fn restored(&self) -> RunState {
        let mut state = StoredRun::from_json(self.kept.json.as_bytes()).unwrap().restore().unwrap();
        state.watch(&self.recorder);
        state
    }

    /// What tools did so far.
    pub fn done(&self) -> Vec<String> {
        self.ledger.borrow().clone()
    }

    /// The trace, held against all diagrams.
    pub fn report(&self) -> Report {
        check(&self.recorder.events(), &book())
    }

    /// The trace conforms, and is this one.
    pub fn assert_trace(&self, name: &str) {
        self.assert_conforms();
        insta::with_settings!({
            snapshot_path => concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"),
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(format!("agent__{name}"), to_text(&self.recorder.events()));
        });
    }

    /// The trace conforms to the diagrams, and nothing is unfinished but what a run that waits, or is over, leaves so: the
    /// run itself while it waits with its suspended calls, calls that never started, executions that were abandoned.
    pub fn assert_conforms(&self) {
        let report = self.report();
        assert_ne!(report.verdict, Verdict::Violates, "{}", report.summary());
        let mut abandoned = Vec::new();
        for it in &report.unfinished {
            match (it.lifecycle.as_str(), it.state.as_str()) {
                ("run", "Waiting") | ("tool_call", "Suspended" | "New") => {}
                ("tool_execution", "ExecuteTool") => abandoned.push(it.instance.as_str()),
                _ => panic!("{}", report.summary()),
            }
        }
        assert_eq!(abandoned, self.abandoned, "{}", report.summary());
    }
}

/// The built-in diagrams.
pub fn book() -> Rulebook {
    Rulebook::of(runstate::lifecycles().iter().copied())
}

/// How the calls stand, each with its name in traces.
pub fn statuses(state: &RunState) -> Vec<String> {
    state.calls().map(|(name, call)| format!("{name} {}", call.status())).collect()
}

/// What the model reads.
pub fn history(state: &RunState) -> Vec<String> {
    state.history().map(|entry| written(&entry)).collect()
}

/// The events of one lifecycle, each with its instance.
pub fn of_lifecycle(events: &[Event<'_>], lifecycle: &str) -> Vec<String> {
    let of_it = events.iter().filter(|event| event.lifecycle == lifecycle);
    of_it.map(|event| format!("{} {event}", event.instance)).collect()
}
