use pulldown_cmark::{Event, Options, Parser, Tag};
use runstate_review::markdown;

use crate::fixture::{assert_shown, attacks, event, orders, review};

#[test]
fn the_summary_of_two_traces_matches_its_snapshot() {
    assert_shown("markdown", &markdown(&[review(&orders()), review(&orders()[..2])]));
}

#[test]
fn hostile_texts_are_code_or_plain_text() {
    let unseen = |c: char| c.is_control() && c != '\n' || c == '\u{202e}' || c == '\u{2028}';
    for one in attacks().chunks(2) {
        let summary = markdown(&[review(one)]);
        assert!(!summary.contains(unseen) && summary.len() < 10_000, "{summary}");
        let mut code = Vec::new();
        for event in Parser::new_ext(&summary, Options::ENABLE_TABLES) {
            match event {
                Event::Html(text) | Event::InlineHtml(text) => {
                    let text = text.trim();
                    let is_ours = text.starts_with("<details><summary>Not taken: order</summary>");
                    assert!(is_ours || text == "</details>", "{text}");
                }
                Event::Start(tag @ (Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_))) => {
                    panic!("{tag:?}")
                }
                Event::Code(text) => code.push(text),
                _ => {}
            }
        }
        let name = one[1].instance.to_string();
        let is_plain = name.len() < 80 && !name.contains(unseen) && !name.trim().is_empty();
        assert!(!is_plain || code.iter().any(|text| **text == *name), "{name}: {code:?}");
    }
}

#[test]
fn violation_of_the_last_trace_is_never_left_out() {
    let good = [event(1, 0, "a", "create", None, "Cart")];
    let bad = [event(1, 0, "a", "create", None, "Shipped")];
    let mut reviews: Vec<_> = (0..60).map(|_| review(&good)).collect();
    reviews.push(review(&bad));
    let summary = markdown(&reviews);
    assert!(summary.contains("❌ violates") && summary.contains("### Violations in"), "{summary}");
    // A selector of pictures is an escape on a terminal.
    assert!(!summary.contains('\u{fe0f}'));
}
