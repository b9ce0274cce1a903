//! Plans: two exchanges of one token, and the phrases of the built-in planner.

use runstate::service_run::ServiceRunStatus;
use runstate_service::{SubmittedBy, TxKind, plan_phrase};

use super::fixture::{Bench, block_on};

#[test]
fn two_swaps_of_one_token_share_an_allowance() {
    let bench = Bench::scripted(
        "planner:
  - answer:
      actions:
        - {kind: swap, amount_in: '2', token_in: USDC, token_out: WETH}
        - {kind: swap, amount_in: '3', token_in: USDC, token_out: WETH}
",
    );
    block_on(async {
        let run = bench.run("swap twice").await;
        assert_eq!(run.status, ServiceRunStatus::AwaitingApproval, "{:?}", run.artifacts.policy_result);
        let kinds: Vec<TxKind> = run.artifacts.tx_requests.unwrap().iter().map(|tx| tx.kind).collect();
        assert_eq!(kinds, [TxKind::Approve, TxKind::Swap, TxKind::Swap]);
        let hashes = bench.approve_and_send().await;
        bench.service.tx_submitted("run_1", &hashes, SubmittedBy::Manual, "ada").await.unwrap();
        bench.chain.mine();
        let poll = bench.service.poll_tx("run_1", "ada").await.unwrap();
        assert_eq!(poll.status, ServiceRunStatus::Confirmed);
    });
}

#[test]
fn phrase_with_an_unknown_word_has_no_action() {
    let intents = [
        "do not send 5 USDC to 0xbeef",
        "send 5 USDC to 0xbeef and 6 USDC to 0xfeed",
        "send half of my USDC to 0xbeef",
        "swap 2 USDC for WETH tomorrow",
        "send 5 USDC to 0xbeef if it rains",
    ];
    for intent in intents {
        let plan = plan_phrase(intent);
        assert!(plan.actions.is_empty() && plan.summary.contains("is not understood"), "{intent}: {plan:?}");
    }
    for intent in
        ["Send 5 USDC to 0xbeef!", "please transfer 5 USDC to 0xbeef", "send 5 usdc", "swap USDC into WETH"]
    {
        assert_eq!(plan_phrase(intent).actions.len(), 1, "{intent}");
    }
}
