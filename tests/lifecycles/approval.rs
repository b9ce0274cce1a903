//! Approvals.
use runstate::approval::*;
use serde_json::json;

use super::{assert_stored, doctored, round_trips, tables_agree, takes_its_edges};

/// 31 January 2026, 12:00:00 UTC.
const T: u64 = 1_769_860_800_000;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// One payload of every event. The guards of `at` let all of them pass.
pub(crate) fn events() -> Vec<ApprovalEvent> {
    vec![
        Submit::new(T + 1, T + DAY).into(),
        Approve::new("ada", T + 2).because("the plan is sound").into(),
        Reject::by("ada", "too risky", T + 2).into(),
        Execute::new(Outcome::Succeeded, T + 3).into(),
        Abort::new(T + 3).into(),
    ]
}

fn requested() -> Approval<Requested> {
    let request = Request::new("deploy", "push to production", Risk::High);
    let run = "RUN-PROJECT-20260131-120000".parse().unwrap();
    Approval::new(ApprovalRecord::new("APPROVAL-1".parse().unwrap(), run, request, T))
}

fn awaiting() -> Approval<AwaitingHuman> {
    requested().submit(Submit::new(T + 1, T + DAY))
}

fn approved() -> Approval<Approved> {
    awaiting().approve(Approve::new("ada", T + 2).because("the plan is sound")).unwrap()
}

fn rejected() -> Approval<Rejected> {
    awaiting().reject(Reject::by("ada", "too risky", T + 2)).unwrap()
}

/// An approval in that state, reached by legal steps.
pub(crate) fn at(status: ApprovalStatus) -> AnyApproval {
    match status {
        ApprovalStatus::Requested => requested().into(),
        ApprovalStatus::AwaitingHuman => awaiting().into(),
        ApprovalStatus::Approved => approved().into(),
        ApprovalStatus::Rejected => rejected().into(),
        ApprovalStatus::Executed => {
            let outcome = Outcome::Failed { error: "no route to host".into() };
            approved().execute(Execute::new(outcome, T + 3)).into()
        }
        ApprovalStatus::Aborted => rejected().abort(Abort::new(T + 3)).into(),
    }
}

#[test]
fn at_reaches_the_state_it_is_asked_for() {
    for &status in ApprovalStatus::ALL {
        assert_eq!(at(status).status(), status);
    }
}

#[test]
fn every_edge_can_be_taken_and_nothing_else() {
    takes_its_edges(at, events);
}

#[test]
fn the_document_lists_its_states_and_edges() {
    tables_agree::<ApprovalStatus>(include_str!("../../docs/lifecycles/approval.md"));
}

#[test]
fn every_state_survives_storage() {
    assert_stored("approval_stored", &round_trips(at));
}

#[test]
fn every_cause_of_a_rejection_survives_storage() {
    let rows = [
        Reject::by("ada", "too risky", T + 2),
        Reject::timed_out(T + DAY),
        Reject::escalated("asks the board", T + 2),
    ];
    for reject in rows {
        round_trips(|status| match status {
            ApprovalStatus::Rejected => awaiting().reject(reject.clone()).unwrap().into(),
            other => at(other),
        });
    }
}

#[test]
fn a_request_owns_nothing_beyond_its_record() {
    let approval = requested();
    let record = approval.record();
    assert_eq!((record.id().as_str(), record.run_id().project()), ("APPROVAL-1", "PROJECT"));
    assert_eq!((record.request().tool(), record.request().action()), ("deploy", "push to production"));
    assert_eq!((record.request().risk(), record.requested_at()), (Risk::High, T));
    let _: &Requested = approval.state();
}

#[test]
fn awaiting_human_owns_when_it_was_asked() {
    let approval = awaiting();
    assert_eq!((approval.state().submitted_at(), approval.state().deadline()), (T + 1, T + DAY));
}

#[test]
fn approved_owns_who_decided_when_and_why() {
    let approval = approved();
    let decision = approval.state().decision();
    assert_eq!((decision.by(), decision.at(), decision.reason()), ("ada", T + 2, Some("the plan is sound")));
}

#[test]
fn rejected_owns_its_cause() {
    let approval = rejected();
    let person = RejectionCause::Person { by: "ada".into(), reason: "too risky".into() };
    assert_eq!((approval.state().rejection().cause(), approval.state().rejection().at()), (&person, T + 2));
}

#[test]
fn executed_owns_the_decision_and_what_came_of_it() {
    let outcome = Outcome::Failed { error: "no route to host".into() };
    let approval = approved().execute(Execute::new(outcome.clone(), T + 3));
    let state = approval.state();
    assert_eq!((state.decision().by(), state.outcome(), state.executed_at()), ("ada", &outcome, T + 3));
}

