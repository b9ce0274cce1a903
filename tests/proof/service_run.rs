//! `service_run`: document 004, "Run Statuses", "Final Status", "Execution Path" and "Resume Flow"; the edges are D1's.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::LazyJust;
use runstate::decision::digest;
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

    fn event(&self, run: &AnyServiceRun, name: &'static str) -> BoxedStrategy<ServiceRunEvent> {
        let text = |name: &'static str| (0..9_u8).prop_map(move |n| format!("{name} {n}"));
        let person = || prop_oneof![4 => text("person"), 1 => Just(" ".to_owned())];
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
                1 => (vec((select(&["chain", "token"]), payload::values()), 0..3), any::<Option<u8>>()).prop_map(
                    |(answers, chain)| {
                        let resume = Resume::with_answers(answers);
                        chain.map_or(resume.clone(), |chain| {
                            resume.for_wallet(format!("0x{chain}")).on_chain(chain.into())
                        })
                    }
                ),
                1 => text("swap").prop_map(Resume::with_intent),
            ]
            .prop_map(Into::into)
            .boxed(),
            "approve" => {
                let shown = At::of(run).state["digest"].as_str().unwrap_or("sha256:0").to_owned();
                (prop_oneof![3 => Just(shown), 1 => Just("sha256:0".to_owned())], person(), any::<u16>())
                    .prop_map(|(digest, by, at)| Approve::new(digest, by, at.into()).into())
                    .boxed()
            }
            "reject" => (person(), any::<u16>())
                .prop_map(|(by, at)| Reject::new(by, "too expensive", at.into()).into())
                .boxed(),
            "submit" => (vec(select(&["0x1", "0x2", "0x3", ""]), 0..3), person(), any::<u16>())
                .prop_map(|(hashes, by, at)| Submit::new(hashes, by, at.into()).into())
                .boxed(),
            "confirm" => any::<u16>().prop_map(|at| Confirm::new(at.into()).into()).boxed(),
            "revert" => (text("slippage"), any::<u16>())
                .prop_map(|(reason, at)| Revert::new(reason, at.into()).into())
                .boxed(),
            other => unreachable!("service_run has no event {other}"),
        }
    }
}

impl Documented for ServiceRuns {
    /// Document 004 draws no graph: the statuses are its list "Run Statuses", the edges follow from "Final Status", "High-Level
    /// Flow", "Execution Path" and "Resume Flow".
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
        drawn: &[],
        prose: &[
            ("CREATED", "start", "RUNNING", "POST /v1/runs/{id}/start"),
            ("RUNNING", "ready", "AWAITING_APPROVAL", "READY"),
            ("RUNNING", "pause", "PAUSED", "NEEDS_INPUT / NOOP"),
            ("RUNNING", "block", "BLOCKED", "BLOCKED"),
            ("RUNNING", "fail", "FAILED", "FAILED"),
            ("PAUSED", "resume", "RUNNING", "POST /v1/runs/{id}/resume"),
            ("AWAITING_APPROVAL", "approve", "APPROVED_READY", "POST /v1/runs/{id}/approve"),
            ("AWAITING_APPROVAL", "reject", "REJECTED", "the status alone"),
            ("APPROVED_READY", "submit", "SUBMITTED", "frontend signs via wallet"),
            ("SUBMITTED", "confirm", "CONFIRMED", "the status alone"),
            ("SUBMITTED", "revert", "REVERTED", "the status alone"),
        ],
        guarded: &[
            ("PAUSED", "resume"),
            ("AWAITING_APPROVAL", "approve"),
            ("AWAITING_APPROVAL", "reject"),
            ("APPROVED_READY", "submit"),
            ("SUBMITTED", "confirm"),
        ],
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
            "ready" => {
                let requests = facts::json(&with["tx_requests"]);
                json!({ "digest": digest(&requests), "tx_requests": requests })
            }
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
                let replaced = [("intent", intent), ("wallet", facts::optional(&with["wallet"]))];
                for (field, value) in
                    replaced.into_iter().chain([("chain_id", facts::optional(&with["chain_id"]))])
                {
                    if let Some(value) = value {
                        run.record[field] = value.clone();
                    }
                }
                json!({ "pass": at["pass"].as_u64().unwrap() + 1 })
            }
            "approve" if named(with) && with["digest"] == at["digest"] => {
                merged(&at, json!({ "approved_by": with["by"], "approved_at_ms": with["at_ms"] }))
            }
            "reject" if named(with) => merged(
                &at,
                json!({ "rejected_by": with["by"], "rejected_at_ms": with["at_ms"], "reason": with["reason"] }),
            ),
            "submit" if named(with) && hashes_fit(&with["tx_hashes"], &at["tx_requests"]) => merged(
                &at,
                json!({
                    "submitted_by": with["by"], "submitted_at_ms": with["at_ms"], "tx_hashes": with["tx_hashes"],
                }),
            ),
            "confirm" if count(&at["tx_hashes"]) == count(&at["tx_requests"]) => {
                merged(&at, json!({ "confirmed_at_ms": with["at_ms"] }))
            }
            "approve" | "reject" | "submit" | "confirm" => return None,
            "revert" => merged(&at, json!({ "reverted_at_ms": with["at_ms"], "reason": with["reason"] })),
            // A reason, or an error.
            _ => facts::json(with),
        })
    }
    /// Another transaction is sent: the first hash of the two that is not there.
    fn aside(run: &mut AnyServiceRun, at: &mut At, _: u8) {
        let AnyServiceRun::Submitted(run) = run else { return };
        let hashes = at.state["tx_hashes"].as_array().unwrap().clone();
        let next = ["0x7", "0x8"].map(Value::from).into_iter().find(|hash| !hashes.contains(hash)).unwrap();
        let fits = hashes.len() < count(&at.state["tx_requests"]);
        assert_eq!(run.append_hashes([next.as_str().unwrap()]).is_ok(), fits);
        if fits {
            at.state["tx_hashes"].as_array_mut().unwrap().push(next);
        }
    }
}

fn named(with: &Value) -> bool {
    !with["by"].as_str().unwrap().trim().is_empty()
}

fn count(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

/// One hash or more, none empty, none twice, and no more than there are transactions.
fn hashes_fit(hashes: &Value, requests: &Value) -> bool {
    let hashes = hashes.as_array().unwrap();
    let distinct: BTreeSet<_> = hashes.iter().map(|hash| hash.as_str().unwrap()).collect();
    !hashes.is_empty()
        && distinct.len() == hashes.len()
        && !distinct.contains("")
        && hashes.len() <= count(requests)
}

fn merged(at: &Value, more: Value) -> Value {
    let mut state = at.clone();
    state.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    state
}
