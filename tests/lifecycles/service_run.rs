//! Runs of the run service.
use runstate::service_run::*;
use serde_json::{Value, json};

use super::{assert_stored, doctored, round_trips, tables_agree, takes_its_edges};

fn tx_requests() -> Vec<Value> {
    vec![json!({"kind": "approve", "to": "0xa"}), json!({"kind": "swap", "to": "0xb"})]
}

/// One payload of every event. The guards of `at` let all of them pass.
pub(crate) fn events() -> Vec<ServiceRunEvent> {
    vec![
        Start.into(),
        Ready::new(tx_requests()).into(),
        Pause::new(PauseReason::Noop { summary: "the balance is there already".into() }).into(),
        Block::new("policy: unknown spender").into(),
        Fail::new("no route").into(),
        Resume::with_answers([("chain", json!("base"))]).into(),
        Approve::new("ada").into(),
        Reject::new("ada", "too expensive").into(),
        Submit::new(["0x1", "0x2"]).into(),
        Confirm.into(),
        Revert::new("slippage").into(),
    ]
}

fn created() -> ServiceRun<Created> {
    ServiceRun::new(ServiceRunRecord::new("run_1", "swap 1 A for B"))
}

fn running() -> ServiceRun<Running> {
    created().start(Start)
}

fn needs_input() -> ServiceRun<Paused> {
    running().pause(Pause::new(PauseReason::NeedsInput { questions: vec!["which chain?".into()] }))
}

fn noop() -> ServiceRun<Paused> {
    running().pause(Pause::new(PauseReason::Noop { summary: "nothing to swap".into() }))
}

fn awaiting() -> ServiceRun<AwaitingApproval> {
    running().ready(Ready::new(tx_requests()))
}

fn submitted() -> ServiceRun<Submitted> {
    awaiting().approve(Approve::new("ada")).submit(Submit::new(["0x1", "0x2"]))
}

/// A run in that state, reached by legal steps.
pub(crate) fn at(status: ServiceRunStatus) -> AnyServiceRun {
    match status {
        ServiceRunStatus::Created => created().into(),
        ServiceRunStatus::Running => running().into(),
        ServiceRunStatus::Paused => needs_input().into(),
        ServiceRunStatus::AwaitingApproval => awaiting().into(),
        ServiceRunStatus::ApprovedReady => awaiting().approve(Approve::new("ada")).into(),
        ServiceRunStatus::Submitted => submitted().into(),
        ServiceRunStatus::Confirmed => submitted().confirm(Confirm).into(),
        ServiceRunStatus::Reverted => submitted().revert(Revert::new("slippage")).into(),
        ServiceRunStatus::Blocked => running().block(Block::new("policy: unknown spender")).into(),
        ServiceRunStatus::Failed => running().fail(Fail::new("no route")).into(),
        ServiceRunStatus::Rejected => awaiting().reject(Reject::new("ada", "too expensive")).into(),
    }
}

#[test]
fn at_reaches_the_state_it_is_asked_for() {
    for &status in ServiceRunStatus::ALL {
        assert_eq!(at(status).status(), status);
    }
}

#[test]
fn every_edge_can_be_taken_and_nothing_else() {
    takes_its_edges(at, events);
}

#[test]
fn the_document_lists_its_states_and_edges() {
    tables_agree::<ServiceRunStatus>(include_str!("../../docs/lifecycles/service-run.md"));
}

#[test]
fn every_state_survives_storage() {
    assert_stored("service_run_stored", &round_trips(at));
}

#[test]
fn a_noop_run_survives_storage() {
    round_trips(|status| if status == ServiceRunStatus::Paused { noop().into() } else { at(status) });
}

#[test]
fn created_owns_nothing_beyond_its_record() {
    let run = created();
    assert_eq!((run.record().run_id(), run.record().intent()), ("run_1", "swap 1 A for B"));
    assert!(run.record().user_inputs().is_empty());
    let _: &Created = run.state();
}

#[test]
fn running_owns_which_pass_it_is() {
    assert_eq!(running().state().pass(), 1);
    let again = noop().resume(Resume::default()).unwrap();
    assert_eq!(again.state().pass(), 2);
}

#[test]
fn paused_owns_why() {
    let run = needs_input();
    let questions = PauseReason::NeedsInput { questions: vec!["which chain?".into()] };
    assert_eq!((run.state().reason(), run.state().pass()), (&questions, 1));
    assert_eq!(run.state().final_status(), FinalStatus::NeedsInput);
    assert_eq!(noop().state().final_status(), FinalStatus::Noop);
}

