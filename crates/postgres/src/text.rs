//! Texts and numbers in the form that PostgreSQL can store.

use std::borrow::Cow;

use runstate_store::StoreError;
use sha2::{Digest, Sha256};

/// Encodes a text, since PostgreSQL cannot store the zero character. The encoding keeps different texts different,
/// and preserves their order.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', '\u{1}']) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        match char {
            '\0' => kept.push_str("\u{1}\u{1}"),
            '\u{1}' => kept.push_str("\u{1}\u{2}"),
            char => kept.push(char),
        }
    }
    Cow::Owned(kept)
}

/// Decodes such a text.
pub(crate) fn untext(kept: String) -> String {
    if !kept.contains('\u{1}') {
        return kept;
    }
    let mut text = String::with_capacity(kept.len());
    let mut chars = kept.chars();
    while let Some(char) = chars.next() {
        match char {
            '\u{1}' => text.push(if chars.next() == Some('\u{1}') { '\0' } else { '\u{1}' }),
            char => text.push(char),
        }
    }
    text
}

/// The size limit of a text that is read, in bytes.
pub(crate) const MOST_BYTES: u32 = 64 << 20;

/// Refuses a value that could not be read again.
pub(crate) fn fits(column: &str, bytes: usize) -> Result<(), StoreError> {
    if bytes <= MOST_BYTES as usize {
        return Ok(());
    }
    Err(StoreError::TooLarge {
        what: format!("{column} would have {bytes} bytes, and a value has at most {MOST_BYTES}"),
        help: "nothing was stored: `runstate cancel` ends such a run".to_owned(),
    })
}

/// Returns the length of the longest text, in bytes.
pub(crate) fn longest(texts: impl IntoIterator<Item: AsRef<str>>) -> usize {
    texts.into_iter().map(|text| text.as_ref().len()).max().unwrap_or(0)
}

/// The value that stands for a text above the size limit. [`text`] never returns it.
pub(crate) const TOO_LONG: &str = "\u{1}\u{3}";

/// Returns a statement in which each `<column>` is read with the size limit. The server does not send a longer text.
pub(crate) fn bounded(statement: &str) -> String {
    let mut parts = statement.split('<');
    let mut sql = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('>') {
            Some((column, rest))
                if column.contains('.') && (!column.contains(' ') || column.starts_with("coalesce(")) =>
            {
                let name = column.rsplit('.').next().unwrap_or(column).trim_end_matches(')');
                sql.push_str(&format!(
                    "CASE WHEN octet_length({column}) > {MOST_BYTES} THEN E'\\x01\\x03' ELSE {column} END AS {name}{rest}"
                ));
            }
            _ => sql.extend(["<", part]),
        }
    }
    sql
}

/// A text in an index, whose entries have at most 2,704 bytes. A longer text is cut, and its whole is stored beside
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) long: Option<Cow<'a, str>>,
}

/// The length above which a text is cut, in bytes.
const WHOLE: usize = 400;

impl<'a> Key<'a> {
    pub(crate) fn of(text_: &'a str) -> Self {
        let whole = text(text_);
        if whole.len() <= WHOLE {
            return Key { key: whole, long: None };
        }
        // With its digest the cut text is longer than any uncut one, so the two cannot be confused.
        let mut cut = whole[..whole.floor_char_boundary(WHOLE)].to_owned();
        for byte in Sha256::digest(whole.as_bytes()) {
            cut.push_str(&format!("{byte:02x}"));
        }
        Key { key: Cow::Owned(cut), long: Some(whole) }
    }
}

/// Encodes a number for the server.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Decodes a number from the server.
pub(crate) fn nat(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_and_none_has_a_zero_character() {
        for given in ["", "a", "\0", "\u{1}", "a\0\u{1}b\0", "\u{1}\u{1}", "\u{1}\u{2}", "\u{2}\0", "é\0日"]
        {
            let kept = text(given).into_owned();
            assert!(!kept.contains('\0'), "{given:?}");
            assert_eq!(untext(kept), given);
        }
    }

    #[test]
    fn a_column_is_bounded_and_a_comparison_is_not() {
        let sql = bounded("SELECT <m.json>, a FROM m WHERE a <= 1 AND b <> 2 AND c < d");
        let begin = "SELECT CASE WHEN octet_length(m.json) > 67108864 THEN E'\\x01\\x03' ELSE m.json END AS json, a FROM m";
        assert_eq!(sql, format!("{begin} WHERE a <= 1 AND b <> 2 AND c < d"));
        let sql = bounded("SELECT <coalesce(m.long, m.short)> FROM m");
        assert!(sql.ends_with(" ELSE coalesce(m.long, m.short) END AS short FROM m"), "{sql}");
        assert_ne!(text("\u{1}\u{3}"), TOO_LONG);
    }

    #[test]
    fn texts_keep_their_order() {
        let mut given =
            vec!["", "\0", "\0\0", "\0\u{1}", "\0a", "\u{1}", "\u{1}\0", "\u{1}\u{2}", "\u{2}", "a", "a\0"];
        given.sort_unstable();
        let kept: Vec<_> = given.iter().map(|given| text(given)).collect();
        assert!(kept.is_sorted(), "{kept:?}");
    }

    #[test]
    fn a_long_text_has_a_short_key_of_its_own() {
        let (a, b) = ("é".repeat(2_000), "é".repeat(2_001));
        let (a, b) = (Key::of(&a), Key::of(&b));
        assert_ne!(a.key, b.key);
        assert!(a.key.len() <= 464 && a.key.len() > WHOLE, "{}", a.key.len());
        assert_eq!(a.long.as_deref().map(str::len), Some(4_000));
        let again = Key::of(&a.key);
        assert_ne!(again.key, a.key, "a text that looks like the key of another");
    }

    #[test]
    fn a_number_beyond_is_the_last_one() {
        assert_eq!(int(u64::MAX), i64::MAX);
        assert_eq!(nat(int(7)), 7);
        assert_eq!(nat(-1), 0);
    }
}
