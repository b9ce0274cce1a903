//! The built-in planner: transfers and swaps that are written in plain phrases.

use crate::artifact::{Action, PlanAnswer};

/// Plans an intent such as `send 1.5 USDC to 0xabc` or `swap 2 USDC for WETH`. A part that the phrase lacks is a missing
/// slot. Another intent has no action.
///
/// ```
/// use runstate_service::{Action, plan_phrase};
///
/// let plan = plan_phrase("Transfer 1.5 USDC to 0xabc");
/// assert_eq!(plan.actions[0].slots().map(|(_, value)| value), [Some("1.5"), Some("USDC"), Some("0xabc")]);
/// let plan = plan_phrase("swap 2 usdc");
/// assert!(matches!(&plan.actions[0], Action::Swap { token_out: None, .. }));
/// assert!(plan_phrase("what is my balance?").actions.is_empty());
/// ```
pub fn plan_phrase(intent: &str) -> PlanAnswer {
    let words: Vec<&str> = intent.split_whitespace().collect();
    let verb = words.iter().position(|word| {
        ["send", "transfer", "swap", "exchange"].iter().any(|verb| word.eq_ignore_ascii_case(verb))
    });
    let Some(verb) = verb else {
        return PlanAnswer {
            actions: Vec::new(),
            summary: "the intent asks for no transfer and no swap".into(),
        };
    };
    let swaps = words[verb].eq_ignore_ascii_case("swap") || words[verb].eq_ignore_ascii_case("exchange");
    let rest = &words[verb + 1..];
    let joint = rest.iter().position(|word| {
        let joints: &[&str] = if swaps { &["for", "to", "into"] } else { &["to"] };
        joints.iter().any(|joint| word.eq_ignore_ascii_case(joint))
    });
    let (before, after) = match joint {
        Some(joint) => (&rest[..joint], rest.get(joint + 1)),
        None => (rest, None),
    };
    let (mut amount, mut asset) = (None, None);
    for word in before {
        let starts_with_digit = word.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
        if amount.is_none() && starts_with_digit {
            amount = Some(plain(word));
        } else if asset.is_none() && !starts_with_digit {
            asset = Some(plain(word));
        }
    }
    let after = after.map(|word| plain(word));
    let action = if swaps {
        Action::Swap { amount_in: amount, token_in: asset, token_out: after, slippage_bps: None }
    } else {
        Action::Send { amount, asset, recipient: after }
    };
    PlanAnswer { actions: vec![action], summary: intent.to_owned() }
}

/// The word without punctuation at its end.
fn plain(word: &str) -> String {
    word.trim_end_matches(['.', ',', ';', '!', '?']).to_owned()
}
