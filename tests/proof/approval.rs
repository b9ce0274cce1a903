//! `approval`: document 001, "Approval State Transitions".

use proptest::prelude::*;
use proptest::sample::select;
use runstate::approval::{
    Abort, AnyApproval, ApprovalEvent, ApprovalRecord, ApprovalStatus, Approve, Execute, Outcome, Reject,
    Request, Risk, Submit,
};
use runstate::testing::Subject;
use serde_json::{Value, json};

use super::facts;
use super::model::{At, Documented, Table};

/// 31 January 2026, 12:00:00 UTC.
const T: u64 = 1_769_860_800_000;
const DAY: u64 = 24 * 60 * 60 * 1000;

#[derive(Debug, Clone, Copy)]
pub(super) struct Approvals;

/// Times before, at and after the deadline.
fn times() -> impl Strategy<Value = u64> + Clone {
    prop_oneof![T..T + DAY, Just(T + DAY - 1), Just(T + DAY), T + DAY..T + 2 * DAY]
}

fn names() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just("ada"), 1 => Just(""), 1 => Just(" ")]
}

impl Subject for Approvals {
    type Machine = AnyApproval;

    fn record(&self) -> ApprovalRecord {
        let request = Request::new("deploy", "push to production", Risk::High);
        let run = "RUN-PROJECT-20260131-120000".parse().unwrap();
        ApprovalRecord::new("APPROVAL-1".parse().unwrap(), run, request, T)
    }

    fn event(&self, _: &AnyApproval, name: &'static str) -> BoxedStrategy<ApprovalEvent> {
        match name {
            "submit" => (T..T + 9).prop_map(|at| Submit::new(at, T + DAY).into()).boxed(),
            "approve" => (names(), times(), any::<bool>())
                .prop_map(|(by, at, says)| {
                    let approve = Approve::new(by, at);
                    if says { approve.because("the plan is sound") } else { approve }.into()
                })
                .boxed(),
            "reject" => prop_oneof![
                (names(), times()).prop_map(|(by, at)| Reject::by(by, "too risky", at)),
                times().prop_map(Reject::timed_out),
                times().prop_map(|at| Reject::escalated("asks the board", at)),
            ]
            .prop_map(Into::into)
            .boxed(),
            "execute" => {
                let outcomes = select(vec![Outcome::Succeeded, Outcome::Failed { error: "no route".into() }]);
                (outcomes, times()).prop_map(|(outcome, at)| Execute::new(outcome, at).into()).boxed()
            }
            "abort" => times().prop_map(|at| Abort::new(at).into()).boxed(),
            other => unreachable!("approval has no event {other}"),
        }
    }
}

impl Documented for Approvals {
    /// Document 001, "Approval State Transitions".
    const TABLE: Table = Table {
        name: "approval",
        machine: "Approval",
        states: &["REQUEST_APPROVAL", "AWAITING_HUMAN", "APPROVED", "REJECTED", "EXECUTED", "ABORTED"],
        renamed: &[("REQUEST_APPROVAL", "Requested")],
        initial: "REQUEST_APPROVAL",
        terminal: &["EXECUTED", "ABORTED"],
        events: &["submit", "approve", "reject", "execute", "abort"],
        drawn: &[
            ("REQUEST_APPROVAL", "submit", "AWAITING_HUMAN", "saved to PENDING/"),
            ("AWAITING_HUMAN", "approve", "APPROVED", ""),
            ("AWAITING_HUMAN", "reject", "REJECTED", ""),
            ("APPROVED", "execute", "EXECUTED", ""),
            ("REJECTED", "abort", "ABORTED", ""),
        ],
        prose: &[],
        guarded: &[("AWAITING_HUMAN", "approve"), ("AWAITING_HUMAN", "reject")],
    };

    fn at(status: ApprovalStatus) -> AnyApproval {
        crate::lifecycles::approval::at(status)
    }

    fn begin() -> (Value, Value) {
        let record = json!({
            "id": "APPROVAL-1", "run_id": "RUN-PROJECT-20260131-120000", "requested_at": T,
            "request": { "tool": "deploy", "action": "push to production", "risk": "high" },
        });
        (record, Value::Null)
    }

    fn enter(approval: &mut At, event: &str, with: &Value) -> Option<Value> {
        let at = &approval.state;
        // B3: elapsed >= limit fires, and an expired deadline beats a late decision.
        let is_expired = |time: &Value| time.as_u64() >= at["deadline"].as_u64();
        let is_somebody = |by: &Value| !by.as_str().unwrap().trim().is_empty();
        match event {
            "submit" => Some(json!({ "submitted_at": with["at"], "deadline": with["deadline"] })),
            "approve" => {
                let decision = facts::json(&with["decision"]);
                let counts = !is_expired(&decision["at"]) && is_somebody(&decision["by"]);
                counts.then(|| json!({ "decision": decision }))
            }
            "reject" => {
                let (cause, time) = (&with["rejection"]["cause"], &with["rejection"]["at"]);
                // B4: a person in time, the timeout once it has come, an escalation at any time.
                let counts = match facts::name(cause) {
                    "Person" => !is_expired(time) && is_somebody(&cause["by"]),
                    "Timeout" => is_expired(time),
                    _ => true,
                };
                let cause = facts::tagged_in("cause", facts::snake, cause);
                counts.then(|| json!({ "rejection": { "cause": cause, "at": time } }))
            }
            "execute" => {
                let outcome = facts::tagged_in("outcome", facts::snake, &with["outcome"]);
                Some(json!({ "decision": at["decision"], "outcome": outcome, "executed_at": with["at"] }))
            }
            "abort" => Some(json!({ "rejection": at["rejection"], "aborted_at": with["at"] })),
            other => unreachable!("{other}"),
        }
    }
}
