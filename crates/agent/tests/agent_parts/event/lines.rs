//! Events as lines of JSON.

use proptest::prelude::*;
use runstate::checkpoint::Trigger;
use runstate::decision::{DecisionAction, ResumeMode, Suspension};
use runstate::run::RunStatus;
use runstate::termination::{StoppedReason, TerminationReason};
use runstate::tool_call::CancelCause;
use runstate_agent::answer::{FinishReason, Usage};
use runstate_agent::event::{AgentEvent, CallOutcome, EventKind, Interrupt, StateKey};
use runstate_agent::keys::{Key, KeyState, Patches, Scope};
use serde_json::{Value, json};

fn interrupt() -> Interrupt {
    let mut suspension = Suspension::new("r1/call_2/1", "approve", "delete notes.tmp?")
        .resuming_by(ResumeMode::UseDecisionAsToolResult)
        .expiring_at(60_000);
    suspension.parameters = json!({ "path": "notes.tmp" });
    suspension.response_schema = Some(json!({ "type": "boolean" }));
    Interrupt { call: "call_2".into(), tool: "delete_file".into(), digest: "sha256:00".into(), suspension }
}

/// One of each kind, and of each shape that one can have.
fn kinds() -> Vec<EventKind> {
    let call = || String::from("call_1");
    let usage = Usage { input_tokens: 120, output_tokens: 8 };
    let done = |outcome| EventKind::ToolCallDone { call: call(), outcome };
    let mut state = KeyState::default();
    let mut patches = Patches::new();
    patches.set(&Key::run("count").persistent(), &1).unwrap();
    state.apply(&[("call_1", patches)]).unwrap();
    let mut patches = Patches::new();
    patches.remove(&Key::<u32>::run("count"));
    patches.set(&Key::thread("seen").persistent(), &true).unwrap();
    let changed = state.apply(&[("call_1", patches)]).unwrap();
    let (mut one, mut two) = (Patches::new(), Patches::new());
    one.set(&Key::run("count"), &1).unwrap();
    two.set(&Key::run("count"), &2).unwrap();
    let conflict = state.apply(&[("call_1", one), ("call_2", two)]).unwrap_err();
    vec![
        EventKind::RunStarted { steps: 0 },
        EventKind::StepStarted { step: 1 },
        EventKind::InferenceStarted { step: 1 },
        EventKind::TextDelta { step: 1, text: "let me\n\"look\"".into() },
        EventKind::ToolCallStart { step: 1, call: "call_1#2".into(), id: call(), tool: "read_file".into() },
        EventKind::ToolCallArguments { call: call(), delta: "{\"path\":".into() },
        EventKind::InferenceFinished { step: 1, usage, finish: FinishReason::ToolCalls },
        EventKind::InferenceFinished { step: 1, usage, finish: FinishReason::Other("end_turn".into()) },
        EventKind::ToolCallReady {
            call: call(),
            tool: "read_file".into(),
            arguments: json!({ "path": "notes.md" }),
            unreadable: None,
        },
        EventKind::ToolCallReady {
            call: call(),
            tool: "read_file".into(),
            arguments: json!("{"),
            unreadable: Some("the arguments are not JSON: EOF while parsing".into()),
        },
        EventKind::ToolCallSuspended { interrupt: interrupt() },
        EventKind::ToolCallResumed {
            call: call(),
            suspension_id: "r1/call_2/1".into(),
            decision_id: "d1".into(),
            action: DecisionAction::Resume,
            actor: Some("ada".into()),
        },
        EventKind::ToolCallResumed {
            call: call(),
            suspension_id: "r1/call_2/1".into(),
            decision_id: "d1".into(),
            action: DecisionAction::Cancel,
            actor: None,
        },
        EventKind::ToolCallProgress { call: call(), progress: json!({ "done": 0.5 }) },
        done(CallOutcome::Succeeded { output: json!({ "text": "…" }), warning: None }),
        done(CallOutcome::Succeeded { output: Value::Null, warning: Some("it is empty".into()) }),
        done(CallOutcome::Failed { error: "no such file".into() }),
        done(CallOutcome::Cancelled { reason: "superseded".into(), cause: CancelCause::Superseded }),
        EventKind::StateSnapshot { changed: changed.iter().map(StateKey::from).collect() },
        EventKind::StateConflict { conflict },
        EventKind::Checkpoint { trigger: Trigger::ToolResultsCommitted, commit: 3, before_ms: 12 },
        EventKind::StepFinished { step: 1 },
        EventKind::Error { message: "the model did not answer: overloaded".into() },
        EventKind::RunFinished {
            reason: TerminationReason::Suspended,
            status: RunStatus::Waiting,
            waiting: vec![interrupt()],
            usage,
            used: usage,
        },
        EventKind::RunFinished {
            reason: StoppedReason::new("max_rounds", Some("3 of 3 rounds"))
                .map(TerminationReason::Stopped)
                .unwrap(),
            status: RunStatus::Done,
            waiting: vec![],
            usage,
            used: usage,
        },
    ]
}

