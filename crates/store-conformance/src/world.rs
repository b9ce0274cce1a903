//! The agents of the suite: a scripted model, four tools, a clock that stands still.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream;
use runstate::decision::{Decision, Suspension};
use runstate::tool_result::ToolResult;
use runstate::trace::Recorder;
use runstate::turn::{CallRequest, Extra, Turn};
use runstate_agent::answer::{FinishReason, ModelEvent};
use runstate_agent::keys::Key;
use runstate_agent::{
    Agent, Approval, ExecutionMode, Incoming, InferenceRequest, Input, Model, ModelStream, Outcome,
    RunHandles, RunState, StateCommitter, SuspensionPolicy, Tool, ToolContext, ToolSpec, inbox, run_loop,
    run_loop_stream,
};
use runstate_runtime::clock::Clock;
use serde_json::{Value, json};

/// The default time.
pub(super) const NOW: u64 = 1_000_000;

/// A clock that stands still.
#[derive(Debug, Clone, Copy)]
pub(super) struct Still(pub(super) u64);

impl Clock for Still {
    fn now_ms(&self) -> u64 {
        self.0
    }
}

/// A model that answers from a script, and then with `done`.
#[derive(Clone)]
struct Script(Arc<[Turn]>);

impl Model for Script {
    fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
        let over = Turn { text: "done".to_owned(), calls: Vec::new(), ..Turn::default() };
        let turn = self.0.get(request.step as usize - 1).cloned().unwrap_or(over);
        let mut events = vec![ModelEvent::Text(turn.text)];
        let extra = |index, extra: Extra| (!extra.is_empty()).then_some(ModelEvent::Extra { index, extra });
        for (index, CallRequest { id, tool, arguments, extra: of_call, .. }) in (0..).zip(turn.calls) {
            events.push(ModelEvent::CallStart { index, id, tool });
            events.push(ModelEvent::Arguments { index, delta: arguments.to_string() });
            events.extend(extra(Some(index), of_call));
        }
        events.extend(extra(None, turn.extra));
        events.push(ModelEvent::Finish(FinishReason::Stop));
        Box::pin(stream::iter(events))
    }
}

const OF_RUN: &str = "noted";
const OF_THREAD: &str = "shared";

/// A tool of the suite. `say` returns its arguments. `ask` waits for a decision first, with the optional arguments
/// `expires`, `schema` and `distinct`. `pay` returns its arguments after two approvals. `note` stores its arguments
/// `run` and `thread` as values, and removes those that are null.
struct Does {
    spec: ToolSpec,
    does: fn(&mut ToolContext) -> ToolResult,
}

#[async_trait]
impl Tool for Does {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &mut ToolContext) -> ToolResult {
        (self.does)(cx)
    }
}

fn ask(cx: &mut ToolContext) -> ToolResult {
    if let Some(decision) = cx.decision() {
        return ToolResult::Success(json!({ "asked": cx.arguments(), "answer": decision.result }));
    }
    let arguments = cx.arguments();
    let mut suspension = Suspension::ask("approve", format!("go on with {arguments}?"));
    suspension = suspension.with_parameters(json!({ "form": [1, "two", null] }));
    suspension.expires_at_ms = arguments["expires"].as_u64();
    suspension.response_schema = arguments.get("schema").cloned();
    suspension.distinct_actors = arguments["distinct"] == true;
    ToolResult::Pending(suspension)
}

fn note(cx: &mut ToolContext) -> ToolResult {
    let arguments = cx.arguments().clone();
    let keys = [("run", Key::run(OF_RUN).persistent()), ("thread", Key::thread(OF_THREAD).persistent())];
    for (argument, key) in keys {
        match arguments.get(argument) {
            None => {}
            Some(Value::Null) => cx.remove(&key),
            Some(value) => {
                if let Err(error) = cx.set(&key, value) {
                    return ToolResult::Error(error.to_string());
                }
            }
        }
    }
    ToolResult::Success(json!("noted"))
}

