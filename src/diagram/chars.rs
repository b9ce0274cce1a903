//! Character classes as a JavaScript regular expression without flags sees them; Mermaid's rules are written in them.

/// `\s`: what JavaScript counts as white space. Not Rust's set: U+0085 is missing, U+FEFF belongs to it.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}')
}

/// `\w`: an ASCII letter, a digit or an underscore.
pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Where `.` stops. A carriage return never reaches the rules.
pub(super) fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// The text without white space at either end.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The offset behind the run of characters at `from` that `take` accepts.
pub(super) fn run(text: &str, from: usize, take: impl Fn(char) -> bool) -> usize {
    text[from..].find(|c| !take(c)).map_or(text.len(), |length| from + length)
}

/// The offset behind the white space at `from`.
pub(super) fn spaces(text: &str, from: usize) -> usize {
    run(text, from, is_space)
}

/// The end of the line that `from` stands in, as `.*` sees it.
pub(super) fn line_end(text: &str, from: usize) -> usize {
    run(text, from, |c| !ends_line(c))
}

/// The next line feed, or the end of the text, as `[^\n]*` sees it.
pub(super) fn feed(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |length| from + length)
}

/// The offset behind `word` if it stands at `from`, in upper or lower case.
pub(super) fn word(text: &str, from: usize, word: &str) -> Option<usize> {
    let end = from + word.len();
    let found = text.as_bytes().get(from..end)?;
    found.eq_ignore_ascii_case(word.as_bytes()).then_some(end)
}

/// Whether a word that ends at `at` ends there as `\b` sees it.
pub(super) fn word_ends(text: &str, at: usize) -> bool {
    !text[at..].chars().next().is_some_and(is_word)
}

/// The offset behind an entity such as `#35;` or `#quot;` that begins at `from`.
///
/// Mermaid hides these before it looks at the text: neither their `#` nor their `;` means anything.
pub(super) fn entity(text: &str, from: usize) -> Option<usize> {
    let inner = from + 1;
    if text.as_bytes().get(from) != Some(&b'#') {
        return None;
    }
    let end = run(text, inner, is_word);
    (end > inner && text.as_bytes().get(end) == Some(&b';')).then_some(end + 1)
}
