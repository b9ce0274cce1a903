//! The violations of a page, its open waits, and the instances that have not ended.

use super::markup::{Markup, put};
use super::{VALUE, count};
use crate::breach::Breach;
use crate::model::Review;
use crate::text::{name, seen};

/// The maximum number of violations.
const BREACHES: usize = 50;
/// The maximum number of listed open waits.
const WAITS: usize = 20;

/// Writes the sections that have content.
pub(super) fn findings(out: &mut Markup, review: &Review) {
    violations(out, review);
    open_waits(out, review);
    let unfinished = review.unfinished(false);
    if !unfinished.is_empty() {
        put!(
            out,
            "<section aria-labelledby=\"unfinished\"><h2 id=\"unfinished\">Not ended</h2>\n<ul class=\"waits\">\n"
        );
        unfinished.into_iter().for_each(|line| put!(out, "<li>" (line) "</li>\n"));
        put!(out, "</ul>\n</section>\n");
    }
}

fn violations(out: &mut Markup, review: &Review) {
    let all = review.breaches().len();
    if all == 0 {
        return;
    }
    put!(out, "<section aria-labelledby=\"violations\"><h2 id=\"violations\">Violations</h2>\n");
    review.breaches().iter().take(BREACHES).for_each(|it| breach(out, review, it));
    if let Some(more) = all.checked_sub(BREACHES).filter(|more| *more > 0) {
        put!(out, "<p>and " (count(more, "more violation")) "</p>\n");
    }
    // An instance has its first violation listed.
    let events = usize::try_from(review.illegal()).unwrap_or(usize::MAX);
    match events.saturating_sub(all) {
        0 => {}
        1 => put!(out, "<p>1 more illegal event is not listed</p>\n"),
        more => put!(out, "<p>" (more) " more illegal events are not listed</p>\n"),
    }
    put!(out, "</section>\n");
}

fn breach(out: &mut Markup, review: &Review, breach: &Breach) {
    put!(out, "<div class=\"breach\"><h3>" (review.unit) " " (breach.line));
    if let Some(step) = breach.step.map(|step| &review.steps()[step]) {
        let lane = &review.lanes()[step.lane];
        put!(out, ": "(lane.label())(review.of_run(lane)));
    }
    put!(out, "</h3>\n<p>" (seen(&breach.reason, VALUE)) "</p>\n<p>got <code>" (seen(&breach.got, VALUE)) "</code></p>\n");
    match breach.legal.is_empty() {
        true if breach.is_fault => {}
        true => put!(out, "<p>legal: nothing</p>\n"),
        false => put!(out, "<p>legal:</p>\n<ul>\n"),
    }
    for legal in &breach.legal {
        put!(out, "<li><code>" (seen(&legal.what, VALUE)) "</code>");
        if let Some(place) = &legal.place {
            put!(out, " <span class=\"soft\">" (seen(place, VALUE)) "</span>");
        }
        // A transition is often written as its line is.
        let is_other =
            |text: &&String| !legal.what.contains(&*text.split_whitespace().collect::<Vec<_>>().join(" "));
        if let Some(text) = legal.text.as_ref().filter(is_other) {
            put!(out, " <code>" (seen(text, VALUE)) "</code>");
        }
        put!(out, "</li>\n");
    }
    if !breach.legal.is_empty() {
        put!(out, "</ul>\n");
    }
    if let Some(place) = &breach.place {
        put!(out, "<p>see <code>" (seen(place, VALUE)) "</code></p>\n");
    }
    put!(out, "</div>\n");
}

/// The waits that have not ended.
fn open_waits(out: &mut Markup, review: &Review) {
    let open = review.open_waits();
    if open.is_empty() {
        return;
    }
    put!(out, "<section aria-labelledby=\"waits\"><h2 id=\"waits\">Open waits</h2>\n<ul class=\"waits\">\n");
    for (lane, stay) in open.iter().take(WAITS) {
        put!(out, "<li>");
        let (begun, ended) = review.times(stay);
        put!(out, (lane.label()) (review.of_run(lane)) " still waits in <code>" (name(&stay.state))
            "</code>, since " (review.unit) " " (review.steps()[stay.begun].line));
        // The trace ends with the entry, so its time says nothing of the wait.
        if begun < ended && review.is_timed(stay) {
            put!(out, " for "(review.duration(ended - begun)));
        }
        if let Some(note) = &lane.note {
            put!(out, ": "(seen(note, VALUE)));
        }
        put!(out, "</li>\n");
    }
    put!(out, "</ul>\n");
    if let Some(more) = open.len().checked_sub(WAITS).filter(|more| *more > 0) {
        put!(out, "<p>and " (count(more, "more open wait")) "</p>\n");
    }
    put!(out, "</section>\n");
}
