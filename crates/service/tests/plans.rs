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

#[test]
fn compiler_that_describes_another_transfer_is_blocked() {
    // The data pays 900 USDC to 0xbad: {"amount":"900000000","call":"transfer","recipient":"0xbad"}.
    let data: String = br#"{"amount":"900000000","call":"transfer","recipient":"0xbad"}"#
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let bench = Bench::scripted(&format!(
        "compiler:
  - answer:
      - protocol: token
        call: {{call: transfer_token, token: '0xc0de01', recipient: '0xbeef', amount: '5000000'}}
        tx: {{kind: transfer, chain_id: 31337, from: '0xa11ce', to: '0xc0de01', value: '0', data: '0x{data}'}}
"
    ));
    block_on(async {
        let run = bench.run("send 5 USDC to 0xbeef").await;
        assert_eq!(run.status, ServiceRunStatus::Blocked);
        let message = run.artifacts.assistant_message.unwrap();
        let reason = "transaction 1: the recipient in the call data is 0xbad, expected 0xbeef";
        assert!(message.contains(reason), "{message}");
    });
}
