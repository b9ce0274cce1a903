//! Traces that a driver could not have made: a step is skipped or made up, and the check says so.

use runstate::decision::DecisionAction::{Cancel, Resume};
use runstate::trace::{Event, Report, Verdict, check};
use serde_json::Value;

use super::parts::{World, book, paused};

/// The trace of a run with a round, an approval and a denial, one JSON object an event.
fn trace() -> Vec<Value> {
    paused(async {
        let mut world = World::new(&[&[("a", "write"), ("b", "read"), ("c", "write")]]);
        let mut state = world.state();
        world.start(&mut state).await;
        world.decide(&mut state, &[("a", Resume), ("c", Cancel)]).await;
        world.recorder.events().iter().map(|event| serde_json::from_str(&event.to_json()).unwrap()).collect()
    })
}

fn checked(trace: &[Value]) -> Report {
    let lines: Vec<String> = trace.iter().map(Value::to_string).collect();
    let events: Vec<Event<'_>> = lines.iter().map(|line| Event::from_json(line).unwrap()).collect();
    check(&events, &book())
}

fn place(trace: &[Value], lifecycle: &str, from: &str, to: &str) -> usize {
    let found = |event: &Value| event["lifecycle"] == lifecycle && event["from"] == from && event["to"] == to;
    trace.iter().position(found).unwrap_or_else(|| panic!("no {from} --> {to}"))
}

/// Skips what `lifecycle` did from the one state to the other: one event leads there.
fn skip(trace: &mut Vec<Value>, lifecycle: &str, from: (&str, &str), to: (&str, &str)) {
    let first = place(trace, lifecycle, from.0, from.1);
    let last = first + place(&trace[first..], lifecycle, to.0, to.1);
    let landing = trace[last].clone();
    let instance = landing["instance"].clone();
    for key in ["to", "event"] {
        trace[first][key] = landing[key].clone();
    }
    let mut place = 0;
    trace.retain(|event| {
        place += 1;
        let skipped = event["lifecycle"] == lifecycle && event["instance"] == instance;
        !(skipped && (first + 2..=last + 1).contains(&place))
    });
}

#[test]
fn trace_with_a_skipped_step_violates_and_lists_legal_steps() {
    let whole = trace();
    assert_eq!(checked(&whole).verdict, Verdict::Conforms);
    let mut said = String::new();
    for (what, lifecycle, from, to) in [
        (
            "the gate behind a round is skipped",
            "run_flow",
            ("CommitTool", "ResumeAfterTool"),
            ("ResumeAfterTool", "Suspended"),
        ),
        (
            "the gate before a step is skipped",
            "run_flow",
            ("LoopTop", "ResumeToolCall"),
            ("StepPrepare", "LlmCall"),
        ),
        (
            "the commit of a round is skipped",
            "run_flow",
            ("ToolRound", "CommitTool"),
            ("CommitTool", "ResumeAfterTool"),
        ),
        (
            "the commit of an answer is skipped",
            "run_flow",
            ("AfterInference", "CommitAssistant"),
            ("CommitAssistant", "ToolRound"),
        ),
        (
            "the commit of a decision is skipped",
            "resume_tool_call",
            ("ResolveDecision", "PersistResumeDecision"),
            ("PersistResumeDecision", "Replay"),
        ),
        (
            "a tool executes without its gate",
            "tool_execution",
            ("BeforeToolExecute", "ExecuteTool"),
            ("ExecuteTool", "Succeeded"),
        ),
        ("a call executes undecided", "tool_call", ("Suspended", "Resuming"), ("Resuming", "Running")),
    ] {
        let mut doctored = whole.clone();
        skip(&mut doctored, lifecycle, from, to);
        assert!(doctored.len() < whole.len());
        let report = checked(&doctored);
        assert_eq!(report.verdict, Verdict::Violates, "{what}");
        assert_eq!(report.violations, 1, "{what}: {}", report.summary());
        said += &format!("# {what}\n{}\n", report.violation.unwrap());
    }
    insta::with_settings!({
        snapshot_path => concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"),
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!("agent__doctored", said);
    });
}

#[test]
fn no_event_can_be_left_out() {
    let whole = trace();
    for place in 0..whole.len() {
        let mut doctored = whole.clone();
        let left_out = doctored.remove(place);
        assert_ne!(checked(&doctored).verdict, Verdict::Conforms, "{left_out} is not missed");
    }
}

#[test]
fn no_event_can_be_told_twice_and_none_made_up_behind_the_end() {
    let whole = trace();
    for place in 0..whole.len() {
        let mut doctored = whole.clone();
        doctored.insert(place + 1, whole[place].clone());
        for (seq, event) in (1..).zip(&mut doctored) {
            event["seq"] = Value::from(seq);
        }
        assert_eq!(checked(&doctored).verdict, Verdict::Violates, "{} twice", whole[place]);
    }
    let mut doctored = whole.clone();
    let mut made_up = doctored[place(&whole, "tool_call", "Resuming", "Running")].clone();
    made_up["seq"] = Value::from(10_000);
    made_up["instance"] = Value::from("c");
    doctored.push(made_up);
    let report = checked(&doctored);
    assert!(report.violation.unwrap().to_string().contains("Cancelled"), "the call was denied");
}
