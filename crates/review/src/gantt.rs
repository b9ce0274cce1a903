//! A review as a Mermaid Gantt chart.

use std::collections::HashMap;
use std::fmt::Write;

use runstate::calendar::{DAY_MS, civil_from_days};

use crate::model::{Lane, Review, Stay, StayKind};
use crate::notes::NOTE;
use crate::text::{name, seen};

/// The maximum number of rows; above it the chart is a summary.
const ROWS: usize = 30;

/// Renders a review as a Mermaid Gantt chart, which GitHub and GitLab draw in Markdown.
///
/// A chart has a section for each run and a row for each stay: waits are `active`, ends are milestones, and illegal steps
/// are `crit`. A wait that has not ended lasts to the end of the trace, and says that it still waits, with its note. Above 30 rows it has a
/// row for each instance, and above 30 instances a row for each lifecycle of a run. Rows beyond 30 are counted in a last row.
/// Times of Unix clocks are shown in UTC, others count from midnight. A state that ends before it begins, by a clock that runs
/// backwards, has no duration, and its label says so. In a stable review, and in a trace whose times are equal, a step lasts a second;
/// the title then says so, and has the notes on the whole trace.
///
/// # Example
/// ```
/// use runstate::trace::Event;
/// use runstate_review::{ReviewBuilder, gantt};
///
/// let lines = [
///     r#"{"seq":1,"at_ms":0,"run":"r","lifecycle":"tool_call","instance":"c","event":"create","from":null,"to":"New"}"#,
///     r#"{"seq":2,"at_ms":8,"run":"r","lifecycle":"tool_call","instance":"c","event":"succeed","from":"New","to":"Succeeded"}"#,
/// ];
/// let book = runstate::rulebook();
/// let mut builder = ReviewBuilder::new("a call", &book);
/// for (number, line) in (1..).zip(lines) {
///     builder.event(number, &Event::from_json(line).unwrap());
/// }
/// let chart = gantt(&builder.finish());
/// assert!(chart.starts_with("gantt\n    title a call#58; violates\n"));
/// assert!(chart.contains("    c New :1970-01-01T00:00:00.000, 1970-01-01T00:00:00.008\n"));
/// assert!(chart.contains("    c Succeeded, illegal :crit, milestone, "));
/// ```
pub fn gantt(review: &Review) -> String {
    let clock = Clock::of(review);
    let mut out = String::from("gantt\n");
    let scale = match () {
        () if review.is_stable() => "; a second is a step",
        () if review.is_without_times() => "; no time passes: a second is a step",
        () => "",
    };
    let lost = review.interruption().map(|it| format!("; the trace is not whole, see line {}", it.line));
    let late = clock.is_late().then(|| "; times after the year 9999 are drawn at its end".to_owned());
    let notes = review.notes().into_iter().map(|note| format!("; {note}"));
    let notes: String = lost.into_iter().chain(late).chain(notes).collect();
    let title = format!("{}: {}{notes}{scale}", name(review.title()), review.verdict());
    line(&mut out, &format!("title {}", encoded(&title)));
    line(&mut out, "dateFormat YYYY-MM-DDTHH:mm:ss.SSS");
    line(&mut out, clock.axis());
    let stays: usize = review.lanes().iter().map(|lane| lane.stays.len()).sum();
    let mut rows: Vec<Row> = match (stays, review.lanes().len()) {
        (..=ROWS, _) => by_stay(review),
        (_, ..=ROWS) => review.lanes().iter().map(|lane| of_lane(review, lane)).collect(),
        _ => by_lifecycle(review),
    };
    rows.sort_by_key(|row| row.run);
    let left = rows.len().saturating_sub(ROWS);
    // An illegal row is never among those that are left out, as far as there is room.
    let mut room = ROWS.saturating_sub(rows.iter().filter(|row| row.is_illegal).count());
    rows.retain(|row| {
        let has_room = room > 0;
        room -= usize::from(has_room && !row.is_illegal);
        row.is_illegal || has_room
    });
    rows.truncate(ROWS);
    let mut section = None;
    for row in &rows {
        if section != Some(row.run) {
            section = Some(row.run);
            line(&mut out, &format!("section {}", encoded(&name(&review.runs()[row.run]))));
        }
        row.write(&mut out, &clock);
    }
    if left > 0 {
        line(&mut out, "section more");
        let (last, label) = (clock.end, format!("and {left} more rows"));
        Row { run: 0, label, begun: last, ended: last, is_illegal: false, kind: StayKind::Over }
            .write(&mut out, &clock);
    }
    out
}

