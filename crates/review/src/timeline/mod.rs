//! A trace as a table of transitions and their times.

mod fit;
mod open;

use std::collections::{HashMap, VecDeque};
use std::fmt;

use unicode_width::UnicodeWidthStr;

use runstate::trace::{Checker, Event, Rulebook};

use crate::interruption::Interruption;
use crate::model::StayKind;
use crate::pause::longest_to_scale;
use crate::span::utc;
use crate::text::name;
use fit::{cut, folded, short};

/// A table of a trace with one row per transition: the time since the first event, the time spent in the source
/// state, the instance and the transition. No line exceeds the width of the table. In a narrow table the transitions are on
/// lines of their own, and longer content is cut with `…`.
///
/// A `!` before a time marks an illegal event, and a `<` a row that is earlier than the previous row of its run. In a trace
/// with several runs, each instance has the name of its run.
///
/// A wait has a row of its own before the transition that ends it, with `~` and its duration: a state whose name contains
/// `wait`, `suspend`, `pending`, `paused` or `park` in any letter case. So has a pause without any event, if it dwarfs all other times
/// between events. [`open_waits`](Timeline::open_waits) adds the waits that have not ended.
///
/// # Example
/// ```
/// use runstate::trace::{Event, Rulebook};
/// use runstate_review::{Marks, Timeline};
///
/// let lines = [
///     r#"{"seq":1,"at_ms":5,"run":"r","lifecycle":"order","instance":"7","event":"create","from":null,"to":"Cart"}"#,
///     r#"{"seq":2,"at_ms":1255,"run":"r","lifecycle":"order","instance":"7","event":"pay","from":"Cart","to":"Paid"}"#,
///     r#"{"seq":3,"at_ms":7382005,"run":"r","lifecycle":"order","instance":"7","event":"ship","from":"Paid","to":"Shipped"}"#,
/// ];
/// let mut timeline = Timeline::new(80);
/// for line in lines {
///     timeline.event(&Event::from_json(line).unwrap(), false);
/// }
/// assert_eq!(timeline.to_string().lines().collect::<Vec<_>>(), [
///     "     Time  In state  Instance  Transition",
///     "     0 ms            order 7   [*] --> Cart : create",
///     "   1.25 s    1.25 s  order 7   Cart --> Paid : pay",
///     "           2 h 03 m            ~ no event",
///     " 2 h 03 m  2 h 03 m  order 7   Paid --> Shipped : ship",
/// ]);
/// ```
#[derive(Debug, Clone)]
pub struct Timeline<'b> {
    /// The check of the events, with the rules of [`open_waits`](Timeline::open_waits).
    checker: Option<Checker<'b>>,
    width: usize,
    last: usize,
    /// The number of omitted rows before the kept ones.
    left_out: u64,
    first_ms: Option<u64>,
    last_ms: u64,
    /// The number of all events.
    events: u64,
    runs: Vec<Run>,
    places: HashMap<String, usize>,
    rows: VecDeque<Row>,
    interruption: Option<Interruption>,
}

/// A run, with the time of its last event.
#[derive(Debug, Clone)]
struct Run {
    name: String,
    at_ms: u64,
    /// The entry of each instance into its state, by lifecycle and name.
    since: HashMap<(String, String), Entry>,
}

/// The entry of an instance into its state.
#[derive(Debug, Clone)]
struct Entry {
    at_ms: u64,
    /// The number of the event.
    number: u64,
    /// The state, if it is a wait.
    waits: Option<String>,
}

#[derive(Debug, Clone)]
struct Row {
    at_ms: u64,
    at: Span,
    spent: Option<Span>,
    /// The state in which the instance waited before this transition.
    waited: Option<String>,
    is_back: bool,
    is_illegal: bool,
    run: usize,
    lifecycle: String,
    instance: String,
    what: String,
}

/// The time from one moment to another, possibly earlier, moment.
#[derive(Debug, Clone, Copy)]
struct Span {
    is_back: bool,
    ms: u64,
}

const HEAD: [&str; 4] = ["Time", "In state", "Instance", "Transition"];
const PAUSE: &str = "~ no event";
const GAP: usize = 2;
/// The minimum width of the instance column in a narrow table, with the lifecycle.
const MUCH: usize = 12;

impl<'b> Timeline<'b> {
    /// Makes a table with that maximum width in columns, of all rows.
    pub fn new(width: usize) -> Self {
        Timeline {
            checker: None,
            width,
            last: usize::MAX,
            left_out: 0,
            first_ms: None,
            last_ms: 0,
            events: 0,
            runs: Vec::new(),
            places: HashMap::new(),
            rows: VecDeque::new(),
            interruption: None,
        }
    }

