//! `run_flow`: document 000, "Run Execution Flow", "Checkpoint Triggers" and "Resume Gate After Tool Commit".

use std::ops::RangeInclusive;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::LazyJust;
use runstate::checkpoint::without_committer;
use runstate::kernel::Observer;
use runstate::resume_tool_call::{self as gate, Drained, NothingReplayed};
use runstate::run::{Run, RunRecord};
use runstate::run_flow::*;
use runstate::termination::StoppedReason;
use runstate::testing::{Matrix, Subject, exhaustive};
use runstate::tool_call::ToolCallStatus;
use runstate::tool_execution::{ExecutionRecord, ToolExecution};
use runstate::turn::{CallRequest, Turn};
use serde_json::{Value, json};

use super::model::{At, Documented, Table};
use super::{facts, payload};

/// Activations of a run that took four steps before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flows;

/// Those in which the model always asks for calls, or never. An answer decides two states later where the activation can
/// go, which a search that draws each payload by itself misses.
#[derive(Debug, Clone, Copy)]
struct Answering {
    with_calls: bool,
}

impl Subject for Answering {
    type Machine = AnyRunFlow;

    fn record(&self) -> FlowRecord {
        Flows.record()
    }

    fn event(&self, flow: &AnyRunFlow, name: &'static str) -> BoxedStrategy<RunFlowEvent> {
        match name {
            "respond" if self.with_calls => turns(1..=2).prop_map(|turn| Respond::new(turn).into()).boxed(),
            "respond" => turns(0..=0).prop_map(|turn| Respond::new(turn).into()).boxed(),
            _ => Flows.event(flow, name),
        }
    }
}

fn nothing_replayed(number: u64) -> NothingReplayed {
    let mut gate = payload::gate(number);
    let look = gate.pass(Observer::default()).find_nothing(gate::FindNothing);
    match gate.drained(look).unwrap() {
        Drained::Nothing(nothing) => nothing,
        Drained::Replayed(replayed) => unreachable!("nothing came in: {replayed:?}"),
    }
}

/// A gate through which a call was cancelled.
fn one_replayed(number: u64) -> Drained {
    use runstate::decision::{Decision, DecisionAction};

    let decision = Decision::new("dec-1", "sus-1", DecisionAction::Cancel);
    let mut gate = payload::gate(number);
    let pass = gate.pass(Observer::default());
    let pass = pass.match_call(gate::MatchCall::new("call_1", decision)).resolve(gate::Resolve);
    let receipt = without_committer(pass.due());
    let pass = pass.persist(gate::Persist::new(receipt)).unwrap().deny(gate::Deny).unwrap();
    let pass = pass.clear(gate::Clear).compare(gate::Compare::new(true)).close(gate::Close);
    gate.rejoin(pass).unwrap();
    let look = gate.pass(Observer::default()).find_nothing(gate::FindNothing);
    gate.drained(look).unwrap()
}

fn turns(calls: RangeInclusive<usize>) -> impl Strategy<Value = Turn> {
    (calls, payload::values(), any::<bool>()).prop_map(|(calls, arguments, readable)| {
        let call = |n| {
            let mut call = CallRequest::new(format!("call_{n}"), "read", arguments.clone());
            call.unreadable = (!readable).then(|| "the text ends early".to_owned());
            call
        };
        Turn { text: "let me look".into(), calls: (0..calls).map(call).collect(), ..Turn::default() }
    })
}

impl Subject for Flows {
    type Machine = AnyRunFlow;

    fn record(&self) -> FlowRecord {
        FlowRecord::new(&Run::new(RunRecord::new("r1")), 4).assuming(payload::flow_id())
    }

