//! Balances, allowances and the pool, and the effects of transactions on them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::artifact::{DecodedCall, TxRequest, Units};

/// The call data of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum SimCall {
    Transfer { recipient: String, amount: Units },
    Approve { spender: String, amount: Units },
    Swap { token_in: String, token_out: String, amount_in: Units, min_out: Units },
}

impl SimCall {
    /// The call data: JSON in hexadecimal.
    pub(super) fn data(&self) -> String {
        let json = serde_json::json!(self).to_string();
        let digits: String = json.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("0x{digits}")
    }

    pub(super) fn read(data: &str) -> Option<Self> {
        let digits = data.strip_prefix("0x")?.as_bytes();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
        serde_json::from_slice(&bytes?).ok()
    }
}

impl From<SimCall> for DecodedCall {
    fn from(call: SimCall) -> Self {
        match call {
            SimCall::Transfer { recipient, amount } => DecodedCall::Transfer { recipient, amount },
            SimCall::Approve { spender, amount } => DecodedCall::Approve { spender, amount },
            SimCall::Swap { token_in, token_out, amount_in, min_out } => {
                DecodedCall::Swap { token_in, token_out, amount_in, min_out }
            }
        }
    }
}

/// The fee of the pool, in hundredths of a percent.
const FEE_BPS: u128 = 30;

#[derive(Debug, Clone)]
pub(super) struct Ledger {
    router: String,
    native: BTreeMap<String, u128>,
    /// By token and owner.
    tokens: BTreeMap<(String, String), u128>,
    /// By token, owner and spender.
    allowances: BTreeMap<(String, String, String), u128>,
    pool: Vec<(String, u128)>,
}

/// The key of an address.
fn key(address: &str) -> String {
    address.to_ascii_lowercase()
}

impl Ledger {
    pub(super) fn new(router: &str) -> Self {
        Ledger {
            router: key(router),
            native: BTreeMap::new(),
            tokens: BTreeMap::new(),
            allowances: BTreeMap::new(),
            pool: Vec::new(),
        }
    }

    pub(super) fn mint_native(&mut self, owner: &str, amount: Units) {
        *self.native.entry(key(owner)).or_default() += amount.0;
    }

    pub(super) fn mint(&mut self, token: &str, owner: &str, amount: Units) {
        *self.tokens.entry((key(token), key(owner))).or_default() += amount.0;
    }

    pub(super) fn fund_pool(&mut self, one: (&str, Units), other: (&str, Units)) {
        self.pool = [one, other].map(|(token, reserve)| (key(token), reserve.0)).into();
    }

    pub(super) fn native(&self, owner: &str) -> Units {
        Units(self.native.get(&key(owner)).copied().unwrap_or_default())
    }

    pub(super) fn balance(&self, token: &str, owner: &str) -> Units {
        Units(self.tokens.get(&(key(token), key(owner))).copied().unwrap_or_default())
    }

    pub(super) fn allowance(&self, token: &str, owner: &str, spender: &str) -> Units {
        let place = (key(token), key(owner), key(spender));
        Units(self.allowances.get(&place).copied().unwrap_or_default())
    }

    /// The amount that the pool gives: the product of its reserves stays, after the fee.
    pub(super) fn quote(&self, token_in: &str, token_out: &str, amount_in: Units) -> Result<Units, String> {
        let reserve = |token: &str| {
            let found = self.pool.iter().find(|(known, _)| *known == key(token));
            found.map(|(_, reserve)| *reserve).ok_or_else(|| format!("the pool has no {token}"))
        };
        let (before, available) = (reserve(token_in)?, reserve(token_out)?);
        if key(token_in) == key(token_out) {
            return Err("both tokens are the same".to_owned());
        }
        let taxed = amount_in.0.checked_mul(10_000 - FEE_BPS).map(|product| product / 10_000);
        // Halve both factors until the product fits: the quote gets less exact and no larger.
        let (Some(mut taxed), mut before) = (taxed, before) else {
            return Err("the amount is too large".into());
        };
        let mut product = taxed.checked_mul(available);
        while product.is_none() {
            (taxed, before) = (taxed / 2, before.div_ceil(2));
            product = taxed.checked_mul(available);
        }
        let out = product.map_or(0, |product| product / (before + taxed));
        if out == 0 { Err("the pool gives nothing for that amount".to_owned()) } else { Ok(Units(out)) }
    }

    /// Applies a transaction, or leaves the ledger as it is. Returns the amount that the sender gets by an exchange.
    pub(super) fn execute(&mut self, tx: &TxRequest) -> Result<Option<Units>, String> {
        let mut next = self.clone();
        let out = next.apply(tx)?;
        *self = next;
        Ok(out)
    }

