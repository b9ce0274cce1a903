//! The reader of receipts.

use std::num::NonZeroU64;

use runstate_evm::EvmChain;
use runstate_service::{PortError, Receipt, Receipts, TxKind, TxRequest, Units};
use serde_json::{Value, json};

use super::node::{CHAIN, Node, OTHER, Reply, WALLET, block_on};

fn hash() -> String {
    format!("0x{}", "ab".repeat(32))
}

fn block_hash() -> String {
    format!("0x{}", "01".repeat(32))
}

/// The receipt and the transaction of a mined transfer.
fn mined() -> (Value, Value) {
    let receipt = json!({
        "transactionHash": hash(), "blockHash": block_hash(), "status": "0x1",
    });
    let tx = json!({
        "hash": hash(), "blockHash": block_hash(), "blockNumber": "0x5", "chainId": "0x7a69",
        "from": WALLET.to_lowercase(), "to": OTHER, "value": "0x7", "input": "0x",
    });
    (receipt, tx)
}

/// The receipt that the port reads, after an edit of the mined transfer.
async fn read_by(
    edit: impl FnOnce(&mut Value, &mut Value),
    confirmations: u64,
) -> Result<Option<Receipt>, PortError> {
    read_in(edit, confirmations, json!({ "hash": block_hash(), "timestamp": "0x64" })).await
}

/// The receipt as above, of that block.
async fn read_in(
    edit: impl FnOnce(&mut Value, &mut Value),
    confirmations: u64,
    block: Value,
) -> Result<Option<Receipt>, PortError> {
    let (mut receipt, mut tx) = mined();
    edit(&mut receipt, &mut tx);
    let node = Node::start(move |method, _| match method {
        "eth_getTransactionReceipt" => Some(Reply::Result(receipt.clone())),
        "eth_getTransactionByHash" => Some(Reply::Result(tx.clone())),
        "eth_getBlockByHash" => Some(Reply::Result(block.clone())),
        _ => None,
    })
    .await;
    let mut options = node.options();
    options.confirmations = NonZeroU64::new(confirmations).unwrap();
    EvmChain::new(options).unwrap().receipt(&hash(), &approved()).await
}

async fn read(edit: impl FnOnce(&mut Value, &mut Value)) -> Result<Option<Receipt>, PortError> {
    read_by(edit, 1).await
}

fn approved() -> TxRequest {
    TxRequest {
        kind: TxKind::Transfer,
        chain_id: CHAIN,
        from: WALLET.into(),
        to: OTHER.into(),
        value: Units(7),
        data: "0x".into(),
    }
}

#[test]
fn mined_transaction_is_compared_with_the_approved_one() {
    block_on(async {
        let receipt = read(|_, _| {}).await.unwrap().unwrap();
        assert_eq!((receipt.success, receipt.block, receipt.mined_at_ms), (true, 5, Some(100_000)));
        assert_eq!(receipt.difference(&hash(), &approved()), None);
        let empty = read(|_, tx| tx["authorizationList"] = json!([])).await.unwrap().unwrap();
        assert_eq!(empty.difference(&hash(), &approved()), None);
        let others: [(&str, Value, &str); 8] = [
            ("authorizationList", json!([{ "chainId": "0x7a69", "address": OTHER }]), "authorizations"),
            ("authorizationList", json!({}), "authorizations"),
            ("from", json!(OTHER), "from"),
            ("to", json!(WALLET), "to"),
            ("to", json!(null), "to"),
            ("value", json!("0x8"), "value"),
            ("input", json!("0x00"), "data"),
            ("chainId", json!("0x1"), "chain"),
        ];
        for (member, other, field) in others {
            let receipt = read(|_, tx| tx[member] = other).await.unwrap().unwrap();
            assert_eq!(receipt.difference(&hash(), &approved()), Some(field), "{member}");
        }
        let old = read(|_, tx| tx["chainId"] = json!(null)).await.unwrap().unwrap();
        assert_eq!(old.chain_id, CHAIN, "a transaction without a chain is on that of the node");
    });
}

