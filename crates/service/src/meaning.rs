//! The comparison of compiled transactions with their actions and with their described meaning.

use std::fmt;

use crate::artifact::{Action, Candidate, DecodedCall, TxCall, TxKind, TxRequest, Units};
use crate::config::Chain;
use crate::slots;

fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Compares a field, without the case of hexadecimal digits.
fn equal(field: &str, got: impl fmt::Display, expected: impl fmt::Display) -> Result<(), String> {
    let (got, expected) = (got.to_string(), expected.to_string());
    if same(&got, &expected) { Ok(()) } else { Err(format!("{field} is {got}, expected {expected}")) }
}

/// Compares the transactions with the actions and with the described calls: their fields, and their call data where a
/// decoder has read it.
pub(crate) fn check(
    actions: &[Action],
    candidates: &[Candidate],
    chain: &Chain,
    wallet: &str,
    decoded: Option<&[Option<DecodedCall>]>,
) -> Result<(), String> {
    for (place, candidate) in candidates.iter().enumerate() {
        let at_place = |error: String| format!("transaction {}: {error}", place + 1);
        fields(candidate, chain, wallet).map_err(at_place)?;
        if let Some(decoded) = decoded {
            let decoded = decoded.get(place).and_then(Option::as_ref);
            data(&candidate.call, decoded).map_err(at_place)?;
        }
    }
    let works = candidates.iter().filter(|candidate| candidate.tx.kind != TxKind::Approve);
    let works: Vec<&Candidate> = works.collect();
    if works.len() != actions.len() {
        let (got, expected) = (works.len(), actions.len());
        return Err(format!(
            "{got} transactions that are no allowance, expected {expected}, one for each action"
        ));
    }
    for (place, (action, candidate)) in actions.iter().zip(works).enumerate() {
        serves(action, &candidate.call, chain).map_err(|error| format!("action {}: {error}", place + 1))?;
    }
    Ok(())
}

/// Compares the fields of a transaction with the described call.
fn fields(candidate: &Candidate, chain: &Chain, wallet: &str) -> Result<(), String> {
    let Candidate { call, tx: TxRequest { kind, chain_id, from, to, value, data }, .. } = candidate;
    equal("chain_id", chain_id, chain.id)?;
    equal("from", from, wallet)?;
    let (expected, target, amount) = match call {
        TxCall::TransferNative { recipient, amount } => {
            // Another call of a contract is no transfer, also of a contract that may be called.
            equal("data", data, "0x")?;
            (TxKind::Transfer, recipient, amount)
        }
        TxCall::TransferToken { token, .. } => (TxKind::Transfer, token, &Units(0)),
        TxCall::Approve { token, .. } => (TxKind::Approve, token, &Units(0)),
        TxCall::Swap { router, .. } => (TxKind::Swap, router, &Units(0)),
    };
    if *kind != expected {
        return Err(format!("kind is {kind:?}, expected {expected:?}"));
    }
    equal("to", to, target)?;
    equal("value", value, amount)
}

/// Compares decoded call data with the described call.
fn data(call: &TxCall, decoded: Option<&DecodedCall>) -> Result<(), String> {
    match (call, decoded) {
        // It has no call data.
        (TxCall::TransferNative { .. }, _) => Ok(()),
        (
            TxCall::TransferToken { recipient, amount, .. },
            Some(DecodedCall::Transfer { recipient: to, amount: sent }),
        ) => {
            equal("the recipient in the call data", to, recipient)?;
            equal("the amount in the call data", sent, amount)
        }
        (
            TxCall::Approve { spender, amount, .. },
            Some(DecodedCall::Approve { spender: allowed, amount: granted }),
        ) => {
            equal("the spender in the call data", allowed, spender)?;
            equal("the amount in the call data", granted, amount)
        }
        (
            TxCall::Swap { token_in, token_out, amount_in, min_out, .. },
            Some(DecodedCall::Swap { token_in: sold, token_out: bought, amount_in: taken, min_out: least }),
        ) => {
            equal("token_in in the call data", sold, token_in)?;
            equal("token_out in the call data", bought, token_out)?;
            equal("amount_in in the call data", taken, amount_in)?;
            equal("min_out in the call data", least, min_out)
        }
        (_, None) => Err("the call data cannot be read".to_owned()),
        (call, Some(decoded)) => {
            let got = match decoded {
                DecodedCall::Transfer { .. } => "a transfer of a token",
                DecodedCall::Approve { .. } => "an allowance",
                DecodedCall::Swap { .. } => "an exchange",
            };
            Err(format!("the call data is that of {got}, expected {}", name(call)))
        }
    }
}

