//! A review as one HTML file.

mod axis;
mod findings;
mod markup;
mod room;

use std::cmp::Reverse;
use std::collections::HashSet;

use axis::{Axis, Break};
use findings::findings;
use markup::{Markup, put};
use room::Room;

use crate::model::{Lane, Review, Stay, StayKind, Step, Unit};
use crate::span::{Exact, Precision, utc};
use crate::text::{name, seen};

/// The maximum length of a reason, in characters.
const VALUE: usize = 2_000;
/// The maximum number of time labels above the lanes.
const LABELS: usize = 6;
/// The width of a label, in per cent.
const LABEL: f64 = 9.0;
/// The maximum number of instances, and of states of an instance. A browser needs long for more.
const LANES: usize = 1_000;
const STAYS: usize = 2_000;

/// Renders a review as one HTML file: its violations, the waits that have not ended, a lane for each instance, and the coverage.
///
/// The file has no script and refers to no other file. The lanes are to scale, and a long wait without events is drawn as a
/// break. Each lane opens to a table of its states, with further facts. The colours follow the light or dark setting of the
/// reader. The output depends on the review alone. A value is shown with at most 2,000 characters, a name with 80. A trace of
/// 1,000 legal events has at most 300 KB, whatever the number of its instances, if ids have at most 40 characters, and one of 1,000 illegal events at
/// most 500 KB, if states and events have at most 40 characters too. Facts have the room that is left, and of a
/// longer trace 300 bytes an event: long values are shortened, and facts without room are counted. The first 50 violations are
/// shown, 1,000 instances, those with violations first, and the first 2,000 states of each. The others are counted.
///
/// # Example
/// ```
/// use runstate::trace::{Event, Rulebook};
/// use runstate_review::{ReviewBuilder, html};
///
/// let line = r#"{"seq":1,"at_ms":5,"run":"r","lifecycle":"order","instance":"<script>alert(1)</script>","event":"create","from":null,"to":"Cart"}"#;
/// let book = Rulebook::new();
/// let mut builder = ReviewBuilder::new("orders.jsonl", &book);
/// builder.event(1, &Event::from_json(line).unwrap());
/// let page = html(&builder.finish());
/// assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
/// assert!(!page.contains("<script"), "no name becomes markup");
/// ```
pub fn html(review: &Review) -> String {
    let axis = Axis::new(review);
    let bare = page(review, &axis, Room::none());
    match Room::of(review, bare.len()) {
        Some(room) => page(review, &axis, room),
        None => bare,
    }
}

fn page(review: &Review, axis: &Axis, room: Room) -> String {
    let mut out = Markup::default();
    head(&mut out, review, axis);
    put!(out, "<main>\n");
    findings(&mut out, review);
    lanes(&mut out, review, axis, room);
    coverage(&mut out, review);
    put!(out, "</main>\n</body></html>\n");
    out.finish()
}

