//! A run is killed right after each of its checkpoints, and resumed by the binary.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use runstate::agent::answer::{FinishReason, ModelEvent};
use runstate::agent::{
    Agent, CommitError, Delta, Incoming, InferenceRequest, Input, Io, Model, ModelStream, StateCommitter,
    StoredRun, Tool, ToolContext, ToolSpec, async_trait, inbox, run_loop,
};
use runstate::checkpoint::{Due, Trigger};
use runstate::decision::DecisionAction;
use runstate::run::RunStatus;
use runstate::tool_result::ToolResult;
use runstate::trace::Recorder;
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
    deleted: Arc<AtomicBool>,
    all: Vec<Disk>,
}

#[async_trait]
impl StateCommitter for Disks {
    async fn commit(&mut self, due: Due, delta: &Delta<'_>) -> Result<(), CommitError> {
        let events = self.recorder.events();
        let trace: String = std::iter::once(self.trace.clone())
            .chain(events.iter().map(|event| event.to_json() + "\n"))
            .collect();
        let state = json!({
            "created_unix_ms": self.created,
            "trace_bytes": trace.len(),
            "next_seq": self.recorder.next_seq(),
            "state": StoredRun::of(delta.state()).unwrap(),
        });
        let disk = Disk {
            trigger: due.trigger(),
            state: state.to_string(),
            trace,
            a_is_deleted: self.deleted.load(Ordering::Relaxed),
        };
        self.all.push(disk);
        Ok(())
    }
}

struct Done;

impl Model for Done {
    fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
        let said = [ModelEvent::Text("done".to_owned()), ModelEvent::Finish(FinishReason::Stop)];
        Box::pin(futures_util::stream::iter(said))
    }
}

struct Delete(ToolSpec, Arc<AtomicBool>);

#[async_trait]
impl Tool for Delete {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: &mut ToolContext) -> ToolResult {
        self.1.store(true, Ordering::Relaxed);
        ToolResult::Success(Value::Null)
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_killed_after_any_checkpoint_goes_on() {
    let session = Session::new();
    session.write("s.yaml", SCENARIO);
    assert_eq!(session.run(&["run", "s.yaml", "--state-dir", "runs"]).code, Some(3));

    // Drives the parked run to its end here, and keeps what each checkpoint wrote.
    let parked: Value = serde_json::from_str(&session.read("runs/crash-1/state.json")).unwrap();
    let stored: StoredRun = serde_json::from_value(parked["state"].clone()).unwrap();
    let mut state = stored.restore().unwrap();
    let recorder = Recorder::builder("crash-1").first_seq(parked["next_seq"].as_u64().unwrap()).build();
    state.watch(&recorder);
    let deleted = Arc::new(AtomicBool::new(false));
    let mut disks = Disks {
        recorder: recorder.clone(),
        created: parked["created_unix_ms"].clone(),
        trace: session.read("runs/crash-1/trace.jsonl"),
        deleted: Arc::clone(&deleted),
        all: Vec::new(),
    };
    let tool = Delete(ToolSpec::new("delete_file", "Deletes a file."), deleted);
    let agent = Agent::builder(Done).tool(tool).build().unwrap();
    let (_handle, mut inbox) = inbox();
    inbox.put(Incoming::new("decision on rm_a", "rm_a", DecisionAction::Resume));
    inbox.put(Incoming::new("decision on rm_b", "rm_b", DecisionAction::Cancel));
    let io = Io::new().committer(&mut disks).inbox(&mut inbox).watch(&recorder);
    run_loop(&agent, &mut state, Input::Resume, io).await.unwrap();
    assert_eq!(state.run().status(), RunStatus::Done);
    let disks = disks.all;
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
