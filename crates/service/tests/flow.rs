//! Passes over the graph, on the chain in this process.

use runstate::service_run::{AgentStatus, FinalStatus, JudgeVerdict, ServiceRunStatus};
use runstate::trace::Verdict;
use runstate_service::{
    Answers, CheckStatus, DecisionAction, PlannedBy, ServiceEvent, ServiceStore, Severity, SimulationMode,
    StepPhase, SubmittedBy, TimelineStatus, TxKind, Units,
};
use serde_json::json;

use super::fixture::{Bench, T, block_on};

const GRAPH: [&str; 12] = [
    "INPUT_NORMALIZE",
    "PRECHECK",
    "WALLET_SNAPSHOT",
    "PLAN_TX",
    "BUILD_TXS",
    "SIMULATE_TXS",
    "POLICY_EVAL",
    "SECURITY_EVAL",
    "JUDGE_AGENT",
    "REPAIR_ROUTER",
    "CLARIFY",
    "FINALIZE",
];

const PLAN: &str = "
planner:
  - answer: {summary: plan, actions: [{kind: send, amount: '5', asset: USDC, recipient: '0xbeef'}]}
";

#[test]
fn transfer_is_planned_approved_sent_and_confirmed() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.run("  send 5 USDC   to 0xbeef ").await;
        assert_eq!(
            (run.status, run.final_status),
            (ServiceRunStatus::AwaitingApproval, Some(FinalStatus::Ready))
        );
        assert_eq!(bench.nodes().await, GRAPH);
        let artifacts = &run.artifacts;
        assert_eq!(artifacts.normalized_intent.as_deref(), Some("send 5 USDC to 0xbeef"));
        assert_eq!(artifacts.planner_result.as_ref().unwrap().planned_by, PlannedBy::Phrases);
        assert_eq!(artifacts.decision.as_ref().unwrap().risk_score, 0);
        assert_eq!(artifacts.decision.as_ref().unwrap().severity, Severity::Low);
        assert_eq!(artifacts.security_result.as_ref().unwrap().status, AgentStatus::Ok);
        assert_eq!(artifacts.simulation.as_ref().unwrap().mode, SimulationMode::Single);

        let hashes = bench.approve_and_send().await;
        let run = bench.service.tx_submitted("run_1", &hashes, SubmittedBy::Manual, "ada").await.unwrap();
        assert_eq!((run.status, &run.tx_hashes), (ServiceRunStatus::Submitted, &hashes));
        let poll = bench.service.poll_tx("run_1", "ada").await.unwrap();
        assert_eq!((poll.mined, poll.status), (false, ServiceRunStatus::Submitted));
        bench.chain.mine();
        let poll = bench.service.poll_tx("run_1", "ada").await.unwrap();
        assert_eq!((poll.mined, poll.status), (true, ServiceRunStatus::Confirmed));
        assert_eq!(bench.chain.balance("USDC", "0xbeef"), Units(5_000_000));
        let run = bench.service.get("run_1").await.unwrap();
        assert_eq!(run.decided_by, Some(("bob".into(), T)));
        assert_eq!(bench.report().await.verdict, Verdict::Conforms);
    });
}

#[test]
fn swap_is_simulated_after_its_allowance() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.run("swap 100 USDC for WETH").await;
        assert_eq!(run.status, ServiceRunStatus::AwaitingApproval);
        let kinds: Vec<TxKind> = run.artifacts.tx_requests.iter().flatten().map(|tx| tx.kind).collect();
        assert_eq!(kinds, [TxKind::Approve, TxKind::Swap]);
        let simulation = run.artifacts.simulation.as_ref().unwrap();
        assert_eq!(
            (simulation.mode, &simulation.assumed_allowances[..]),
            (SimulationMode::Sequential, &[1][..])
        );
        // The assumed allowance is a warning: 15 points.
        let decision = run.artifacts.decision.as_ref().unwrap();
        assert_eq!((decision.action, decision.risk_score), (DecisionAction::NeedsApproval, 15));
        assert_eq!(run.artifacts.security_result.as_ref().unwrap().status, AgentStatus::Warn);

        let hashes = bench.approve_and_send().await;
        // The first hash alone, then the second one.
        bench.service.tx_submitted("run_1", &hashes[..1], SubmittedBy::MetaMask, "ada").await.unwrap();
        bench.chain.mine();
        let poll = bench.service.poll_tx("run_1", "ada").await.unwrap();
        assert_eq!((poll.mined, poll.status), (false, ServiceRunStatus::Submitted), "one hash is missing");
        bench.service.tx_submitted("run_1", &hashes[1..], SubmittedBy::MetaMask, "ada").await.unwrap();
        assert_eq!(bench.service.poll_tx("run_1", "ada").await.unwrap().status, ServiceRunStatus::Confirmed);
        assert!(bench.chain.balance("WETH", runstate_service::sim::SimChain::WALLET) > Units(0));
    });
}