#[test]
fn long_receipt_of_another_transaction_is_not_read() {
    block_on(async {
        let long = |receipt: &mut Value| receipt["logs"] = json!("f".repeat(2 * 1024 * 1024));
        let other = read(|receipt, tx| {
            long(receipt);
            tx["to"] = json!(WALLET);
        });
        let other = other.await.unwrap().unwrap();
        assert_eq!((other.success, other.difference(&hash(), &approved())), (false, Some("to")));
        let own = read(|receipt, _| long(receipt)).await.unwrap_err();
        assert!(own.to_string().ends_with("the answer is longer than 1048576 bytes"), "{own}");
    });
}

#[test]
fn receipt_without_success_is_one_of_a_revert() {
    block_on(async {
        for status in [json!("0x0"), json!("0x2"), json!(null)] {
            let receipt = read(|receipt, _| receipt["status"] = status).await.unwrap().unwrap();
            assert!(!receipt.success);
        }
    });
}

#[test]
fn transaction_that_is_not_mined_has_no_receipt() {
    block_on(async {
        assert_eq!(
            read(|receipt, _| *receipt = Value::Null).await,
            Ok(None),
            "unknown, replaced, or reorganised"
        );
        assert_eq!(read(|_, tx| *tx = Value::Null).await, Ok(None), "reorganised between two requests");
        assert_eq!(read(|_, tx| tx["blockHash"] = json!(null)).await, Ok(None), "pending again");
        let elsewhere = json!(format!("0x{}", "02".repeat(32)));
        assert_eq!(read(|_, tx| tx["blockHash"] = elsewhere).await, Ok(None), "mined again in another block");
        assert_eq!(read_in(|_, _| {}, 1, Value::Null).await, Ok(None), "the block was removed");
        let chain = Node::honest().await.chain();
        for odd in ["0x1", "", "0xzz", &"ab".repeat(32)] {
            assert_eq!(chain.receipt(odd, &approved()).await, Ok(None), "{odd}");
        }
    });
}

#[test]
fn receipt_counts_after_its_confirmations() {
    block_on(async {
        let older = |_: &mut Value, tx: &mut Value| tx["blockNumber"] = json!("0x3");
        assert!(read_by(older, 3).await.unwrap().is_some(), "blocks 3 to 5");
        assert_eq!(read_by(older, 4).await, Ok(None));
        assert_eq!(read_by(|_, tx| tx["blockNumber"] = json!("0xffffffffffffffff"), 9).await, Ok(None));
    });
}

#[test]
fn receipts_of_another_form_are_refused() {
    block_on(async {
        let edits: [fn(&mut Value, &mut Value); 12] = [
            |receipt, _| *receipt = json!("0x1"),
            |receipt, _| receipt["transactionHash"] = json!(format!("0x{}", "cd".repeat(32))),
            |_, tx| tx["hash"] = json!(format!("0x{}", "cd".repeat(32))),
            |receipt, _| receipt["status"] = json!(1),
            |_, tx| tx["blockNumber"] = json!(null),
            |receipt, _| receipt["blockHash"] = json!("0x01"),
            |_, tx| tx["from"] = json!("0xbeef"),
            |_, tx| tx["to"] = json!(7),
            |_, tx| tx["value"] = json!("7"),
            |_, tx| tx["value"] = json!("0x100000000000000000000000000000000"),
            |_, tx| tx["input"] = json!(null),
            |_, tx| tx["chainId"] = json!("0x10000000000000000"),
        ];
        for (place, edit) in edits.into_iter().enumerate() {
            let read = read(edit).await;
            assert!(matches!(read, Err(PortError::Refused { .. })), "edit {place}: {read:?}");
        }
        let blocks = [
            json!({ "hash": format!("0x{}", "02".repeat(32)), "timestamp": "0x64" }),
            json!({ "hash": block_hash() }),
            json!({ "hash": block_hash(), "timestamp": "0xffffffffffffffff" }),
        ];
        for block in blocks {
            let read = read_in(|_, _| {}, 1, block.clone()).await;
            assert!(matches!(read, Err(PortError::Refused { .. })), "{block}: {read:?}");
        }
        let chain = Node::honest().await.chain();
        let elsewhere = TxRequest { chain_id: 1, ..approved() };
        assert!(chain.receipt(&hash(), &elsewhere).await.is_err(), "another chain");
    });
}