    /// Keeps only the last rows, at most that many. Default: all rows. The times are still relative to the whole
    /// trace.
    #[must_use]
    pub fn last(mut self, rows: usize) -> Self {
        self.last = rows;
        self
    }

    /// Adds a row for each wait that has not ended, behind all transitions, with the time to the latest event of the trace. A
    /// wait that begins at that time has none. By these rules, a state without a transition out of it is an end and no wait, and
    /// so is a state in which a new activation or the end of the run cut the instance off. At most 20 of these rows are shown, the earliest first, and the rest is counted.
    ///
    /// # Example
    /// ```
    /// use runstate::trace::Event;
    /// use runstate_review::Timeline;
    ///
    /// let lines = [
    ///     r#"{"seq":1,"at_ms":0,"run":"r","lifecycle":"tool_call","instance":"a","event":"create","from":null,"to":"New"}"#,
    ///     r#"{"seq":2,"at_ms":2,"run":"r","lifecycle":"tool_call","instance":"a","event":"suspend","from":"New","to":"Suspended"}"#,
    ///     r#"{"seq":3,"at_ms":9,"run":"r","lifecycle":"tool_call","instance":"b","event":"create","from":null,"to":"New"}"#,
    /// ];
    /// let book = runstate::rulebook();
    /// let mut timeline = Timeline::new(80).open_waits(&book);
    /// for line in lines {
    ///     timeline.event(&Event::from_json(line).unwrap(), false);
    /// }
    /// assert!(timeline.to_string().ends_with("\n           7 ms  tool_call a  ~ still waits in Suspended\n"));
    /// ```
    #[must_use]
    pub fn open_waits(mut self, book: &'b Rulebook) -> Self {
        self.checker = Some(Checker::new(book));
        self
    }

    /// Adds the next event of the trace, legal or illegal; [`Marks`](crate::Marks) decides.
    pub fn event(&mut self, event: &Event<'_>, is_illegal: bool) {
        let first = *self.first_ms.get_or_insert(event.at_ms);
        if let Some(checker) = &mut self.checker {
            checker.event(self.events + 1, event);
        }
        let run = self.places.get(&*event.run).copied().unwrap_or_else(|| {
            self.places.insert(event.run.to_string(), self.runs.len());
            let run = Run { name: event.run.to_string(), at_ms: event.at_ms, since: HashMap::new() };
            self.runs.push(run);
            self.runs.len() - 1
        });
        let known = &mut self.runs[run];
        let is_back = event.at_ms < known.at_ms;
        known.at_ms = event.at_ms;
        let key = (event.lifecycle.to_string(), event.instance.to_string());
        let waits = |state: &&str| StayKind::of_name(state) == StayKind::Waiting;
        let into = Some(&*event.to).filter(waits).map(str::to_owned);
        let entry = Entry { at_ms: event.at_ms, number: self.events, waits: into };
        let since = known.since.insert(key, entry).filter(|_| !event.is_creation());
        let spent = since.map(|since| Span::between(since.at_ms, event.at_ms));
        self.events += 1;
        self.last_ms = self.last_ms.max(event.at_ms);
        let is_long = spent.is_some_and(|spent| !spent.is_back && spent.ms > 0);
        self.rows.push_back(Row {
            at_ms: event.at_ms,
            at: Span::between(first, event.at_ms),
            spent,
            waited: event.from.as_deref().filter(waits).filter(|_| is_long).map(name),
            is_back,
            is_illegal,
            run,
            lifecycle: name(&event.lifecycle),
            instance: name(&event.instance),
            what: event.to_string(),
        });
        if self.rows.len() > self.last {
            self.rows.pop_front();
            self.left_out += 1;
        }
    }

    /// Records that a line after the events is no event. The table ends with the line and the loss.
    pub fn interrupted(&mut self, interruption: Interruption) {
        self.interruption = Some(interruption);
    }

