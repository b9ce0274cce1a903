//! Character classes of JavaScript regular expressions without flags. Mermaid's rules use them.

/// `\s`: white space in JavaScript. It differs from Rust's: U+0085 is missing, and U+FEFF is included.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}')
}

/// `\w`: an ASCII letter, a digit or an underscore.
pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns whether `.` stops at this character. The text of the rules contains no carriage returns.
pub(super) fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Returns the text without white space at either end.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Returns the end of the run of characters from `from` that `take` accepts.
pub(super) fn run(text: &str, from: usize, take: impl Fn(char) -> bool) -> usize {
    text[from..].find(|c| !take(c)).map_or(text.len(), |length| from + length)
}

/// Returns the end of the white space at `from`.
pub(super) fn spaces(text: &str, from: usize) -> usize {
    run(text, from, is_space)
}

/// Returns the end of the line at `from`, as `.*` sees it.
pub(super) fn line_end(text: &str, from: usize) -> usize {
    run(text, from, |c| !ends_line(c))
}

/// Returns the next line feed, or the end of the text, as `[^\n]*` sees it.
pub(super) fn feed(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |length| from + length)
}

/// Returns the end of `word` if it is at `from`, in upper or lower case.
pub(super) fn word(text: &str, from: usize, word: &str) -> Option<usize> {
    let end = from + word.len();
    let found = text.as_bytes().get(from..end)?;
    found.eq_ignore_ascii_case(word.as_bytes()).then_some(end)
}

/// Returns whether `\b` sees the end of a word at `at`.
pub(super) fn word_ends(text: &str, at: usize) -> bool {
    !text[at..].chars().next().is_some_and(is_word)
}

/// Returns the end of an entity such as `#35;` or `#quot;` at `from`.
///
/// Mermaid replaces entities before it reads the text, so their `#` and `;` have no meaning.
pub(super) fn entity(text: &str, from: usize) -> Option<usize> {
    let inner = from + 1;
    if text.as_bytes().get(from) != Some(&b'#') {
        return None;
    }
    let end = run(text, inner, is_word);
    (end > inner && text.as_bytes().get(end) == Some(&b';')).then_some(end + 1)
}
