//! Passes over the graph of the run service.
use runstate::service_pass::*;
use runstate::service_run::{FinalStatus, JudgeVerdict, PlanFact, RunFacts};
use serde_json::json;

use super::tables_agree;
use super::{assert_every_edge_is_taken, assert_states_are_reached, assert_stored, doctored, round_trips};

fn started() -> ServicePass<InputNormalize> {
    ServicePass::new(PassRecord::new("run_1"))
}

fn planning() -> ServicePass<PlanTx> {
    started().normalize(Normalize).admit(Admit).read_wallet(ReadWallet)
}

fn simulating() -> ServicePass<SimulateTxs> {
    planning().plan(Plan).build(Build)
}

fn judging() -> ServicePass<JudgeAgent> {
    simulating().simulate(Simulate::new(true)).decide(Decide::new(false)).secure(Secure::new(false))
}

fn routing(verdict: JudgeVerdict) -> ServicePass<RepairRouter> {
    judging().judge(Judge::new(verdict, ["too much slippage"]))
}

fn repairing() -> ServicePass<RepairPlanTx> {
    routing(JudgeVerdict::NeedsRework).repair(Repair).unwrap()
}

fn clarifying() -> ServicePass<Clarify> {
    planning().ask(Ask::for_slots(["recipient"])).unwrap()
}

/// A pass in that state, reached by legal steps.
pub(crate) fn at(status: ServicePassStatus) -> AnyServicePass {
    match status {
        ServicePassStatus::InputNormalize => started().into(),
        ServicePassStatus::Precheck => started().normalize(Normalize).into(),
        ServicePassStatus::WalletSnapshot => started().normalize(Normalize).admit(Admit).into(),
        ServicePassStatus::PlanTx => planning().into(),
        ServicePassStatus::BuildTxs => planning().plan(Plan).into(),
        ServicePassStatus::SimulateTxs => simulating().into(),
        ServicePassStatus::PolicyEval => simulating().simulate(Simulate::new(true)).into(),
        ServicePassStatus::SecurityEval => {
            simulating().simulate(Simulate::new(true)).decide(Decide::new(false)).into()
        }
        ServicePassStatus::JudgeAgent => judging().into(),
        ServicePassStatus::RepairRouter => routing(JudgeVerdict::NeedsRework).into(),
        ServicePassStatus::RepairPlanTx => repairing().into(),
        ServicePassStatus::Clarify => clarifying().into(),
        ServicePassStatus::Finalize => clarifying().finish(Finish::clarified()).unwrap().into(),
    }
}

/// The pass in that state from which the event leads on.
fn ready(status: ServicePassStatus, event: &str) -> AnyServicePass {
    match (status, event) {
        (ServicePassStatus::RepairRouter, "accept") => routing(JudgeVerdict::Pass).into(),
        _ => at(status),
    }
}

fn event(_: &AnyServicePass, name: &str) -> ServicePassEvent {
    match name {
        "normalize" => Normalize.into(),
        "admit" => Admit.into(),
        "read_wallet" => ReadWallet.into(),
        "plan" => Plan.into(),
        "build" => Build.into(),
        "simulate" => Simulate::new(true).into(),
        "decide" => Decide::new(false).into(),
        "secure" => Secure::new(false).into(),
        "judge" => Judge::new(JudgeVerdict::Pass, ["style"]).into(),
        "repair" => Repair.into(),
        "accept" => Accept.into(),
        "ask" => Ask::with_questions(["how much?"]).into(),
        "finish" => Finish::fatal("no answer in 30 s").into(),
        other => unreachable!("service_pass has no event {other}"),
    }
}

#[test]
fn at_reaches_the_node_it_is_asked_for() {
    assert_states_are_reached(ServicePassStatus::ALL, at);
}

#[test]
fn every_edge_of_the_graph_can_be_taken() {
    assert_every_edge_is_taken(ServicePassStatus::ALL, ready, event);
}

#[test]
fn the_document_lists_the_nodes_and_their_edges() {
    tables_agree::<ServicePassStatus>(include_str!("../../docs/lifecycles/service-pass.md"));
}

#[test]
fn every_node_survives_storage() {
    assert_stored("service_pass_stored", &round_trips(at));
}

#[test]
fn each_node_may_end_the_pass_with_a_fatal_error() {
    let nodes = ServicePassStatus::ALL.iter().filter(|node| **node != ServicePassStatus::Finalize);
    for &node in nodes {
        let AnyServicePass::Finalize(pass) = at(node).apply(Finish::fatal("disk full").into()).unwrap()
        else {
            panic!("{node}: a fatal error leads to FINALIZE");
        };
        let state = pass.state();
        assert_eq!((state.after(), state.final_status()), (node, FinalStatus::Failed));
        assert_eq!(state.reason(), &FinishReason::Fatal { error: "disk full".into() });
    }
}

#[test]
fn only_planners_find_nothing_to_do() {
    for &node in ServicePassStatus::ALL {
        let result = at(node).apply(Finish::noop("the balance is there already").into());
        let plans = matches!(node, ServicePassStatus::PlanTx | ServicePassStatus::RepairPlanTx);
        assert_eq!(result.is_ok(), plans, "{node}");
    }
    let pass = repairing().finish(Finish::noop("nothing to swap")).unwrap();
    assert_eq!(pass.state().final_status(), FinalStatus::Noop);
}

