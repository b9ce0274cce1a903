//! The compiler of actions to transactions of the chain.

use alloy_primitives::{Address, U256};
use async_trait::async_trait;
use runstate_service::{
    Action, Candidate, CompileInput, Compiler, NATIVE_DECIMALS, PortError, TxCall, TxKind, TxRequest, Units,
};
use serde_json::json;

use crate::abi::{self, data};
use crate::address::parse;
use crate::chain::{EvmChain, member, refused};
use crate::options::Router;
use crate::value;

fn refuses(reason: String) -> PortError {
    PortError::Refused { port: "the compiler", reason }
}

#[async_trait]
impl Compiler for EvmChain {
    async fn compile(&self, input: &CompileInput<'_>) -> Result<Vec<Candidate>, PortError> {
        self.checked(input.chain.id).await?;
        let mut built = Built { input, candidates: Vec::new() };
        let mut deadline = None;
        for action in input.actions {
            match action {
                Action::Send { amount: Some(amount), asset: Some(asset), recipient: Some(recipient) } => {
                    built.send(amount, asset, recipient).map_err(refuses)?;
                }
                Action::Swap {
                    amount_in: Some(amount),
                    token_in: Some(sold),
                    token_out: Some(bought),
                    slippage_bps,
                } => {
                    let swap = built.swap(amount, sold, bought).map_err(refuses)?;
                    let slippage_bps = slippage_bps.unwrap_or(input.slippage_bps);
                    let until = match deadline {
                        Some(until) => until,
                        None => *deadline.insert(self.deadline().await?),
                    };
                    self.exchange(&mut built, swap, slippage_bps, until).await?;
                }
                _ => {
                    return Err(refuses(
                        "a slot of an action has no value; expected one for each slot".to_owned(),
                    ));
                }
            }
        }
        Ok(built.candidates)
    }

    fn is_address(&self, text: &str) -> bool {
        parse(text).is_ok()
    }
}

/// A token with its address as text and as bytes.
struct Known<'a> {
    text: &'a str,
    address: Address,
}

/// An exchange without its quote.
struct Swap<'a> {
    sold: Known<'a>,
    bought: Known<'a>,
    amount_in: Units,
}

struct Built<'i, 'a> {
    input: &'i CompileInput<'a>,
    candidates: Vec<Candidate>,
}

impl<'a> Built<'_, 'a> {
    fn candidate(
        &self,
        protocol: &str,
        kind: TxKind,
        call: TxCall,
        (to, value, data): (&str, Units, String),
    ) -> Candidate {
        let (from, to) = (self.input.wallet.to_owned(), to.to_owned());
        let tx = TxRequest { kind, chain_id: self.input.chain.id, from, to, value, data };
        Candidate { protocol: protocol.to_owned(), call, tx, tx_hash: None }
    }

    fn token(&self, symbol: &str) -> Result<(Known<'a>, u8), String> {
        let (_, token) =
            self.input.chain.token(symbol).ok_or_else(|| format!("the token {symbol:?} is unknown"))?;
        let address = parse(&token.address).map_err(|error| format!("the token {symbol}: {error}"))?;
        Ok((Known { text: &token.address, address }, token.decimals))
    }

    fn send(&mut self, amount: &str, asset: &str, recipient: &str) -> Result<(), String> {
        let to = parse(recipient).map_err(|error| format!("the recipient: {error}"))?;
        let recipient = recipient.to_owned();
        let candidate = if asset.eq_ignore_ascii_case(&self.input.chain.native) {
            let amount = units(amount, NATIVE_DECIMALS)?;
            let call = TxCall::TransferNative { recipient: recipient.clone(), amount };
            self.candidate("native", TxKind::Transfer, call, (&recipient, amount, "0x".into()))
        } else {
            let (token, decimals) = self.token(asset)?;
            let amount = units(amount, decimals)?;
            let data = data(&abi::Token::transferCall { to, amount: U256::from(amount.0) });
            let call = TxCall::TransferToken { token: token.text.to_owned(), recipient, amount };
            self.candidate("token", TxKind::Transfer, call, (token.text, Units(0), data))
        };
        self.candidates.push(candidate);
        Ok(())
    }

    fn swap(&self, amount: &str, sold: &str, bought: &str) -> Result<Swap<'a>, String> {
        let ((sold, decimals), (bought, _)) = (self.token(sold)?, self.token(bought)?);
        if sold.address == bought.address {
            return Err("an exchange of a token for itself; expected two tokens".to_owned());
        }
        Ok(Swap { sold, bought, amount_in: units(amount, decimals)? })
    }

    /// Adds an allowance for the router, or enlarges the one of an earlier exchange: a second one would replace it.
    fn allow(&mut self, swap: &Swap<'_>, router: &Router, spender: Address) {
        let same = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
        let token = swap.sold.text;
        let given = self.input.snapshot.allowances.iter();
        let given = given.filter(|given| same(&given.token, token) && same(&given.spender, &router.address));
        let given = given.map(|given| given.amount).max().unwrap_or_default();
        let earlier = self.candidates.iter().filter_map(|candidate| match &candidate.call {
            TxCall::Swap { token_in, amount_in, .. } if same(token_in, token) => Some(*amount_in),
            _ => None,
        });
        let amount = earlier.fold(swap.amount_in, Units::saturating_add);
        if given >= amount {
            return;
        }
        let data = data(&abi::Token::approveCall { spender, amount: U256::from(amount.0) });
        let call = TxCall::Approve { token: token.to_owned(), spender: router.address.clone(), amount };
        let allows = self.candidate("token", TxKind::Approve, call, (token, Units(0), data));
        let place = self.candidates.iter().position(
            |known| matches!(&known.call, TxCall::Approve { token: known, .. } if same(known, token)),
        );
        match place {
            Some(place) => self.candidates[place] = allows,
            None => self.candidates.push(allows),
        }
    }
}

