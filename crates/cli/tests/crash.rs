//! A run is killed right after each of its checkpoints, and resumed by the binary.

use std::cell::{Cell, RefCell};
use std::fs;
use std::rc::Rc;

use runstate::agent::{
    Agent, AllowAll, CommitError, DecisionSource, Effect, Incoming, Model, ModelError, Pending, Reply,
    RunState, StateCommitter, StoredRun, Tool, ToolInput, Watch,
};
use runstate::checkpoint::{Due, Trigger};
use runstate::decision::DecisionAction;
use runstate::kernel::Observer;
use runstate::tool_result::ToolResult;
use runstate::trace::Recorder;
use runstate::turn::Turn;
use serde_json::{Value, json};

use crate::session::Session;

const SCENARIO: &str = "\
name: crash
message: tidy up
approve: [delete_file]
model:
  - calls:
      - {id: make, tool: write_file, arguments: {path: a.txt, content: one}}
      - {id: rm_a, tool: delete_file, arguments: {path: a.txt}}
      - {id: rm_b, tool: delete_file, arguments: {path: b.txt}}
  - text: done
";

/// What is on disk after a checkpoint.
struct Disk {
    trigger: Trigger,
    state: String,
    trace: String,
    a_is_deleted: bool,
}

struct Disks {
    recorder: Recorder,
    created: Value,
    trace: String,
    deleted: Rc<Cell<bool>>,
    all: RefCell<Vec<Disk>>,
}

impl StateCommitter<RunState> for &Disks {
    fn commit(&mut self, due: Due, state: &RunState) -> Result<(), CommitError> {
        let events = self.recorder.events();
        let trace: String = std::iter::once(self.trace.clone())
            .chain(events.iter().map(|event| event.to_json() + "\n"))
            .collect();
        let state = json!({
            "created_unix_ms": self.created,
            "trace_bytes": trace.len(),
            "next_seq": self.recorder.next_seq(),
            "state": StoredRun::of(state).unwrap(),
        });
        let disk = Disk {
            trigger: due.trigger(),
            state: state.to_string(),
            trace,
            a_is_deleted: self.deleted.get(),
        };
        self.all.borrow_mut().push(disk);
        Ok(())
    }
}

struct Watched<'a>(&'a Recorder);

impl Watch for Watched<'_> {
    fn observer(&self, _: &'static str, instance: &str) -> Observer {
        self.0.observer(instance)
    }
}

struct Done;

impl Model for Done {
    fn infer(&mut self, _: u32, _: &RunState) -> Result<Turn, ModelError> {
        Ok(Turn { text: "done".to_owned(), calls: Vec::new() })
    }
}

struct Delete(Rc<Cell<bool>>);

impl Tool for Delete {
    fn name(&self) -> &str {
        "delete_file"
    }
    fn effect(&self) -> Effect {
        Effect::Once
    }
    fn call(&mut self, _: &ToolInput<'_>) -> ToolResult {
        self.0.set(true);
        ToolResult::Success(Value::Null)
    }
}

/// Approves `rm_a`, denies `rm_b`.
struct Answers;

impl DecisionSource for Answers {
    fn next(&mut self, pending: &[Pending<'_>]) -> Option<Incoming> {
        let call = pending.first()?.call;
        let action = if call == "rm_a" { DecisionAction::Resume } else { DecisionAction::Cancel };
        Some(Incoming::new(format!("decision on {call}"), call, action))
    }
    fn replied(&mut self, _: &Incoming, reply: Reply) {
        assert_eq!(reply, Reply::Accepted);
    }
}

#[test]
fn a_run_that_was_killed_after_any_checkpoint_goes_on() {
    let session = Session::new();
    session.write("s.yaml", SCENARIO);
    assert_eq!(session.run(&["run", "s.yaml", "--state-dir", "runs"]).code, Some(3));

    // Drives the parked run to its end here, and keeps what each checkpoint wrote.
    let parked: Value = serde_json::from_str(&session.read("runs/crash-1/state.json")).unwrap();
    let stored: StoredRun = serde_json::from_value(parked["state"].clone()).unwrap();
    let mut state = stored.restore().unwrap();
    let recorder = Recorder::builder("crash-1").first_seq(parked["next_seq"].as_u64().unwrap()).build();
    state.watch(&Watched(&recorder));
    let deleted = Rc::new(Cell::new(false));
    let disks = Disks {
        recorder: recorder.clone(),
        created: parked["created_unix_ms"].clone(),
        trace: session.read("runs/crash-1/trace.jsonl"),
        deleted: Rc::clone(&deleted),
        all: RefCell::default(),
    };
    let outcome = Agent {
        model: &mut Done,
        tools: &mut [Box::new(Delete(deleted)) as Box<dyn Tool>],
        gate: &AllowAll,
        decisions: &mut Answers,
        committer: &mut &disks,
        watch: &Watched(&recorder),
        cancelled: &|| false,
        max_steps: None,
    }
    .resume(&mut state);
    outcome.unwrap();
    let disks = disks.all.into_inner();
    let triggers: Vec<Trigger> = disks.iter().map(|disk| disk.trigger).collect();
    assert_eq!(
        triggers.iter().filter(|trigger| **trigger == Trigger::DecisionAccepted).count(),
        2,
        "{triggers:?}"
    );

    let mut in_doubt = 0;
    for (number, disk) in disks.iter().enumerate() {
        let what = format!("after checkpoint {number} ({})", disk.trigger);
        session.write("runs/crash-1/state.json", &disk.state).write("runs/crash-1/trace.jsonl", &disk.trace);
        drop(fs::remove_file(session.path("runs/crash-1/work/a.txt")));
        if !disk.a_is_deleted {
            session.write("runs/crash-1/work/a.txt", "one");
        }
        let resume = |answers: &[&str]| {
            let mut args = vec!["resume", "crash-1", "--state-dir", "runs", "--json"];
            args.extend(answers);
            session.run(&args)
        };
        let mut said = resume(&[]);
        if said.code == Some(3) {
            let json: Value = serde_json::from_str(&said.stdout).unwrap();
            let waiting = json["waiting"].as_array().unwrap();
            in_doubt += waiting.iter().filter(|call| call["action"] == "in_doubt").count();
            let answer = |call: &'static str, word: &'static str| {
                if waiting.iter().any(|it| it["call"] == call) { vec![word, call] } else { Vec::new() }
            };
            said = resume(&[answer("rm_a", "--approve"), answer("rm_b", "--deny")].concat());
        }
        let over = said.stderr.contains("it is over");
        assert!(said.code == Some(0) || over && number + 1 == disks.len(), "{what}: {}", said.shown());
        assert!(!session.path("runs/crash-1/work/a.txt").exists(), "{what}: what was approved is done");
        let checked = session.run(&["check", "runs/crash-1/trace.jsonl"]);
        assert_eq!(checked.code, Some(0), "{what}: {}", checked.shown());
    }
    assert!(in_doubt > 0, "no kill came while a call executed: {triggers:?}");
}
