//! The summary of a CI job, as Markdown.

use std::fmt;

use runstate::trace::{Coverage, Report};

use crate::bounded::Bounded;
use crate::breach::{Breach, violations};
use crate::covered::{covered, more};
use crate::markdown::{block, cell, code, plain, subject};
use crate::model::{Review, Unit, verdict};
use crate::redacted::Redacted;
use crate::text::{name, seen};

/// The maximum length of a reason, an event or a line, in characters.
pub(crate) const VALUE: usize = 300;
/// The maximum number of listed entries, of violations and lines of an entry, and of transitions that no trace took, by
/// lifecycle.
pub(crate) const MOST: usize = 50;
/// The maximum size of a block of text, in characters.
const BLOCK: usize = 10_000;
/// The room for the note on parts that are left out, in bytes.
const NOTE: usize = 200;

/// A summary in Markdown for `$GITHUB_STEP_SUMMARY`: a table of entries with their verdicts, the violations and further lines of
/// each, and the coverage over all entries.
///
/// The [`Display`](fmt::Display) is the Markdown. Names are code: they mention no user, link to no page and are no markup. A list
/// has at most 50 entries, the bad ones first, and the rest is counted. The whole has at most [`Summary::MOST_BYTES`]: parts
/// beyond it are left out, and the last line counts them.
///
/// # Example
/// ```
/// use runstate::trace::{Event, check};
/// use runstate_review::{Entry, Summary};
///
/// let line = r#"{"seq":1,"at_ms":0,"run":"r","lifecycle":"tool_call","instance":"c","event":"create","from":null,"to":"Running"}"#;
/// let report = check(&[Event::from_json(line).unwrap()], &runstate::rulebook());
/// let mut summary = Summary::new("Scenarios", "scenario");
/// summary.report("call", &report);
/// summary.entry(Entry::bad("pay", "differs").block("diff", "-Running\n+Suspended"));
/// summary.demand("at least 90 % of the edges", Some("got 4 %"));
/// let shown = summary.to_string();
/// assert!(shown.contains("| `call` | ❌ violates | 1 | 1 | 1 |\n| `pay` | ❌ differs | | | |\n"));
/// assert!(shown.contains("### Violations in `call`\n\n- line 1, `tool_call` `c`: it is created in Running"));
/// assert!(shown.contains("- ❌ at least 90 &#37; of the edges: got 4 &#37;\n"));
/// ```
#[derive(Debug, Clone)]
pub struct Summary {
    heading: String,
    subject: String,
    entries: Vec<Entry>,
    demands: Vec<(String, Option<String>)>,
    coverage: Coverage,
    redacted: Redacted,
}

/// A row of a [`Summary`], with its violations and further lines.
#[derive(Debug, Clone)]
pub struct Entry {
    title: String,
    verdict: String,
    sign: Sign,
    /// The numbers of events, instances and illegal events.
    counts: Option<[u64; 3]>,
    breaches: Vec<Listed>,
    /// The number of violations that are not listed.
    more: u64,
    lines: Vec<String>,
    blocks: Vec<(&'static str, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    Bad,
    Open,
    Good,
}

/// A violation with its instance, as Markdown.
#[derive(Debug, Clone)]
struct Listed {
    subject: Option<String>,
    unit: Unit,
    breach: Breach,
}

impl Entry {
    /// An entry with a good verdict.
    pub fn good(title: impl Into<String>, verdict: impl Into<String>) -> Self {
        Entry::new(title, verdict, Sign::Good)
    }

    /// An entry with a bad verdict.
    pub fn bad(title: impl Into<String>, verdict: impl Into<String>) -> Self {
        Entry::new(title, verdict, Sign::Bad)
    }

    /// An entry with a verdict that is neither good nor bad, such as `incomplete`.
    pub fn open(title: impl Into<String>, verdict: impl Into<String>) -> Self {
        Entry::new(title, verdict, Sign::Open)
    }

