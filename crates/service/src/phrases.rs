//! The built-in planner: transfers and swaps that are written in plain phrases.

use crate::artifact::{Action, PlanAnswer};

/// The form that the built-in planner reads.
const FORMS: &str =
    "the built-in planner reads `send AMOUNT ASSET to ADDRESS` and `swap AMOUNT ASSET for ASSET`";

/// Plans an intent such as `send 1.5 USDC to 0xabc` or `swap 2 USDC for WETH`. A part that the phrase lacks is a missing
/// slot. An intent with any other word, such as `not` or a second action, has no action.
///
/// ```
/// use runstate_service::{Action, plan_phrase};
///
/// let plan = plan_phrase("Please transfer 1.5 USDC to 0xabc.");
/// assert_eq!(plan.actions[0].slots().map(|(_, value)| value), [Some("1.5"), Some("USDC"), Some("0xabc")]);
/// let plan = plan_phrase("swap 2 usdc");
/// assert!(matches!(&plan.actions[0], Action::Swap { token_out: None, .. }));
///
/// let plan = plan_phrase("do not send 5 USDC to 0xabc");
/// assert!(plan.actions.is_empty());
/// assert!(plan.summary.starts_with("\"do\" is not understood"));
/// ```
pub fn plan_phrase(intent: &str) -> PlanAnswer {
    match read(intent) {
        Ok(action) => PlanAnswer { actions: vec![action], summary: intent.to_owned() },
        Err(reason) => PlanAnswer { actions: Vec::new(), summary: format!("{reason}; {FORMS}") },
    }
}

fn read(intent: &str) -> Result<Action, String> {
    let mut words =
        intent.split_whitespace().map(plain).filter(|word| !is_one_of(word, &["please"])).peekable();
    let verb = words.next().ok_or("the intent is empty")?;
    let swaps = is_one_of(&verb, &["swap", "exchange"]);
    if !swaps && !is_one_of(&verb, &["send", "transfer"]) {
        return Err(format!("{verb:?} is not understood"));
    }
    let joints: &[&str] = if swaps { &["for", "to", "into"] } else { &["to"] };
    let amount = words.next_if(|word| word.bytes().next().is_some_and(|byte| byte.is_ascii_digit()));
    let asset = words.next_if(|word| !is_one_of(word, joints));
    let target = match words.next_if(|word| is_one_of(word, joints)) {
        Some(_) => words.next(),
        None => None,
    };
    if let Some(other) = words.next() {
        return Err(format!("{other:?} is not understood"));
    }
    Ok(match swaps {
        true => Action::Swap { amount_in: amount, token_in: asset, token_out: target, slippage_bps: None },
        false => Action::Send { amount, asset, recipient: target },
    })
}

fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// The word without punctuation at its end.
fn plain(word: &str) -> String {
    word.trim_end_matches(['.', ',', ';', '!', '?']).to_owned()
}