#[test]
fn accepted_assumed_allowances_do_not_warn() {
    block_on(async {
        let bench = Bench::with(|ports| ports, |config| config.policy.accept_assumed_allowances = true);
        let run = bench.run("swap 100 USDC for WETH").await;
        assert_eq!(run.artifacts.decision.unwrap().risk_score, 0);
    });
}

#[test]
fn pass_without_repair_has_at_most_seven_commits() {
    block_on(async {
        let judge = "judge: [{answer: {verdict: PASS}}]";
        let bench = Bench::scripted(&format!("{PLAN}{judge}"));
        bench.create("send 5 USDC to 0xbeef").await;
        let before = bench.store.writes();
        bench.service.start("run_1", "ada").await.unwrap();
        let run = bench.service.drive("run_1").await.unwrap();
        assert_eq!(run.status, ServiceRunStatus::AwaitingApproval);
        // The start, five nodes with input or output, the last of which also ends the pass.
        assert_eq!(bench.store.writes() - before, 6);
        assert_eq!(bench.nodes().await, GRAPH);
    });
}

#[test]
fn missing_wallet_and_chain_are_asked_for_before_any_port() {
    block_on(async {
        let bench = Bench::new();
        let mut new = bench.new_run("run_1", "send 5 USDC to 0xbeef");
        (new.wallet, new.chain_id) = (None, Some(5));
        bench.service.create(new, "ada").await.unwrap();
        let run = bench.service.start("run_1", "ada").await.unwrap();
        assert_eq!((run.status, run.final_status), (ServiceRunStatus::Paused, Some(FinalStatus::NeedsInput)));
        assert_eq!(bench.nodes().await, ["INPUT_NORMALIZE", "PRECHECK", "CLARIFY", "FINALIZE"]);
        let needs = run.artifacts.needs_input.unwrap();
        let asked: Vec<_> =
            needs.questions.iter().map(|question| question.slot.as_deref().unwrap()).collect();
        assert_eq!(asked, ["wallet_address", "chain_id"]);
        assert_eq!(
            (needs.resume_from.name(), &needs.questions[1].options[..]),
            ("PRECHECK", &["sim".to_owned()][..])
        );

        // An answer that names no chain would leave the run on its old chain.
        for wrong in [json!("base"), json!(0), json!(-1), json!(1.5), json!(null), json!({})] {
            let answers =
                Answers { answers: [("chain_id".to_owned(), wrong.clone())].into(), ..Answers::default() };
            let refused = bench.service.resume("run_1", &answers, "ada").await.unwrap_err().to_string();
            assert!(refused.contains("chain_id") && refused.contains("or one of sim"), "{wrong}: {refused}");
        }

        // Answers add up over resumes, and replace wallet and chain of the run.
        let run = bench.answer("wallet_address", "0xa11ce").await;
        assert_eq!((run.status, run.wallet.as_deref()), (ServiceRunStatus::Paused, Some("0xa11ce")));
        let run = bench.answer("chain_id", "SIM").await;
        assert_eq!((run.status, run.chain_id), (ServiceRunStatus::AwaitingApproval, Some(31_337)));
        assert_eq!(run.artifacts.user_inputs.len(), 2);
        assert_eq!(run.artifacts.needs_input, None);
        let passes: Vec<u32> =
            bench.store.timeline("run_1", 0, 99).await.unwrap().iter().map(|row| row.row.pass).collect();
        assert_eq!((passes.first(), passes.last()), (Some(&1), Some(&3)), "the timeline accumulates");
        assert_eq!(bench.report().await.violations, 0);
    });
}

