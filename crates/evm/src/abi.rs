//! The functions of tokens and routers, and the reading of call data.

#![allow(missing_docs, unreachable_pub, reason = "a macro makes the items from the signatures")]

use alloy_primitives::{U256, hex};
use alloy_sol_types::{SolCall, sol};
use runstate_service::{DecodedCall, Decoder, TxRequest, Units};

use crate::address::parse;
use crate::chain::EvmChain;
use crate::value;

sol! {
    interface Token {
        function decimals() external view returns (uint8);
        function balanceOf(address owner) external view returns (uint256);
        function allowance(address owner, address spender) external view returns (uint256);
        function transfer(address to, uint256 amount) external returns (bool);
        function approve(address spender, uint256 amount) external returns (bool);
    }

    interface Router {
        function getAmountsOut(uint256 amountIn, address[] memory path)
            external view returns (uint256[] memory amounts);
        function swapExactTokensForTokens(
            uint256 amountIn,
            uint256 amountOutMin,
            address[] calldata path,
            address to,
            uint256 deadline
        ) external returns (uint256[] memory amounts);
    }
}

/// The call data as a transaction has it.
pub(crate) fn data(call: &impl SolCall) -> String {
    hex::encode_prefixed(call.abi_encode())
}

/// An amount that fits the units of the service.
pub(crate) fn units(amount: U256) -> Option<Units> {
    u128::try_from(amount).ok().map(Units)
}

/// An amount of a wallet. A larger one than the units of the service counts as the largest one: an allowance without a
/// limit has 256 bits.
pub(crate) fn at_most_units(amount: U256) -> Units {
    units(amount).unwrap_or(Units::MAX)
}

/// Reads the call data of one function. None for data that the function does not have in exactly this form: trailing bytes
/// and dirty padding are no part of an approved meaning.
fn exactly<C: SolCall>(data: &[u8]) -> Option<C> {
    let call = C::abi_decode(data).ok()?;
    (call.abi_encode() == data).then_some(call)
}

fn bytes(tx: &TxRequest) -> Option<Vec<u8>> {
    hex::decode(value::digits(&tx.data)?).ok()
}

/// The time until which an exchange is valid, in seconds. None for another function.
pub(crate) fn deadline(tx: &TxRequest) -> Option<U256> {
    Some(exactly::<Router::swapExactTokensForTokensCall>(&bytes(tx)?)?.deadline)
}

/// Reads the call data of a transaction.
pub(crate) fn decode(tx: &TxRequest) -> Option<DecodedCall> {
    let data = bytes(tx)?;
    if let Some(Token::transferCall { to, amount }) = exactly(&data) {
        return Some(DecodedCall::Transfer { recipient: to.to_string(), amount: units(amount)? });
    }
    if let Some(Token::approveCall { spender, amount }) = exactly(&data) {
        return Some(DecodedCall::Approve { spender: spender.to_string(), amount: units(amount)? });
    }
    let swap: Router::swapExactTokensForTokensCall = exactly(&data)?;
    // The result must go to the wallet, and a third token could be anything.
    let [token_in, token_out] = swap.path[..] else { return None };
    if parse(&tx.from).ok()? != swap.to {
        return None;
    }
    Some(DecodedCall::Swap {
        token_in: token_in.to_string(),
        token_out: token_out.to_string(),
        amount_in: units(swap.amountIn)?,
        min_out: units(swap.amountOutMin)?,
    })
}

impl Decoder for EvmChain {
    fn decode(&self, tx: &TxRequest) -> Option<DecodedCall> {
        decode(tx)
    }
}
