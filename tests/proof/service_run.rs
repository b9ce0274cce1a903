//! `service_run`: document 004, "Run Statuses", "Final Status", "Execution Path" and "Resume Flow"; the edges are D1's.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::LazyJust;
use runstate::service_run::{
    AnyServiceRun, Approve, Block, Confirm, Fail, Pause, PauseReason, Ready, Reject, Resume, Revert,
    ServiceRunEvent, ServiceRunRecord, ServiceRunStatus, Start, Submit,
};
use runstate::testing::Subject;
use serde_json::{Value, json};

use super::model::{At, Documented, Table};
use super::{facts, payload};

#[derive(Debug, Clone, Copy)]
pub(super) struct ServiceRuns;

impl Subject for ServiceRuns {
    type Machine = AnyServiceRun;

    fn record(&self) -> ServiceRunRecord {
        ServiceRunRecord::new("run_1", "swap 1 A for B")
    }

    fn event(&self, _: &AnyServiceRun, name: &'static str) -> BoxedStrategy<ServiceRunEvent> {
        let text = |name: &'static str| (0..9_u8).prop_map(move |n| format!("{name} {n}"));
        match name {
            "start" => LazyJust::new(|| Start.into()).boxed(),
            "ready" => vec(payload::values(), 0..3).prop_map(|requests| Ready::new(requests).into()).boxed(),
            "pause" => prop_oneof![
                vec(text("question"), 1..3).prop_map(|questions| PauseReason::NeedsInput { questions }),
                text("nothing").prop_map(|summary| PauseReason::Noop { summary }),
            ]
            .prop_map(|reason| Pause::new(reason).into())
            .boxed(),
            "block" => text("rule").prop_map(|reason| Block::new(reason).into()).boxed(),
            "fail" => text("error").prop_map(|error| Fail::new(error).into()).boxed(),
            "resume" => prop_oneof![
                1 => vec((select(&["chain", "token"]), payload::values()), 0..3).prop_map(Resume::with_answers),
                1 => text("swap").prop_map(Resume::with_intent),
            ]
            .prop_map(Into::into)
            .boxed(),
            "approve" => text("person").prop_map(|by| Approve::new(by).into()).boxed(),
            "reject" => text("person").prop_map(|by| Reject::new(by, "too expensive").into()).boxed(),
            "submit" => vec(text("0x"), 0..3).prop_map(|hashes| Submit::new(hashes).into()).boxed(),
            "confirm" => LazyJust::new(|| Confirm.into()).boxed(),
            "revert" => text("slippage").prop_map(|reason| Revert::new(reason).into()).boxed(),
            other => unreachable!("service_run has no event {other}"),
        }
    }
}

impl Documented for ServiceRuns {
    const TABLE: Table = Table {
        name: "service_run",
        machine: "ServiceRun",
        states: &[
            "CREATED",
            "RUNNING",
            "PAUSED",
            "AWAITING_APPROVAL",
            "APPROVED_READY",
            "SUBMITTED",
            "CONFIRMED",
            "REVERTED",
            "BLOCKED",
            "FAILED",
            "REJECTED",
        ],
        renamed: &[],
        initial: "CREATED",
        terminal: &["CONFIRMED", "REVERTED", "BLOCKED", "FAILED", "REJECTED"],
        events: &[
            "start", "ready", "pause", "block", "fail", "resume", "approve", "reject", "submit", "confirm",
            "revert",
        ],
        edges: &[
            ("CREATED", "start", "RUNNING"),
            ("RUNNING", "ready", "AWAITING_APPROVAL"),
            ("RUNNING", "pause", "PAUSED"),
            ("RUNNING", "block", "BLOCKED"),
            ("RUNNING", "fail", "FAILED"),
            ("PAUSED", "resume", "RUNNING"),
            ("AWAITING_APPROVAL", "approve", "APPROVED_READY"),
            ("AWAITING_APPROVAL", "reject", "REJECTED"),
            ("APPROVED_READY", "submit", "SUBMITTED"),
            ("SUBMITTED", "confirm", "CONFIRMED"),
            ("SUBMITTED", "revert", "REVERTED"),
        ],
        guarded: &[("PAUSED", "resume")],
    };

    fn at(status: ServiceRunStatus) -> AnyServiceRun {
        crate::lifecycles::service_run::at(status)
    }

    fn begin() -> (Value, Value) {
        (json!({ "run_id": "run_1", "intent": "swap 1 A for B", "user_inputs": {} }), Value::Null)
    }

    fn enter(run: &mut At, event: &str, with: &Value) -> Option<Value> {
        let at = run.state.clone();
        Some(match event {
            "start" => json!({ "pass": 1 }),
            "ready" => json!({ "tx_requests": facts::json(&with["tx_requests"]) }),
            "pause" => {
                let reason = facts::tagged_in("final_status", facts::screaming, &with["reason"]);
                json!({ "pass": at["pass"], "reason": reason })
            }
            // D3: answers add up, and only a run that came to NOOP may be given a new intent.
            "resume" => {
                let intent = facts::optional(&with["intent"]);
                if intent.is_some() && at["reason"]["final_status"] == "NEEDS_INPUT" {
                    return None;
                }
                let Value::Object(answers) = facts::json(&with["answers"]) else { unreachable!("{with}") };
                run.record["user_inputs"].as_object_mut().unwrap().extend(answers);
                if let Some(intent) = intent {
                    run.record["intent"] = intent.clone();
                }
                json!({ "pass": at["pass"].as_u64().unwrap() + 1 })
            }
            "approve" => json!({ "tx_requests": at["tx_requests"], "approved_by": with["by"] }),
            "reject" => json!({
                "tx_requests": at["tx_requests"], "rejected_by": with["by"], "reason": with["reason"],
            }),
            "submit" => json!({ "approved_by": at["approved_by"], "tx_hashes": with["tx_hashes"] }),
            "confirm" => at,
            "revert" => json!({
                "approved_by": at["approved_by"], "tx_hashes": at["tx_hashes"], "reason": with["reason"],
            }),
            // A reason, or an error.
            _ => facts::json(with),
        })
    }
}
