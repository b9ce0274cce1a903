//! Many calls of one run that wait: the work for one decision does not grow with their number.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use runstate::decision::DecisionAction::Resume;
use runstate::tool_result::ToolResult;
use runstate_agent::event::{Redact, Redacted};
use runstate_agent::{
    Agent, Approval, ExecutionMode, Incoming, Input, Reply, RunHandles, RunState, WhenSuspended, run_loop,
};
use serde_json::{Value, json};

use super::parts::World;
use super::rounds::timed;
use super::script::asks;
use super::tools::{once, tool};

/// Counts how often it is called.
struct Counts(Arc<AtomicUsize>);

impl Redact for Counts {
    fn redact(&self, _: Redacted<'_>, value: &Value) -> Value {
        self.0.fetch_add(1, Ordering::SeqCst);
        value.clone()
    }
}

/// So often a value is redacted while so many calls are decided, one by one, and executed.
async fn redactions(calls: u64, mode: ExecutionMode, when: WhenSuspended) -> usize {
    let ids: Vec<_> = (0..calls).map(|number| format!("c{number}")).collect();
    let mut world = World::of([asks(ids.iter().map(|id| timed(id, "pay", 0)))]);
    let counted = Arc::new(AtomicUsize::new(0));
    let pay = tool(&world.ledger, once("pay").needs_approval(Approval::always()), |_| {
        Box::pin(async { ToolResult::Success(json!("paid")) })
    });
    let agent = Agent::builder(world.script.clone()).tools([pay]).mode(mode).when_suspended(when);
    let agent = agent.clock(world.clock).redact(Counts(Arc::clone(&counted))).build().unwrap();
    let mut handle = world.handle.clone();
    let people = tokio::spawn(async move {
        for _ in 0..calls {
            while handle.pending().is_empty() {
                handle.pending_changed().await.unwrap();
            }
            let asked = Arc::clone(&handle.pending()[0]);
            let id = &asked.suspension.id;
            let reply =
                handle.decide(Incoming::new(format!("d/{id}"), &*asked.call, Resume).on(id).by("ada"));
            assert_eq!(reply.await.unwrap(), Reply::Accepted);
        }
    });
    let (mut state, mut input) = (RunState::new("r1"), Input::message("go"));
    loop {
        let io = RunHandles::new().committer(&mut world.kept).inbox(&mut world.inbox);
        if run_loop(&agent, &mut state, input, io).await.unwrap().waiting.is_empty() {
            break;
        }
        tokio::task::yield_now().await;
        input = Input::Resume;
    }
    people.await.unwrap();
    assert_eq!(world.done().len() as u64, calls);
    counted.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn a_decision_shows_anew_the_calls_that_it_moves_and_no_others() {
    for mode in [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent] {
        for when in [WhenSuspended::Park, WhenSuspended::WaitInPlace] {
            let few = redactions(20, mode, when).await;
            let many = redactions(80, mode, when).await;
            assert!(many <= 4 * few + 8, "{mode:?}, {when:?}: {few} for 20 calls, {many} for 80");
        }
    }
}