    fn event(&self, flow: &AnyRunFlow, name: &'static str) -> BoxedStrategy<RunFlowEvent> {
        let at = At::of(flow);
        // What is due where nothing is: something that was committed before.
        let due = || match &at.state["due"] {
            Value::Null => json!({ "trigger": "UserMessage", "number": 1 }),
            due => due.clone(),
        };
        let receipts = || payload::dues(&due()).prop_map(|due| payload::receipt(&due));
        let number = at.state["gate"].as_u64().unwrap_or(1);
        let gates =
            || prop_oneof![3 => Just(number), 1 => Just(number + 1), 1 => Just(number.saturating_sub(1))];
        let waiting = || subsequence(vec!["call_1".to_owned(), "call_2".to_owned()], 0..=2);
        match name {
            "begin" => LazyJust::new(|| Begin.into()).boxed(),
            "commit" => receipts().prop_map(|receipt| Commit::new(receipt).into()).boxed(),
            "replay" => gates().prop_map(|gate| Replay::new(one_replayed(gate)).into()).boxed(),
            "skip_replay" => gates().prop_map(|gate| SkipReplay::new(nothing_replayed(gate)).into()).boxed(),
            "stay" => (payload::dues(&due()), waiting())
                .prop_map(|(due, calls)| Stay::new(payload::receipt(&due), calls).into())
                .boxed(),
            "open_gate" => LazyJust::new(|| OpenGate.into()).boxed(),
            "pass" => gates().prop_map(|gate| Pass::new(nothing_replayed(gate)).into()).boxed(),
            "stop" => payload::final_reasons().prop_map(|reason| Stop::new(reason).into()).boxed(),
            "infer" => LazyJust::new(|| Infer.into()).boxed(),
            "respond" => turns(0..=2).prop_map(|turn| Respond::new(turn).into()).boxed(),
            "accept" => LazyJust::new(|| Accept.into()).boxed(),
            "halt" => (payload::dues(&due()), payload::final_reasons())
                .prop_map(|(due, reason)| Halt::new(payload::receipt(&due), reason).into())
                .boxed(),
            "finish" => (payload::dues(&due()), waiting())
                .prop_map(|(due, calls)| Finish::new(payload::receipt(&due)).with_waiting_calls(calls).into())
                .boxed(),
            "call_tools" => receipts().prop_map(|receipt| CallTools::new(receipt).into()).boxed(),
            "complete" => {
                let calls = at.state["turn"]["calls"].as_array().map_or(1, Vec::len);
                let count = prop_oneof![5 => Just(calls), 1 => 0..=2_usize];
                let all = select(ToolCallStatus::ALL);
                let over =
                    select(vec![ToolCallStatus::Succeeded, ToolCallStatus::Suspended, ToolCallStatus::New]);
                let status = prop_oneof![3 => over, 1 => all];
                (count, vec(status, 2))
                    .prop_map(|(count, statuses)| {
                        let outcome = |(n, status)| CallOutcome { call: format!("call_{n}"), status };
                        Complete::new(statuses.into_iter().enumerate().map(outcome).take(count).collect())
                            .into()
                    })
                    .boxed()
            }
            "park" => (gates(), waiting())
                .prop_map(|(gate, calls)| Park::new(nothing_replayed(gate), calls).into())
                .boxed(),
            "next" => gates().prop_map(|gate| Next::new(nothing_replayed(gate)).into()).boxed(),
            "wind_up" => LazyJust::new(|| WindUp.into()).boxed(),
            "close" => LazyJust::new(|| Close.into()).boxed(),
            "fail" => (0..9_u8).prop_map(|n| Fail::new(format!("error {n}")).into()).boxed(),
            "cancel" => LazyJust::new(|| Cancel.into()).boxed(),
            other => unreachable!("run_flow has no event {other}"),
        }
    }
}

