//! The reader of receipts.

use alloy_primitives::{U256, hex};
use async_trait::async_trait;
use runstate_service::{PortError, Receipt, Receipts, TxRequest};
use serde_json::{Value, json};

use crate::abi;
use crate::chain::{EvmChain, member, refused};
use crate::value;

#[async_trait]
impl Receipts for EvmChain {
    /// The receipt of a transaction, with the transaction itself. None for a transaction that is unknown, not mined,
    /// replaced, or removed by a reorganisation of the chain.
    async fn receipt(&self, hash: &str, approved: &TxRequest) -> Result<Option<Receipt>, PortError> {
        self.is_of(approved.chain_id)?;
        let Ok(asked) = value::hash(Some(&json!(hash)), "the hash") else {
            // No transaction of this chain has such a hash.
            return Ok(None);
        };
        self.check().await?;
        let tx = self.inner.rpc.call("eth_getTransactionByHash", json!([hash])).await?;
        let Some((mut read, mined_in)) = mined(&asked, &tx, approved.chain_id).map_err(refused)? else {
            return Ok(None);
        };
        // The receipt of another transaction may be too long, and its success does not matter.
        if read.difference(hash, approved).is_none() {
            let receipt = self.inner.rpc.call("eth_getTransactionReceipt", json!([hash])).await?;
            let Some(success) = succeeded(&asked, &receipt, &mined_in).map_err(refused)? else {
                return Ok(None);
            };
            read.success = success;
            let block = json!([hex::encode_prefixed(mined_in), false]);
            let block = self.inner.rpc.call("eth_getBlockByHash", block).await?;
            if block.is_null() {
                return Ok(None);
            }
            read.mined_at_ms = Some(time(&mined_in, &block).map_err(refused)?);
        }
        if self.inner.confirmations.get() > 1 {
            let newest = self.inner.rpc.call("eth_blockNumber", json!([])).await?;
            let newest = value::number(Some(&newest), "the number of the block").map_err(refused)?;
            if newest < read.block.saturating_add(self.inner.confirmations.get() - 1) {
                return Ok(None);
            }
        }
        Ok(Some(read))
    }
}

/// Refuses an answer about another transaction or another block than the asked one.
fn is_asked(asked: &[u8; 32], of: &Value, name: &str) -> Result<(), String> {
    if value::hash(member(of, name), name)? == *asked {
        Ok(())
    } else {
        Err(format!("{name} is another one than the request has"))
    }
}

/// Reads a mined transaction, without its success, and the hash of its block. None for one that is not mined.
fn mined(asked: &[u8; 32], tx: &Value, chain_id: u64) -> Result<Option<(Receipt, [u8; 32])>, String> {
    if tx.is_null() {
        return Ok(None);
    }
    is_asked(asked, tx, "hash")?;
    let Some(mined_in) = member(tx, "blockHash") else { return Ok(None) };
    let mined_in = value::hash(Some(mined_in), "blockHash")?;
    // Old transactions have no chain of their own: then it is that of the node, which has just been compared.
    let chain_id = match member(tx, "chainId") {
        None => chain_id,
        id => value::number(id, "chainId")?,
    };
    let value = value::quantity(member(tx, "value"), "value")?;
    let receipt = Receipt {
        hash: hex::encode_prefixed(asked),
        success: false,
        block: value::number(member(tx, "blockNumber"), "blockNumber")?,
        chain_id,
        from: value::address(member(tx, "from"), "from")?.to_string(),
        // A transaction that creates a contract has no target: it differs from each approved one.
        to: match member(tx, "to") {
            None => String::new(),
            to => value::address(to, "to")?.to_string(),
        },
        value: abi::units(value).ok_or_else(|| format!("value is {value}, expected a number of 128 bits"))?,
        data: hex::encode_prefixed(value::bytes(member(tx, "input"), "input")?),
        // A member of another form is no empty list.
        mined_at_ms: None,
        delegates: member(tx, "authorizationList").is_some_and(|list| *list != json!([])),
    };
    Ok(Some((receipt, mined_in)))
}

/// Reads the success of a transaction that was mined in that block. None if the receipt is of another block: the chain was
/// reorganised in between.
fn succeeded(asked: &[u8; 32], receipt: &Value, mined_in: &[u8; 32]) -> Result<Option<bool>, String> {
    if receipt.is_null() {
        return Ok(None);
    }
    is_asked(asked, receipt, "transactionHash")?;
    if value::hash(member(receipt, "blockHash"), "blockHash")? != *mined_in {
        return Ok(None);
    }
    // A receipt that does not state success is one of a revert.
    Ok(Some(match member(receipt, "status") {
        None => false,
        status => value::quantity(status, "status")? == U256::from(1),
    }))
}

/// The time of the block with that hash, in milliseconds.
fn time(mined_in: &[u8; 32], block: &Value) -> Result<u64, String> {
    is_asked(mined_in, block, "hash")?;
    let seconds = value::number(member(block, "timestamp"), "the time of the block")?;
    let expected =
        || format!("the time of the block is {seconds} s, expected one of 64 bits in milliseconds");
    seconds.checked_mul(1_000).ok_or_else(expected)
}
