//! Output that has nothing in it.

use runstate_guardrails::{Guardrail, OutputFacts, ZeroOutput, is_visible};

#[test]
fn white_space_and_what_shows_nothing_is_no_output() {
    let blank = [
        "",
        " ",
        "\n\t\r",
        "\u{A0}",
        "\u{3000}",
        "\u{200B}\u{FEFF}",
        "\u{200E}\u{2060}",
        "\u{0}\u{7}\u{7F}\u{85}",
    ];
    let more = ["\u{3164}", "\u{FE0F}", "\u{AD}", "\u{E0001}", "\u{2028}"];
    for text in blank.into_iter().chain(more) {
        let mut rule = ZeroOutput::new();
        assert_eq!(rule.streaming(text, text), None);
        let said = rule.complete(text, &OutputFacts::TEXT);
        assert_eq!(said.len(), 1, "{text:?}");
        assert_eq!(said[0].rule, "zero-output");
        assert!(said[0].recoverable);
        assert!(rule.complete(text, &OutputFacts::default().with_tool_calls(1)).is_empty());
        assert!(rule.complete(text, &OutputFacts::default().with_data_parts(1)).is_empty());
    }
}

#[test]
fn one_visible_character_in_any_token_is_output() {
    for visible in [".", "0", "é", "日", "🙂", "\u{301}", "ا"] {
        let mut rule = ZeroOutput::new();
        for token in [" ", "\u{200B}", visible, " "] {
            rule.streaming(token, "");
        }
        assert!(rule.complete("", &OutputFacts::TEXT).is_empty(), "{visible:?}");
        rule.reset();
        assert_eq!(rule.complete("", &OutputFacts::TEXT).len(), 1);
        // A checkpoint with output is output.
        rule.resume(visible);
        assert!(rule.complete(visible, &OutputFacts::TEXT).is_empty());
    }
}

#[test]
fn characters_are_seen_or_not() {
    let unseen = (0..=0x10FFFF).filter_map(char::from_u32).filter(|c| !is_visible(*c)).count();
    // 65 controls, 24 more of white space, 4,174 that Unicode 16 lists as ignorable, and the blank Braille pattern. White space and
    // controls overlap in six.
    assert_eq!(unseen, 65 + 25 - 6 + 4_174 + 1);
}