impl Documented for Flows {
    /// Document 000, "Run Execution Flow"; the prose is that of "Tool failure vs loop error" and "CancellationToken Impact".
    const TABLE: Table = Table {
        name: "run_flow",
        machine: "RunFlow",
        states: &[
            "RunStart",
            "CommitUser",
            "ResumeReplay0",
            "CommitReplay0",
            "LoopTop",
            "ResumeToolCall",
            "StepPrepare",
            "LlmCall",
            "AfterInference",
            "CommitAssistant",
            "ToolRound",
            "CommitTool",
            "ResumeAfterTool",
            "Terminate",
            "NaturalEnd",
            "Suspended",
            "Cancelled",
            "Error",
            "RunEnd",
            "CommitFinished",
        ],
        renamed: &[],
        initial: "RunStart",
        terminal: &["CommitFinished"],
        events: &[
            "begin",
            "commit",
            "replay",
            "skip_replay",
            "stay",
            "open_gate",
            "pass",
            "stop",
            "infer",
            "respond",
            "accept",
            "halt",
            "finish",
            "call_tools",
            "complete",
            "park",
            "next",
            "wind_up",
            "close",
            "fail",
            "cancel",
        ],
        drawn: &[
            ("RunStart", "begin", "CommitUser", "CKPT UserMessage"),
            ("CommitUser", "commit", "ResumeReplay0", ""),
            ("ResumeReplay0", "replay", "CommitReplay0", "replayed"),
            ("ResumeReplay0", "skip_replay", "LoopTop", "no replay"),
            ("CommitReplay0", "commit", "LoopTop", ""),
            ("CommitReplay0", "stay", "Suspended", "new suspended at run-start"),
            ("LoopTop", "open_gate", "ResumeToolCall", ""),
            ("ResumeToolCall", "pass", "StepPrepare", ""),
            ("StepPrepare", "stop", "Terminate", "run_action=Terminate"),
            ("StepPrepare", "infer", "LlmCall", "run_action=Continue"),
            ("LlmCall", "fail", "Error", ""),
            ("LlmCall", "cancel", "Cancelled", ""),
            ("LlmCall", "respond", "AfterInference", ""),
            ("AfterInference", "accept", "CommitAssistant", "CKPT AssistantTurnCommitted"),
            ("CommitAssistant", "halt", "Terminate", "post-inference terminate"),
            ("CommitAssistant", "finish", "NaturalEnd", "no tool calls"),
            ("CommitAssistant", "call_tools", "ToolRound", "has tool calls"),
            ("ToolRound", "fail", "Error", ""),
            ("ToolRound", "cancel", "Cancelled", ""),
            ("ToolRound", "complete", "CommitTool", "CKPT ToolResultsCommitted"),
            ("CommitTool", "commit", "ResumeAfterTool", ""),
            ("ResumeAfterTool", "park", "Suspended", "all outcomes suspended"),
            ("ResumeAfterTool", "next", "LoopTop", "has non-suspended outcomes"),
            ("Terminate", "wind_up", "RunEnd", ""),
            ("NaturalEnd", "wind_up", "RunEnd", ""),
            ("Suspended", "wind_up", "RunEnd", ""),
            ("Cancelled", "wind_up", "RunEnd", ""),
            ("Error", "wind_up", "RunEnd", ""),
            ("RunEnd", "close", "CommitFinished", "CKPT RunFinished(force=true)"),
        ],
        prose: &[
            // Patch and apply failures: wherever effects are applied.
            ("RunStart", "fail", "Error", "patch/apply failure"),
            ("AfterInference", "fail", "Error", "patch/apply failure"),
            ("StepPrepare", "fail", "Error", "patch/apply failure"),
            // Commit failures: wherever a commit is due but at the very end.
            ("CommitUser", "fail", "Error", "checkpoint commit failure"),
            ("CommitReplay0", "fail", "Error", "checkpoint commit failure"),
            ("CommitAssistant", "fail", "Error", "checkpoint commit failure"),
            ("CommitTool", "fail", "Error", "checkpoint commit failure"),
            // A gate executes replayed tools and commits what they did.
            ("ResumeReplay0", "fail", "Error", "tool executor failure"),
            ("ResumeToolCall", "fail", "Error", "tool executor failure"),
            ("ResumeAfterTool", "fail", "Error", "tool executor failure"),
            // The token aborts the run, but no commit midway.
            ("ResumeReplay0", "cancel", "Cancelled", "cancellation token aborts run"),
            ("ResumeToolCall", "cancel", "Cancelled", "cancellation token aborts run"),
            ("StepPrepare", "cancel", "Cancelled", "cancellation token aborts run"),
            ("ResumeAfterTool", "cancel", "Cancelled", "cancellation token aborts run"),
        ],
        guarded: &[
            ("CommitUser", "commit"),
            ("ResumeReplay0", "replay"),
            ("ResumeReplay0", "skip_replay"),
            ("CommitReplay0", "commit"),
            ("CommitReplay0", "stay"),
            ("ResumeToolCall", "pass"),
            ("StepPrepare", "infer"),
            ("CommitAssistant", "halt"),
            ("CommitAssistant", "finish"),
            ("CommitAssistant", "call_tools"),
            ("ToolRound", "complete"),
            ("CommitTool", "commit"),
            ("ResumeAfterTool", "park"),
            ("ResumeAfterTool", "next"),
        ],
    };