fn events() -> impl Iterator<Item = AgentEvent> {
    (1..).zip(kinds()).map(|(seq, kind)| AgentEvent::new(seq, 10 * seq, "r1", "t1", 2, kind))
}

#[test]
fn every_kind_has_a_line_that_reads_back() {
    let mut lines = String::new();
    for event in events() {
        let line = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<AgentEvent>(&line).unwrap(), event);
        assert!(!line.contains('\n'));
        lines.push_str(&line);
        lines.push('\n');
    }
    insta::with_settings!({
        snapshot_path => concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"),
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!("agent_parts__events", lines);
    });
}

#[test]
fn no_field_of_a_kind_hides_a_field_of_the_event() {
    for event in events() {
        let line = serde_json::to_string(&event).unwrap();
        for field in ["seq", "at_ms", "run", "thread", "activation", "type"] {
            let (top, _) = line.split_once("\"type\"").unwrap();
            let times = if field == "type" { 0 } else { 1 };
            assert_eq!(top.matches(&format!("\"{field}\":")).count(), times, "{line}");
        }
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&value["seq"], &value["run"]), (&json!(event.seq), &json!("r1")));
    }
}

#[test]
fn a_reader_ignores_fields_of_later_versions() {
    let kind = EventKind::StepStarted { step: 1 };
    let event = AgentEvent::new(1, 0, "r1", "t1", 1, kind);
    let mut value = serde_json::to_value(&event).unwrap();
    value["since"] = json!("later");
    assert_eq!(serde_json::from_value::<AgentEvent>(value.clone()).unwrap(), event);
    for (field, why) in
        [("seq", "missing field `seq`"), ("type", "missing field `type`"), ("step", "missing field `step`")]
    {
        let mut without = value.clone();
        without.as_object_mut().unwrap().remove(field);
        let error = serde_json::from_value::<AgentEvent>(without).unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
    }
}

#[test]
fn values_as_deep_as_can_be_are_read_again() {
    let deep = (0..96).fold(json!(1), |inner, _| json!([inner]));
    let mut interrupt = interrupt();
    interrupt.suspension.parameters = deep.clone();
    let (reason, status) = (TerminationReason::Suspended, RunStatus::Waiting);
    for kind in [
        EventKind::ToolCallProgress { call: "call_1".into(), progress: deep },
        EventKind::RunFinished {
            reason,
            status,
            waiting: vec![interrupt],
            usage: Usage::default(),
            used: Usage::default(),
        },
    ] {
        let event = AgentEvent::new(1, 0, "r1", "t1", 1, kind);
        let line = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<AgentEvent>(&line).unwrap(), event);
    }
}

#[test]
fn a_snapshot_names_keys_and_tells_no_values() {
    let mut state = KeyState::default();
    let mut patches = Patches::new();
    patches.set(&Key::<String>::thread("token").persistent(), &"s3cret".to_owned()).unwrap();
    let changed = state.apply(&[("call_1", patches)]).unwrap();
    let keys: Vec<_> = changed.iter().map(StateKey::from).collect();
    let expected = StateKey { scope: Scope::Thread, key: "token".into(), persistent: true, removed: false };
    assert_eq!(keys, [expected]);
    let line = serde_json::to_string(&EventKind::StateSnapshot { changed: keys }).unwrap();
    assert!(!line.contains("s3cret"), "{line}");
}

proptest! {
    /// Numbers and texts come through the two layers of tags as they are.
    #[test]
    fn any_value_reads_back(text: String, int: i64, uint: u64, float in any::<f64>(), seq: u64) {
        let output = json!({ "text": text, "int": int, "uint": uint, "float": float, "type": text, "status": uint });
        let outcome = CallOutcome::Succeeded { output, warning: Some(text.clone()) };
        let kind = EventKind::ToolCallDone { call: text.clone(), outcome };
        let event = AgentEvent::new(seq, uint, text.as_str(), text.as_str(), 7, kind);
        let line = serde_json::to_string(&event).unwrap();
        prop_assert_eq!(serde_json::from_str::<AgentEvent>(&line).unwrap(), event);
    }
}