/// The kind of a described call.
fn name(call: &TxCall) -> &'static str {
    match call {
        TxCall::TransferNative { .. } => "a transfer of the native currency",
        TxCall::TransferToken { .. } => "a transfer of a token",
        TxCall::Approve { .. } => "an allowance",
        TxCall::Swap { .. } => "an exchange",
    }
}

/// Compares a described call with its action.
fn serves(action: &Action, call: &TxCall, chain: &Chain) -> Result<(), String> {
    let amount = |amount: &Option<String>| {
        let units = amount.as_deref().and_then(|amount| slots::units(action, amount, chain));
        let got = || amount.as_deref().unwrap_or_default();
        units.ok_or_else(|| format!("got the amount {:?}, expected one of a known asset", got()))
    };
    let token = |symbol: &Option<String>| {
        let known = symbol.as_deref().and_then(|symbol| chain.token(symbol));
        known.map(|(_, token)| token.address.clone()).ok_or_else(|| {
            format!("got the token {:?}, expected a known one", symbol.as_deref().unwrap_or_default())
        })
    };
    match (action, call) {
        (
            Action::Send { amount: asked, asset: Some(asset), recipient: Some(to) },
            TxCall::TransferNative { recipient, amount: sent },
        ) if same(asset, &chain.native) => {
            equal("recipient", recipient, to)?;
            equal("amount", sent, amount(asked)?)
        }
        (
            Action::Send { amount: asked, asset, recipient: Some(to) },
            TxCall::TransferToken { token: sent_token, recipient, amount: sent },
        ) => {
            equal("token", sent_token, token(asset)?)?;
            equal("recipient", recipient, to)?;
            equal("amount", sent, amount(asked)?)
        }
        (
            Action::Swap { amount_in: asked, token_in: sold, token_out: bought, slippage_bps: limit },
            TxCall::Swap { token_in, token_out, amount_in, slippage_bps, .. },
        ) => {
            equal("token_in", token_in, token(sold)?)?;
            equal("token_out", token_out, token(bought)?)?;
            equal("amount_in", amount_in, amount(asked)?)?;
            match limit {
                Some(limit) if slippage_bps > limit => {
                    Err(format!("slippage_bps is {slippage_bps}, expected at most {limit}"))
                }
                _ => Ok(()),
            }
        }
        (Action::Send { asset, .. }, call) => Err(format!(
            "the transaction is {}, expected a transfer of {}",
            name(call),
            asset.as_deref().unwrap_or("an asset")
        )),
        (Action::Swap { .. }, call) => {
            Err(format!("the transaction is {}, expected an exchange", name(call)))
        }
    }
}

/// The amount that the exchanges of the plan take by an allowance. Zero for an allowance that none of them uses.
pub(crate) fn taken(candidates: &[Candidate], token: &str, spender: &str) -> Units {
    let mut sum = Units(0);
    for candidate in candidates {
        match &candidate.call {
            TxCall::Swap { router, token_in, amount_in, .. }
                if same(router, spender) && same(token_in, token) =>
            {
                sum = sum.saturating_add(*amount_in);
            }
            _ => {}
        }
    }
    sum
}