#[test]
fn aborted_owns_the_rejection() {
    let approval = rejected().abort(Abort::new(T + 3));
    assert_eq!((approval.state().rejection().at(), approval.state().aborted_at()), (T + 2, T + 3));
}

#[test]
fn a_deadline_beats_the_answers_that_come_at_it_or_later() {
    let deadline = T + DAY;
    let expired = ApprovalError::Expired { deadline, at: deadline };
    assert!(awaiting().approve(Approve::new("ada", deadline - 1)).is_ok());
    assert!(awaiting().reject(Reject::by("ada", "no", deadline - 1)).is_ok());

    let back = awaiting().approve(Approve::new("ada", deadline)).unwrap_err();
    assert_eq!((&back.error, &back.event), (&expired, &Approve::new("ada", deadline)));
    let back = back.machine.reject(Reject::by("ada", "no", deadline)).unwrap_err();
    assert_eq!(back.error, expired);
    let rejected = back.machine.reject(Reject::timed_out(deadline)).unwrap();
    assert_eq!(rejected.state().rejection().cause(), &RejectionCause::Timeout);
}

#[test]
fn a_timeout_is_no_cause_before_it_has_come() {
    let at = T + DAY - 1;
    let back = awaiting().reject(Reject::timed_out(at)).unwrap_err();
    assert_eq!(back.error, ApprovalError::NotExpired { deadline: at + 1, at });
    assert_eq!(back.machine.state().submitted_at(), T + 1);
}

#[test]
fn an_escalation_needs_no_deadline() {
    for at in [T + 2, T + 2 * DAY] {
        let rejected = awaiting().reject(Reject::escalated("asks the board", at)).unwrap();
        let cause = RejectionCause::Escalation { why: "asks the board".into() };
        assert_eq!(rejected.state().rejection().cause(), &cause);
    }
}

#[test]
fn blank_actor_cannot_decide() {
    let back = awaiting().approve(Approve::new(" ", T + 2)).unwrap_err();
    assert_eq!(back.error, ApprovalError::Nobody);
    let back = back.machine.reject(Reject::by("", "no", T + 2)).unwrap_err();
    assert_eq!(back.error, ApprovalError::Nobody);
}

#[test]
fn risks_lead_where_the_document_says() {
    let rows = [
        (Risk::Low, false, false),
        (Risk::Medium, false, false),
        (Risk::High, true, false),
        (Risk::Critical, true, true),
    ];
    for (risk, needs_approval, halts_a_plan) in rows {
        assert_eq!((risk.needs_approval(), risk.halts_a_plan()), (needs_approval, halts_a_plan), "{risk:?}");
    }
}

#[test]
fn an_id_cannot_lead_out_of_its_folder() {
    let longest = "x".repeat(128);
    for id in ["a", "APPROVAL-1", "a_b.c-9", &longest] {
        assert_eq!(id.parse::<ApprovalId>().unwrap().to_string(), id);
    }
    let longer = "x".repeat(129);
    for id in ["", ".", "..", ".hidden", "a/b", "a\\b", "a b", "é", "a\0", "../x", &longer] {
        assert!(id.parse::<ApprovalId>().is_err(), "{id:?}");
    }
}

#[test]
fn the_dynamic_machine_says_why_it_refuses() {
    let said = |event: ApprovalEvent, status| at(status).apply(event).unwrap_err().to_string();
    let lines = [
        said(Approve::new("ada", T + 2 * DAY).into(), ApprovalStatus::AwaitingHuman),
        said(Reject::timed_out(T + 2).into(), ApprovalStatus::AwaitingHuman),
        said(Approve::new("", T + 2).into(), ApprovalStatus::AwaitingHuman),
        said(Abort::new(T + 2).into(), ApprovalStatus::AwaitingHuman),
        said(Execute::new(Outcome::Succeeded, T + 4).into(), ApprovalStatus::Executed),
    ];
    assert_stored("approval_refusals", &lines.join("\n"));
}

#[test]
fn a_doctored_approval_is_refused() {
    let said = [
        doctored(&at(ApprovalStatus::Approved), |json| json["record"]["id"] = json!("../x")),
        doctored(&at(ApprovalStatus::Approved), |json| {
            json["record"]["run_id"] = json!("RUN-PROJECT-20260230-120000");
        }),
        doctored(&at(ApprovalStatus::Rejected), |json| {
            json["state"]["rejection"]["cause"] = json!({"cause": "whim"});
        }),
        doctored(&at(ApprovalStatus::Approved), |json| json["status"] = json!("REJECTED")),
        doctored(&at(ApprovalStatus::Executed), |json| json["state"]["outcome"]["error"] = json!(null)),
    ];
    assert_stored("approval_doctored", &said.join("\n"));
}
