//! The compiler of actions to transactions of the chain.

use super::SimChain;
use super::ledger::{Ledger, SimCall};
use crate::artifact::{Action, Candidate, TxCall, TxKind, TxRequest, Units};
use crate::config::NATIVE_DECIMALS;
use crate::meaning::taken;
use crate::policy::least_out;
use crate::port::CompileInput;

pub(super) fn compile(ledger: &Ledger, input: &CompileInput<'_>) -> Result<Vec<Candidate>, String> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for action in input.actions {
        match action {
            Action::Send { amount: Some(amount), asset: Some(asset), recipient: Some(recipient) } => {
                candidates.push(send(input, amount, asset, recipient)?);
            }
            Action::Swap {
                amount_in: Some(amount),
                token_in: Some(token_in),
                token_out: Some(token_out),
                slippage_bps,
            } => {
                let slippage_bps = slippage_bps.unwrap_or(input.slippage_bps);
                swap(ledger, input, &mut candidates, (amount, token_in, token_out), slippage_bps)?;
            }
            _ => return Err("a slot of an action has no value; expected one for each slot".to_owned()),
        }
    }
    Ok(candidates)
}

fn candidate(
    input: &CompileInput<'_>,
    protocol: &str,
    kind: TxKind,
    call: TxCall,
    (to, value, data): (&str, Units, String),
) -> Candidate {
    let (from, to) = (input.wallet.to_owned(), to.to_owned());
    let tx = TxRequest { kind, chain_id: input.chain.id, from, to, value, data };
    Candidate { protocol: protocol.to_owned(), call, tx, tx_hash: None }
}

fn token<'c>(input: &CompileInput<'c>, symbol: &str) -> Result<(&'c str, u8), String> {
    let found = input.chain.token(symbol).map(|(_, token)| (token.address.as_str(), token.decimals));
    found.ok_or_else(|| format!("the token {symbol:?} is unknown"))
}

fn units(amount: &str, decimals: u8) -> Result<Units, String> {
    Units::parse(amount, decimals).ok_or_else(|| format!("{amount:?} is no amount of {decimals} decimals"))
}

fn send(input: &CompileInput<'_>, amount: &str, asset: &str, recipient: &str) -> Result<Candidate, String> {
    let recipient = recipient.to_owned();
    if asset.eq_ignore_ascii_case(&input.chain.native) {
        let amount = units(amount, NATIVE_DECIMALS)?;
        let call = TxCall::TransferNative { recipient: recipient.clone(), amount };
        return Ok(candidate(input, "native", TxKind::Transfer, call, (&recipient, amount, "0x".into())));
    }
    let (address, decimals) = token(input, asset)?;
    let amount = units(amount, decimals)?;
    let data = SimCall::Transfer { recipient: recipient.clone(), amount }.data();
    let call = TxCall::TransferToken { token: address.to_owned(), recipient, amount };
    Ok(candidate(input, "token", TxKind::Transfer, call, (address, Units(0), data)))
}

fn swap(
    ledger: &Ledger,
    input: &CompileInput<'_>,
    candidates: &mut Vec<Candidate>,
    (amount, token_in, token_out): (&str, &str, &str),
    slippage_bps: u32,
) -> Result<(), String> {
    let ((token_in, decimals), (token_out, _)) = (token(input, token_in)?, token(input, token_out)?);
    let amount_in = units(amount, decimals)?;
    let (spender, router) = (SimChain::ROUTER.to_owned(), SimChain::ROUTER.to_owned());
    let given = input.snapshot.allowances.iter().filter(|allowance| {
        allowance.token.eq_ignore_ascii_case(token_in) && allowance.spender.eq_ignore_ascii_case(&router)
    });
    let given = given.map(|allowance| allowance.amount).max().unwrap_or_default();
    // One allowance for all exchanges of the token: a second one would replace the first.
    let needed = taken(candidates, token_in, &router).saturating_add(amount_in);
    if given < needed {
        let is_for_token = |candidate: &Candidate| matches!(&candidate.call, TxCall::Approve { token, .. } if token == token_in);
        let place = candidates.iter().position(is_for_token);
        let data = SimCall::Approve { spender: spender.clone(), amount: needed }.data();
        let call = TxCall::Approve { token: token_in.to_owned(), spender, amount: needed };
        let allows = candidate(input, "token", TxKind::Approve, call, (token_in, Units(0), data));
        match place {
            Some(place) => candidates[place] = allows,
            None => candidates.push(allows),
        }
    }
    let quoted_out = ledger.quote(token_in, token_out, amount_in)?;
    let min_out = least_out(quoted_out, slippage_bps);
    let (token_in, token_out) = (token_in.to_owned(), token_out.to_owned());
    let data =
        SimCall::Swap { token_in: token_in.clone(), token_out: token_out.clone(), amount_in, min_out }.data();
    let call = TxCall::Swap { router, token_in, token_out, amount_in, quoted_out, min_out, slippage_bps };
    candidates.push(candidate(input, "sim-pool", TxKind::Swap, call, (SimChain::ROUTER, Units(0), data)));
    Ok(())
}