#[test]
fn unknown_token_is_a_missing_slot_with_the_known_ones() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.run("send 5 DOGE to 0xbeef").await;
        assert_eq!(run.final_status, Some(FinalStatus::NeedsInput));
        let needs = run.artifacts.needs_input.unwrap();
        assert_eq!((needs.missing.len(), needs.missing[0].slot.as_str()), (1, "asset"));
        assert_eq!(needs.questions[0].options, ["ETH", "USDC", "WETH"]);
        let run = bench.answer("asset", "USDC").await;
        assert_eq!(run.status, ServiceRunStatus::AwaitingApproval);
    });
}

#[test]
fn low_balance_is_a_question_without_a_missing_slot() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.run("send 5000 USDC to 0xbeef").await;
        let needs = run.artifacts.needs_input.unwrap();
        assert!(needs.missing.is_empty());
        assert_eq!(
            needs.questions[0].text,
            "The wallet has 1000 USDC, and 5000 are needed. Which amount should it be?"
        );
        let run = bench.answer("amount", json!(10)).await;
        assert_eq!(run.status, ServiceRunStatus::AwaitingApproval);
    });
}

#[test]
fn noop_run_takes_a_new_intent() {
    block_on(async {
        let bench = Bench::new();
        let run = bench.run("what is my balance?").await;
        assert_eq!((run.status, run.final_status), (ServiceRunStatus::Paused, Some(FinalStatus::Noop)));
        assert_eq!(bench.nodes().await.last(), Some(&"FINALIZE"));
        // An answer about the earlier intent says nothing about another one.
        let run = bench.answer("recipient", "0xdead").await;
        assert_eq!(run.final_status, Some(FinalStatus::Noop));
        let answers = Answers { intent: Some("send 5 USDC to 0xbeef".into()), ..Answers::default() };
        bench.service.resume("run_1", &answers, "ada").await.unwrap();
        let run = bench.service.drive("run_1").await.unwrap();
        assert_eq!(
            (run.status, run.intent.as_str()),
            (ServiceRunStatus::AwaitingApproval, "send 5 USDC to 0xbeef")
        );
        let plan = serde_json::to_string(&run.artifacts.tx_plan).unwrap();
        assert!(plan.contains("0xbeef") && !plan.contains("0xdead"), "{plan}");
    });
}

#[test]
fn forbidden_contract_blocks_the_run() {
    block_on(async {
        let bench = Bench::with(|ports| ports, |config| config.policy.targets.clear());
        let run = bench.run("send 5 USDC to 0xbeef").await;
        assert_eq!((run.status, run.final_status), (ServiceRunStatus::Blocked, Some(FinalStatus::Blocked)));
        let checks = run.artifacts.policy_result.unwrap().checks;
        let failed: Vec<_> =
            checks.iter().filter(|check| check.status == CheckStatus::Fail).map(|check| &check.id).collect();
        assert_eq!(failed, ["target_allowlist"]);
        let decision = run.artifacts.decision.unwrap();
        assert_eq!((decision.risk_score, decision.severity), (100, Severity::High));
        assert_eq!(bench.report().await.verdict, Verdict::Conforms);
    });
}

#[test]
fn simulated_revert_blocks_the_run() {
    block_on(async {
        let bench = Bench::scripted("simulator: [{answer: [{ok: false, error: paused}]}]");
        let run = bench.run("send 5 USDC to 0xbeef").await;
        assert_eq!(run.final_status, Some(FinalStatus::Blocked));
        assert!(run.artifacts.assistant_message.unwrap().contains("transaction 1 reverts: paused"));
    });
}