    fn apply(&mut self, tx: &TxRequest) -> Result<Option<Units>, String> {
        move_amount(&mut self.native, key(&tx.from), key(&tx.to), tx.value.0)?;
        if tx.data == "0x" {
            return Ok(None);
        }
        let from = tx.from.as_str();
        match SimCall::read(&tx.data).ok_or("the call data cannot be read")? {
            SimCall::Transfer { recipient, amount } => {
                self.transfer(&tx.to, from, &recipient, amount.0).map(|()| None)
            }
            SimCall::Approve { spender, amount } => {
                self.allowances.insert((key(&tx.to), key(from), key(&spender)), amount.0);
                Ok(None)
            }
            SimCall::Swap { token_in, token_out, amount_in, min_out } if key(&tx.to) == self.router => {
                self.swap(from, &token_in, &token_out, amount_in, min_out).map(Some)
            }
            SimCall::Swap { .. } => Err(format!("{} has no pool", tx.to)),
        }
    }

    fn transfer(&mut self, token: &str, from: &str, to: &str, amount: u128) -> Result<(), String> {
        move_amount(&mut self.tokens, (key(token), key(from)), (key(token), key(to)), amount)
    }

    fn swap(
        &mut self,
        owner: &str,
        token_in: &str,
        token_out: &str,
        amount_in: Units,
        min_out: Units,
    ) -> Result<Units, String> {
        let out = self.quote(token_in, token_out, amount_in)?;
        if out < min_out {
            return Err(format!("the pool gives {out}, expected at least {min_out}"));
        }
        let allowance = self.allowances.entry((key(token_in), key(owner), self.router.clone())).or_default();
        *allowance = allowance.checked_sub(amount_in.0).ok_or("the allowance is too low")?;
        let taken = self.tokens.entry((key(token_in), key(owner))).or_default();
        *taken = taken.checked_sub(amount_in.0).ok_or("the balance is too low")?;
        self.mint(token_out, owner, out);
        for (token, reserve) in &mut self.pool {
            if *token == key(token_in) {
                *reserve += amount_in.0;
            } else if *token == key(token_out) {
                *reserve -= out.0;
            }
        }
        Ok(out)
    }
}

fn move_amount<K: Ord>(balances: &mut BTreeMap<K, u128>, from: K, to: K, amount: u128) -> Result<(), String> {
    if amount == 0 {
        return Ok(());
    }
    let left = balances.entry(from).or_default();
    *left = left.checked_sub(amount).ok_or("the balance is too low")?;
    let sum = balances.entry(to).or_default();
    *sum = sum.checked_add(amount).ok_or("the balance is too large")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::TxKind;

    fn ledger() -> Ledger {
        let mut ledger = Ledger::new("0xR");
        ledger.mint("0x1", "0xa", Units(1_000));
        ledger.fund_pool(("0x1", Units(1_000_000)), ("0x2", Units(2_000_000)));
        ledger
    }

    fn call(to: &str, call: &SimCall) -> TxRequest {
        let (kind, data) = (TxKind::Transfer, call.data());
        TxRequest { kind, chain_id: 1, from: "0xA".into(), to: to.into(), value: Units(0), data }
    }

    #[test]
    fn swap_needs_an_allowance_and_keeps_the_product() {
        let mut ledger = ledger();
        let swap = SimCall::Swap {
            token_in: "0x1".into(),
            token_out: "0x2".into(),
            amount_in: Units(1_000),
            min_out: Units(1),
        };
        let refused = ledger.execute(&call("0xr", &swap)).unwrap_err();
        assert_eq!(refused, "the allowance is too low");
        assert_eq!(ledger.balance("0x1", "0xa"), Units(1_000), "a refusal has no effect");

        let approve = SimCall::Approve { spender: "0xR".into(), amount: Units(1_000) };
        ledger.execute(&call("0x1", &approve)).unwrap();
        ledger.execute(&call("0xr", &swap)).unwrap();
        // 997 after the fee, of a pool of 1,000,000 and 2,000,000.
        assert_eq!(ledger.balance("0x2", "0xa"), Units(1_992));
        assert_eq!(ledger.allowance("0x1", "0xa", "0xr"), Units(0));
    }

    #[test]
    fn quotes_of_huge_amounts_do_not_overflow() {
        let mut ledger = ledger();
        ledger.fund_pool(("0x1", Units(u128::MAX / 4)), ("0x2", Units(u128::MAX / 4)));
        let quoted = ledger.quote("0x1", "0x2", Units(u128::MAX / 100_000)).unwrap();
        assert!(quoted > Units(0) && quoted < Units(u128::MAX / 100_000));
        assert!(ledger.quote("0x1", "0x2", Units::MAX).is_err());
        assert!(ledger.quote("0x1", "0x1", Units(1_000)).is_err());
        assert!(ledger.quote("0x1", "0x3", Units(1_000)).is_err());
    }

    #[test]
    fn foreign_call_data_reverts() {
        let mut tx = call("0x1", &SimCall::Transfer { recipient: "0xb".into(), amount: Units(1) });
        ledger().execute(&tx).unwrap();
        for data in ["", "0", "0x0", "0xzz", "0x7b7d"] {
            tx.data = data.into();
            assert!(ledger().execute(&tx).is_err(), "{data:?}");
        }
    }
}
