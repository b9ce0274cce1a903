//! The commits of a run that is driven for real, to be made again in other stores.

use std::sync::Arc;

use async_trait::async_trait;
use runstate::decision::Suspension;
use runstate::tool_result::ToolResult;
use runstate::trace::Recorder;
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::stop::{StopConditionSpec, StopConditions};
use runstate_agent::{
    Agent, GateCall, InferenceRequest, Input, Model, ModelStream, Phase, PhaseContext, Phases, Plugin,
    PluginError, RunHandles, RunState, Tool, ToolContext, ToolSpec, Verdict, run_loop,
};
use runstate_runtime::clock::unix_clock;
use runstate_store::{Claim, Commit, NewRun, RunStore, StoreCommitter};
use runstate_store_conformance::RecordingStore;
use serde_json::{Value, json};

/// One call in each of so many steps.
struct Script(u32);

impl Model for Script {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let mut events = vec![ModelEvent::Text("I look into the next file.".to_owned())];
        if request.step <= self.0 {
            let id = format!("call_{}", request.step);
            events.push(ModelEvent::CallStart { index: 0, id, tool: "read_file".to_owned() });
            let delta = json!({ "path": format!("src/part_{}.rs", request.step) }).to_string();
            events.push(ModelEvent::Arguments { index: 0, delta });
        }
        events.push(ModelEvent::Finish(FinishReason::Stop));
        Box::pin(futures_util::stream::iter(events))
    }
}

struct Read(ToolSpec);

#[async_trait]
impl Tool for Read {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: &mut ToolContext) -> ToolResult {
        ToolResult::Success(json!({ "text": "fn main() {\n    println!(\"hello\");\n}\n".repeat(4) }))
    }
}

/// Asks a person before each call.
struct Ask;

#[async_trait]
impl Plugin for Ask {
    fn name(&self) -> &str {
        "ask"
    }

    fn phases(&self) -> Phases {
        Phases::of(&[Phase::BeforeToolExecute])
    }

    async fn before_tool_execute(
        &self,
        _: &mut PhaseContext<'_>,
        call: &GateCall<'_>,
    ) -> Result<Verdict, PluginError> {
        let message = format!("read {}?", call.arguments()["path"]);
        Ok(Verdict::Suspend(Suspension::ask("approve", message)))
    }
}

/// The commits of a run of so many steps.
pub async fn commits(steps: u32) -> Vec<Commit> {
    record(Agent::builder(Script(steps)), steps).await
}

/// The commits of a run up to where it waits for a person.
pub async fn parked() -> Vec<Commit> {
    record(Agent::builder(Script(1)).plugin(Ask), 1).await
}

async fn record(agent: runstate_agent::AgentBuilder, steps: u32) -> Vec<Commit> {
    let stop = vec![StopConditionSpec::MaxRounds { rounds: steps + 2 }];
    let agent = agent
        .tool(Read(ToolSpec::new("read_file", "Reads a file.")))
        .stop(StopConditions::new(stop).expect("one condition"))
        .build()
        .expect("an agent that can be built");
    let taped = Arc::new(RecordingStore::default());
    let store: Arc<dyn RunStore> = Arc::clone(&taped) as _;
    store.create(&NewRun::new("run", Value::Null, 0)).await.expect("a new run");
    let claim = Claim::of("run", "bench", std::time::Duration::MAX);
    let lease = store.claim(&claim).await.expect("a free run").expect("a lease");
    let loaded = store.load("run").await.expect("the run");
    let recorder = Recorder::new("run");
    let clock = Arc::new(unix_clock());
    let mut committer = StoreCommitter::new(store, lease, &loaded, recorder.clone(), clock);
    let mut state = RunState::watched("run", &recorder);
    let io = RunHandles::new().committer(&mut committer).watch(&recorder);
    run_loop(&agent, &mut state, Input::message("Review it."), io).await.expect("a run to its end");
    taped.commits("run")
}

/// The bytes of its rows, as text: what a log would hold of it.
pub fn text(commit: &Commit) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut add = |text: &str| {
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(b'\n');
    };
    add(&commit.run.snapshot);
    add(&commit.run.core);
    commit.messages.iter().for_each(|row| add(&row.json));
    commit.calls.iter().for_each(|row| add(&row.snapshot));
    commit.values.iter().filter_map(|row| row.json.as_deref()).for_each(&mut add);
    commit.trace.iter().for_each(|row| add(&row.json));
    commit.events.iter().for_each(|row| add(&row.json));
    bytes
}