    const REFUSED_BY_ASIDES: &[(&str, &str)] = &[("StepPrepare", "infer")];

    fn at(status: RunFlowStatus) -> AnyRunFlow {
        crate::lifecycles::run_flow::at(status)
    }

    fn exhaustive(&self) -> Vec<Matrix> {
        [true, false].map(|with_calls| exhaustive(&Answering { with_calls })).into()
    }

    fn assume(machine: &mut AnyRunFlow) {
        machine.assume(payload::flow_id());
    }

    fn begin() -> (Value, Value) {
        (json!({ "run": "r1", "activation": 1, "step": 4, "gates": 0, "commits": 0 }), Value::Null)
    }

    fn enter(flow: &mut At, event: &str, with: &Value) -> Option<Value> {
        let at = flow.state.clone();
        let is_committed = || payload::proven(&with["receipt"]) == at["due"];
        let is_passed = |proof: &Value| proof["gate"] == at["gate"];
        let some_wait = || with["calls"] != json!([]);
        let has_calls = || at["turn"]["calls"] != json!([]);
        match (flow.status, event) {
            ("RunStart", "begin") => Some(json!({ "due": due(flow, "UserMessage") })),
            ("CommitUser", "commit") => is_committed().then(|| json!({ "gate": flow.count("gates") })),
            // What is left of a drained gate names the gate, whether something was replayed or nothing.
            ("ResumeReplay0", "replay") => is_passed(gate_of(&with["drained"]["0"]))
                .then(|| json!({ "due": due(flow, "ToolResultsCommitted") })),
            ("ResumeReplay0", "skip_replay") => is_passed(&with["nothing"]["0"]).then_some(Value::Null),
            ("CommitReplay0", "commit") => is_committed().then_some(Value::Null),
            ("CommitReplay0", "stay") => {
                (some_wait() && is_committed()).then(|| json!({ "calls": with["calls"] }))
            }
            ("LoopTop", _) => Some(json!({ "gate": flow.count("gates") })),
            ("ResumeToolCall", "pass") => is_passed(&with["gate"]["0"]).then_some(Value::Null),
            // "run_action=Terminate", and the first to ask is heard.
            ("StepPrepare", "stop") => Some(json!({ "reason": stopping(flow, with) })),
            ("StepPrepare", "infer") => {
                flow.record.get("stopping").is_none().then(|| json!({ "step": flow.count("step") }))
            }
            ("LlmCall", "respond") => {
                let mut turn = facts::json(&with["turn"]);
                // Why arguments cannot be read is stored where they cannot, and extra data where there is some.
                let stored = |name: &String, value: &mut Value| match name.as_str() {
                    "unreadable" => !value.is_null(),
                    "extra" => *value != json!([{}]) && *value != json!({}),
                    _ => true,
                };
                for call in turn["calls"].as_array_mut().unwrap() {
                    call.as_object_mut().unwrap().retain(stored);
                }
                turn.as_object_mut().unwrap().retain(stored);
                Some(json!({ "turn": turn }))
            }
            ("AfterInference", "accept") => {
                Some(json!({ "turn": at["turn"], "due": due(flow, "AssistantTurnCommitted") }))
            }
            ("CommitAssistant", "halt") => is_committed().then(|| json!({ "reason": stopping(flow, with) })),
            ("CommitAssistant", "finish") => (!has_calls() && is_committed()).then(|| without_none(with)),
            ("CommitAssistant", "call_tools") => {
                (has_calls() && is_committed()).then(|| json!({ "turn": at["turn"] }))
            }
            ("ToolRound", "complete") => {
                let outcomes = facts::json(&with["outcomes"]);
                let all = outcomes.as_array().unwrap();
                let executes =
                    |outcome: &Value| outcome["status"] == "Running" || outcome["status"] == "Resuming";
                let is_complete = all.len() == at["turn"]["calls"].as_array().unwrap().len();
                (is_complete && !all.iter().any(executes))
                    .then(|| json!({ "outcomes": outcomes, "due": due(flow, "ToolResultsCommitted") }))
            }
            ("CommitTool", "commit") => {
                is_committed().then(|| json!({ "outcomes": at["outcomes"], "gate": flow.count("gates") }))
            }
            ("ResumeAfterTool", "park") => {
                (some_wait() && is_passed(&with["gate"]["0"])).then(|| json!({ "calls": with["calls"] }))
            }
            ("ResumeAfterTool", "next") => is_passed(&with["gate"]["0"]).then_some(Value::Null),
            ("Terminate", _) => Some(json!({ "reason": at["reason"], "calls": [] })),
            // The loop goes on while a call waits, in another activation.
            ("NaturalEnd", _) => Some(match at.get("calls") {
                Some(calls) => json!({ "reason": "suspended", "calls": calls }),
                None => json!({ "reason": "natural_end", "calls": [] }),
            }),
            ("Suspended", _) => Some(json!({ "reason": "suspended", "calls": at["calls"] })),
            ("Cancelled", _) => Some(json!({ "reason": "cancelled", "calls": [] })),
            ("Error", _) => Some(json!({ "reason": { "error": at["message"] }, "calls": [] })),
            ("RunEnd", _) => {
                let due = due(flow, "RunFinished");
                Some(json!({ "reason": at["reason"], "calls": at["calls"], "due": due }))
            }
            (_, "fail") => Some(json!({ "message": with["message"] })),
            (_, "cancel") => Some(Value::Null),
            other => unreachable!("{other:?}"),
        }
    }