fn head(out: &mut Markup, review: &Review, axis: &Axis) {
    put!(out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>"
        (name(review.title())) "</title>\n<style>\n");
    out.markup(include_str!("style.css"));
    if !axis.breaks.is_empty() {
        put!(out, ":root{--breaks:linear-gradient(90deg,transparent 0");
        for one in &axis.breaks {
            let (from, to) = (Percent(one.from), Percent(one.to));
            put!(out, ",transparent " (from) ",var(--gap) " (from) ",var(--gap) calc(" (from) " + 2px),transparent calc(" (from)
                " + 2px),transparent calc(" (to) " - 2px),var(--gap) calc(" (to) " - 2px),var(--gap) " (to) ",transparent " (to));
        }
        put!(out, ")}\n");
    }
    put!(out, "</style></head>\n<body><header><h1>" (name(review.title())) "</h1>\n<p class=\"verdict ");
    out.markup(match review.verdict() {
        "violates" => "violates",
        "conforms" => "conforms",
        _ => "incomplete",
    });
    put!(out, "\">" (review.verdict()) ": " (count(review.steps().len(), "event")) ", "
        (count(review.lanes().len(), "instance")));
    if review.illegal() > 0 {
        put!(out, ", "(count(usize::try_from(review.illegal()).unwrap_or(usize::MAX), "illegal event")));
    }
    put!(out, "</p>\n<p class=\"soft\">");
    if let Some(begun) = review.begun_ms().and_then(utc) {
        put!(out, "begins " (begun) ", ");
    }
    let is_untimed = review.steps().iter().all(|step| !step.is_timed) && !review.steps().is_empty();
    let lasts = if is_untimed { "for an unknown time".to_owned() } else { review.duration(review.end_ms()) };
    put!(out, "lasts " (lasts) "</p>\n");
    if let Some(interruption) = review.interruption() {
        put!(out, "<p class=\"cut\" role=\"note\"><strong>The trace is not whole:</strong> " (seen(&interruption.to_string(), VALUE))
            ".</p>\n");
    }
    for note in review.notes() {
        put!(out, "<p class=\"incomplete\">Note: " (note) ".</p>\n");
    }
    put!(out, "</header>\n");
}

fn lanes(out: &mut Markup, review: &Review, axis: &Axis, mut room: Room) {
    put!(
        out,
        "<section aria-labelledby=\"lanes\"><h2 id=\"lanes\">Instances</h2>\n\
        <p class=\"key\"><span class=\"a\">active</span><span class=\"w\">waiting</span>"
    );
    if !review.open_waits().is_empty() {
        put!(out, "<span class=\"w s\">still waiting</span>");
    }
    put!(out, "<span class=\"o\">ended</span><span class=\"x\">illegal</span></p>\n");
    put!(out, "<p class=\"soft\">Open a row for its states, times and facts. ");
    let is_of_times = review.end_ms() > 0 && !review.is_stable();
    match (is_of_times, axis.breaks.is_empty()) {
        (false, _) => put!(out, "The width of a state is that of its steps, and no time.</p>\n"),
        (true, true) => put!(
            out,
            "A state has a small width of its own, and beside it the width of its time, to scale.</p>\n"
        ),
        (true, false) => put!(
            out,
            "A state has a small width of its own, and beside it the width of its time, to scale, except long waits between two vertical lines.</p>\n"
        ),
    }
    let mut by_run: Vec<Vec<&Lane>> = vec![Vec::new(); review.runs().len()];
    shown(review).into_iter().for_each(|lane| by_run[lane.run].push(lane));
    if let Some(more) = review.lanes().len().checked_sub(LANES).filter(|more| *more > 0) {
        put!(out, "<p>" (count(LANES, "instance")) " shown, " (count(more, "instance")) " left out.</p>\n");
    }
    for (run_name, of_run) in review.runs().iter().zip(by_run).filter(|(_, of_run)| !of_run.is_empty()) {
        put!(out, "<h3>" (name(run_name)) "</h3>\n<div class=\"chart\">\n");
        marks(out, review, axis);
        of_run.into_iter().for_each(|it| lane(out, review, axis, it, &mut room));
        put!(out, "</div>\n");
    }
    if room.left_out() > 0 {
        put!(out, "<p>" (count(room.left_out(), "fact")) " left out. They are in the output of <code>--format json</code>.</p>\n");
    }
    put!(out, "</section>\n");
}

/// The shown instances in their order: those with violations, and the first of the others.
fn shown(review: &Review) -> Vec<&Lane> {
    let illegal: HashSet<usize> =
        review.steps().iter().filter(|step| step.is_illegal).map(|step| step.lane).collect();
    let mut places: Vec<usize> = (0..review.lanes().len()).collect();
    places.sort_by_key(|lane| !illegal.contains(lane));
    places.truncate(LANES);
    places.sort_unstable();
    places.into_iter().map(|lane| &review.lanes()[lane]).collect()
}

