//! A caret under a place of one line, where the rest of the file is not in memory.

use runstate::diagram::{Excerpt, Span};

/// The line with its number and a caret.
pub(crate) fn caret(number: u64, line: &str, span: Span) -> String {
    // The excerpt counts lines from the beginning of what it is given, which is this line alone.
    let excerpt = Excerpt::new("", line, span, "").to_string();
    let number = number.to_string();
    let pad = " ".repeat(number.len());
    let mut rows = excerpt.lines().skip(1);
    let mut shown = String::new();
    for (margin, row) in [pad.as_str(), &number, &pad].into_iter().zip(&mut rows) {
        let row = row.trim_start_matches([' ', '1']);
        shown.push_str(&format!("{margin} {row}\n"));
    }
    shown.truncate(shown.trim_end().len());
    shown
}