    /// The end is asked for, the commit before an execution becomes due, a window opens, a plugin takes a call out of an
    /// answer.
    fn aside(flow: &mut AnyRunFlow, at: &mut At, lot: u8) {
        // Rare, since a walk that is to end sees less.
        if lot >= 24 {
            return;
        }
        if lot.is_multiple_of(4) {
            // A window is a gate of its own.
            let number = match flow {
                AnyRunFlow::LlmCall(flow) => flow.window().number(),
                AnyRunFlow::ToolRound(flow) => flow.window().number(),
                _ => return,
            };
            assert_eq!(number, at.count("gates"));
            return;
        }
        if lot.is_multiple_of(2) {
            // Before a tool that must not run twice, in a round and at the gates behind which a waiting call may start.
            let execution = ToolExecution::new(ExecutionRecord::new("call_1", "delete_file"));
            let owed = match flow {
                AnyRunFlow::ToolRound(flow) => flow.calls_started([&execution]),
                AnyRunFlow::ResumeReplay0(flow) => flow.calls_started([&execution]),
                AnyRunFlow::ResumeAfterTool(flow) => flow.calls_started([&execution]),
                _ => return,
            };
            assert_eq!(payload::proven(&facts::of(&Some(owed.due()))), due(at, "CallsStarted"));
            return;
        }
        let reason = || StoppedReason::new(lot.to_string(), None).unwrap().into();
        match flow {
            AnyRunFlow::ResumeReplay0(flow) => flow.request_stop(reason()),
            AnyRunFlow::ResumeToolCall(flow) => flow.request_stop(reason()),
            AnyRunFlow::ResumeAfterTool(flow) => flow.request_stop(reason()),
            AnyRunFlow::ToolRound(flow) => flow.request_stop(reason()),
            AnyRunFlow::AfterInference(flow) => {
                flow.turn_mut().calls.pop();
                at.state["turn"]["calls"].as_array_mut().unwrap().pop();
                return;
            }
            _ => return,
        }
        if at.record.get("stopping").is_none() {
            at.record["stopping"] = json!({ "stopped": { "code": lot.to_string() } });
        }
    }
}

/// Which gate a drained one was: that of a proof that nothing was replayed, or that something was.
fn gate_of(proof: &Value) -> &Value {
    proof.get("of").unwrap_or(&proof["0"])
}

/// The calls that wait, stored where there are some.
fn without_none(with: &Value) -> Value {
    if with["calls"] == json!([]) { json!({}) } else { json!({ "calls": with["calls"] }) }
}

/// The next commit that the activation owes.
fn due(flow: &mut At, trigger: &str) -> Value {
    json!({ "trigger": trigger, "number": flow.count("commits") })
}

/// The reason for the end that was asked for before, or else the event's.
fn stopping(flow: &mut At, with: &Value) -> Value {
    let asked = flow.record.as_object_mut().unwrap().remove("stopping");
    asked.unwrap_or_else(|| payload::reason(&with["reason"]["0"]))
}
