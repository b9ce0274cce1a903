//! Names and values from a trace, as harmless text.

use runstate::actor::is_unseen;

/// The maximum length of a name in a rendered trace, in characters.
pub(crate) const NAME: usize = 80;
/// The part of them at the end of a long name.
const TAIL: usize = 24;

/// The text with visible forms of invisible characters and of control characters, and at most `most` of its characters. The
/// rest is counted.
pub(crate) fn seen(text: &str, most: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(4 * most));
    let mut chars = text.chars();
    for c in chars.by_ref().take(most) {
        if is_unseen(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    match chars.count() {
        0 => shown,
        1 => shown + "… (1 more character)",
        more => shown + &format!("… ({more} more characters)"),
    }
}

/// The name of a run, an instance, an event or a state. A long name loses its middle, because ids often differ at their ends. An
/// empty name is a pair of quotes.
pub(crate) fn name(text: &str) -> String {
    if text.is_empty() {
        return "\"\"".to_owned();
    }
    let mut shown = String::new();
    let mut show = |part: &str| {
        for c in part.chars() {
            if is_unseen(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
        }
    };
    match text.char_indices().nth(NAME) {
        None => show(text),
        Some(_) => {
            let head = text.char_indices().nth(NAME - TAIL - 1).map_or(text.len(), |(at, _)| at);
            let tail = text.char_indices().nth_back(TAIL - 1).map_or(0, |(at, _)| at);
            show(&text[..head]);
            show("…");
            show(&text[tail..]);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_shown_and_long_texts_are_cut() {
        assert_eq!(seen("a\0b\u{202e}c\n", 9), "a\\u{0}b\\u{202e}c\\u{a}");
        assert_eq!(seen(&"x".repeat(1 << 20), 3), "xxx… (1048573 more characters)");
        assert_eq!(seen("abcd", 3), "abc… (1 more character)");
        assert_eq!(name(&"é".repeat(80)), "é".repeat(80));
        assert_eq!(name(&("é".repeat(90) + "1")), "é".repeat(55) + "…" + &"é".repeat(23) + "1");
        assert_eq!(name(""), "\"\"");
    }
}
