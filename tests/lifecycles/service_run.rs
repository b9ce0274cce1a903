//! Runs of the run service.
use runstate::service_run::*;
use runstate::snapshot::Snapshot;
use serde_json::{Value, json};

use super::{assert_stored, doctored, round_trips, tables_agree, takes_its_edges};

const T: u64 = 1_769_860_800_000;

/// The fingerprint that version 1 stored.
const FINGERPRINT_1: &str = "310f9fcea3c74587";

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
        approve().into(),
        Reject::new("ada", "too expensive", T).into(),
        submit().into(),
        Confirm::new(T + 2).into(),
        Revert::new("slippage", T + 2).into(),
    ]
}

fn approve() -> Approve {
    Approve::new(tx_digest(&tx_requests()), "ada", T)
}

fn submit() -> Submit {
    Submit::new(["0x1", "0x2"], "bob", T + 1)
}

fn created() -> ServiceRun<Created> {
    ServiceRun::new(ServiceRunRecord::new("run_1", "swap 1 A for B").for_wallet("0xabc"))
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

fn approved() -> ServiceRun<ApprovedReady> {
    awaiting().approve(approve()).unwrap()
}

fn submitted() -> ServiceRun<Submitted> {
    approved().submit(submit()).unwrap()
}

/// A run in that state, reached by legal steps.
pub(crate) fn at(status: ServiceRunStatus) -> AnyServiceRun {
    match status {
        ServiceRunStatus::Created => created().into(),
        ServiceRunStatus::Running => running().into(),
        ServiceRunStatus::Paused => needs_input().into(),
        ServiceRunStatus::AwaitingApproval => awaiting().into(),
        ServiceRunStatus::ApprovedReady => approved().into(),
        ServiceRunStatus::Submitted => submitted().into(),
        ServiceRunStatus::Confirmed => submitted().confirm(Confirm::new(T + 2)).unwrap().into(),
        ServiceRunStatus::Reverted => submitted().revert(Revert::new("slippage", T + 2)).into(),
        ServiceRunStatus::Blocked => running().block(Block::new("policy: unknown spender")).into(),
        ServiceRunStatus::Failed => running().fail(Fail::new("no route")).into(),
        ServiceRunStatus::Rejected => {
            awaiting().reject(Reject::new("ada", "too expensive", T)).unwrap().into()
        }
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
    assert_eq!(awaiting().state().digest(), tx_digest(&tx_requests()));
    let run = approved();
    let state = run.state();
    assert_eq!((state.tx_requests(), state.digest()), (&tx_requests()[..], &tx_digest(&tx_requests())[..]));
    assert_eq!((state.approved_by(), state.approved_at_ms()), ("ada", T));
}

#[test]
fn submitted_run_owns_hashes_actors_and_times() {
    let run = submitted();
    let state = run.state();
    assert_eq!(
        (state.tx_hashes(), state.tx_requests()),
        (&["0x1".into(), "0x2".into()][..], &tx_requests()[..])
    );
    assert_eq!((state.approved_by(), state.approved_at_ms()), ("ada", T));
    assert_eq!((state.submitted_by(), state.submitted_at_ms()), ("bob", T + 1));
    let run = submitted().confirm(Confirm::new(T + 2)).unwrap();
    let state = run.state();
    assert_eq!((state.tx_hashes().len(), state.approved_by(), state.submitted_by()), (2, "ada", "bob"));
    assert_eq!(state.confirmed_at_ms(), T + 2);
    let run = submitted().revert(Revert::new("slippage", T + 3));
    let state = run.state();
    assert_eq!((state.tx_hashes().len(), state.approved_by(), state.reason()), (2, "ada", "slippage"));
    assert_eq!(state.reverted_at_ms(), T + 3);
}

#[test]
fn the_bad_ends_own_their_reasons() {
    assert_eq!(running().block(Block::new("policy")).state().reason(), "policy");
    assert_eq!(running().fail(Fail::new("no route")).state().error(), "no route");
    let run = awaiting().reject(Reject::new("ada", "too expensive", T)).unwrap();
    let state = run.state();
    assert_eq!((state.rejected_by(), state.reason(), state.tx_requests().len()), ("ada", "too expensive", 2));
    assert_eq!((state.rejected_at_ms(), state.digest()), (T, &tx_digest(&tx_requests())[..]));
}

#[test]
fn approval_of_other_transactions_is_refused() {
    let mut turned = tx_requests();
    turned.reverse();
    let other = tx_digest(&turned);
    let back = awaiting().approve(Approve::new(other.clone(), "ada", T)).unwrap_err();
    let expected = tx_digest(&tx_requests());
    assert_eq!(back.error, ServiceRunError::OtherTransactions { got: other, expected });
    assert!(back.machine.approve(approve()).is_ok());
}

#[test]
fn decisions_without_an_actor_are_refused() {
    let nameless = Approve::new(tx_digest(&tx_requests()), " ", T);
    assert_eq!(awaiting().approve(nameless).unwrap_err().error, ServiceRunError::NoActor);
    assert_eq!(awaiting().reject(Reject::new("", "no", T)).unwrap_err().error, ServiceRunError::NoActor);
    assert_eq!(approved().submit(Submit::new(["0x1"], "", T)).unwrap_err().error, ServiceRunError::NoActor);
}

#[test]
fn hashes_of_transactions_come_in_parts() {
    let mut run = approved().submit(Submit::new(["0x1"], "bob", T + 1)).unwrap();
    let refused = |run: &mut ServiceRun<Submitted>, hashes: &[&str]| {
        run.append_hashes(hashes.iter().copied()).unwrap_err()
    };
    assert_eq!(refused(&mut run, &[]), ServiceRunError::NoHash);
    assert_eq!(refused(&mut run, &[""]), ServiceRunError::BlankHash);
    assert_eq!(refused(&mut run, &["0x1"]), ServiceRunError::RepeatedHash { hash: "0x1".into() });
    let many = ServiceRunError::TooManyHashes { got: 3, transactions: 2 };
    assert_eq!(refused(&mut run, &["0x2", "0x3"]), many);

    let back = run.confirm(Confirm::new(T + 2)).unwrap_err();
    assert_eq!(back.error, ServiceRunError::NotAllSent { got: 1, expected: 2 });
    let mut run = back.machine;
    run.append_hashes(["0x2"]).unwrap();
    assert_eq!(run.confirm(Confirm::new(T + 2)).unwrap().state().tx_hashes(), ["0x1", "0x2"]);
    let none = Submit::new(Vec::<String>::new(), "bob", T);
    assert_eq!(approved().submit(none).unwrap_err().error, ServiceRunError::NoHash);
}

#[test]
fn answers_replace_wallet_and_chain_of_the_record() {
    let run = needs_input().resume(Resume::with_answers([("chain_id", json!(1))]).on_chain(1)).unwrap();
    assert_eq!((run.record().wallet(), run.record().chain_id()), (Some("0xabc"), Some(1)));
    let resume = Resume::with_intent("swap 2 A for B").for_wallet("0xdef").on_chain(8453);
    let run = noop().resume(resume).unwrap();
    assert_eq!((run.record().wallet(), run.record().chain_id()), (Some("0xdef"), Some(8453)));
}

/// The stored forms of version 1, as that version wrote them.
#[test]
fn stored_forms_of_version_1_are_migrated_or_refused() {
    let requests = json!([{"kind": "approve", "to": "0xa"}]);
    let old = |status: &str, state: Value| {
        let record = json!({"run_id": "run_1", "intent": "swap 1 A for B", "user_inputs": {"chain": "base"}});
        let stored = json!({
            "lifecycle": "runstate/service_run", "version": 1, "fingerprint": FINGERPRINT_1,
            "status": status, "record": record, "state": state, "digest": "sha256:0",
        });
        let mut snapshot = Snapshot::from_json(stored.to_string().as_bytes()).unwrap();
        snapshot.recompute_checksum();
        assert!(snapshot.restore::<AnyServiceRun>().is_err(), "a version is not guessed");
        snapshot.restore_with::<AnyServiceRun>(MIGRATIONS)
    };
    let question =
        json!({"pass": 1, "reason": {"final_status": "NEEDS_INPUT", "questions": ["which chain?"]}});
    let read = [
        ("CREATED", Value::Null),
        ("RUNNING", json!({"pass": 2})),
        ("PAUSED", question),
        ("AWAITING_APPROVAL", json!({"tx_requests": requests})),
        ("BLOCKED", json!({"reason": "policy"})),
        ("FAILED", json!({"error": "no route"})),
    ];
    for (status, state) in read {
        let run = old(status, state).unwrap_or_else(|error| panic!("{status}: {error}"));
        assert_eq!((run.status().name(), run.record().wallet()), (status, None));
        if let AnyServiceRun::AwaitingApproval(run) = run {
            assert_eq!(run.state().digest(), tx_digest(requests.as_array().unwrap()));
        }
    }
    let decided = [
        ("APPROVED_READY", json!({"tx_requests": requests, "approved_by": "ada"})),
        ("SUBMITTED", json!({"approved_by": "ada", "tx_hashes": ["0x1"]})),
        ("CONFIRMED", json!({"approved_by": "ada", "tx_hashes": ["0x1"]})),
        ("REVERTED", json!({"approved_by": "ada", "tx_hashes": ["0x1"], "reason": "slippage"})),
        ("REJECTED", json!({"tx_requests": requests, "rejected_by": "ada", "reason": "no"})),
    ];
    let said: Vec<_> = decided.map(|(status, state)| old(status, state).unwrap_err().to_string()).into();
    assert_stored("service_run_version_1", &said.join("\n"));
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