#[test]
fn unreachable_ports_fail_the_run_with_node_and_cause() {
    let cases = [
        ("wallet", "WALLET_SNAPSHOT", "the wallet"),
        ("compiler", "BUILD_TXS", "the compiler"),
        ("simulator", "SIMULATE_TXS", "the simulator"),
    ];
    for (port, node, name) in cases {
        block_on(async {
            let bench = Bench::scripted(&format!("{port}: [{{unreachable: no route}}]"));
            let run = bench.run("send 5 USDC to 0xbeef").await;
            assert_eq!((run.status, run.final_status), (ServiceRunStatus::Failed, Some(FinalStatus::Failed)));
            let error = run.artifacts.fatal_error.unwrap();
            assert_eq!(error.step.name(), node);
            assert_eq!(error.error, format!("{name} cannot be reached: no route"));
            // What was there before is kept.
            assert!(run.artifacts.normalized_intent.is_some());
            assert_eq!(bench.report().await.verdict, Verdict::Conforms);
        });
    }
}

#[test]
fn unusable_answers_of_the_planner_are_plans_without_actions() {
    let action = "{kind: send, amount: '1', asset: USDC, recipient: '0xbeef'}";
    let cases = [
        ("refuse: out of quota".to_owned(), "the planner refuses: out of quota"),
        ("answer: {plan: []}".to_owned(), "the answer is no plan: unknown field `plan`"),
        (format!("answer: {{actions: [{action}, {action}, {action}, {action}]}}"), "the plan has 4 actions"),
    ];
    for (reply, why) in cases {
        block_on(async {
            let bench = Bench::scripted(&format!("planner: [{{{reply}}}]"));
            let run = bench.run("send 1 USDC to 0xbeef").await;
            assert_eq!((run.status, run.final_status), (ServiceRunStatus::Paused, Some(FinalStatus::Noop)));
            let result = run.artifacts.planner_result.unwrap();
            assert_eq!(result.planned_by, PlannedBy::Fallback);
            assert!(result.planner_fallback.as_ref().unwrap().contains(why), "{result:?}");
            let rows = bench.store.timeline("run_1", 0, 99).await.unwrap();
            let planned = rows.iter().find(|row| row.row.step.name() == "PLAN_TX").unwrap();
            assert_eq!(planned.row.status, TimelineStatus::Warn);
        });
    }
}

#[test]
fn rework_is_repaired_once() {
    block_on(async {
        let rework = "{verdict: NEEDS_REWORK, summary: wrong amount, issues: [send less]}";
        let bench = Bench::scripted(&format!("{PLAN}judge: [{{answer: {rework}}}]"));
        let run = bench.run("send 5 USDC to 0xbeef").await;
        // The second NEEDS_REWORK goes on to a person.
        assert_eq!(run.status, ServiceRunStatus::AwaitingApproval);
        let repairs = bench.nodes().await.iter().filter(|node| **node == "REPAIR_PLAN_TX").count();
        assert_eq!(repairs, 1);
        let artifacts = run.artifacts;
        assert_eq!((artifacts.attempt, artifacts.tx_plan_history.len()), (Some(2), 1));
        assert_eq!(artifacts.tx_plan_history[0].candidates.len(), 1, "the old plan is whole");
        assert!(!artifacts.repair_summary.unwrap().success);
        let input = artifacts.planner_input.unwrap();
        assert_eq!(input.repair.unwrap().issues, ["send less"]);
        assert!(input.previous_plan.is_some());
        assert_eq!(bench.report().await.violations, 0);
    });
}

#[test]
fn successful_repair_is_stated() {
    block_on(async {
        let judge = "judge: [{answer: {verdict: NEEDS_REWORK, issues: [x]}}, {answer: {verdict: PASS}}]";
        let bench = Bench::scripted(&format!("{PLAN}{judge}"));
        let run = bench.run("send 5 USDC to 0xbeef").await;
        assert!(run.artifacts.repair_summary.unwrap().success);
        assert_eq!(run.artifacts.judge_result.unwrap().verdict, Some(JudgeVerdict::Pass));
    });
}

