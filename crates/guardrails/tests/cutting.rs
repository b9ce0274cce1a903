//! Text cut into tokens anywhere, and rules asked about it.

use proptest::prelude::*;
use runstate_guardrails::{Guardrail, OutputFacts};

/// How many cases a property draws; `RUNSTATE_GUARD_CASES` gives another number.
pub fn cases(usual: u32) -> ProptestConfig {
    let cases = std::env::var("RUNSTATE_GUARD_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: cases.unwrap_or(usual), ..ProptestConfig::default() }
}

/// A text of these parts.
pub fn text_of(parts: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(parts), 0..most).prop_map(|parts| parts.concat())
}

/// The text with its tokens: between any two characters there may be a cut, and there are empty tokens.
pub fn cut(text: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<String>> {
    (text, 0..4u8, any::<u64>()).prop_map(|(text, rarity, seed)| cut_by(&text, rarity, seed))
}

pub fn cut_by(text: &str, rarity: u8, mut seed: u64) -> Vec<String> {
    let mut tokens = vec![String::new()];
    for c in text.chars() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let often = [1, 2, 5, 40][usize::from(rarity)];
        if (seed >> 33).is_multiple_of(often) {
            tokens.push(String::new());
            if (seed >> 50).is_multiple_of(8) {
                tokens.push(String::new());
            }
        }
        tokens.last_mut().unwrap().push(c);
    }
    tokens
}

/// The rule speaks at the token after which `wrong` first says where the text is wrong, says the same place, and speaks once.
pub fn speaks_with(rule: &mut dyn Guardrail, tokens: &[String], wrong: impl Fn(&str) -> Option<usize>) {
    let mut so_far = String::new();
    let mut told = false;
    for token in tokens {
        so_far.push_str(token);
        let said = rule.streaming(token, &so_far);
        let expected = if told { None } else { wrong(&so_far) };
        assert_eq!(said.as_ref().map(|said| said.at), expected.map(Some), "after {so_far:?}");
        told |= expected.is_some();
        if let Some(said) = said {
            assert_eq!(said.rule, rule.name());
        }
    }
}

/// What the rule says of the whole, after all its tokens: the places.
pub fn at_end(rule: &mut dyn Guardrail, tokens: &[String]) -> Vec<usize> {
    let text = tokens.concat();
    rule.complete(&text, &OutputFacts::TEXT).into_iter().map(|said| said.at.unwrap()).collect()
}

/// One text in one token.
pub fn whole(rule: &mut dyn Guardrail, text: &str) -> (Option<usize>, Vec<usize>) {
    rule.reset();
    let said = rule.streaming(text, text).map(|said| said.at.unwrap());
    (said, at_end(rule, &[text.to_owned()]))
}
