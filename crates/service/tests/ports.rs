//! Ports that are late, panic, or have another form.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use runstate::service_run::{FinalStatus, ServiceRunStatus};
use runstate_service::script::Script;
use runstate_service::{Chain, PortError, Wallet, WalletSnapshot};

use super::fixture::{Bench, block_on};

#[test]
fn late_port_fails_the_run_at_its_time_limit() {
    block_on(async {
        let bench = Bench::scripted("wallet: [{delay_ms: 60000, unreachable: never}]");
        let began = tokio::time::Instant::now();
        let run = bench.run("send 5 USDC to 0xbeef").await;
        assert_eq!(began.elapsed(), Duration::from_secs(30));
        assert_eq!(run.artifacts.fatal_error.unwrap().error, "the wallet gave no answer within 30000 ms");
    });
}

#[test]
fn late_planner_is_a_plan_without_actions() {
    block_on(async {
        let bench = Bench::scripted("planner: [{delay_ms: 60000, answer: {actions: []}}]");
        let run = bench.run("send 5 USDC to 0xbeef").await;
        assert_eq!((run.status, run.final_status), (ServiceRunStatus::Paused, Some(FinalStatus::Noop)));
        let fallback = run.artifacts.planner_result.unwrap().planner_fallback.unwrap();
        assert_eq!(fallback, "the planner gave no answer within 30000 ms");
    });
}

struct Panics;

#[async_trait]
impl Wallet for Panics {
    async fn snapshot(&self, _: &Chain, _: &str) -> Result<WalletSnapshot, PortError> {
        panic!("index out of bounds")
    }
}

#[test]
fn panic_of_a_port_fails_the_run() {
    block_on(async {
        let bench = Bench::with(
            |mut ports| {
                ports.wallet = Arc::new(Panics);
                ports
            },
            |_| {},
        );
        let run = bench.run("send 5 USDC to 0xbeef").await;
        assert_eq!(run.artifacts.fatal_error.unwrap().error, "the wallet failed by an error of its program");
    });
}

#[test]
fn replies_of_a_script_come_in_order_and_the_last_repeats() {
    block_on(async {
        let bench = Bench::scripted(
            "
            wallet:
              - unreachable: the node restarts
              - answer: {native: '0', tokens: {}, allowances: []}
            ",
        );
        let run = bench.run("send 5 USDC to 0xbeef").await;
        assert_eq!(run.status, ServiceRunStatus::Failed);
        for id in ["run_2", "run_3"] {
            bench.service.create(bench.new_run(id, "send 5 USDC to 0xbeef"), "ada").await.unwrap();
            bench.service.start(id, "ada").await.unwrap();
            let run = bench.service.drive(id).await.unwrap();
            assert_eq!(run.final_status, Some(FinalStatus::NeedsInput), "the wallet is empty");
        }
    });
}

#[test]
fn unusable_scripts_are_refused_with_their_place() {
    let said = |yaml: &str| Script::from_yaml(yaml).unwrap_err().to_string();
    assert_eq!(said("judge: []"), "judge has no reply; expected one or more, or no list");
    let content = "expected one of answer, refuse, unreachable";
    assert_eq!(said("planner: [{answer: {}}, {}]"), format!("planner, reply 2: {content}"));
    assert_eq!(said("judge: [{refuse: x, unreachable: y}]"), format!("judge, reply 1: {content}"));
    assert!(said("oracle: []").contains("oracle"));
    assert!(said("judge: [{refuse: x}]\njudge: [{refuse: y}]").contains("judge"));
    assert!(said("simulator: [{answer: [{ok: yes}]}]").contains("line 1"));
}

/// A driver is dropped at its judge; another one without a judge goes on behind the last commit.
#[test]
fn pass_goes_on_under_another_configuration() {
    block_on(async {
        let bench = Bench::scripted("judge: [{delay_ms: 20000, answer: {verdict: BLOCK}}]");
        bench.create("send 5 USDC to 0xbeef").await;
        bench.service.start("run_1", "ada").await.unwrap();
        let dropped = tokio::time::timeout(Duration::from_secs(1), bench.service.drive("run_1")).await;
        assert!(dropped.is_err());
        let other = bench.without_judge();
        assert!(other.drive("run_1").await.is_err(), "the lease is not over");
        tokio::time::sleep(Duration::from_secs(60)).await;
        let run = other.drive("run_1").await.unwrap();
        assert_eq!(run.status, ServiceRunStatus::AwaitingApproval);
        assert_eq!(run.artifacts.judge_result.unwrap().summary, "no judge is configured");
        assert_eq!(bench.nodes().await.iter().filter(|node| **node == "WALLET_SNAPSHOT").count(), 1);
        assert_eq!(bench.report().await.violations, 0);
    });
}