#[test]
fn failed_judge_goes_on_to_a_person_without_a_repair() {
    for reply in ["unreachable: no route", "answer: {verdict: MAYBE}"] {
        block_on(async {
            let bench = Bench::scripted(&format!("{PLAN}judge: [{{{reply}}}]"));
            let run = bench.run("send 5 USDC to 0xbeef").await;
            assert_eq!(run.status, ServiceRunStatus::AwaitingApproval);
            let judge = run.artifacts.judge_result.unwrap();
            assert_eq!((judge.verdict, judge.status), (Some(JudgeVerdict::NeedsRework), AgentStatus::Warn));
            assert!(judge.error.is_some() && run.artifacts.repair_summary.is_none());
        });
    }
}

#[test]
fn blocking_judge_blocks_the_run() {
    block_on(async {
        let bench = Bench::scripted("judge: [{answer: {verdict: BLOCK, summary: a scam}}]");
        let run = bench.run("send 5 USDC to 0xbeef").await;
        assert_eq!(run.final_status, Some(FinalStatus::Blocked));
        assert!(run.artifacts.assistant_message.unwrap().ends_with("judge: a scam"));
    });
}

#[test]
fn steps_tell_the_whole_life_of_a_run() {
    block_on(async {
        let bench = Bench::new();
        bench.run("send 5 USDC to 0xbeef").await;
        let hashes = bench.approve_and_send().await;
        bench.service.tx_submitted("run_1", &hashes, SubmittedBy::Manual, "ada").await.unwrap();
        bench.chain.mine();
        bench.service.poll_tx("run_1", "ada").await.unwrap();
        let steps = bench.store.steps("run_1", 0, 99).await.unwrap();
        let around: Vec<String> = steps
            .iter()
            .filter(|step| matches!(step.row.step, runstate_service::StepName::Run(_)))
            .map(|step| format!("{} {}", step.row.step, step.row.actor.as_deref().unwrap_or("-")))
            .collect();
        assert_eq!(
            around,
            [
                "RUN_CREATED ada",
                "RUN_STARTED ada",
                "HUMAN_APPROVAL bob",
                "EXECUTE_PREP ada",
                "TX_SUBMITTED ada",
                "TX_POLL ada",
                "TX_CONFIRMED -",
            ]
        );
        // Each node has a row at its beginning and one at its end.
        for node in GRAPH {
            let of_node = steps.iter().filter(|step| step.row.step.to_string() == node);
            let phases: Vec<_> = of_node.map(|step| step.row.phase).collect();
            assert_eq!(phases, [StepPhase::Started, StepPhase::Done], "{node}");
        }
        let numbers: Vec<u64> = steps.iter().map(|step| step.seq).collect();
        assert_eq!(numbers, (1..=steps.len() as u64).collect::<Vec<_>>());

        let events = bench.store.events("run_1", 0, 999).await.unwrap();
        let statuses: Vec<&str> = events
            .iter()
            .filter_map(|event| match &event.row.event {
                ServiceEvent::Status { status, .. } => Some(status.name()),
                _ => None,
            })
            .collect();
        assert_eq!(
            statuses,
            ["CREATED", "RUNNING", "AWAITING_APPROVAL", "APPROVED_READY", "SUBMITTED", "CONFIRMED"]
        );
        let last = &events.last().unwrap().row.event;
        assert!(matches!(last, ServiceEvent::End { status: ServiceRunStatus::Confirmed }));
        let rest = bench.store.events("run_1", 10, 3).await.unwrap();
        assert_eq!(rest.iter().map(|event| event.seq).collect::<Vec<_>>(), [11, 12, 13]);
    });
}

#[test]
fn current_step_is_the_node_that_executes() {
    block_on(async {
        let bench = Bench::scripted("judge: [{delay_ms: 5000, answer: {verdict: PASS}}]");
        bench.create("send 5 USDC to 0xbeef").await;
        let run = bench.service.start("run_1", "ada").await.unwrap();
        assert_eq!(run.current_step.unwrap().to_string(), "WALLET_SNAPSHOT");
        let driven = bench.service.drive("run_1");
        let seen = async {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            bench.service.get("run_1").await.unwrap().current_step.unwrap().to_string()
        };
        let (driven, seen) = tokio::join!(driven, seen);
        assert_eq!(seen, "JUDGE_AGENT");
        assert_eq!(driven.unwrap().current_step.unwrap().to_string(), "FINALIZE");
    });
}
