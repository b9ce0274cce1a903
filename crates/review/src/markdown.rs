//! Reviews as Markdown, for the summary of a CI job.

use std::fmt::Write;

use runstate::trace::Coverage;

use crate::model::{Breach, Review};
use crate::text::{name, seen};

/// The maximum length of a reason or an event, in characters.
const VALUE: usize = 300;
/// The maximum number of listed traces, of violations of a trace, and of transitions that no trace took, by lifecycle.
const MOST: usize = 50;

/// Renders reviews as Markdown for `$GITHUB_STEP_SUMMARY`: the verdict of each trace, the first violation of each instance, and
/// the coverage over all traces with the transitions that no trace took.
///
/// Names are code spans: they mention no user, link to no page and are no markup. A list has at most 50 entries, and the rest is
/// counted.
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
    let mut out = String::from("## Lifecycle traces\n\n");
    out.push_str("| trace | verdict | events | instances | illegal events |\n|---|---|---|---|---|\n");
    // A violation is never among the traces that are left out, as far as there is room.
    let mut sorted: Vec<&Review> = reviews.iter().collect();
    sorted.sort_by_key(|review| review.breaches().is_empty());
    for review in sorted.iter().take(MOST) {
        let report = review.report();
        let sign = match review.verdict() {
            "conforms" => "✅",
            "violates" => "❌",
            // Without the selector of a picture, which a terminal would show as an escape.
            _ => "⚠",
        };
        let (events, instances) = (review.steps().len(), review.lanes().len());
        let (title, verdict) = (cell(&name(review.title())), review.verdict());
        put(
            &mut out,
            &format!("| {title} | {sign} {verdict} | {events} | {instances} | {} |", report.violations),
        );
    }
    more(&mut out, reviews.len(), "traces");
    for review in sorted.iter().take(MOST).filter(|review| !review.breaches().is_empty()) {
        put(&mut out, &format!("\n### Violations in {}\n", code(&name(review.title()))));
        review.breaches().iter().take(MOST).for_each(|it| breach(&mut out, review, it));
        more(&mut out, review.breaches().len(), "instances");
    }
    let mut coverage = Coverage::new();
    reviews.iter().for_each(|review| coverage.merge(&review.report().coverage));
    covered(&mut out, &coverage);
    out
}

fn breach(out: &mut String, review: &Review, breach: &Breach) {
    let subject = breach.step.map(|step| {
        let lane = &review.lanes()[review.steps()[step].lane];
        format!(", {} {}", code(&name(&lane.lifecycle)), code(&name(&lane.instance)))
    });
    let reason = plain(&seen(&breach.reason, VALUE));
    put(out, &format!("- line {}{}: {reason}", breach.line, subject.unwrap_or_default()));
    put(out, &format!("  - got {}", code(&seen(&breach.got, VALUE))));
    for legal in breach.legal.iter().take(MOST) {
        let place = legal.place.as_ref().map(|place| format!(" ({})", code(&seen(place, VALUE))));
        put(out, &format!("  - legal {}{}", code(&seen(&legal.what, VALUE)), place.unwrap_or_default()));
    }
    if breach.legal.is_empty() {
        put(out, "  - legal: nothing");
    }
}

fn covered(out: &mut String, coverage: &Coverage) {
    if coverage.iter().next().is_none() {
        return;
    }
    put(out, "\n### Coverage\n\n| lifecycle | transitions taken | |\n|---|---|---|");
    for one in coverage.iter() {
        // Rounded down, so that 100 % means all.
        let percent = one.percent().floor();
        put(
            out,
            &format!(
                "| {} | {} of {} | {percent} % |",
                cell(&name(&one.lifecycle)),
                one.taken(),
                one.edges.len()
            ),
        );
    }
    for one in coverage.iter().filter(|one| one.never().next().is_some()) {
        let missed: Vec<_> = one.never().collect();
        let summary = format!("\n<details><summary>Not taken: {}</summary>\n", plain(&name(&one.lifecycle)));
        put(out, &summary);
        missed
            .iter()
            .take(MOST)
            .for_each(|edge| put(out, &format!("- {}", code(&seen(&edge.to_string(), VALUE)))));
        more(out, missed.len(), "transitions");
        put(out, "\n</details>");
    }
}

fn put(out: &mut String, line: &str) {
    // A write to a string cannot fail.
    writeln!(out, "{line}").unwrap_or_default();
}

fn more(out: &mut String, all: usize, what: &str) {
    if all > MOST {
        put(out, &format!("\nand {} more {what}", all - MOST));
    }
}

/// A code span, with a fence that is longer than each run of backticks in the text.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let pad =
        if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) || text.is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A code span in a table, where a bar ends a cell also in code.
fn cell(text: &str) -> String {
    code(&text.replace('|', "\\|"))
}

/// Text without any markup.
fn plain(text: &str) -> String {
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
