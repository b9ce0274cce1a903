//! Labels of transitions.

/// The label of a transition, in the form `name(arguments) [guard] / action`.
///
/// ```
/// use runstate::diagram::EventLabel;
///
/// let label = EventLabel::parse("pay(amount) [amount > 0] / receipt").unwrap();
/// assert_eq!((label.event, label.is_guarded), ("pay", true));
/// assert!(!EventLabel::parse("ship").unwrap().is_guarded);
///
/// // A remark names no event.
/// assert_eq!(EventLabel::parse("the door is open"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventLabel<'a> {
    /// The name of the event.
    pub event: &'a str,
    /// Whether the label has a guard.
    pub is_guarded: bool,
}

impl<'a> EventLabel<'a> {
    /// Parses a label, in which all parts but the name are optional. Returns none for a label of another form, which
    /// is a remark.
    pub fn parse(label: &'a str) -> Option<Self> {
        let is_first = |c: char| c.is_alphabetic() || c == '_';
        let is_more = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        let end = label.find(|c| !is_more(c)).unwrap_or(label.len());
        let (event, rest) = label.split_at(end);
        // Without a space it is a word such as `N/A`.
        if rest.starts_with('/') {
            return None;
        }
        let rest = enclosed(rest.trim_start(), '(', ')')?;
        // A path through a choice has the guards of both transitions.
        let mut rest = rest.trim_start();
        let is_guarded = rest.starts_with('[');
        while rest.starts_with('[') {
            rest = enclosed(rest, '[', ']')?.trim_start();
        }
        let is_event = event.starts_with(is_first) && (rest.is_empty() || rest.starts_with('/'));
        is_event.then_some(EventLabel { event, is_guarded })
    }
}

/// Returns the event name of a label; none for a remark.
pub(crate) fn event_name(label: &str) -> Option<&str> {
    EventLabel::parse(label).map(|label| label.event)
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
