//! Labels of transitions.

/// Returns the event name of a label `name(arguments) [guard] / action`, in which all parts but the name are
/// optional. Returns none for a label of another form, which is a remark.
pub(crate) fn event_name(label: &str) -> Option<&str> {
    let is_first = |c: char| c.is_alphabetic() || c == '_';
    let is_more = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let end = label.find(|c| !is_more(c)).unwrap_or(label.len());
    let (name, rest) = label.split_at(end);
    // Without a space it is a word such as `N/A`.
    if rest.starts_with('/') {
        return None;
    }
    let rest = enclosed(rest.trim_start(), '(', ')')?;
    // A path through a choice has the guards of both transitions.
    let mut rest = rest.trim_start();
    while rest.starts_with('[') {
        rest = enclosed(rest, '[', ']')?.trim_start();
    }
    (name.starts_with(is_first) && (rest.is_empty() || rest.starts_with('/'))).then_some(name)
}

/// Returns the rest after the bracketed part at the beginning of a text; none if that part does not end.
fn enclosed(text: &str, open: char, close: char) -> Option<&str> {
    if !text.starts_with(open) {
        return Some(text);
    }
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(&text[at + close.len_utf8()..]);
            }
        }
    }
    None
}
