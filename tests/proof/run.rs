//! `run`: documents 000, "Layer 1: Run Lifecycle", and 003, "TerminationReason".

use proptest::prelude::*;
use proptest::sample::subsequence;
use runstate::decision::{Decision, DecisionAction};
use runstate::run::{AnyRun, Finish, Resume, RunEvent, RunRecord, RunStatus, Wait};
use runstate::testing::Subject;
use serde_json::{Value, json};

use super::model::{At, Documented, Table};
use super::{facts, payload};

#[derive(Debug, Clone, Copy)]
pub(super) struct Runs;

impl Subject for Runs {
    type Machine = AnyRun;

    fn record(&self) -> RunRecord {
        RunRecord::new("r1")
    }

    fn event(&self, _: &AnyRun, name: &'static str) -> BoxedStrategy<RunEvent> {
        match name {
            "wait" => subsequence(vec!["call_1", "call_2", "call_2#2"], 0..=3)
                .prop_map(|calls| Wait::new(calls).into())
                .boxed(),
            "resume" => prop_oneof![
                (0..9_u8).prop_map(|n| {
                    let decision = Decision::new(format!("dec-{n}"), "sus-1", DecisionAction::Resume);
                    Resume::decided("call_1", &decision)
                }),
                Just(()).prop_map(|()| Resume::user_message()),
            ]
            .prop_map(Into::into)
            .boxed(),
            "finish" => payload::reasons().prop_map(|reason| Finish::new(reason).into()).boxed(),
            other => unreachable!("run has no event {other}"),
        }
    }
}

impl Documented for Runs {
    /// Document 000, "Layer 1: Run Lifecycle"; document 003 draws the same four.
    const TABLE: Table = Table {
        name: "run",
        machine: "Run",
        states: &["Running", "Waiting", "Done"],
        renamed: &[],
        initial: "Running",
        terminal: &["Done"],
        events: &["wait", "resume", "finish"],
        drawn: &[
            ("Running", "wait", "Waiting", "all tool calls suspended"),
            ("Running", "finish", "Done", "NaturalEnd / PluginRequested / Stopped / Cancelled / Error"),
            ("Waiting", "resume", "Running", "resume decision received"),
            ("Waiting", "finish", "Done", "Cancelled / Error"),
        ],
        prose: &[],
        guarded: &[("Running", "wait"), ("Running", "finish"), ("Waiting", "finish")],
    };

    fn at(status: RunStatus) -> AnyRun {
        crate::lifecycles::run::at(status)
    }

    fn begin() -> (Value, Value) {
        (json!({ "id": "r1", "activations": 1 }), json!({ "cause": "created" }))
    }

    fn enter(run: &mut At, event: &str, with: &Value) -> Option<Value> {
        match event {
            // A run waits for calls.
            "wait" if with["calls"] == json!([]) => None,
            "wait" => Some(json!({ "calls": with["calls"] })),
            "resume" => {
                run.count("activations");
                Some(json!({ "cause": facts::tagged(&with["cause"]) }))
            }
            _ => {
                // The captions of the two edges to Done; `Blocked` is document 003's. With `Suspended` a run waits (A2).
                let ends = match run.status {
                    "Running" => facts::name(&with["reason"]) != "Suspended",
                    _ => matches!(facts::name(&with["reason"]), "Cancelled" | "Error"),
                };
                ends.then(|| json!({ "reason": payload::reason(&with["reason"]) }))
            }
        }
    }
}
