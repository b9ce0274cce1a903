//! The approval of a plan, inside PLANNING: the run and the approval move together or not at all.

use runstate::approval::{self, Approval, ApprovalError, ApprovalRecord, AwaitingHuman, Request, Risk};
use runstate::governed_run::*;

/// 31 January 2026, 12:00:00 UTC.
const T: u64 = 1_769_860_800_000;
const LIMIT: u64 = 5 * 60_000;

fn planning() -> GovernedRun<Planning> {
    let record = RunRecord::new("RUN-PROJECT-20260131-120000".parse().unwrap(), T);
    GovernedRun::new(record).plan(Plan::new(T)).unwrap()
}

fn asked_by(run: &str) -> Approval<AwaitingHuman> {
    let request = Request::new("planner", "execute the plan: build", Risk::Medium);
    let record = ApprovalRecord::new("APPROVAL-1".parse().unwrap(), run.parse().unwrap(), request, T);
    Approval::new(record).submit(approval::Submit::new(T, planning().answer_by()))
}

fn asked() -> Approval<AwaitingHuman> {
    asked_by("RUN-PROJECT-20260131-120000")
}

fn yes(by: &str, at: u64) -> approval::Approve {
    approval::Approve::new(by, at)
}

#[test]
fn approved_plan_executes_and_its_approval_is_used() {
    let (run, asked) = planning().approved_with(asked(), &yes("ada", T + LIMIT - 1), ["build"]).unwrap();
    assert_eq!(run.state().progress().planned(), ["build"]);
    assert_eq!(run.record().approvals_granted(), [asked.record().id().clone()]);
    assert_eq!((run.entered_at(), asked.state().executed_at()), (T + LIMIT - 1, T + LIMIT - 1));
    assert_eq!(asked.state().decision().by(), "ada");
}

#[test]
fn rejected_plan_leaves_the_run_in_planning() {
    let (run, asked) = planning().rejected_with(asked(), "ada", "too much", T + 1).unwrap();
    let cause = approval::RejectionCause::Person { by: "ada".into(), reason: "too much".into() };
    assert_eq!(asked.state().rejection().cause(), &cause);
    assert!(run.record().approvals_granted().is_empty());
    assert!(run.execute(Execute::new(["build"], T + 2)).is_ok());
}

#[test]
fn unanswered_approval_halts_the_run() {
    let (run, asked) = planning().timed_out_with(asked(), T + LIMIT).unwrap();
    assert_eq!(run.state().reason(), &HaltReason::Timeout);
    assert_eq!(asked.state().rejection().cause(), &approval::RejectionCause::Timeout);
}

/// PLANNING has no escalation in the document: a plan that a person does not want to decide about is a critical risk.
#[test]
fn escalated_approval_halts_the_run() {
    let (run, asked) = planning().escalated_with(asked(), "asks the board", T + 1).unwrap();
    let risk = "the decision about it was escalated: asks the board".to_owned();
    assert_eq!(run.state().reason(), &HaltReason::CriticalRisk { risk });
    let cause = approval::RejectionCause::Escalation { why: "asks the board".into() };
    assert_eq!(asked.state().rejection().cause(), &cause);
}

#[test]
fn refused_plan_answer_moves_neither_run_nor_approval() {
    let late = T + LIMIT;
    let (state, nobody) = (GovernedRunStatus::Planning, AnswerError::Approval(ApprovalError::Nobody));
    let too_late = AnswerError::Refused(GovernedRunError::Expired { state, deadline: late, at: late });
    let early = AnswerError::Refused(GovernedRunError::NotExpired { state, deadline: late, at: late - 1 });
    let closed = AnswerError::Approval(ApprovalError::Expired { deadline: late, at: late });
    let tools = || ["build"];
    let backs = [
        (planning().approved_with(asked(), &yes("ada", late), tools()).map(drop).unwrap_err(), too_late),
        (planning().approved_with(asked(), &yes(" ", T), tools()).map(drop).unwrap_err(), nobody.clone()),
        (planning().rejected_with(asked(), "", "no", T).map(drop).unwrap_err(), nobody),
        (planning().rejected_with(asked(), "ada", "no", late).map(drop).unwrap_err(), closed),
        (planning().timed_out_with(asked(), late - 1).map(drop).unwrap_err(), early),
    ];
    for (back, error) in backs {
        assert_eq!(back.error, error);
        // Both are as they were: a good answer still moves them.
        assert!(back.run.approved_with(back.approval, &yes("ada", T + 1), tools()).is_ok());
    }
    let other = asked_by("RUN-OTHER-20260131-120000");
    let back = planning().approved_with(other, &yes("ada", T), tools()).unwrap_err();
    assert!(matches!(back.error, AnswerError::OtherRun { .. }));
}
