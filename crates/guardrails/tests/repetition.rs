//! Text that goes round in circles.

use proptest::prelude::*;
use runstate_guardrails::{Guardrail, Repetition};

use super::cutting::{at_end, cases, cut, speaks_with, whole};
use super::words::{Word, words};

/// Where the first word stands with which the text ends in a unit that came often enough.
fn circle(words: &[Word]) -> Option<usize> {
    (1..=words.len()).find_map(|end| {
        let circles = (1..=64.min(end)).any(|unit| {
            let span = 16.max(4 * unit);
            end >= span
                && (end - span + unit..end).all(|at| words[at].text == words[at - unit].text)
                && words[end - unit..end].iter().any(Word::has_letter)
        });
        circles.then(|| words[end - 1].at)
    })
}

fn circling() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        "no ",
        "yes, ",
        "IT\u{2019}S ",
        "it's ",
        "0 ",
        "12-",
        "日本",
        "é",
        "\u{200B}",
        "x_1. ",
        "\n",
        "abcdefghijklmnopqrstuvwxyzabcdefgh",
    ];
    let unit = || prop::collection::vec(prop::sample::select(PARTS), 1..8).prop_map(|unit| unit.concat());
    let copies = (unit(), 1..20usize).prop_map(|(unit, copies)| unit.repeat(copies));
    (unit(), prop::collection::vec(copies, 1..4)).prop_map(|(before, loops)| before + &loops.concat())
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn repetition_is_reported_at_its_completing_word(tokens in cut(circling())) {
        let mut rule = Repetition::new();
        speaks_with(&mut rule, &tokens, |text| {
            let ended: Vec<_> = words(text).into_iter().filter(|word| word.known.is_some()).collect();
            circle(&ended)
        });
        prop_assert_eq!(at_end(&mut rule, &tokens), Vec::from_iter(circle(&words(&tokens.concat()))));
    }
}

#[test]
fn units_of_one_word_and_of_sixty_four() {
    let said = |text: &str| -> Vec<usize> { whole(&mut Repetition::new(), text).1 };
    assert_eq!(said(&"no ".repeat(15)), [0; 0]);
    assert_eq!(said(&"no ".repeat(16)), [45]);
    assert_eq!(said(&"0, ".repeat(1_000)), [0; 0], "a column of zeros");
    let sentence: String = (0..64).map(|n| format!("w{n} ")).collect();
    assert_eq!(said(&sentence.repeat(3)), [0; 0]);
    assert_eq!(said(&sentence.repeat(4)).len(), 1);
    let longer: String = (0..65).map(|n| format!("w{n} ")).collect();
    assert_eq!(said(&longer.repeat(8)), [0; 0], "a longer unit is not looked for");
    assert_eq!(said(&"ha".repeat(1_000)).len(), 1, "a word without an end");
    assert_eq!(said(&"我不知道。".repeat(4)).len(), 1, "16 words");
    let mut rule = Repetition::new();
    assert_eq!(rule.resume(&"no ".repeat(20)).unwrap().at, Some(45), "a checkpoint that circles is not fit");
}