#[test]
fn the_transactions_keep_their_order_up_to_the_signature() {
    assert_eq!(awaiting().state().tx_requests(), tx_requests());
    let run = awaiting().approve(Approve::new("ada"));
    assert_eq!((run.state().tx_requests(), run.state().approved_by()), (&tx_requests()[..], "ada"));
}

#[test]
fn submitted_run_owns_its_hashes_and_approver() {
    let run = submitted();
    assert_eq!(
        (run.state().tx_hashes(), run.state().approved_by()),
        (&["0x1".into(), "0x2".into()][..], "ada")
    );
    let run = submitted().confirm(Confirm);
    assert_eq!((run.state().tx_hashes().len(), run.state().approved_by()), (2, "ada"));
    let run = submitted().revert(Revert::new("slippage"));
    let state = run.state();
    assert_eq!((state.tx_hashes().len(), state.approved_by(), state.reason()), (2, "ada", "slippage"));
}

#[test]
fn the_bad_ends_own_their_reasons() {
    assert_eq!(running().block(Block::new("policy")).state().reason(), "policy");
    assert_eq!(running().fail(Fail::new("no route")).state().error(), "no route");
    let run = awaiting().reject(Reject::new("ada", "too expensive"));
    let state = run.state();
    assert_eq!((state.rejected_by(), state.reason(), state.tx_requests().len()), ("ada", "too expensive", 2));
}

#[test]
fn final_status_maps_to_the_run_status_of_its_branch() {
    let rows = [
        (RunOutcome::Ready { tx_requests: tx_requests() }, FinalStatus::Ready, "READY", "AWAITING_APPROVAL"),
        (RunOutcome::NeedsInput { questions: vec![] }, FinalStatus::NeedsInput, "NEEDS_INPUT", "PAUSED"),
        (RunOutcome::Noop { summary: String::new() }, FinalStatus::Noop, "NOOP", "PAUSED"),
        (RunOutcome::Blocked { reason: String::new() }, FinalStatus::Blocked, "BLOCKED", "BLOCKED"),
        (RunOutcome::Failed { error: String::new() }, FinalStatus::Failed, "FAILED", "FAILED"),
    ];
    assert_eq!(rows.len(), FinalStatus::ALL.len());
    for (outcome, final_status, name, run_status) in rows {
        assert_eq!(outcome.final_status(), final_status);
        assert_eq!((final_status.name(), final_status.run_status().name()), (name, run_status));
        assert_eq!(serde_json::to_value(final_status).unwrap(), name);
        let run = AnyServiceRun::from(running().finish(outcome));
        assert_eq!((run.status(), run.final_status()), (final_status.run_status(), Some(final_status)));
    }
}

#[test]
fn a_final_status_is_known_once_a_pass_has_ended() {
    for &status in ServiceRunStatus::ALL {
        let expected = match status {
            ServiceRunStatus::Created | ServiceRunStatus::Running => None,
            ServiceRunStatus::Paused => Some(FinalStatus::NeedsInput),
            ServiceRunStatus::Blocked => Some(FinalStatus::Blocked),
            ServiceRunStatus::Failed => Some(FinalStatus::Failed),
            _ => Some(FinalStatus::Ready),
        };
        assert_eq!(at(status).final_status(), expected, "{status}");
    }
}

const NONE: RunFacts = RunFacts {
    fatal_error: false,
    needs_input: false,
    decision_blocks: false,
    security_blocks: false,
    judge: None,
    plan: PlanFact::Actions,
    simulation_ok: true,
};

#[test]
fn the_final_status_is_decided_row_by_row() {
    let rows = [
        (RunFacts { fatal_error: true, ..NONE }, FinalStatus::Failed),
        (RunFacts { needs_input: true, ..NONE }, FinalStatus::NeedsInput),
        (RunFacts { decision_blocks: true, ..NONE }, FinalStatus::Blocked),
        (RunFacts { security_blocks: true, ..NONE }, FinalStatus::Blocked),
        (RunFacts { judge: Some(JudgeVerdict::Block), ..NONE }, FinalStatus::Blocked),
        (RunFacts { judge: Some(JudgeVerdict::NeedsRework), ..NONE }, FinalStatus::Ready),
        (RunFacts { judge: Some(JudgeVerdict::Pass), ..NONE }, FinalStatus::Ready),
        (RunFacts { plan: PlanFact::Noop, ..NONE }, FinalStatus::Noop),
        (RunFacts { plan: PlanFact::None, ..NONE }, FinalStatus::Failed),
        (RunFacts { simulation_ok: false, ..NONE }, FinalStatus::Failed),
        (NONE, FinalStatus::Ready),
    ];
    for (facts, expected) in rows {
        assert_eq!(FinalStatus::decide(&facts), expected, "{facts:?}");
    }
}