/// A row, with times as the clock takes them.
struct Row {
    run: usize,
    label: String,
    begun: u64,
    ended: u64,
    is_illegal: bool,
    kind: StayKind,
}

impl Row {
    fn write(&self, out: &mut String, clock: &Clock) {
        let mut tags = String::new();
        if self.is_illegal {
            tags.push_str("crit, ");
        }
        tags.push_str(match self.kind {
            // A bar without a width cannot be seen.
            StayKind::Active if self.begun == self.ended => "milestone, ",
            StayKind::Active => "",
            StayKind::Waiting if self.begun == self.ended => "active, milestone, ",
            StayKind::Waiting => "active, ",
            StayKind::Over | StayKind::CutOff => "milestone, ",
        });
        let illegal = if self.is_illegal { ", illegal" } else { "" };
        let label = encoded(&format!("{}{illegal}", self.label));
        let (begun, ended) = (clock.time(self.begun), clock.time(self.ended));
        line(out, &format!("{label} :{tags}{begun}, {ended}"));
    }
}

fn by_stay(review: &Review) -> Vec<Row> {
    let first = review.lanes().first().map(|lane| &lane.lifecycle);
    let has_several = review.lanes().iter().any(|lane| Some(&lane.lifecycle) != first);
    let of = |lane: &Lane, stay: &Stay| {
        let (begun, ended) = times(review, stay);
        let back = match () {
            () if !review.is_timed(stay) && !review.is_stable() => ", its time is unknown",
            () if review.ends_before(stay) > 0 => ", ends before it begins",
            () => "",
        };
        let subject = if has_several { lane.label() } else { lane.shown.clone() };
        let label = format!("{subject} {}{}{back}", name(&stay.state), still(review, lane, stay));
        let is_illegal = review.steps()[stay.begun].is_illegal;
        Row { run: lane.run, label, begun, ended, is_illegal, kind: stay.kind }
    };
    review.lanes().iter().flat_map(|lane| lane.stays.iter().map(move |stay| of(lane, stay))).collect()
}

fn of_lane(review: &Review, lane: &Lane) -> Row {
    let begun = lane.stays.first().map(|stay| times(review, stay).0).unwrap_or_default();
    let ended = lane.stays.iter().map(|stay| times(review, stay).1).max().unwrap_or(begun);
    let last =
        lane.stays.last().map(|stay| name(&stay.state) + &still(review, lane, stay)).unwrap_or_default();
    let back = if lane.stays.iter().any(|stay| review.steps()[stay.begun].is_back) {
        ", time runs backwards"
    } else {
        ""
    };
    let label = format!("{}, {} steps, {last}{back}", lane.label(), lane.stays.len());
    let is_illegal = lane.stays.iter().any(|stay| review.steps()[stay.begun].is_illegal);
    Row { run: lane.run, label, begun, ended, is_illegal, kind: StayKind::Active }
}

/// The end of the label of a stay that has not ended.
fn still(review: &Review, lane: &Lane, stay: &Stay) -> String {
    match stay.kind {
        StayKind::CutOff => ", cut off".to_owned(),
        _ if stay.is_open_wait() => {
            let note = lane.note.as_ref().map(|note| format!(": {}", seen(note, NOTE)));
            format!(", still waits{}", note.unwrap_or_default())
        }
        StayKind::Active if stay.ended.is_none() && !review.unchecked().contains(&lane.lifecycle) => {
            ", not ended".to_owned()
        }
        StayKind::Active | StayKind::Waiting | StayKind::Over => String::new(),
    }
}

/// A row for each lifecycle of a run.
fn by_lifecycle(review: &Review) -> Vec<Row> {
    let mut groups: Vec<(usize, &str, Vec<Row>, usize)> = Vec::new();
    let mut places: HashMap<(usize, &str), usize> = HashMap::new();
    for lane in review.lanes() {
        let place = *places.entry((lane.run, &lane.lifecycle)).or_insert_with(|| {
            groups.push((lane.run, &lane.lifecycle, Vec::new(), 0));
            groups.len() - 1
        });
        groups[place].2.push(of_lane(review, lane));
        groups[place].3 += usize::from(lane.stays.last().is_some_and(Stay::is_open_wait));
    }
    let still = |open| match open {
        0 => String::new(),
        1 => ", 1 still waits".to_owned(),
        open => format!(", {open} still wait"),
    };
    let sum = |(run, lifecycle, rows, open): (usize, &str, Vec<Row>, usize)| Row {
        run,
        label: match rows.len() {
            1 => format!("{}, 1 instance{}", name(lifecycle), still(open)),
            several => format!("{}, {several} instances{}", name(lifecycle), still(open)),
        },
        begun: rows.iter().map(|row| row.begun).min().unwrap_or_default(),
        ended: rows.iter().map(|row| row.ended).max().unwrap_or_default(),
        is_illegal: rows.iter().any(|row| row.is_illegal),
        kind: StayKind::Active,
    };
    groups.into_iter().map(sum).collect()
}

