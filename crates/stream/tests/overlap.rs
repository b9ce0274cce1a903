//! What a resumed stream says again.

use proptest::prelude::*;
use runstate_stream::Overlap;

use super::cutting::{cases, cut, text_of};

const PARTS: &[&str] = &["a", "b", "ab", "aab", "aaaa", "é", "日", "e\u{301}", " ", "🙂"];

/// Texts of few letters, which begin as they end.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![text_of(PARTS, 12), text_of(&["a", "b"], 24), text_of(&["aab", "aaba", "b"], 9)]
}

/// The longest beginning of `stream` that ends `checkpoint`, by trying each.
fn longest(checkpoint: &str, stream: &str, at_least: usize) -> usize {
    (0..=stream.len())
        .rev()
        .filter(|end| stream.is_char_boundary(*end))
        .find(|end| checkpoint.ends_with(&stream[..*end]))
        .filter(|end| stream[..*end].chars().count() >= at_least)
        .unwrap_or(0)
}

/// May `begun` become a longer overlap than it is? Then some of the checkpoint's ends begins with it and goes on.
fn may_grow(checkpoint: &str, begun: &str) -> bool {
    checkpoint.char_indices().any(|(at, _)| {
        let end = &checkpoint[at..];
        end.len() > begun.len() && end.starts_with(begun)
    })
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn the_longest_overlap_is_taken_away(
        checkpoint in texts(), before in text_of(PARTS, 4), tokens in cut(texts()), at_least in 0..4usize,
        repeats in any::<bool>(),
    ) {
        // In half of the cases the stream does begin with the checkpoint's end.
        let checkpoint = if repeats { before + &tokens.concat()[..tokens[0].len()] } else { checkpoint };
        let stream = tokens.concat();
        let mut overlap = Overlap::new(&checkpoint).at_least(at_least);
        let (mut came, mut released) = (String::new(), String::new());
        for token in &tokens {
            came.push_str(token);
            released.push_str(&overlap.push(token));
            // Released at the very token where nothing longer is possible, and not before.
            let settled = checkpoint.is_empty() || !may_grow(&checkpoint, &came);
            prop_assert_eq!(overlap.is_settled(), settled, "{:?} {:?}", checkpoint, came);
            if settled {
                prop_assert_eq!(&released, &came[longest(&checkpoint, &came, at_least)..]);
            } else {
                prop_assert_eq!(&released, "");
            }
        }
        released.push_str(&overlap.finish());
        let removed = longest(&checkpoint, &stream, at_least);
        prop_assert_eq!(&released, &stream[removed..]);
        prop_assert_eq!(overlap.removed(), removed);
        prop_assert_eq!(overlap.finish(), "");
    }
}

#[test]
fn a_million_characters_that_nearly_match_take_linear_time() {
    // Quadratic, this would be 10^12 comparisons.
    let checkpoint = "a".repeat(1_000_000) + "b";
    let mut overlap = Overlap::new(&checkpoint);
    let mut released = String::new();
    for _ in 0..10_000 {
        released += &overlap.push(&"a".repeat(100));
    }
    released += &overlap.push("c");
    released += &overlap.finish();
    assert_eq!(released.len(), 1_000_001);
    assert_eq!(overlap.removed(), 0);

    let mut overlap = Overlap::new(&checkpoint);
    assert_eq!(overlap.push(&checkpoint), "");
    assert_eq!(overlap.push("!"), "!");
    assert_eq!(overlap.removed(), 1_000_001);
}

#[test]
fn without_a_checkpoint_nothing_is_held() {
    let mut overlap = Overlap::new("");
    assert!(overlap.is_settled());
    assert_eq!(overlap.push("a"), "a");
    assert_eq!(overlap.finish(), "");
}