    /// The date and the time of the first event, in UTC. None without events, and for a clock that does not count from 1970.
    pub fn begins(&self) -> Option<String> {
        utc(self.first_ms?)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The name of an instance, with its run's name where there are several runs.
    fn instance(&self, run: &Run, instance: &str) -> String {
        let run = name(&run.name);
        if self.runs.len() < 2 || run == instance { instance.to_owned() } else { format!("{run}/{instance}") }
    }

    /// The pause before each row, if it is a long one and no part of the row's own wait.
    fn pauses(&self) -> Vec<Option<crate::span::Span>> {
        let mut latest = self.rows.front().map_or(0, |row| row.at_ms);
        let before = |row: &Row| {
            let pause = row.at_ms.saturating_sub(latest);
            latest = latest.max(row.at_ms);
            pause
        };
        let pauses: Vec<u64> = self.rows.iter().map(before).collect();
        let limit = longest_to_scale(&pauses);
        let is_shown = |row: &Row, pause: u64| {
            pause > limit && !(row.waited.is_some() && row.spent.is_some_and(|spent| spent.ms >= pause))
        };
        let shown = self.rows.iter().zip(pauses);
        shown.map(|(row, pause)| is_shown(row, pause).then_some(crate::span::Span(pause))).collect()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, line: &str) -> fmt::Result {
        writeln!(f, "{}", cut(line.trim_end(), self.width))
    }
}

impl fmt::Display for Timeline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [mut time, mut spent, mut subject, mut what] = HEAD.map(UnicodeWidthStr::width);
        let (pauses, (open, more_open)) = (self.pauses(), self.still_waiting());
        for wait in &open {
            spent = spent.max(wait.spent.width());
            subject = subject.max(wait.lifecycle.width() + 1 + wait.instance.width());
            what = what.max(wait.what.width());
        }
        for (row, pause) in self.rows.iter().zip(&pauses) {
            what = what.max(row.waits().width());
            spent = spent.max(pause.map_or(0, |pause| pause.to_string().width()));
            time = time.max(row.time().width());
            spent = spent.max(row.spent().width());
            subject = subject.max(row.lifecycle.width() + 1 + row.instance(self).width());
            what = what.max(row.what.width());
        }
        // One column stays free before the time, to separate the table from its surroundings.
        time += 1;
        let room = self.width.saturating_sub(time + spent + 3 * GAP);
        let mut is_folded = false;
        if subject + what > room {
            let least = (room / 3).max((room / 2).min(MUCH));
            subject = subject.min(room.saturating_sub(what).max(least));
            is_folded = subject + what > room;
        }
        if is_folded {
            subject = room + GAP;
        }
        let line = |f: &mut fmt::Formatter<'_>,
                    time_cell: &str,
                    spent_cell: &str,
                    subject_cell: &str,
                    what: &str| {
            let row = format!("{time_cell:>time$}  {spent_cell:>spent$}  {subject_cell}");
            if is_folded {
                self.write(f, &row)?;
                return self.write(f, &format!("    {what}"));
            }
            let pad = " ".repeat(subject.saturating_sub(subject_cell.width()));
            self.write(f, &format!("{row}{pad}  {what}"))
        };
        line(f, HEAD[0], HEAD[1], &cut(HEAD[2], subject), HEAD[3])?;
        if self.left_out > 0 {
            let s = if self.left_out == 1 { "" } else { "s" };
            self.write(f, &format!("… {} transition{s} before these", self.left_out))?;
        }
        for (row, pause) in self.rows.iter().zip(pauses) {
            let subject = short(&row.lifecycle, &row.instance(self), subject);
            if let Some(pause) = pause {
                line(f, "", &pause.to_string(), "", PAUSE)?;
            }
            if row.waited.is_some() {
                line(f, "", &row.spent(), &subject, &row.waits())?;
            }
            line(f, &row.time(), &row.spent(), &subject, &row.what)?;
        }
        for wait in open {
            line(f, "", &wait.spent, &short(&wait.lifecycle, &wait.instance, subject), &wait.what)?;
        }
        if more_open > 0 {
            let waits = if more_open == 1 { "instance still waits" } else { "instances still wait" };
            self.write(f, &format!("… and {more_open} more {waits}"))?;
        }
        if self.rows.iter().any(|row| row.is_illegal) {
            self.write(f, "! is illegal")?;
        }
        if self.rows.iter().any(|row| row.is_back) {
            self.write(f, "< is earlier than the transition before it in its run")?;
        }
        if let Some(interruption) = &self.interruption {
            folded(&format!("The trace is not whole: {interruption}."), self.width)
                .iter()
                .try_for_each(|line| self.write(f, line))?;
        }
        Ok(())
    }
}

impl Row {
    fn instance(&self, of: &Timeline<'_>) -> String {
        of.instance(&of.runs[self.run], &self.instance)
    }

    fn time(&self) -> String {
        let (illegal, back) = (if self.is_illegal { "!" } else { "" }, if self.is_back { "<" } else { "" });
        format!("{illegal}{back}{}", self.at)
    }

    fn waits(&self) -> String {
        self.waited.as_ref().map(|state| format!("~ waits in {state}")).unwrap_or_default()
    }

    fn spent(&self) -> String {
        self.spent.map(|spent| spent.to_string()).unwrap_or_default()
    }
}

impl Span {
    fn between(from: u64, to: u64) -> Self {
        Span { is_back: to < from, ms: to.abs_diff(from) }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_back {
            f.write_str("-")?;
        }
        crate::span::Span(self.ms).fmt(f)
    }
}