    fn new(title: impl Into<String>, verdict: impl Into<String>, sign: Sign) -> Self {
        Entry {
            title: title.into(),
            verdict: verdict.into(),
            sign,
            counts: None,
            breaches: Vec::new(),
            more: 0,
            lines: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// Adds the counts and the violations of a report.
    #[must_use]
    pub fn report(mut self, report: &Report) -> Self {
        // A line that is no event is no illegal event.
        let illegal = report.violations - u64::from(!report.consumed_whole);
        self.counts = Some([report.checked(), report.instances, illegal]);
        let (of_events, lost): (Vec<_>, Vec<_>) =
            violations(report).partition(|violation| violation.is_of_event());
        let has_runs = of_events.iter().any(|violation| violation.run != of_events[0].run);
        self.breaches.extend(of_events.iter().map(|it| {
            Listed {
                subject: (!it.lifecycle.is_empty())
                    .then(|| subject(&it.lifecycle, &it.instance, has_runs.then_some(&it.run))),
                unit: Unit::Line,
                breach: Breach::of(it),
            }
        }));
        self.more = illegal.saturating_sub(self.breaches.len() as u64);
        let lost = lost
            .into_iter()
            .map(|lost| format!("the trace is not whole: line {}: {}", lost.line, lost.reason()));
        self.lines.extend(lost);
        self.lines.extend(report.unfinished.iter().map(ToString::to_string));
        match report.unfinished_instances - report.unfinished.len() as u64 {
            0 => {}
            1 => self.lines.push("1 more instance has not ended".to_owned()),
            more => self.lines.push(format!("{more} more instances have not ended")),
        }
        self
    }

    /// Adds a line of plain text.
    #[must_use]
    pub fn line(mut self, line: impl Into<String>) -> Self {
        self.lines.push(line.into());
        self
    }

    /// Adds a block of code in that language, such as `diff`. The block has at most 10,000 characters.
    #[must_use]
    pub fn block(mut self, language: &'static str, text: impl Into<String>) -> Self {
        self.blocks.push((language, text.into()));
        self
    }

    fn of_review(review: &Review) -> Self {
        let verdict = review.verdict();
        let count = |number: usize| number as u64;
        let listed = |breach: &Breach| Listed {
            subject: breach.step.map(|step| {
                let lane = &review.lanes()[review.steps()[step].lane];
                let run = review.runs().get(lane.run).filter(|_| review.runs().len() > 1);
                subject(&lane.lifecycle, &lane.instance, run)
            }),
            unit: review.unit,
            breach: breach.clone(),
        };
        let mut entry = Entry::new(review.title(), verdict, sign(verdict));
        entry.counts = Some([count(review.steps().len()), count(review.lanes().len()), review.illegal()]);
        entry.breaches = review.breaches().iter().map(listed).collect();
        entry.more = review.illegal().saturating_sub(entry.breaches.len() as u64);
        entry.lines.extend(review.notes());
        entry.lines.extend(review.unfinished(true));
        entry.lines.extend(review.interruption().map(|it| format!("the trace is not whole: {it}")));
        entry
    }
}

fn sign(verdict: &str) -> Sign {
    match verdict {
        "conforms" => Sign::Good,
        "violates" => Sign::Bad,
        _ => Sign::Open,
    }
}

impl Sign {
    fn shown(self) -> &'static str {
        match self {
            Sign::Good => "✅",
            Sign::Bad => "❌",
            // Without the selector of a picture, which a terminal would show as an escape.
            Sign::Open => "⚠",
        }
    }
}

impl Summary {
    /// The maximum size of a summary in bytes, below the 1 MiB that GitHub takes of a step.
    pub const MOST_BYTES: usize = 1_000_000;

    /// Makes a summary without entries, with its heading, and the name of an entry for the head of the table.
    pub fn new(heading: impl Into<String>, subject: impl Into<String>) -> Self {
        Summary {
            heading: heading.into(),
            subject: subject.into(),
            entries: Vec::new(),
            demands: Vec::new(),
            coverage: Coverage::new(),
            redacted: Redacted::default(),
        }
    }

    /// Adds a review, and its coverage.
    pub fn review(&mut self, review: &Review) {
        self.coverage.merge(&review.report().coverage);
        self.redacted.add_all(&review.redacted);
        self.entries.push(Entry::of_review(review));
    }

    /// Adds the report on a trace, and its coverage.
    pub fn report(&mut self, title: &str, report: &Report) {
        let verdict = verdict(report);
        self.coverage.merge(&report.coverage);
        self.entries.push(Entry::new(title, verdict, sign(verdict)).report(report));
    }

