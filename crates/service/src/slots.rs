//! Slots of actions: answers fill them, and a question asks for each that is missing.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::artifact::{Action, MissingSlot, Question, Units};
use crate::config::Chain;

/// The name of a slot of the action at that position. The first action has plain names.
fn named(slot: &str, position: usize) -> String {
    if position == 0 { slot.to_owned() } else { format!("{slot}_{}", position + 1) }
}

/// The text of an answer: a string, or the digits of a number.
pub(crate) fn text_of(answer: &Value) -> Option<String> {
    match answer {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Fills slots with the answers of the user: those with one of these names.
///
/// A slot is named by the position of its action. A planner that has read the answers may order its actions otherwise, so
/// its values are not replaced: only the missing ones are filled.
pub(crate) fn fill(
    actions: &mut [Action],
    user_inputs: &BTreeMap<String, Value>,
    is_filled: impl Fn(&str) -> bool,
) {
    for (position, action) in actions.iter_mut().enumerate() {
        let slots = action.slots().map(|(slot, _)| slot);
        for slot in slots {
            let name = named(slot, position);
            let answer = user_inputs.get(&name).filter(|_| is_filled(&name)).and_then(text_of);
            if let (Some(answer), Some(value)) = (answer, action.slot_mut(slot)) {
                *value = Some(answer);
            }
        }
    }
}

/// The slots of the actions without a usable value.
pub(crate) fn missing(
    actions: &[Action],
    chain: &Chain,
    is_address: impl Fn(&str) -> bool,
) -> Vec<MissingSlot> {
    let mut missing = Vec::new();
    for (position, action) in actions.iter().enumerate() {
        for (slot, value) in action.slots() {
            let (usable, options) = match slot {
                "recipient" => (value.is_some_and(&is_address), Vec::new()),
                "asset" => (value.is_some_and(|symbol| chain.decimals(symbol).is_some()), chain.symbols()),
                "token_in" | "token_out" => {
                    let known = value.is_some_and(|symbol| chain.token(symbol).is_some());
                    (known, chain.tokens.keys().cloned().collect())
                }
                // The decimals of an unknown asset are unknown: then any number will do until the asset is known.
                _ => (value.is_some_and(|text| units(action, text, chain).is_some()), Vec::new()),
            };
            if !usable {
                missing.push(MissingSlot {
                    slot: named(slot, position),
                    got: value.map(str::to_owned),
                    options,
                });
            }
        }
    }
    missing
}

/// The amount of an action in the smallest unit of its asset.
pub(crate) fn units(action: &Action, amount: &str, chain: &Chain) -> Option<Units> {
    let asset = match action {
        Action::Send { asset, .. } => asset,
        Action::Swap { token_in, .. } => token_in,
    };
    let decimals = asset.as_deref().and_then(|symbol| chain.decimals(symbol));
    Units::parse(amount, decimals.unwrap_or(crate::config::NATIVE_DECIMALS))
}

/// The assets that the actions take from the wallet, with the sum of each, by symbol.
pub(crate) fn needed(actions: &[Action], chain: &Chain) -> BTreeMap<String, Units> {
    let mut needed: BTreeMap<String, Units> = BTreeMap::new();
    for action in actions {
        let (asset, amount) = match action {
            Action::Send { asset, amount, .. } => (asset, amount),
            Action::Swap { token_in, amount_in, .. } => (token_in, amount_in),
        };
        let (Some(asset), Some(amount)) = (asset, amount) else { continue };
        let Some(units) = units(action, amount, chain) else { continue };
        let symbol = match chain.token(asset) {
            Some((symbol, _)) => symbol.to_owned(),
            None => chain.native.clone(),
        };
        let sum = needed.entry(symbol).or_default();
        *sum = sum.saturating_add(units);
    }
    needed
}

/// The question for a slot.
pub(crate) fn question(missing: &MissingSlot) -> Question {
    let text = match &missing.got {
        Some(got) => format!("{got:?} cannot be used as {}. Which value should it have?", missing.slot),
        None => format!("Which value should {} have?", missing.slot),
    };
    Question { slot: Some(missing.slot.clone()), text, options: missing.options.clone() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::{Token, is_address};

    fn chain() -> Chain {
        let token = |address: &str, decimals| Token { address: address.into(), decimals };
        let tokens = [("USDC".into(), token("0x1", 6)), ("WETH".into(), token("0x2", 18))];
        Chain { id: 1, name: "sim".into(), native: "ETH".into(), tokens: tokens.into() }
    }

    fn send(amount: &str, asset: &str) -> Action {
        Action::Send {
            amount: Some(amount.into()),
            asset: Some(asset.into()),
            recipient: Some("0xabc".into()),
        }
    }

    #[test]
    fn answers_fill_the_slots_of_their_action() {
        let mut actions = [send("1", "USDC"), send("2", "USDC")];
        let inputs =
            BTreeMap::from([("amount_2".to_owned(), json!(5)), ("asset".to_owned(), json!(" WETH "))]);
        fill(&mut actions, &inputs, |_| true);
        assert_eq!(actions, [send("1", "WETH"), send("5", "USDC")]);
    }

    #[test]
    fn unusable_values_are_missing_with_the_known_ones() {
        let none = Action::Swap { amount_in: None, token_in: None, token_out: None, slippage_bps: None };
        let slots = |actions: &[Action]| -> Vec<String> {
            missing(actions, &chain(), is_address).into_iter().map(|missing| missing.slot).collect()
        };
        assert_eq!(slots(&[none]), ["amount_in", "token_in", "token_out"]);
        assert_eq!(slots(&[send("1", "usdc")]), [""; 0]);
        assert_eq!(slots(&[send("1", "eth"), send("0", "DOGE")]), ["amount_2", "asset_2"]);
        assert_eq!(slots(&[send("1.1234567", "USDC")]), ["amount"], "more digits than the token has");
        let doge = &missing(&[send("1", "DOGE")], &chain(), is_address)[0];
        assert_eq!((doge.got.as_deref(), &doge.options[..]), (Some("DOGE"), &chain().symbols()[..]));
    }

    #[test]
    fn needs_of_all_actions_add_up() {
        let swap = Action::Swap {
            amount_in: Some("2".into()),
            token_in: Some("usdc".into()),
            token_out: Some("WETH".into()),
            slippage_bps: None,
        };
        let needed = needed(&[send("1", "USDC"), swap, send("1", "ETH")], &chain());
        let expected = [("ETH".to_owned(), Units(10_u128.pow(18))), ("USDC".to_owned(), Units(3_000_000))];
        assert_eq!(needed, expected.into());
    }
}