#[test]
fn the_first_row_that_applies_decides() {
    // Each fact in the order of the rule, on top of all the later ones.
    let mut facts = RunFacts { plan: PlanFact::None, simulation_ok: false, ..NONE };
    assert_eq!(FinalStatus::decide(&facts), FinalStatus::Failed);
    facts.plan = PlanFact::Noop;
    assert_eq!(FinalStatus::decide(&facts), FinalStatus::Noop, "a noop plan is not simulated");
    facts.judge = Some(JudgeVerdict::Block);
    assert_eq!(FinalStatus::decide(&facts), FinalStatus::Blocked);
    facts.needs_input = true;
    assert_eq!(FinalStatus::decide(&facts), FinalStatus::NeedsInput);
    facts.fatal_error = true;
    assert_eq!(FinalStatus::decide(&facts), FinalStatus::Failed);
}

#[test]
fn a_judges_verdict_marks_its_result() {
    let rows = [
        (JudgeVerdict::Pass, "PASS", AgentStatus::Ok, "OK"),
        (JudgeVerdict::NeedsRework, "NEEDS_REWORK", AgentStatus::Warn, "WARN"),
        (JudgeVerdict::Block, "BLOCK", AgentStatus::Blocked, "BLOCKED"),
    ];
    for (verdict, says, status, mark) in rows {
        assert_eq!(verdict.agent_status(), status);
        assert_eq!(serde_json::to_value(verdict).unwrap(), says);
        assert_eq!(serde_json::to_value(status).unwrap(), mark);
    }
}

#[test]
fn answers_of_several_resumes_add_up() {
    let run = needs_input().resume(Resume::with_answers([("chain", json!("base")), ("amount", json!(1))]));
    let run = run.unwrap().pause(Pause::new(PauseReason::NeedsInput { questions: vec!["sure?".into()] }));
    let run = run.resume(Resume::with_answers([("amount", json!(2)), ("sure", json!(true))])).unwrap();
    let inputs = serde_json::to_value(run.record().user_inputs()).unwrap();
    assert_eq!(inputs, json!({"amount": 2, "chain": "base", "sure": true}));
    assert_eq!(run.state().pass(), 3);
}

#[test]
fn only_a_noop_run_takes_a_new_intent() {
    let run = noop().resume(Resume::with_intent("swap 2 A for B")).unwrap();
    assert_eq!(run.record().intent(), "swap 2 A for B");

    let back = needs_input().resume(Resume::with_intent("swap 2 A for B")).unwrap_err();
    assert_eq!(
        back.error,
        ServiceRunError::IntentWhileInputIsNeeded { questions: vec!["which chain?".into()] }
    );
    assert_eq!(back.event, Resume::with_intent("swap 2 A for B"));
    assert_eq!(back.machine.record().intent(), "swap 1 A for B");

    let refused = AnyServiceRun::from(back.machine).apply(back.event.into()).unwrap_err();
    insta::assert_snapshot!(refused, @"service_run in state PAUSED refuses 'resume': only a NOOP run takes a new intent; this one waits for answers to: which chain?");
}

#[test]
fn reserved_statuses_are_refused_with_the_reason() {
    for &status in ServiceRunStatus::ALL {
        assert_eq!(ServiceRunStatus::parse(status.name()), Ok(status));
    }
    let said: Vec<_> = ["NEEDS_INPUT", "EXECUTING", "COMPLETED", "DONE", "running", ""]
        .map(|text| ServiceRunStatus::parse(text).unwrap_err().to_string())
        .into();
    assert_stored("service_run_status_text", &said.join("\n"));
}

#[test]
fn a_doctored_run_is_refused() {
    let said = [
        doctored(&at(ServiceRunStatus::Running), |json| json["state"]["pass"] = json!(0)),
        doctored(&at(ServiceRunStatus::Paused), |json| {
            json["state"]["reason"]["final_status"] = json!("READY");
        }),
        doctored(&at(ServiceRunStatus::Submitted), |json| json["status"] = json!("REVERTED")),
        doctored(&at(ServiceRunStatus::AwaitingApproval), |json| json["state"]["approved_by"] = json!("eve")),
    ];
    assert_stored("service_run_doctored", &said.join("\n"));
}