/// The times of a stay; the indices of its steps in a chart of steps.
fn times(review: &Review, stay: &Stay) -> (u64, u64) {
    if is_of_steps(review) && !review.is_stable() {
        let begun = stay.begun as u64;
        let last = if matches!(stay.kind, StayKind::Over | StayKind::CutOff) {
            stay.begun
        } else {
            review.steps().len()
        };
        return (begun, stay.ended.unwrap_or(last) as u64);
    }
    review.times(stay)
}

fn is_of_steps(review: &Review) -> bool {
    review.is_stable() || review.is_without_times()
}

/// The clock of a chart.
struct Clock {
    begun_ms: u64,
    /// The milliseconds of a unit of time.
    unit_ms: u64,
    /// The last time, in units.
    end: u64,
}

impl Clock {
    /// The end of the year 9999, which a date with four digits of a year can still show.
    const LAST_MS: u64 = 253_402_300_799_999;

    fn of(review: &Review) -> Self {
        if is_of_steps(review) {
            return Clock { begun_ms: 0, unit_ms: 1_000, end: review.steps().len() as u64 };
        }
        let begun_ms =
            review.begun_ms().filter(|begun| crate::span::utc(*begun).is_some()).unwrap_or_default();
        Clock { begun_ms, unit_ms: 1, end: review.end_ms() }
    }

    /// Returns whether a time is later than the last one that a chart can show.
    fn is_late(&self) -> bool {
        self.begun_ms.saturating_add(self.end.saturating_mul(self.unit_ms)) > Clock::LAST_MS
    }

    fn axis(&self) -> &'static str {
        match self.end.saturating_mul(self.unit_ms) {
            0..10_000 => "axisFormat %S.%L",
            10_000..3_600_000 => "axisFormat %M:%S",
            3_600_000..DAY_MS => "axisFormat %H:%M",
            _ => "axisFormat %m-%d %H:%M",
        }
    }

    /// A time without a zone. A chart reads and shows it in the same zone, so that the digits stay.
    fn time(&self, units: u64) -> String {
        let ms = self.begun_ms.saturating_add(units.saturating_mul(self.unit_ms)).min(Clock::LAST_MS);
        let ((year, month, day), rest) = (civil_from_days(ms / DAY_MS), ms % DAY_MS);
        let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}", rest % 1_000)
    }
}

fn line(out: &mut String, text: &str) {
    // A write to a string cannot fail.
    writeln!(out, "    {text}").unwrap_or_default();
}

/// A text that Mermaid shows literally: a character with a meaning becomes an entity, and so does the first letter of a word
/// that begins a statement, and the first digit of what may be a date.
fn encoded(text: &str) -> String {
    const WORDS: [&str; 19] = [
        "gantt",
        "title",
        "section",
        "dateformat",
        "axisformat",
        "tickinterval",
        "todaymarker",
        "excludes",
        "includes",
        "inclusiveenddates",
        "topaxis",
        "weekday",
        "weekend",
        "click",
        "acctitle",
        "accdescr",
        "call",
        "href",
        "date",
    ];
    let lower = text.trim_start().to_ascii_lowercase();
    let is_word = WORDS.iter().any(|word| lower.starts_with(word));
    let mut out = String::new();
    for (at, c) in text.trim().chars().enumerate() {
        let is_plain = c.is_alphanumeric()
            || matches!(c, ' ' | '_' | '-' | ',' | '.' | '(' | ')' | '/' | '+' | '=' | '…');
        if is_plain && !(at == 0 && (is_word || !c.is_alphabetic())) {
            out.push(c);
        } else {
            write!(out, "#{};", u32::from(c)).unwrap_or_default();
        }
    }
    if out.is_empty() { "#95;".to_owned() } else { out }
}