/// The begin and the end of the trace, and the labels of the longest breaks between them.
fn marks(out: &mut Markup, review: &Review, axis: &Axis) {
    let mut longest: Vec<_> = axis.breaks.iter().collect();
    longest.sort_by_key(|one| Reverse(one.ms));
    let mut labelled: Vec<&Break> = Vec::new();
    for one in longest {
        // A label has room beside the others.
        if labelled.len() < LABELS && labelled.iter().all(|other| (one.from - other.from).abs() > LABEL) {
            labelled.push(one);
        }
    }
    let middle = |one: &Break| (one.from + one.to) / 2.0;
    let is_free = |place: f64| labelled.iter().all(|one| (middle(one) - place).abs() > LABEL);
    let has_end = is_free(100.0) && review.end_ms() > 0;
    let shown = labelled.iter().map(|one| one.ms).chain(has_end.then_some(review.end_ms()));
    let precision = Precision::of(shown);
    let mark = |ms: u64| if review.is_stable() { review.duration(ms) } else { precision.shown(ms) };
    put!(out, "<div class=\"axis\"><span>time");
    if !labelled.is_empty() {
        put!(out, ", long waits");
    }
    put!(out, "</span><span class=\"marks\">");
    if is_free(0.0) {
        put!(out, "<b class=\"begin\">" (review.duration(0)) "</b>");
    }
    for one in &labelled {
        put!(out, "<b style=\"left:" (Percent(middle(one))) "\">" (mark(one.ms)) "</b>");
    }
    if has_end {
        put!(out, "<b class=\"end\">" (mark(review.end_ms())) "</b>");
    }
    put!(out, "</span></div>\n");
}

fn lane(out: &mut Markup, review: &Review, axis: &Axis, lane: &Lane, room: &mut Room) {
    let last = lane.stays.last().map(|stay| name(&stay.state)).unwrap_or_default();
    put!(out, "<details class=lane><summary><span class=name>" (lane.label())
        "</span><span class=bar role=img aria-label=\"" (count(lane.stays.len(), "state")) ", last " (last) "\">");
    // The bars of a clock that goes back do not overlap.
    let mut floor = 0.0_f64;
    for stay in lane.stays.iter().take(STAYS) {
        let step = &review.steps()[stay.begun];
        let from = axis.place(Some(stay.begun)).max(floor);
        let to = axis.place(stay.ended).max(from);
        floor = to;
        out.markup(match (stay.kind, step.is_illegal) {
            (StayKind::Active, false) => "<i",
            (StayKind::Waiting, false) if stay.ended.is_none() => "<i class=\"w s\"",
            (StayKind::Waiting, false) => "<i class=w",
            (StayKind::Over | StayKind::CutOff, false) => "<i class=o",
            (StayKind::Active, true) => "<i class=x",
            (StayKind::Waiting, true) => "<i class=\"w x\"",
            (StayKind::Over | StayKind::CutOff, true) => "<i class=\"o x\"",
        });
        put!(out, " style=\"left:" (Percent(from)) ";width:" (Percent(to - from)) "\">" (name(&stay.state)) "</i>");
    }
    put!(out, "</span></summary>\n<div class=more>\n");
    room.facts(out, &lane.facts);
    if let [only] = lane.stays.as_slice() {
        let step = &review.steps()[only.begun];
        put!(out, "<p>" (review.unit) " " (step.line) ", " (time(review, step)) ": " (name(&step.event)));
        marks_of(out, step);
        put!(out, "</p>");
        room.facts(out, &step.facts);
        put!(out, "</div></details>\n");
        return;
    }
    let has_facts = lane.stays.iter().any(|stay| !review.steps()[stay.begun].facts.is_empty());
    // A page has many of these tables, so they have the shortest markup: HTML closes these elements by itself.
    out.markup(match review.unit {
        Unit::Line => "<table><tr><th>Line",
        Unit::Entry => "<table><tr><th>Entry",
    });
    put!(out, "<th>Time<th>Event<th>State<th>For");
    if has_facts {
        put!(out, "<th>Facts");
    }
    put!(out, "\n");
    let room = &mut has_facts.then_some(room);
    lane.stays.iter().take(STAYS).for_each(|stay| row(out, review, stay, room));
    put!(out, "</table>\n");
    if let Some(more) = lane.stays.len().checked_sub(STAYS).filter(|more| *more > 0) {
        put!(out, "<p>" (count(more, "more state")) " left out.</p>\n");
    }
    put!(out, "</div></details>\n");
}

