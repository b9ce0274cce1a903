//! What a step of an agent costs, against a loop written by hand in the same run: `cargo run --release --bin agent`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use futures_util::stream;
use runstate::decision::DecisionAction;
use runstate::tool_result::ToolResult;
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::{
    Agent, Approval, CancellationToken, ExecutionMode, Incoming, InferenceRequest, Input, MemoryCommitter,
    Model, ModelStream, PendingCall, Reply, RunHandles, RunState, Tool, ToolContext, ToolSpec, WhenSuspended,
    inbox, run_loop,
};
use runstate_benches::agent_by_hand as by_hand;
use runstate_benches::allocations::{Counting, allocations, live};
use serde_json::Value;

#[global_allocator]
static COUNTING: Counting = Counting;

/// What both models say: so many calls in each of so many steps.
#[derive(Clone, Copy)]
struct Script {
    steps: u32,
    calls: u32,
    tool: &'static str,
}

impl Script {
    fn say(self, step: u32) -> ModelStream<'static> {
        let calls = if step < self.steps { self.calls } else { 0 };
        let mut events = Vec::with_capacity(2 + 2 * calls as usize);
        events.push(ModelEvent::Text("next".to_owned()));
        for index in 0..calls {
            let id = format!("call_{step}_{index}");
            events.push(ModelEvent::CallStart { index, id, tool: self.tool.to_owned() });
            events.push(ModelEvent::Arguments { index, delta: "{}".to_owned() });
        }
        events.push(ModelEvent::Finish(FinishReason::Stop));
        Box::pin(stream::iter(events))
    }
}

impl Model for Script {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        self.say(request.step)
    }
}

impl by_hand::Model for Script {
    fn infer(&self, step: u32, _: Arc<Vec<by_hand::Message>>) -> ModelStream<'_> {
        self.say(step)
    }
}

struct Noop(ToolSpec);

#[async_trait]
impl Tool for Noop {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: &mut ToolContext) -> ToolResult {
        ToolResult::Success(Value::Null)
    }
}

#[async_trait]
impl by_hand::Tool for Noop {
    async fn call(&self, _: &str, _: &Value) -> Value {
        Value::Null
    }
}

fn noop() -> Noop {
    Noop(ToolSpec::new("noop", "does nothing").repeatable())
}

/// A tool whose every call waits for a decision.
fn asks() -> Noop {
    Noop(ToolSpec::new("noop", "does nothing").repeatable().needs_approval(Approval::always()))
}

fn agent(script: Script, mode: ExecutionMode) -> Agent {
    Agent::builder(script).tool(noop()).mode(mode).build().expect("a good configuration")
}

/// Microseconds and allocations a step.
#[derive(Clone, Copy)]
struct Cost {
    us: f64,
    allocations: f64,
}

