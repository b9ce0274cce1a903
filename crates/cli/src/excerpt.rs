//! A caret below a place of one line, when the rest of the file is not in memory.

use runstate::diagram::{Excerpt, Span};

/// The line with its file, its number and a caret.
pub(crate) fn caret(file: &str, number: u64, line: &str, span: Span) -> String {
    // An excerpt counts lines from the beginning of its input, which is this line alone: its margin is made anew.
    let excerpt = Excerpt::new(file, line, span, "");
    let column = excerpt.position().column;
    let number = number.to_string();
    let pad = " ".repeat(number.len());
    let mut shown = format!("{pad}--> {file}:{number}:{column}");
    for (margin, row) in [&pad, &number, &pad].into_iter().zip(excerpt.to_string().lines().skip(1)) {
        let row = row.trim_start_matches([' ', '1']);
        shown.push_str(&format!("\n{margin} {row}"));
    }
    shown
}
