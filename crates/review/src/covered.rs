//! The coverage in a summary.

use runstate::trace::Coverage;

use crate::markdown::{cell, code, plain};
use crate::redacted::Redacted;
use crate::summary::{MOST, VALUE};
use crate::text::{name, seen};

/// The table of lifecycles, and the transitions that were not taken.
pub(crate) fn covered(coverage: &Coverage, redacted: &Redacted, with_missed: bool) -> String {
    if coverage.iter().next().is_none() {
        return String::new();
    }
    let mut out = String::from("\n### Coverage\n\n| lifecycle | transitions taken | |\n|---|---|---|\n");
    for one in coverage.iter() {
        let percent = one.shown_percent();
        let (lifecycle, taken, all) =
            (cell(&name(&redacted.text(&one.lifecycle))), one.taken(), one.edges.len());
        out += &format!("| {lifecycle} | {taken} of {all} | {percent:.1} % |\n");
    }
    for one in coverage.iter().filter(|one| with_missed && one.never().next().is_some()) {
        let missed: Vec<_> = one.never().collect();
        out += &format!(
            "\n<details><summary>Not taken: {}</summary>\n\n",
            plain(&name(&redacted.text(&one.lifecycle)))
        );
        for edge in missed.iter().take(MOST) {
            out += &format!("- {}\n", code(&seen(&redacted.text(&edge.to_string()), VALUE)));
        }
        out += &more(missed.len() as u64, "transition", "transitions");
        out += "\n</details>\n";
    }
    out
}

/// The number of items that a list leaves out.
pub(crate) fn more(all: u64, one: &str, several: &str) -> String {
    match all.saturating_sub(MOST as u64) {
        0 => String::new(),
        1 => format!("\nand 1 more {one}\n"),
        left => format!("\nand {left} more {several}\n"),
    }
}