/// What one turn of runs costs a step; a turn takes some milliseconds.
async fn turn<F: Future<Output = u32>>(drive: &mut impl FnMut() -> F) -> Cost {
    let (mut steps, before, began) = (0, allocations(), Instant::now());
    while began.elapsed().as_millis() < 8 {
        steps += drive().await;
    }
    let us = began.elapsed().as_secs_f64() * 1e6 / f64::from(steps);
    Cost { us, allocations: (allocations() - before) as f64 / f64::from(steps) }
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// The median of several turns.
async fn cost<F: Future<Output = u32>>(mut drive: impl FnMut() -> F) -> Cost {
    let mut turns = Vec::new();
    drive().await;
    for _ in 0..15 {
        turns.push(turn(&mut drive).await);
    }
    Cost { us: median(turns.iter().map(|cost| cost.us).collect()), allocations: turns[0].allocations }
}

async fn ours(agent: &Agent, committed: bool) -> u32 {
    let mut state = RunState::new("r1");
    let mut kept = MemoryCommitter::default();
    let io = if committed { RunHandles::new().committer(&mut kept) } else { RunHandles::new() };
    run_loop(agent, &mut state, Input::message("go"), io).await.expect("a run");
    state.steps()
}

async fn steps() {
    println!(
        "| steps | mode | committer | us/step | allocations/step | by hand | ratio | memory / none |\n|---|---|---|---|---|---|---|---|"
    );
    for n in [10, 100, 1_000, 10_000] {
        let script = Script { steps: n, calls: 1, tool: "noop" };
        for mode in [ExecutionMode::Sequential, ExecutionMode::Concurrent] {
            let tools: HashMap<String, Arc<dyn by_hand::Tool>> =
                HashMap::from([("noop".to_owned(), Arc::new(noop()) as Arc<dyn by_hand::Tool>)]);
            let token = CancellationToken::new();
            let all = mode == ExecutionMode::Concurrent;
            let agent = agent(script, mode);
            let (mut by_hand, mut bare, mut kept) = (
                || by_hand::run(&script, &tools, &token, all),
                || ours(&agent, false),
                || ours(&agent, true),
            );
            // In turns, so that what else the machine does falls on all alike.
            let mut turns = Vec::new();
            for _ in 0..15 {
                turns.push((turn(&mut by_hand).await, turn(&mut bare).await, turn(&mut kept).await));
            }
            let of = |pick: fn(&(Cost, Cost, Cost)) -> f64| median(turns.iter().map(pick).collect());
            let (hand, bare, kept) = (
                Cost { us: of(|t| t.0.us), allocations: turns[0].0.allocations },
                Cost { us: of(|t| t.1.us), allocations: turns[0].1.allocations },
                Cost { us: of(|t| t.2.us), allocations: turns[0].2.allocations },
            );
            let (to_hand, to_bare) = (of(|t| t.1.us / t.0.us), of(|t| t.2.us / t.1.us));
            println!(
                "| {n} | {mode:?} | none | {:.2} | {:.1} | {:.2} us, {:.1} | {:.2} | |",
                bare.us, bare.allocations, hand.us, hand.allocations, to_hand
            );
            println!(
                "| {n} | {mode:?} | memory | {:.2} | {:.1} | | | {:.2} |",
                kept.us, kept.allocations, to_bare
            );
        }
    }
}

/// A run whose every call waits for a decision, which is there as soon as it waits.
async fn suspended(agent: &Agent) -> u32 {
    let (_handle, mut decisions) = inbox();
    let mut state = RunState::new("r1");
    run_loop(agent, &mut state, Input::message("go"), RunHandles::new().inbox(&mut decisions))
        .await
        .expect("a run");
    let mut cycles = 0;
    while let Some(call) = state.pending().first().map(|pending| pending.call.to_owned()) {
        cycles += 1;
        decisions.put(Incoming::new(format!("d{cycles}"), call, DecisionAction::Resume));
        run_loop(agent, &mut state, Input::Resume, RunHandles::new().inbox(&mut decisions))
            .await
            .expect("a run");
    }
    cycles
}

async fn cycles() {
    let script = Script { steps: 200, calls: 1, tool: "noop" };
    let plain = agent(script, ExecutionMode::Sequential);
    let step = cost(|| ours(&plain, false)).await;
    let asking = Agent::builder(script).tool(asks()).build().expect("a good configuration");
    let cycle = cost(|| suspended(&asking)).await;
    println!(
        "\nsuspend, decide, resume, step: {:.2} us, {:.1} allocations; a step: {:.2} us; ratio {:.2}",
        cycle.us,
        cycle.allocations,
        step.us,
        cycle.us / step.us
    );
}

async fn wide() {
    let script = Script { steps: 2, calls: 1_000, tool: "noop" };
    for mode in [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent] {
        let agent = agent(script, mode);
        let cost = cost(|| ours(&agent, false)).await;
        println!(
            "a round of 1,000 calls, {mode:?}: {:.2} us, {:.1} allocations a call",
            cost.us * 2.0 / 1_000.0,
            cost.allocations * 2.0 / 1_000.0
        );
    }
}

async fn waiting() {
    let script = Script { steps: 2, calls: 1, tool: "noop" };
    let asking = Agent::builder(script).tool(asks()).build().expect("a good configuration");
    let before = live();
    let mut runs = Vec::new();
    for n in 0..10_000 {
        let mut state = RunState::new(format!("run-{n}"));
        run_loop(&asking, &mut state, Input::message("go"), RunHandles::new()).await.expect("a run");
        runs.push(state);
    }
    println!("10,000 runs parked: {} bytes each", (live() - before) / 10_000);
    drop(runs);
    let before = live();
    let waits = Agent::builder(script)
        .tool(asks())
        .when_suspended(WhenSuspended::WaitInPlace)
        .build()
        .expect("a good configuration");
    let mut handles = Vec::new();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..10_000 {
        let (handle, mut decisions) = inbox();
        handles.push(handle);
        let agent = waits.clone();
        tasks.spawn(async move {
            let mut state = RunState::new(format!("run-{n}"));
            run_loop(&agent, &mut state, Input::message("go"), RunHandles::new().inbox(&mut decisions))
                .await
                .expect("a run")
        });
    }
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    println!("10,000 runs waiting in place at once: {} bytes each", (live() - before) / 10_000);
    let began = Instant::now();
    for handle in &handles {
        handle
            .decide(Incoming::new("d", "call_1_0", DecisionAction::Resume))
            .await
            .expect("a run that waits");
    }
    while tasks.join_next().await.is_some() {}
    println!("all 10,000 decided and done: {:.1} ms", began.elapsed().as_secs_f64() * 1e3);
}

/// Milliseconds until all of so many calls of one round are decided and executed, while a handle shows what waits.
async fn decided(calls: u32, mode: ExecutionMode, when_suspended: WhenSuspended) -> f64 {
    let script = Script { steps: 2, calls, tool: "noop" };
    let agent = Agent::builder(script).tool(asks()).mode(mode).when_suspended(when_suspended);
    let agent = agent.build().expect("a good configuration");
    let (mut state, mut kept) = (RunState::new("r1"), MemoryCommitter::default());
    let (mut handle, mut decisions) = inbox();
    let people = tokio::spawn(async move {
        let mut began = None;
        while let Ok(waiting) = handle.pending_changed().await {
            let began = began.get_or_insert_with(Instant::now);
            let decision = |asked: &Arc<PendingCall>| {
                let id = &asked.suspension.id;
                Incoming::new(format!("d/{id}"), &*asked.call, DecisionAction::Resume).on(id)
            };
            let mut replies =
                handle.decide_all(waiting.iter().map(decision).collect()).await.into_iter().flatten();
            if !replies.all(|reply| reply == Reply::Accepted) || waiting.is_empty() {
                return *began;
            }
        }
        began.expect("a call that waits")
    });
    let mut input = Input::message("go");
    loop {
        let io = RunHandles::new().committer(&mut kept).inbox(&mut decisions);
        let outcome = run_loop(&agent, &mut state, input, io).await.expect("a run");
        if outcome.waiting.is_empty() {
            break;
        }
        tokio::task::yield_now().await;
        input = Input::Resume;
    }
    drop(decisions);
    people.await.expect("decisions").elapsed().as_secs_f64() * 1e3
}

async fn deciding() {
    println!(
        "\n| one round of calls that wait | mode | 1,000 calls | 10,000 calls | ratio |\n|---|---|---|---|---|"
    );
    for when in [WhenSuspended::Park, WhenSuspended::WaitInPlace] {
        for mode in [ExecutionMode::Sequential, ExecutionMode::Parallel, ExecutionMode::Concurrent] {
            let (few, many) = (decided(1_000, mode, when).await, decided(10_000, mode, when).await);
            println!("| {when:?} | {mode:?} | {few:.0} ms | {many:.0} ms | {:.1} |", many / few);
        }
    }
}

/// One run of so many steps, for an instruction counter.
async fn counted(what: &str, n: u32) {
    let script = Script { steps: n, calls: 1, tool: "noop" };
    let steps = match what {
        "by-hand" => {
            let tools: HashMap<String, Arc<dyn by_hand::Tool>> =
                HashMap::from([("noop".to_owned(), Arc::new(noop()) as Arc<dyn by_hand::Tool>)]);
            by_hand::run(&script, &tools, &CancellationToken::new(), false).await
        }
        "none" => ours(&agent(script, ExecutionMode::Sequential), false).await,
        "memory" => ours(&agent(script, ExecutionMode::Sequential), true).await,
        "asking" => {
            let asking = Agent::builder(script).tool(asks()).build().expect("a good configuration");
            suspended(&asking).await
        }
        "deciding" => {
            let when = WhenSuspended::WaitInPlace;
            decided(n, ExecutionMode::Concurrent, when).await;
            n
        }
        other => panic!("expected by-hand, none, memory, asking or deciding, got {other:?}"),
    };
    println!("{steps}");
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let only = std::env::args().nth(1);
    if let (Some("counted"), Some(what), Some(n)) =
        (only.as_deref(), std::env::args().nth(2), std::env::args().nth(3))
    {
        return counted(&what, n.parse().expect("a number of steps")).await;
    }
    let asked = |name: &str| only.as_deref().is_none_or(|only| only == name);
    if asked("steps") {
        steps().await;
    }
    if asked("cycles") {
        cycles().await;
    }
    if asked("wide") {
        wide().await;
    }
    if asked("waiting") {
        waiting().await;
    }
    if asked("deciding") {
        deciding().await;
    }
}