/// The marks behind the name of an event.
fn marks_of(out: &mut Markup, step: &Step) {
    if step.is_illegal {
        put!(out, " (illegal from " (step.from.as_deref().map_or("[*]".to_owned(), name)) ")");
    }
    if step.is_back {
        put!(out, " (earlier than the event before it)");
    }
}

/// The time of a step since the begin.
fn time(review: &Review, step: &Step) -> String {
    match (step.is_timed, review.is_stable()) {
        (false, _) => "unknown".to_owned(),
        (true, true) => review.duration(step.at_ms),
        (true, false) => Exact(step.at_ms).to_string(),
    }
}

fn row(out: &mut Markup, review: &Review, stay: &Stay, room: &mut Option<&mut Room>) {
    let step = &review.steps()[stay.begun];
    out.markup(if step.is_illegal { "<tr class=x>" } else { "<tr>" });
    put!(out, "<td class=n>" (step.line) "<td class=n>" (time(review, step)) "<td>" (name(&step.event)));
    marks_of(out, step);
    put!(out, "<td>" (name(&stay.state)) "<td class=n>");
    let (begun, ended) = review.times(stay);
    let is_last = begun == ended;
    match (stay.kind, stay.ended) {
        (StayKind::Over, None) => put!(out, "ended"),
        (StayKind::CutOff, None) => put!(out, "cut off"),
        (StayKind::Waiting, None) if is_last => put!(out, "still waits"),
        (StayKind::Waiting, None) => put!(out, (review.lasts(stay)) ", still waits"),
        (StayKind::Active, None) => put!(out, (review.lasts(stay)) ", not ended"),
        (_, Some(_)) => put!(out, (review.lasts(stay))),
    }
    if let Some(room) = room {
        put!(out, "<td>");
        room.facts(out, &step.facts);
    }
    put!(out, "\n");
}

fn coverage(out: &mut Markup, review: &Review) {
    let covered: Vec<_> = review.report().coverage.iter().collect();
    if covered.is_empty() {
        return;
    }
    put!(out, "<section aria-labelledby=\"coverage\"><h2 id=\"coverage\">Coverage</h2>\n");
    for one in covered {
        let clean = |text: &str| review.redacted.text(text);
        put!(out, "<details class=\"lane\"><summary><span class=\"name\">" (name(&clean(&one.lifecycle))) "</span><span>"
            (one.taken()) " of " (count(one.edges.len(), "transition")) " taken</span></summary>\n<div class=\"more\">\n<ul>\n");
        for edge in &one.edges {
            put!(out, "<li><code>" (clean(&edge.to_string())) "</code> ");
            match edge.taken {
                0 => put!(out, "<strong>never</strong>"),
                taken => put!(out, (count(usize::try_from(taken).unwrap_or(usize::MAX), "time"))),
            }
            put!(out, "</li>\n");
        }
        put!(out, "</ul></div></details>\n");
    }
    put!(out, "</section>\n");
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A share of the width, in at most two decimal places.
#[derive(Clone, Copy)]
struct Percent(f64);

impl std::fmt::Display for Percent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        write!(f, "{}%", text.trim_end_matches('0').trim_end_matches('.'))
    }
}