fn units(amount: &str, decimals: u8) -> Result<Units, String> {
    Units::parse(amount, decimals).ok_or_else(|| format!("{amount:?} is no amount of {decimals} decimals"))
}

impl EvmChain {
    /// The quote of the router, now.
    async fn quote(&self, router: Address, amount_in: Units, path: [Address; 2]) -> Result<Units, PortError> {
        let call = abi::Router::getAmountsOutCall { amountIn: U256::from(amount_in.0), path: path.into() };
        let amounts = self.view(router, &call).await?;
        let last =
            if amounts.len() == path.len() { amounts.last().copied().and_then(abi::units) } else { None };
        let last = last.filter(|amount| *amount > Units(0));
        last.ok_or_else(|| {
            refused(format!("the router {router} has no quote; expected an amount above zero"))
        })
    }

    /// The time of the newest block, in seconds.
    pub(crate) async fn newest_time(&self) -> Result<u64, PortError> {
        let block = self.inner.rpc.call("eth_getBlockByNumber", json!(["latest", false])).await?;
        value::number(member(&block, "timestamp"), "the time of the block").map_err(refused)
    }

    /// The time until which an exchange is valid, in seconds.
    async fn deadline(&self) -> Result<U256, PortError> {
        Ok(U256::from(self.newest_time().await?) + U256::from(self.inner.swap_deadline.as_secs()))
    }

    async fn exchange(
        &self,
        built: &mut Built<'_, '_>,
        swap: Swap<'_>,
        slippage_bps: u32,
        deadline: U256,
    ) -> Result<(), PortError> {
        let Some((router, address)) = &self.inner.router else {
            let reason = "no router is configured for an exchange; configure one, or ask for transfers";
            return Err(refuses(reason.to_owned()));
        };
        let to = parse(built.input.wallet).map_err(|error| refuses(format!("the wallet: {error}")))?;
        let path = [swap.sold.address, swap.bought.address];
        let quoted_out = self.quote(*address, swap.amount_in, path).await?;
        let kept = U256::from(10_000_u32.saturating_sub(slippage_bps));
        let least = U256::from(quoted_out.0) * kept / U256::from(10_000);
        let min_out = abi::units(least).unwrap_or(quoted_out);
        if min_out == Units(0) {
            return Err(refuses(format!(
                "the exchange gives {quoted_out}, of which the slippage leaves nothing"
            )));
        }
        built.allow(&swap, router, *address);
        let data = data(&abi::Router::swapExactTokensForTokensCall {
            amountIn: U256::from(swap.amount_in.0),
            amountOutMin: least,
            path: path.into(),
            to,
            deadline,
        });
        let call = TxCall::Swap {
            router: router.address.clone(),
            token_in: swap.sold.text.to_owned(),
            token_out: swap.bought.text.to_owned(),
            amount_in: swap.amount_in,
            quoted_out,
            min_out,
            slippage_bps,
        };
        let swap = built.candidate(&router.name, TxKind::Swap, call, (&router.address, Units(0), data));
        built.candidates.push(swap);
        Ok(())
    }
}
