//! The simulator, with and without a node that simulates sequences.

use alloy_primitives::{U256, hex};
use runstate_service::{CheckStatus, DecisionAction, PortError, Simulator, TxRequest, TxResult, Units};
use serde_json::{Value, json};

use super::compile::{pass, send, swap};
use super::node::{
    Node, OTHER, QUOTE, ROUTER, Reply, USDC, WALLET, WETH, address, approveCall, block_on, chain, encoded,
    reverted, swapExactTokensForTokensCall, transferCall, tx, word,
};

fn approve() -> TxRequest {
    tx(USDC, encoded(&approveCall { spender: address(ROUTER), amount: U256::from(5) }))
}

fn exchange() -> TxRequest {
    exchange_until(U256::MAX)
}

/// An exchange with that deadline, in seconds.
fn exchange_until(deadline: U256) -> TxRequest {
    let call = swapExactTokensForTokensCall {
        amountIn: U256::from(5),
        amountOutMin: U256::from(3),
        path: vec![address(USDC), address(WETH)],
        to: address(WALLET),
        deadline,
    };
    tx(ROUTER, encoded(&call))
}

fn transfer(token: &str, amount: u64) -> TxRequest {
    tx(token, encoded(&transferCall { to: address(OTHER), amount: U256::from(amount) }))
}

/// A node that simulates so.
async fn simulating(reply: Reply) -> Node {
    Node::start(move |method, _| (method == "eth_simulateV1").then(|| reply.clone())).await
}

async fn results(node: &Node, txs: &[TxRequest]) -> Vec<TxResult> {
    node.chain().simulate(&chain(), txs).await.unwrap()
}

fn block(calls: Value) -> Reply {
    Reply::Result(json!([{ "calls": calls }]))
}

/// The returned data of `require(false, reason)`.
fn revert_data(reason: &str) -> String {
    let text = hex::encode(reason);
    format!("0x08c379a0{:064x}{:064x}{text:0<64}", 32, reason.len())
}

#[test]
fn sequence_is_simulated_in_one_request() {
    block_on(async {
        let node = Node::honest().await;
        let results = results(&node, &[approve(), exchange()]).await;
        assert_eq!(results, [TxResult::ok(), TxResult::ok().with_out(Some(Units(QUOTE)))]);
        assert_eq!((node.count("eth_simulateV1"), node.count("eth_call")), (1, 0));
    });
}

#[test]
fn reverts_have_the_reason_of_the_contract() {
    block_on(async {
        let fails = |data: String| json!({ "status": "0x0", "returnData": data, "error": { "code": 3, "message": "no" } });
        let node = simulating(block(json!([fails(revert_data("too\nlate"))]))).await;
        let reverted_by = results(&node, &[exchange()]).await;
        assert!(reverted_by[0].error.as_deref().unwrap().contains("too late"), "{reverted_by:?}");
        let node = simulating(block(json!([fails("0x".into())]))).await;
        assert_eq!(results(&node, &[exchange()]).await, [TxResult::reverted("without a reason")]);
        let gas = json!({ "status": "0x0", "returnData": "0x", "error": { "code": -32_015, "message": "Out of gas" } });
        let node = simulating(block(json!([gas]))).await;
        assert_eq!(results(&node, &[exchange()]).await, [TxResult::reverted("out of gas")]);
        let zero = json!({ "status": "0x1", "returnData": word(0) });
        let node = simulating(block(json!([zero]))).await;
        assert_eq!(
            results(&node, &[transfer(USDC, 1)]).await,
            [TxResult::reverted("the token returns false")]
        );
        let nothing = json!({ "status": "0x1", "returnData": "0x" });
        let node = simulating(block(json!([nothing]))).await;
        assert_eq!(
            results(&node, &[transfer(USDC, 1)]).await,
            [TxResult::ok()],
            "some tokens return nothing"
        );
        let node = simulating(reverted(-32_003, "insufficient funds")).await;
        let all = results(&node, &[approve(), exchange()]).await;
        assert_eq!(all, [0; 2].map(|_| TxResult::reverted("the sequence fails: insufficient funds")));
    });
}

#[test]
fn simulations_of_another_form_are_refused() {
    block_on(async {
        let ok = json!({ "status": "0x1", "returnData": "0x" });
        let rows = [
            Reply::Result(json!(null)),
            Reply::Result(json!([])),
            Reply::Result(json!({ "calls": [] })),
            block(json!([])),
            block(json!([ok, ok])),
            block(json!([{ "status": true, "returnData": "0x" }])),
            block(json!([{ "returnData": "0x" }])),
            block(json!([{ "status": "0x1", "returnData": 7 }])),
            reverted(-32_602, "invalid params"),
        ];
        for reply in rows {
            let node = simulating(reply.clone()).await;
            assert!(node.chain().simulate(&chain(), &[exchange()]).await.is_err(), "{reply:?}");
        }
    });
}

#[test]
fn node_without_sequences_simulates_each_alone() {
    block_on(async {
        let node = simulating(reverted(-32_601, "Method not found")).await;
        assert_eq!(results(&node, &[approve(), exchange()]).await, [TxResult::ok(), TxResult::assumed()]);
        let alone = results(&node, &[exchange()]).await;
        assert_eq!(
            alone,
            [TxResult::ok().with_out(Some(Units(QUOTE)))],
            "nothing grants it: it is simulated"
        );
        // The balance of the bought token is too small for the transfer behind the exchange.
        let bought = results(&node, &[exchange(), transfer(WETH, 2_000_000_000)]).await;
        assert!(!bought[0].assumed && bought[1].assumed, "{bought:?}");
        let held = results(&node, &[exchange(), transfer(WETH, 5)]).await;
        assert!(!held[1].assumed, "{held:?}");
    });
}