/// Creates an agent with that script. It waits while any call waits.
pub(super) fn agent(script: &[Turn]) -> Agent {
    in_mode(ExecutionMode::Parallel, script)
}

/// Creates an agent with that script. It continues while any call of a round has a result.
pub(super) fn hasty(script: &[Turn]) -> Agent {
    built(ExecutionMode::Parallel, script, SuspensionPolicy::ContinueWhenAny)
}

/// Creates an agent with that script and that mode.
pub(super) fn in_mode(mode: ExecutionMode, script: &[Turn]) -> Agent {
    built(mode, script, SuspensionPolicy::WaitForAll)
}

fn built(mode: ExecutionMode, script: &[Turn], policy: SuspensionPolicy) -> Agent {
    let tool = |name, does| Does { spec: ToolSpec::new(name, "").repeatable(), does };
    let agent = Agent::builder(Script(script.into()))
        .tool(tool("say", |cx| ToolResult::Success(cx.arguments().clone())))
        .tool(tool("ask", ask))
        .tool(Does {
            spec: ToolSpec::new("pay", "").repeatable().needs_approval(Approval::always().by(2)),
            does: |cx| ToolResult::Success(cx.arguments().clone()),
        })
        .tool(tool("note", note))
        .mode(mode)
        .policy(policy)
        .clock(Still(NOW));
    agent.build().unwrap_or_else(|error| panic!("the suite's agent: {error}"))
}

/// Drives a run until it waits or is over. With `in_pieces` the loop streams its answers. The decisions are posted
/// before the start.
pub(super) async fn drive(
    (agent, in_pieces): (&Agent, bool),
    state: &mut RunState,
    input: Input,
    committer: &mut dyn StateCommitter,
    recorder: &Recorder,
    decisions: &[Decision],
) -> Outcome {
    let (handle, mut inbox) = inbox();
    let posted = handle.post(decisions.iter().map(incoming).collect()).await;
    posted.unwrap_or_else(|error| panic!("the suite's inbox: {error}"));
    let io = RunHandles::new().committer(committer).inbox(&mut inbox).watch(recorder).judged_in_store();
    let driven = if in_pieces {
        run_loop_stream(agent, state, input, io).outcome().await
    } else {
        run_loop(agent, state, input, io).await
    };
    driven.unwrap_or_else(|error| panic!("the suite's run {:?}: {error}", state.id()))
}

/// Converts a decision of the store for the loop.
fn incoming(decision: &Decision) -> Incoming {
    let mut incoming = Incoming::new(&*decision.decision_id, &*decision.call, decision.action);
    incoming.run_id = Some(decision.run_id.clone());
    incoming.suspension_id = Some(decision.suspension_id.clone());
    incoming.result = decision.result.clone();
    incoming.reason.clone_from(&decision.reason);
    incoming.actor.clone_from(&decision.actor);
    incoming.digest.clone_from(&decision.digest);
    incoming.decided_at_ms = Some(decision.decided_at_ms);
    incoming
}

/// Creates an answer that requests these calls: id, tool, arguments.
pub(super) fn turn(calls: impl IntoIterator<Item = (String, &'static str, Value)>) -> Turn {
    let calls = calls.into_iter().map(|(id, tool, arguments)| CallRequest::new(id, tool, arguments));
    Turn { text: "let me see".to_owned(), calls: calls.collect(), ..Turn::default() }
}

/// Creates an answer that requests one call.
pub(super) fn one(id: &str, tool: &'static str, arguments: Value) -> Turn {
    turn([(id.to_owned(), tool, arguments)])
}

/// Creates an answer with `calls` questions: `c0`, `c1`, …
pub(super) fn questions(calls: usize) -> Turn {
    turn((0..calls).map(|number| (format!("c{number}"), "ask", json!({ "for": number }))))
}
