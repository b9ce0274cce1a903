//! The reader of receipts.

use alloy_primitives::{U256, hex};
use async_trait::async_trait;
use runstate_service::{PortError, Receipt, Receipts};
use serde_json::{Value, json};

use crate::abi;
use crate::chain::{EvmChain, member, refused};
use crate::value;

#[async_trait]
impl Receipts for EvmChain {
    /// The receipt of a transaction, with the transaction itself. None for a transaction that is unknown, not mined,
    /// replaced, or removed by a reorganisation of the chain.
    async fn receipt(&self, chain_id: u64, hash: &str) -> Result<Option<Receipt>, PortError> {
        self.is_of(chain_id)?;
        let Ok(asked) = value::hash(Some(&json!(hash)), "the hash") else {
            // No transaction of this chain has such a hash.
            return Ok(None);
        };
        self.check().await?;
        let receipt = self.inner.rpc.call("eth_getTransactionReceipt", json!([hash])).await?;
        let tx = match receipt {
            Value::Null => return Ok(None),
            _ => self.inner.rpc.call("eth_getTransactionByHash", json!([hash])).await?,
        };
        let Some((read, block)) = read(&asked, &receipt, &tx, chain_id).map_err(refused)? else {
            return Ok(None);
        };
        if self.inner.confirmations.get() > 1 {
            let newest = self.inner.rpc.call("eth_blockNumber", json!([])).await?;
            let newest = value::number(Some(&newest), "the number of the block").map_err(refused)?;
            if newest < block.saturating_add(self.inner.confirmations.get() - 1) {
                return Ok(None);
            }
        }
        Ok(Some(read))
    }
}

/// Reads a receipt and its transaction. None if the two are of different blocks: the chain was reorganised in between.
fn read(
    asked: &[u8; 32],
    receipt: &Value,
    tx: &Value,
    chain_id: u64,
) -> Result<Option<(Receipt, u64)>, String> {
    let is_asked = |of: &Value, name: &str| match value::hash(member(of, name), name)? == *asked {
        true => Ok(()),
        false => Err(format!("{name} is another one than the request has")),
    };
    is_asked(receipt, "transactionHash")?;
    if tx.is_null() {
        return Ok(None);
    }
    is_asked(tx, "hash")?;
    let mined_in = value::hash(member(receipt, "blockHash"), "blockHash")?;
    match member(tx, "blockHash") {
        None => return Ok(None),
        hash if value::hash(hash, "blockHash")? != mined_in => return Ok(None),
        _ => {}
    }
    let block = value::number(member(receipt, "blockNumber"), "blockNumber")?;
    // Old transactions have no chain of their own: then it is that of the node, which has just been compared.
    let chain_id = match member(tx, "chainId") {
        None => chain_id,
        id => value::number(id, "chainId")?,
    };
    let value = value::quantity(member(tx, "value"), "value")?;
    let receipt = Receipt {
        hash: hex::encode_prefixed(asked),
        // A receipt that does not state success is one of a revert.
        success: match member(receipt, "status") {
            None => false,
            status => value::quantity(status, "status")? == U256::from(1),
        },
        block,
        chain_id,
        from: value::address(member(tx, "from"), "from")?.to_string(),
        // A transaction that creates a contract has no target: it differs from each approved one.
        to: match member(tx, "to") {
            None => String::new(),
            to => value::address(to, "to")?.to_string(),
        },
        value: abi::units(value).ok_or_else(|| format!("value is {value}, expected a number of 128 bits"))?,
        data: hex::encode_prefixed(value::bytes(member(tx, "input"), "input")?),
    };
    Ok(Some((receipt, block)))
}
