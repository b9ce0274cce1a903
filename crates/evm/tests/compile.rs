//! The compiler: its transactions, read again by the decoder.

use std::sync::Arc;

use alloy_primitives::U256;
use alloy_sol_types::SolCall;
use runstate_evm::EvmChain;
use runstate_runtime::clock::SetClock;
use runstate_service::{
    Artifacts, Candidate, Config, DecodedCall, Decoder, MemoryServiceStore, NewServiceRun, Ports, Service,
    TxCall, TxKind, Units,
};
use serde_json::{Value, json};

use super::node::{
    CHAIN, Node, OTHER, QUOTE, Reply, WALLET, allowanceCall, block_on, call_data, getAmountsOutCall,
    reverted, swapExactTokensForTokensCall, word,
};

/// A planner that plans these actions.
struct Plans(Value);

#[async_trait::async_trait]
impl runstate_service::Planner for Plans {
    async fn plan(&self, _: &runstate_service::PlannerInput) -> Result<Value, runstate_service::PortError> {
        Ok(json!({ "summary": "as planned", "actions": self.0 }))
    }
}

/// The artifacts of a pass with these actions.
pub(crate) async fn pass(chain: &EvmChain, actions: Value) -> Artifacts {
    let ports = Ports { planner: Some(Arc::new(Plans(actions))), ..chain.ports() };
    let (store, clock) = (Arc::new(MemoryServiceStore::default()), Arc::new(SetClock::at(1_769_860_800_000)));
    let service = Service::new(store, ports, Config { ..chain.config() }, clock, "test");
    let new = NewServiceRun {
        id: "run".into(),
        intent: "do it".into(),
        wallet: Some(WALLET.into()),
        chain_id: Some(CHAIN),
    };
    service.create(new, "ada").await.unwrap();
    service.start("run", "ada").await.unwrap();
    service.drive("run").await.unwrap().artifacts
}

pub(crate) fn send(amount: &str, asset: &str, recipient: &str) -> Value {
    json!({ "kind": "send", "amount": amount, "asset": asset, "recipient": recipient })
}

pub(crate) fn swap(amount: &str) -> Value {
    json!({ "kind": "swap", "amount_in": amount, "token_in": "usdc", "token_out": "WETH" })
}

fn candidates(artifacts: &Artifacts) -> &[Candidate] {
    assert_eq!(artifacts.fatal_error, None);
    let failed =
        artifacts.decision.iter().flat_map(|decision| &decision.reasons).find(|it| !it.contains("allowance"));
    assert_eq!(failed, None);
    &artifacts.tx_plan.as_ref().unwrap().candidates
}

#[test]
fn transfers_are_compiled_and_read_again() {
    block_on(async {
        let chain = Node::honest().await.chain();
        let actions = json!([send("0.5", "eth", OTHER), send("1.25", "USDC", OTHER)]);
        let artifacts = pass(&chain, actions).await;
        let [native, token] = candidates(&artifacts) else { panic!("{artifacts:?}") };
        assert_eq!((native.tx.value, native.tx.data.as_str()), (Units(5 * 10_u128.pow(17)), "0x"));
        assert_eq!(native.tx.to, OTHER);
        let Some(DecodedCall::Transfer { recipient, amount }) = chain.decode(&token.tx) else { panic!() };
        assert!(recipient.eq_ignore_ascii_case(OTHER));
        assert_eq!(amount, Units(1_250_000));
    });
}

#[test]
fn swap_has_an_allowance_and_a_least_result() {
    block_on(async {
        let chain = Node::honest().await.chain();
        let artifacts = pass(&chain, json!([swap("100")])).await;
        let [approve, swap] = candidates(&artifacts) else { panic!("{artifacts:?}") };
        assert_eq!((approve.tx.kind, swap.tx.kind), (TxKind::Approve, TxKind::Swap));
        assert!(matches!(approve.call, TxCall::Approve { amount: Units(100_000_000), .. }));
        let TxCall::Swap { quoted_out, min_out, slippage_bps, .. } = swap.call else { panic!() };
        assert_eq!((quoted_out, min_out, slippage_bps), (Units(QUOTE), Units(49_750), 50));
        let data = call_data(&json!({ "data": swap.tx.data }));
        let call = swapExactTokensForTokensCall::abi_decode(&data).unwrap();
        assert_eq!(call.deadline, U256::from(100 + 24 * 60 * 60), "a day after the newest block");
        assert_eq!(call.to.to_string(), WALLET);
    });
}

