//! Markdown texts in which names and values are no markup.

use std::fmt::Write;

use crate::model::Review;
use crate::summary::Summary;
use crate::text::name;

/// Renders reviews as Markdown for `$GITHUB_STEP_SUMMARY`: the verdict of each trace, the first violation of each instance, and
/// the coverage over all traces with the transitions that no trace took. [`Summary`] has further entries, and the limits.
///
/// # Example
/// ```
/// use runstate::trace::Event;
/// use runstate_review::{ReviewBuilder, markdown};
///
/// let line = r#"{"seq":1,"at_ms":0,"run":"r","lifecycle":"tool_call","instance":"@all","event":"create","from":null,"to":"Running"}"#;
/// let book = runstate::rulebook();
/// let mut builder = ReviewBuilder::new("call.jsonl", &book);
/// builder.event(1, &Event::from_json(line).unwrap());
/// let summary = markdown(&[builder.finish()]);
/// assert!(summary.contains("| `call.jsonl` | ❌ violates | 1 | 1 | 1 |\n"));
/// assert!(summary.contains("- line 1, `tool_call` `@all`: it is created in Running, which is not initial"));
/// ```
pub fn markdown(reviews: &[Review]) -> String {
    let mut summary = Summary::new("Lifecycle traces", "trace");
    reviews.iter().for_each(|review| summary.review(review));
    summary.to_string()
}

/// An instance, with its run in a trace of several.
pub(crate) fn subject(lifecycle: &str, instance: &str, run: Option<&String>) -> String {
    let run = run.map(|run| format!(" of run {}", code(&name(run)))).unwrap_or_default();
    format!("{} {}{run}", code(&name(lifecycle)), code(&name(instance)))
}

/// A code span, with a fence that is longer than each run of backticks in the text.
pub(crate) fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let pad =
        if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) || text.is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Code in a cell of a table. A bar ends a cell also in a code span, and the readers of Markdown disagree on `\|` behind a
/// backslash.
pub(crate) fn cell(text: &str) -> String {
    if text.contains('|') { format!("<code>{}</code>", plain(text)) } else { code(text) }
}

/// A block of code, with a fence that is longer than each run of backticks in the text.
pub(crate) fn block(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// Text without any markup.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_punctuation() && !matches!(c, ',' | '-' | ';' | '?' | '\'') {
            write!(out, "&#{};", u32::from(c)).unwrap_or_default();
        } else {
            out.push(c);
        }
    }
    out
}
