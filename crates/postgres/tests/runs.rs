//! Commits of runs that were really driven, for tests to give to stores as they like.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use runstate::decision::{Decision, DecisionAction, Suspension};
use runstate::tool_result::ToolResult;
use runstate::trace::Recorder;
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::{
    Agent, ExecutionMode, InferenceRequest, Input, Model, ModelStream, RunHandles, RunState, Tool,
    ToolContext, ToolSpec, async_trait, run_loop,
};
use runstate_runtime::clock::SetClock;
use runstate_store::{
    Approval, ApprovalQuery, Claim, Commit, Lease, Loaded, MessageRow, NewRun, RunStore, StoreCommitter,
};
use runstate_store_conformance::RecordingStore;
use serde_json::json;

/// Asks for as many calls of `ask` in its first step, and is done in the second.
struct Asks(u32);

impl Model for Asks {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let mut events = vec![ModelEvent::Text(format!("step {}", request.step))];
        let calls = if request.step == 1 { self.0 } else { 0 };
        for index in 0..calls {
            let id = format!("call_{index}");
            events.push(ModelEvent::CallStart { index, id, tool: "ask".to_owned() });
            events.push(ModelEvent::Arguments { index, delta: json!({ "n": index }).to_string() });
        }
        events.push(ModelEvent::Finish(FinishReason::Stop));
        Box::pin(stream::iter(events))
    }
}

struct Ask(ToolSpec);

#[async_trait]
impl Tool for Ask {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        match cx.decision() {
            Some(_) => ToolResult::Success(json!("done")),
            None => ToolResult::Pending(Suspension::ask("approve", "go on?")),
        }
    }
}

fn agent(calls: u32) -> Agent {
    let ask = Ask(ToolSpec::new("ask", "").repeatable());
    Agent::builder(Asks(calls))
        .mode(ExecutionMode::Parallel)
        .tool(ask)
        .clock(SetClock::at(1_000))
        .build()
        .unwrap()
}

/// Drives a new run into a store until it waits for its calls, or is over without any.
pub async fn drive(store: Arc<dyn RunStore>, run: &str, calls: u32) -> Lease {
    store.create(&NewRun::new(run, json!({ "calls": calls }), 1_000)).await.unwrap();
    let lease = store.claim(&Claim::of(run, "driver", Duration::ZERO)).await.unwrap().unwrap();
    let loaded = store.load(run).await.unwrap();
    go_on(store, lease.clone(), &loaded, calls, Input::message("begin")).await;
    lease
}

/// Goes on with a run that was loaded and not begun.
pub async fn go_on(store: Arc<dyn RunStore>, lease: Lease, loaded: &Loaded, calls: u32, input: Input) {
    let run = lease.run.clone();
    let recorder = Recorder::new(&*run);
    let clock = Arc::new(SetClock::at(1_000));
    // A server that crashed may take its time on a busy machine.
    let mut committer =
        StoreCommitter::new(store, lease, loaded, recorder.clone(), clock).patience(Duration::from_secs(60));
    let mut state = RunState::watched(run, &recorder);
    let io = RunHandles::new().committer(&mut committer).watch(&recorder);
    run_loop(&agent(calls), &mut state, input, io).await.unwrap();
}

/// The commits of a run with so many calls that wait, in order.
pub async fn commits(run: &str, calls: u32) -> Vec<Commit> {
    let taped = Arc::new(RecordingStore::default());
    drive(Arc::clone(&taped) as Arc<dyn RunStore>, run, calls).await;
    taped.commits(run)
}

/// A run that waits for so many calls, stored.
pub async fn waiting(store: &dyn RunStore, run: &str, calls: u32) -> (Lease, Vec<Approval>) {
    store.create(&NewRun::new(run, json!(null), 1_000)).await.unwrap();
    let lease = store.claim(&Claim::of(run, "driver", Duration::ZERO)).await.unwrap().unwrap();
    for commit in commits(run, calls).await {
        store.commit(&lease, &commit).await.unwrap();
    }
    let about = runstate_store::ApprovalFilter::Run(run.to_owned());
    let approvals = store.approvals(&ApprovalQuery::new(about, 1_000)).await.unwrap();
    assert_eq!(approvals.len(), calls as usize);
    (lease, approvals)
}

pub fn decision(id: &str, approval: &Approval) -> Decision {
    let mut decision = Decision::new(id, &approval.suspension.id, DecisionAction::Resume);
    decision.run_id.clone_from(&approval.run);
    decision.call.clone_from(&approval.call);
    decision
}

/// Commits behind those of a run that waits: the same again and again, with one more message each.
pub struct More {
    pub commit: Commit,
    message: MessageRow,
    /// How many messages there are.
    pub messages: u64,
}

impl More {
    pub async fn of(run: &str, calls: u32) -> Self {
        let commits = commits(run, calls).await;
        let messages: Vec<_> = commits.iter().flat_map(|commit| commit.messages.clone()).collect();
        let count = messages.len() as u64;
        More { commit: commits.last().unwrap().clone(), message: messages[0].clone(), messages: count }
    }

    pub fn next(&mut self) -> &Commit {
        self.commit.version += 1;
        self.commit.again = false;
        self.messages += 1;
        self.commit.messages = vec![self.message.clone()];
        self.commit.messages[0].seq = self.messages;
        for row in &mut self.commit.trace {
            row.seq += 1_000;
        }
        &self.commit
    }
}
