//! The text around a value: beginnings, adjacent words, and ends.

/// Returns whether the bracket begins JSON rather than prose.
pub(super) fn begins_json(text: &str) -> bool {
    let object = text.starts_with('{');
    let inner = text[1..].trim_start();
    let Some(c) = inner.chars().next() else { return false };
    if matches!(c, '"' | '\'' | '\u{201C}' | '\u{2018}')
        || ["//", "/*", "# "].iter().any(|mark| inner.starts_with(mark))
    {
        return true;
    }
    let word = inner.len()
        - inner.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-')).len();
    let after = inner[word..].trim_start();
    match object {
        true => {
            matches!(c, '}' | ',')
                || (word > 0 && [":", "=", "：", "//", "/*"].iter().any(|mark| after.starts_with(mark)))
        }
        false => {
            matches!(c, ']' | '{' | '[' | '(' | ',')
                || inner.trim_start_matches(['-', '+', '.']).chars().next().is_none_or(|c| c.is_ascii_digit())
                || ["true", "false", "null", "none"].iter().any(|literal| match after.is_empty() {
                    true => word > 0 && literal.starts_with(&inner[..word].to_ascii_lowercase()),
                    false => {
                        let ends =
                            inner[word..].starts_with('\n') || after.starts_with([',', ']', '}', '/', '#']);
                        ends && inner[..word].eq_ignore_ascii_case(literal)
                    }
                })
        }
    }
}

/// Returns the number of bytes up to the bracket that closes the first one, outside of strings; all bytes if
/// there is none. A text that begins without a bracket has lost it.
pub(super) fn balanced(text: &str) -> usize {
    let lost = usize::from(!text.starts_with(['{', '[']));
    let (mut depth, mut in_string, mut escaped) = (lost, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => in_string = !in_string,
            '{' | '[' if !in_string => depth += 1,
            '}' | ']' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// Returns whether the first part of a member closes a bracket that it does not open.
pub(super) fn closes_more(member: &str) -> bool {
    let end = member.char_indices().nth(16 * NEAR).map_or(member.len(), |(end, _)| end);
    member[..balanced(&member[..end])].ends_with(['}', ']'])
}

/// The number of characters of a line that are examined, so that a long line with many brackets takes no more
/// time.
pub(super) const NEAR: usize = 120;

pub(super) fn near(text: &str) -> impl Iterator<Item = char> {
    text.chars().take(NEAR)
}

pub(super) fn line_before(text: &str) -> &str {
    let near = text.char_indices().rev().take(NEAR).take_while(|(_, c)| *c != '\n').last();
    near.map_or("", |(at, _)| text[at..].trim())
}

/// Returns whether the text before a value announces it. The start of a line does.
pub(super) fn introduced(before: &str) -> bool {
    let line = line_before(before);
    let word = line.rsplit(' ').next().unwrap_or_default();
    line.is_empty()
        || line.ends_with([':', '=', '`', '>', '-', '*', '(', '{', '：'])
        || matches!(word, "is" | "are" | "be")
}

pub(super) fn words_follow(text: &str, end: usize) -> bool {
    without_tags(near(&text[end..])).take_while(|c| *c != '\n').any(char::is_alphanumeric)
}

/// Removes `<tags>`.
pub(super) fn without_tags(text: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    let mut within = false;
    text.filter(move |c| {
        let tag = within || *c == '<';
        within = tag && *c != '>';
        !tag
    })
}
