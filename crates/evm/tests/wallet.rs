//! The reader of wallets.

use runstate_service::{Allowance, Units, Wallet};
use serde_json::json;

use super::node::{
    CHAIN, Node, ROUTER, Reply, USDC, WALLET, WETH, allowanceCall, balanceOfCall, block_on, call_data, chain,
    decimalsCall, reverted, word,
};
use alloy_sol_types::SolCall;

/// A node with this reply to one function of its tokens.
async fn answering(selector: [u8; 4], reply: Reply) -> Node {
    Node::start(move |method, params| {
        (method == "eth_call" && call_data(&params[0]).starts_with(&selector)).then(|| reply.clone())
    })
    .await
}

async fn said(node: &Node) -> String {
    node.chain().snapshot(&chain(), WALLET).await.unwrap_err().to_string()
}

#[test]
fn snapshot_has_balances_and_allowances() {
    block_on(async {
        let node = answering(allowanceCall::SELECTOR, Reply::Result(word(7))).await;
        let snapshot = node.chain().snapshot(&chain(), WALLET).await.unwrap();
        assert_eq!(snapshot.native, Units(10 * 10_u128.pow(18)));
        let usdc = &snapshot.tokens["USDC"];
        assert_eq!((usdc.address.as_str(), usdc.decimals, usdc.balance), (USDC, 6, Units(1_000_000_000)));
        let allowance =
            |token: &str| Allowance { token: token.into(), spender: ROUTER.into(), amount: Units(7) };
        assert_eq!(snapshot.allowances, [allowance(USDC), allowance(WETH)]);
        assert_eq!(node.count("eth_chainId"), 1, "the ids are compared once for a pass");
        let none = Node::honest().await.chain().snapshot(&chain(), WALLET).await.unwrap();
        assert!(none.allowances.is_empty(), "an allowance of zero is none");
    });
}

#[test]
fn amounts_beyond_the_largest_count_as_the_largest() {
    block_on(async {
        let all = Reply::Result(json!(format!("0x{}", "f".repeat(64))));
        let node = answering(balanceOfCall::SELECTOR, all).await;
        let snapshot = node.chain().snapshot(&chain(), WALLET).await.unwrap();
        assert_eq!(snapshot.tokens["USDC"].balance, Units::MAX);
    });
}

#[test]
fn node_of_another_chain_is_refused() {
    block_on(async {
        for (id, shown) in [(json!("0x1"), "1"), (json!(format!("0x{}", "f".repeat(64))), "1157920892")] {
            let node =
                Node::start(move |method, _| (method == "eth_chainId").then(|| Reply::Result(id.clone())))
                    .await;
            let said = said(&node).await;
            let expected = format!("the chain has the id {shown}");
            assert!(said.starts_with(&expected) && said.contains("expected 31337"), "{said}");
        }
        let node = Node::honest().await;
        let other = runstate_service::Chain { id: 1, ..chain() };
        let said = node.chain().snapshot(&other, WALLET).await.unwrap_err().to_string();
        assert_eq!(said, format!("the chain refuses: got the chain 1, expected {CHAIN}"));
    });
}

#[test]
fn token_without_a_contract_is_named() {
    block_on(async {
        for data in ["0x", "0x00", "0x01020304"] {
            let node = answering(balanceOfCall::SELECTOR, Reply::Result(json!(data))).await;
            let said = said(&node).await;
            assert!(said.contains("the token USDC") && said.contains("balanceOf(address)"), "{said}");
        }
    });
}

#[test]
fn token_with_other_decimals_is_refused() {
    block_on(async {
        let node = answering(decimalsCall::SELECTOR, Reply::Result(word(18))).await;
        assert!(said(&node).await.contains("the token USDC has 18 decimals, configured are 6"));
        // The function is optional.
        for reply in [reverted(3, "no"), reverted(-32_000, "Execution reverted: no such function")] {
            let node = answering(decimalsCall::SELECTOR, reply).await;
            assert!(node.chain().snapshot(&chain(), WALLET).await.is_ok());
        }
        let others = [
            Reply::Result(json!("0x")),
            Reply::Result(word(300)),
            reverted(-32_005, "too many requests"),
            reverted(-32_000, "header not found"),
            reverted(-32_000, "missing trie node"),
            reverted(-32_003, "rejected"),
        ];
        for reply in others {
            let node = answering(decimalsCall::SELECTOR, reply.clone()).await;
            let said = node.chain().snapshot(&chain(), WALLET).await.map_err(|error| error.to_string());
            assert!(said.as_ref().is_err_and(|said| said.contains("the token USDC")), "{reply:?}: {said:?}");
        }
    });
}

#[test]
fn wallet_of_another_form_is_refused() {
    block_on(async {
        let node = Node::honest().await;
        let (zero, twice) = (format!("0x{}", "0".repeat(40)), format!("0x{}", WALLET.to_lowercase()));
        for wallet in ["0xa11ce", "", "0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266", &zero, &twice] {
            let said = node.chain().snapshot(&chain(), wallet).await.unwrap_err().to_string();
            assert!(said.starts_with("the chain refuses: the wallet: got "), "{said}");
        }
    });
}
