//! The simulator: `eth_simulateV1` where the node has it, else `eth_call` for each transaction.

use alloy_primitives::U256;
use alloy_sol_types::SolCall;
use async_trait::async_trait;
use runstate_service::{Chain, DecodedCall, PortError, Simulator, TxRequest, TxResult};
use serde_json::{Value, json};

use crate::abi;
use crate::address::parse;
use crate::chain::{EvmChain, member, refused};
use crate::rpc::{RpcError, reason};
use crate::value;

/// The codes of a node that has no such method: of JSON-RPC, and of EIP-1474.
const NO_METHOD: [i64; 2] = [-32_601, -32_004];

/// A transaction with the reading of its call data.
struct Read<'t> {
    tx: &'t TxRequest,
    call: Option<DecodedCall>,
}

#[async_trait]
impl Simulator for EvmChain {
    async fn simulate(&self, chain: &Chain, txs: &[TxRequest]) -> Result<Vec<TxResult>, PortError> {
        self.checked(chain.id).await?;
        let read: Vec<Read<'_>> = txs.iter().map(|tx| Read { tx, call: abi::decode(tx) }).collect();
        match self.in_order(&read).await {
            Ok(results) => Ok(results),
            Err(RpcError::Node { code, .. }) if NO_METHOD.contains(&code) => self.one_by_one(&read).await,
            // Some nodes refuse the whole sequence. It cannot succeed; no one of them says which transaction is the cause.
            Err(error) => match error.reason() {
                Some(reason) => {
                    let fails = || TxResult::reverted(format!("the sequence fails: {reason}"));
                    Ok(txs.iter().map(|_| fails()).collect())
                }
                None => Err(error.into()),
            },
        }
    }
}

impl EvmChain {
    /// Simulates the transactions in one block, each after the effects of the earlier ones.
    async fn in_order(&self, read: &[Read<'_>]) -> Result<Vec<TxResult>, RpcError> {
        let calls: Vec<Value> = read.iter().map(|Read { tx, .. }| call_of(tx, "input")).collect();
        let block = json!({ "blockStateCalls": [{ "calls": calls }], "validation": false });
        let answer = self.inner.rpc.call("eth_simulateV1", json!([block, "latest"])).await?;
        let calls = answer.get(0).and_then(|block| block.get("calls")).and_then(Value::as_array);
        let calls = calls.filter(|calls| calls.len() == read.len()).ok_or_else(|| {
            let expected = read.len();
            RpcError::Answer(format!("eth_simulateV1: expected one block with {expected} calls"))
        })?;
        let results = read.iter().zip(calls).map(|(read, call)| {
            let status = value::number(member(call, "status"), "the status")?;
            let data = match member(call, "returnData") {
                None => Vec::new(),
                data => value::bytes(data, "the returned data")?,
            };
            let error = member(call, "error").and_then(|error| error.get("message")).and_then(Value::as_str);
            Ok(match status {
                1 => ended(&read.call, &data),
                _ => TxResult::reverted(reason(&data, error.unwrap_or_default())),
            })
        });
        let results: Result<_, String> = results.collect();
        results.map_err(|error| RpcError::Answer(format!("eth_simulateV1: {error}")))
    }

    /// Simulates each transaction on the newest block. One that needs an effect of an earlier one cannot be simulated so: its
    /// success is assumed, except that of an exchange after its deadline.
    async fn one_by_one(&self, read: &[Read<'_>]) -> Result<Vec<TxResult>, PortError> {
        let mut results = Vec::new();
        for (place, one) in read.iter().enumerate() {
            if self.needs_an_earlier(&read[..place], one).await? {
                // Without a result of the exchange: the router's quote of now is no proof of its quote before.
                results.push(match abi::deadline(one.tx) {
                    Some(deadline) if deadline < U256::from(self.newest_time().await?) => {
                        TxResult::reverted("the deadline of the exchange is over")
                    }
                    _ => TxResult::assumed(),
                });
                continue;
            }
            results.push(
                match self.inner.rpc.call("eth_call", json!([call_of(one.tx, "data"), "latest"])).await {
                    Ok(answer) => {
                        ended(&one.call, &value::bytes(Some(&answer), "the returned data").map_err(refused)?)
                    }
                    Err(error) => match error.reason() {
                        Some(reason) => TxResult::reverted(reason),
                        None => return Err(error.into()),
                    },
                },
            );
        }
        Ok(results)
    }

    /// Returns whether a transaction uses an allowance or a balance that the wallet does not have and an earlier one gives.
    async fn needs_an_earlier(&self, earlier: &[Read<'_>], one: &Read<'_>) -> Result<bool, PortError> {
        let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
        let (token, amount) = match &one.call {
            Some(DecodedCall::Swap { token_in, amount_in, .. }) => (token_in.as_str(), *amount_in),
            Some(DecodedCall::Transfer { amount, .. }) => (one.tx.to.as_str(), *amount),
            _ => return Ok(false),
        };
        let address = |text: &str| parse(text).map_err(|error| refused(error.to_string()));
        let (owner, address_of_token) = (address(&one.tx.from)?, address(token)?);
        let is_bought = earlier.iter().any(
            |read| matches!(&read.call, Some(DecodedCall::Swap { token_out, .. }) if same(token_out, token)),
        );
        if is_bought {
            let balance = self.view(address_of_token, &abi::Token::balanceOfCall { owner }).await?;
            if abi::at_most_units(balance) < amount {
                return Ok(true);
            }
        }
        let is_granted = earlier.iter().any(|read| {
            matches!(&read.call, Some(DecodedCall::Approve { spender, amount: granted })
                if same(&read.tx.to, token) && same(spender, &one.tx.to) && *granted >= amount)
        });
        if !is_granted || !matches!(one.call, Some(DecodedCall::Swap { .. })) {
            return Ok(false);
        }
        let call = abi::Token::allowanceCall { owner, spender: address(&one.tx.to)? };
        Ok(abi::at_most_units(self.view(address_of_token, &call).await?) < amount)
    }
}

/// A transaction as a call. The member with the call data is `data` in old nodes, and `input` in the newer method.
fn call_of(tx: &TxRequest, data: &str) -> Value {
    json!({ "from": tx.from, "to": tx.to, "value": format!("{:#x}", tx.value.0), data: tx.data })
}

/// The result of a call that did not revert.
fn ended(call: &Option<DecodedCall>, data: &[u8]) -> TxResult {
    match call {
        Some(DecodedCall::Swap { .. }) => {
            let amounts = abi::Router::swapExactTokensForTokensCall::abi_decode_returns(data).ok();
            let last = amounts.as_deref().and_then(<[_]>::last).copied();
            TxResult::ok().with_out(last.and_then(abi::units))
        }
        // Some tokens return nothing, and some return false in the place of a revert.
        Some(DecodedCall::Transfer { .. } | DecodedCall::Approve { .. })
            if data.len() >= 32 && data.iter().all(|byte| *byte == 0) =>
        {
            TxResult::reverted("the token returns false")
        }
        _ => TxResult::ok(),
    }
}