#[test]
fn results_of_the_nodes_decide_the_final_status() {
    let end = |ok: bool, decision: bool, security: bool, verdict| {
        let pass = simulating().simulate(Simulate::new(ok)).decide(Decide::new(decision));
        let pass = pass.secure(Secure::new(security)).judge(Judge::new(verdict, Vec::<String>::new()));
        let pass = pass.accept(Accept).unwrap().finish(Finish::clarified()).unwrap();
        let facts = RunFacts {
            decision_blocks: decision,
            security_blocks: security,
            judge: Some(verdict),
            plan: PlanFact::Actions,
            simulation_ok: ok,
            ..RunFacts::NONE
        };
        assert_eq!(pass.state().facts(), &facts);
        pass.state().final_status()
    };
    assert_eq!(end(true, false, false, JudgeVerdict::Pass), FinalStatus::Ready);
    assert_eq!(end(true, false, false, JudgeVerdict::NeedsRework), FinalStatus::Ready);
    assert_eq!(end(false, false, false, JudgeVerdict::Pass), FinalStatus::Failed);
    assert_eq!(end(false, true, false, JudgeVerdict::Pass), FinalStatus::Blocked);
    assert_eq!(end(true, false, true, JudgeVerdict::Pass), FinalStatus::Blocked);
    assert_eq!(end(true, false, false, JudgeVerdict::Block), FinalStatus::Blocked);
    let asked = clarifying().finish(Finish::clarified()).unwrap();
    assert_eq!(asked.state().final_status(), FinalStatus::NeedsInput);
}

#[test]
fn repair_is_due_exactly_when_nothing_is_lacking() {
    let records = [
        (PassRecord::new("r"), None),
        (PassRecord::new("r").without_model(), Some(NoRepair::NoModel)),
        (
            PassRecord::new("r").with_max_attempts(1.try_into().unwrap()),
            Some(NoRepair::AttemptsUsed { attempts: 1 }),
        ),
    ];
    for (record, lacking) in records {
        let pass = ServicePass::new(record).normalize(Normalize).admit(Admit).read_wallet(ReadWallet);
        let pass = pass.plan(Plan).build(Build).simulate(Simulate::new(true)).decide(Decide::new(false));
        let pass = pass.secure(Secure::new(false)).judge(Judge::new(JudgeVerdict::NeedsRework, ["slippage"]));
        match lacking {
            None => {
                let back = pass.accept(Accept).unwrap_err();
                assert_eq!(back.error, ServicePassError::RepairDue { issues: vec!["slippage".into()] });
                assert!(back.machine.repair(Repair).is_ok());
            }
            Some(lacking) => {
                let back = pass.repair(Repair).unwrap_err();
                assert_eq!(back.error, ServicePassError::NoRepair(lacking));
                assert!(back.machine.accept(Accept).is_ok());
            }
        }
    }
    for verdict in [JudgeVerdict::Pass, JudgeVerdict::Block] {
        let back = routing(verdict).repair(Repair).unwrap_err();
        assert_eq!(back.error, ServicePassError::NoRepair(NoRepair::Verdict(verdict)));
    }
    let silent = judging().judge(Judge::new(JudgeVerdict::NeedsRework, Vec::<String>::new()));
    assert_eq!(silent.repair(Repair).unwrap_err().error, ServicePassError::NoRepair(NoRepair::NoIssues));
}

#[test]
fn second_rework_is_not_repaired() {
    let pass = repairing();
    assert_eq!((pass.record().attempt(), pass.state().issues()), (2, &["too much slippage".to_owned()][..]));
    let pass = pass.plan(Plan).build(Build).simulate(Simulate::new(true)).decide(Decide::new(false));
    let pass = pass.secure(Secure::new(false)).judge(Judge::new(JudgeVerdict::NeedsRework, ["again"]));
    let back = pass.repair(Repair).unwrap_err();
    let pass = back.machine.accept(Accept).unwrap().finish(Finish::clarified()).unwrap();
    assert_eq!(pass.state().final_status(), FinalStatus::Ready);
}

#[test]
fn questions_reach_the_node_that_completes_them() {
    let pass = clarifying();
    assert_eq!((pass.state().missing().len(), pass.state().questions().len()), (1, 0));
    let pass = planning().ask(Ask::with_questions(["how much?"])).unwrap();
    assert_eq!(pass.state().questions(), ["how much?"]);
    let none = Ask::for_slots(Vec::<String>::new());
    assert_eq!(planning().ask(none).unwrap_err().error, ServicePassError::NothingAsked);
}

#[test]
fn refusals_of_a_pass_name_what_is_expected() {
    let said = |pass: AnyServicePass, event: ServicePassEvent| pass.apply(event).unwrap_err().to_string();
    let lines = [
        said(started().into(), Plan.into()),
        said(started().into(), Finish::noop("x").into()),
        said(planning().into(), Finish::clarified().into()),
        said(clarifying().into(), Finish::noop("x").into()),
        said(planning().into(), Ask::with_questions(Vec::<String>::new()).into()),
        said(routing(JudgeVerdict::NeedsRework).into(), Accept.into()),
        said(routing(JudgeVerdict::Pass).into(), Repair.into()),
        said(routing(JudgeVerdict::Block).into(), Repair.into()),
        said(at(ServicePassStatus::Finalize), Normalize.into()),
    ];
    assert_stored("service_pass_refusals", &lines.join("\n"));
}

#[test]
fn doctored_pass_is_refused() {
    let said = [
        doctored(&at(ServicePassStatus::RepairPlanTx), |json| json["record"]["attempt"] = json!(3)),
        doctored(&at(ServicePassStatus::InputNormalize), |json| json["record"]["pass"] = json!(0)),
        doctored(&at(ServicePassStatus::Finalize), |json| json["state"]["after"] = json!("NOWHERE")),
        doctored(&at(ServicePassStatus::Finalize), |json| json["state"]["facts"]["plan"] = json!("MAYBE")),
        doctored(&at(ServicePassStatus::Clarify), |json| json["state"]["missing"] = json!("recipient")),
    ];
    assert_stored("service_pass_doctored", &said.join("\n"));
}