#[test]
fn assumed_exchange_fails_after_its_deadline() {
    block_on(async {
        // The newest block has the time 100.
        let node = simulating(reverted(-32_601, "Method not found")).await;
        let over = results(&node, &[approve(), exchange_until(U256::from(99))]).await;
        assert_eq!(over[1], TxResult::reverted("the deadline of the exchange is over"));
        let valid = results(&node, &[approve(), exchange_until(U256::from(100))]).await;
        assert_eq!(valid[1], TxResult::assumed());
    });
}

#[test]
fn reverts_of_single_calls_block() {
    block_on(async {
        for code in [3, -32_000, -32_003, -32_015] {
            let node = Node::start(move |method, params| match method {
                "eth_simulateV1" => Some(reverted(-32_004, "unsupported")),
                "eth_call" if params[0]["from"] != json!(null) => {
                    Some(reverted(code, "execution reverted: paused"))
                }
                _ => None,
            })
            .await;
            let results = results(&node, &[transfer(USDC, 1)]).await;
            assert!(results[0].error.as_deref().unwrap().contains("paused"), "{results:?}");
        }
        let node = Node::start(|method, _| (method != "eth_chainId").then(|| reverted(-32_601, "no"))).await;
        assert!(
            node.chain().simulate(&chain(), &[transfer(USDC, 1)]).await.is_err(),
            "it cannot simulate at all"
        );
    });
}

/// The simulation of a transfer on a node with that error, in a sequence and alone.
async fn simulated(code: i64, message: &'static str) -> [Result<Vec<TxResult>, PortError>; 2] {
    let old = Node::start(move |method, params| match method {
        "eth_simulateV1" => Some(reverted(-32_601, "Method not found")),
        "eth_call" if params[0]["from"] != json!(null) => Some(reverted(code, message)),
        _ => None,
    });
    let nodes = [simulating(reverted(code, message)).await, old.await];
    let txs = [transfer(USDC, 1)];
    [nodes[0].chain().simulate(&chain(), &txs).await, nodes[1].chain().simulate(&chain(), &txs).await]
}

#[test]
fn transactions_that_cannot_succeed_are_reverts() {
    block_on(async {
        let rows = [
            (-38_013, "intrinsic gas too low"),
            (-38_014, "insufficient funds for gas * price + value"),
            (-32_000, "VM Exception while processing transaction: revert"),
            (-32_000, "insufficient funds for transfer"),
        ];
        for (code, message) in rows {
            for results in simulated(code, message).await {
                assert!(!results.as_ref().unwrap()[0].ok, "{code} {message}: {results:?}");
            }
        }
    });
}

#[test]
fn errors_that_may_pass_are_no_reverts() {
    block_on(async {
        let rows = [
            (-32_000, "header not found"),
            (-32_000, "execution timeout"),
            (-32_005, "limit exceeded"),
            (-38_026, "too many blocks"),
        ];
        for (code, message) in rows {
            for results in simulated(code, message).await {
                assert!(matches!(results, Err(PortError::Refused { .. })), "{code} {message}: {results:?}");
            }
        }
    });
}

#[test]
fn assumed_success_warns_a_person() {
    block_on(async {
        let found = async |node: Node| -> Vec<String> {
            let artifacts = pass(&node.chain(), json!([swap("100")])).await;
            let checks = artifacts.policy_result.unwrap().checks.into_iter();
            let warned = checks.filter(|check| check.status != CheckStatus::Pass);
            warned.map(|check| format!("{:?} {}: {}", check.status, check.id, check.reason)).collect()
        };
        let full = found(Node::honest().await).await;
        assert_eq!(full, ["Warn simulation: a transaction uses an allowance that an earlier one grants"]);
        let single = found(simulating(reverted(-32_601, "Method not found")).await).await;
        assert_eq!(
            single,
            [
                "Warn minimum_out: swaps without a simulated result: 1; the quote may be wrong",
                "Warn simulation: the simulator could not apply the effects of the earlier transactions",
            ]
        );
    });
}

#[test]
fn quote_below_the_simulated_result_blocks() {
    block_on(async {
        // The router quotes 50,000 and gives 60,000: an attacker that moves the price takes 17 %.
        let amounts = format!("0x{:064x}{:064x}{:064x}{:064x}", 32, 2, 1, 60_000);
        let ok = |data: Value| json!({ "status": "0x1", "returnData": data });
        let node = simulating(block(json!([ok(word(1)), ok(json!(amounts))]))).await;
        let artifacts = pass(&node.chain(), json!([swap("100")])).await;
        let reasons = artifacts.decision.unwrap().reasons;
        assert!(
            reasons[0].starts_with("minimum_out: the quoted_out of a swap is 50000; it gives 60000"),
            "{reasons:?}"
        );
    });
}

#[test]
fn simulated_revert_blocks_the_run() {
    block_on(async {
        let fails = json!({ "status": "0x0", "returnData": "0x" });
        let node = simulating(block(json!([fails]))).await;
        let artifacts = pass(&node.chain(), json!([send("1", "USDC", OTHER)])).await;
        assert_eq!(artifacts.simulation.unwrap().summary, "transaction 1 reverts: without a reason");
        assert_eq!(artifacts.decision.unwrap().action, DecisionAction::Block);
    });
}
