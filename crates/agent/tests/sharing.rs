//! What is shared and what is not, and what the types of the driver promise.

use std::sync::{Arc, Mutex};

use futures_util::stream;
use runstate::termination::TerminationReason;
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::{
    Agent, DecisionHandle, InferenceRequest, Input, Message, Model, ModelStream, Plugin, RunHandles,
    RunState, RunStream, StateCommitter, Tool, run_loop,
};
use serde_json::json;
use static_assertions::{assert_impl_all, assert_obj_safe};

use super::parts::{World, written};
use super::tools::{repeatable, tool};

assert_obj_safe!(Model, Tool, Plugin, StateCommitter);
assert_obj_safe!(
    runstate_agent::event::EventSink,
    runstate_agent::event::Redact,
    runstate_agent::SchemaCheck
);
assert_impl_all!(Agent: Clone, Send, Sync);
assert_impl_all!(DecisionHandle: Clone, Send, Sync);
assert_impl_all!(RunState: Send, Sync);
assert_impl_all!(RunStream<'static>: Send, Unpin);

#[tokio::test]
async fn a_loop_can_be_driven_by_any_thread() {
    fn assert_send<T: Send>(future: T) -> T {
        future
    }
    let agent =
        Agent::builder(Counts { most: 3, addresses: Arc::default() }).tool(Read::default()).build().unwrap();
    let mut state = RunState::new("r1");
    let looped = async move {
        let outcome =
            assert_send(run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new())).await;
        (outcome.unwrap().reason, state.steps())
    };
    assert_eq!(tokio::spawn(looped).await.unwrap(), (TerminationReason::NaturalEnd, 3));
}

struct Read(runstate_agent::ToolSpec);

impl Default for Read {
    fn default() -> Self {
        Read(repeatable("read"))
    }
}

#[runstate_agent::async_trait]
impl Tool for Read {
    fn spec(&self) -> &runstate_agent::ToolSpec {
        &self.0
    }

    async fn call(&self, _: &mut runstate_agent::ToolContext) -> runstate::tool_result::ToolResult {
        runstate::tool_result::ToolResult::Success(json!(1))
    }
}

/// Asks for one call a step, and notes where the list of messages stands.
struct Counts {
    most: u32,
    addresses: Arc<Mutex<Vec<usize>>>,
}

impl Model for Counts {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        self.addresses.lock().unwrap().push(request.history.as_ptr().addr());
        let mut events = Vec::new();
        if request.step < self.most {
            let (id, tool) = (format!("c{}", request.step), "read".to_owned());
            events.push(ModelEvent::CallStart { index: 0, id, tool });
        }
        events.push(ModelEvent::Finish(FinishReason::Stop));
        Box::pin(stream::iter(events))
    }
}

#[tokio::test(start_paused = true)]
async fn the_list_of_messages_is_not_copied_for_a_step() {
    let addresses = Arc::default();
    let model = Counts { most: 1_000, addresses: Arc::clone(&addresses) };
    let agent = Agent::builder(model).tool(Read::default()).build().unwrap();
    let mut state = RunState::new("r1");
    run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new()).await.unwrap();
    let addresses = addresses.lock().unwrap();
    assert_eq!(addresses.len(), 1_000);
    let moved = addresses.windows(2).filter(|pair| pair[0] != pair[1]).count();
    // It moves when it grows, each time to twice its size; a copy for each step would move it each time.
    assert!(moved <= 12, "it moved {moved} times in 1,000 steps");
}

#[tokio::test(start_paused = true)]
async fn kept_request_does_not_change_and_shares_its_messages() {
    let mut world = World::new(&[&[("a", "read")], &[("b", "read")]]);
    world.script.keep();
    let mut state = world.state();
    world.start(&mut state).await;
    let kept = world.script.kept();
    assert_eq!(kept.iter().map(|history| history.len()).collect::<Vec<_>>(), [1, 3, 5]);
    for (history, seen) in kept.iter().zip(world.script.seen()) {
        assert_eq!(history.iter().map(written).collect::<Vec<_>>(), seen, "it is as it was when it was sent");
        for (of_request, of_run) in history.iter().zip(state.history().iter()) {
            let same = match (of_request, of_run) {
                (Message::User(one), Message::User(two)) => Arc::ptr_eq(one, two),
                (Message::Assistant(one), Message::Assistant(two)) => Arc::ptr_eq(one, two),
                (Message::Result(one), Message::Result(two)) => Arc::ptr_eq(one, two),
                _ => false,
            };
            assert!(same, "{of_request:?} was copied");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_agent_drives_many_runs_at_once() {
    let mut world = World::new(&[]);
    world.tools.push(tool(&world.ledger, repeatable("other"), |_| {
        Box::pin(async { runstate::tool_result::ToolResult::Success(json!(1)) })
    }));
    let agent = world.agent();
    let runs = (0..100).map(|number| {
        let agent = agent.clone();
        tokio::spawn(async move {
            let mut state = RunState::new(format!("r{number}"));
            run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new()).await.unwrap().reason
        })
    });
    for run in runs.collect::<Vec<_>>() {
        assert_eq!(run.await.unwrap(), TerminationReason::NaturalEnd);
    }
}