#[test]
fn swaps_of_one_token_share_an_allowance() {
    block_on(async {
        let chain = Node::honest().await.chain();
        let artifacts = pass(&chain, json!([swap("100"), swap("50")])).await;
        let [approve, _, _] = candidates(&artifacts) else { panic!("{artifacts:?}") };
        assert!(matches!(approve.call, TxCall::Approve { amount: Units(150_000_000), .. }));
    });
}

#[test]
fn given_allowance_is_not_asked_for_again() {
    block_on(async {
        let node = Node::start(|method, params| {
            let is_asked =
                method == "eth_call" && call_data(&params[0]).starts_with(&allowanceCall::SELECTOR);
            is_asked.then(|| Reply::Result(word(100_000_000)))
        });
        let artifacts = pass(&node.await.chain(), json!([swap("100")])).await;
        let [swap] = candidates(&artifacts) else { panic!("{artifacts:?}") };
        assert_eq!(swap.tx.kind, TxKind::Swap);
        assert_eq!(artifacts.decision.unwrap().risk_score, 0, "nothing is assumed");
    });
}

#[test]
fn what_cannot_be_compiled_names_its_reason() {
    block_on(async {
        let node = Node::honest().await;
        let mut without_router = node.options();
        without_router.router = None;
        let no_router = EvmChain::new(without_router).unwrap();
        let itself = json!({ "kind": "swap", "amount_in": "1", "token_in": "USDC", "token_out": "usdc" });
        let rows = [(no_router, swap("1"), "no router is configured"), (node.chain(), itself, "for itself")];
        for (chain, action, expected) in rows {
            let error = pass(&chain, json!([action])).await.fatal_error.unwrap().error;
            assert!(error.starts_with("the compiler refuses: ") && error.contains(expected), "{error}");
        }
    });
}

#[test]
fn recipient_that_is_no_address_is_asked_for() {
    block_on(async {
        let chain = Node::honest().await.chain();
        let zero = format!("0x{}", "0".repeat(40));
        for typo in ["0xbeef", "0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266", &zero] {
            let artifacts = pass(&chain, json!([send("1", "USDC", typo)])).await;
            let missing = &artifacts.needs_input.unwrap().missing[0];
            assert_eq!((missing.slot.as_str(), missing.got.as_deref()), ("recipient", Some(typo)));
        }
    });
}

#[test]
fn quotes_of_another_form_are_refused() {
    block_on(async {
        let quotes = [
            Reply::Result(json!("0x")),
            Reply::Result(word(32)),
            Reply::Result(json!(format!("0x{:064x}{:064x}", 32, 0))),
            Reply::Result(json!(format!("0x{:064x}{:064x}{:064x}{:064x}", 32, 2, 1, 0))),
            Reply::Result(json!(format!("0x{:064x}{:064x}{:064x}{}", 32, 2, 1, "f".repeat(64)))),
            Reply::Result(json!(format!("0x{:064x}{}", 32, "f".repeat(64)))),
            reverted(3, "execution reverted: INSUFFICIENT_LIQUIDITY"),
        ];
        for quote in quotes {
            let reply = quote.clone();
            let node = Node::start(move |method, params| {
                let is_quote =
                    method == "eth_call" && call_data(&params[0]).starts_with(&getAmountsOutCall::SELECTOR);
                is_quote.then(|| reply.clone())
            });
            let artifacts = pass(&node.await.chain(), json!([swap("1")])).await;
            assert!(artifacts.fatal_error.is_some(), "{quote:?}");
        }
    });
}