    /// Adds an entry.
    pub fn entry(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Adds the coverage of other traces.
    pub fn coverage(&mut self, coverage: &Coverage) {
        self.coverage.merge(coverage);
    }

    /// Adds a demand, and the reason if it is not met.
    pub fn demand(&mut self, what: impl Into<String>, unmet: Option<impl Into<String>>) {
        self.demands.push((what.into(), unmet.map(Into::into)));
    }

    fn table(&self, sorted: &[&Entry]) -> String {
        let mut out = format!("## {}\n\n", plain(&name(&self.heading)));
        out +=
            &format!("| {} | verdict | events | instances | illegal events |\n", plain(&name(&self.subject)));
        out += "|---|---|---|---|---|\n";
        for entry in sorted.iter().take(MOST) {
            let (title, sign) = (cell(&name(&entry.title)), entry.sign.shown());
            let verdict = plain(&name(&entry.verdict));
            out += &match entry.counts {
                Some([events, instances, illegal]) => {
                    format!("| {title} | {sign} {verdict} | {events} | {instances} | {illegal} |\n")
                }
                None => format!("| {title} | {sign} {verdict} | | | |\n"),
            };
        }
        out + &more(self.entries.len() as u64, "entry", "entries")
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A bad entry is never among those that are left out, as far as there is room.
        let mut sorted: Vec<&Entry> = self.entries.iter().collect();
        sorted.sort_by_key(|entry| entry.sign);
        let mut out = Bounded { text: self.table(&sorted), room: Self::MOST_BYTES - NOTE, left_out: 0 };
        if !self.demands.is_empty() {
            out.put("\n");
        }
        let mut demands: Vec<_> = self.demands.iter().collect();
        demands.sort_by_key(|(_, unmet)| unmet.is_none());
        for (what, unmet) in demands.iter().take(MOST) {
            let shown = plain(&seen(what, VALUE));
            let unmet = unmet.as_ref().map(|why| plain(&seen(why, VALUE)));
            out.put(&match unmet {
                Some(why) => format!("- ❌ {shown}: {why}\n"),
                None => format!("- ✅ {shown}\n"),
            });
        }
        if let Some(rest) = demands.len().checked_sub(MOST).filter(|rest| *rest > 0) {
            out.put(&format!("- and {rest} further demands\n"));
        }
        let covered = |with_missed| covered(&self.coverage, &self.redacted, with_missed);
        let mut coverage = covered(true);
        if coverage.len() > Self::MOST_BYTES / 2 {
            out.left_out += self.coverage.iter().count() as u64;
            coverage = covered(false);
        }
        out.room = out.room.saturating_sub(coverage.len());
        sorted.iter().take(MOST).for_each(|entry| entry.write(&mut out));
        out.room = Self::MOST_BYTES;
        out.put(&coverage);
        if out.left_out > 0 {
            let parts = if out.left_out == 1 {
                "1 part is".to_owned()
            } else {
                format!("{} parts are", out.left_out)
            };
            out.put(&format!("\n**The summary is shortened to 1 MB: {parts} left out.**\n"));
        }
        f.write_str(&out.text)
    }
}

impl Entry {
    fn write(&self, out: &mut Bounded) {
        let title = code(&name(&self.title));
        if !self.breaches.is_empty() {
            // The heading has room wherever its first violation has.
            let mut listed = self.breaches.iter().take(MOST).map(Listed::shown);
            let first = listed.next().unwrap_or_default();
            out.put(&format!("\n### Violations in {title}\n\n{first}"));
            listed.for_each(|it| out.put(&it));
            out.put(&more(self.breaches.len() as u64, "instance", "instances"));
            if self.more > 0 {
                let (s, are) = if self.more == 1 { ("", "is") } else { ("s", "are") };
                out.put(&format!("\n{} more illegal event{s} {are} not listed\n", self.more));
            }
        } else if !self.lines.is_empty() || !self.blocks.is_empty() {
            out.put(&format!("\n### {title}\n"));
        }
        if !self.lines.is_empty() {
            out.put("\n");
        }
        for line in self.lines.iter().take(MOST) {
            out.put(&format!("- {}\n", plain(&seen(line, VALUE))));
        }
        out.put(&more(self.lines.len() as u64, "line", "lines"));
        for (language, text) in &self.blocks {
            let lines: Vec<String> = text.lines().map(|line| seen(line, VALUE)).collect();
            out.put(&format!("\n{}", block(language, &cut(&lines.join("\n")))));
        }
    }
}

/// At most [`BLOCK`] characters of a text in lines.
fn cut(text: &str) -> String {
    match text.char_indices().nth(BLOCK) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}\n… {} more lines", &text[..at], text[at..].lines().count()),
    }
}

impl Listed {
    fn shown(&self) -> String {
        let breach = &self.breach;
        let subject = self.subject.as_ref().map(|subject| format!(", {subject}"));
        let reason = plain(&seen(&breach.reason, VALUE));
        let mut out = format!("- {} {}{}: {reason}\n", self.unit, breach.line, subject.unwrap_or_default());
        out += &format!("  - got {}\n", code(&seen(&breach.got, VALUE)));
        for legal in breach.legal.iter().take(MOST) {
            let place = legal.place.as_ref().map(|place| format!(" ({})", code(&seen(place, VALUE))));
            out += &format!("  - legal {}{}\n", code(&seen(&legal.what, VALUE)), place.unwrap_or_default());
        }
        if breach.legal.is_empty() && !breach.is_fault {
            out += "  - legal: nothing\n";
        }
        out
    }
}
