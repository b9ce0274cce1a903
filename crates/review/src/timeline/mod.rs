//! A trace as a table of transitions and their times.

mod fit;
mod open;
mod subjects;
mod table;

use std::collections::{HashMap, VecDeque};
use std::fmt;

use runstate::trace::{Checker, Event, Rulebook};

use crate::interruption::Interruption;
use crate::model::StayKind;
use crate::span::{Precision, utc};
use crate::text::name;

/// A table of a trace with one row per transition: the time since the earliest event, the time spent in the source
/// state, the instance and the transition. No line exceeds the width of the table. In a narrow table the transitions are on
/// lines of their own, below about 30 columns the instances too, and longer content is cut with `…`.
///
/// Times are in two units, or as precise as their differences need. A `!` before a time marks an illegal event, a `<` a row that is earlier than the previous row of its run, and `?` an unknown
/// time. Instances whose shortened names are equal have numbers, unless a narrow table can show their names. In a trace
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
    /// The numbers of omitted rows before the kept ones, and of the illegal ones among them.
    left_out: u64,
    illegal_left_out: u64,
    /// The latest time of an omitted row.
    left_out_ms: u64,
    /// The number of instances.
    known: usize,
    /// The times of the earliest and of the latest event.
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
    /// None for an event whose time is unknown.
    at_ms: Option<u64>,
    /// The number of the instance, in the order of their appearance.
    instance: usize,
    /// The number of the event.
    number: u64,
    /// The state, if it is a wait.
    waits: Option<String>,
}

#[derive(Debug, Clone)]
struct Row {
    at_ms: u64,
    is_timed: bool,
    spent: Spent,
    /// The state in which the instance waited before this transition.
    waited: Option<String>,
    is_back: bool,
    is_illegal: bool,
    run: usize,
    lifecycle: String,
    instance: String,
    /// The number of the instance.
    number: usize,
    what: String,
}

/// The time in the state before a transition.
#[derive(Debug, Clone, Copy)]
enum Spent {
    /// A creation has no state before.
    No,
    Unknown,
    Known(Span),
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
/// The begin of a further line of a row.
const INDENT: &str = "    ";
/// The minimum width of an instance beside the times.
const LEAST: usize = 8;
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
            illegal_left_out: 0,
            left_out_ms: 0,
            known: 0,
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
        self.add(event, is_illegal, true);
    }

    /// Adds the next event of the trace, whose time is unknown: so are the durations before and after it.
    pub fn event_without_time(&mut self, event: &Event<'_>, is_illegal: bool) {
        self.add(event, is_illegal, false);
    }

    fn add(&mut self, event: &Event<'_>, is_illegal: bool, is_timed: bool) {
        let at_ms = is_timed.then_some(event.at_ms);
        if is_timed {
            self.first_ms = Some(self.first_ms.map_or(event.at_ms, |first| first.min(event.at_ms)));
        }
        if let Some(checker) = &mut self.checker {
            checker.event(self.events + 1, event);
        }
        let run = self.places.get(&*event.run).copied().unwrap_or_else(|| {
            self.places.insert(event.run.to_string(), self.runs.len());
            let run =
                Run { name: event.run.to_string(), at_ms: at_ms.unwrap_or_default(), since: HashMap::new() };
            self.runs.push(run);
            self.runs.len() - 1
        });
        let known = &mut self.runs[run];
        let is_back = at_ms.is_some_and(|at_ms| at_ms < known.at_ms);
        known.at_ms = at_ms.unwrap_or(known.at_ms);
        let key = (event.lifecycle.to_string(), event.instance.to_string());
        let waits = |state: &&str| StayKind::of_name(state) == StayKind::Waiting;
        let into = Some(&*event.to).filter(waits).map(str::to_owned);
        let before = known.since.get(&key);
        let instance = before.map_or(self.known, |before| before.instance);
        self.known = self.known.max(instance + 1);
        let spent = match before.filter(|_| !event.is_creation()) {
            None => Spent::No,
            Some(before) => match before.at_ms.zip(at_ms) {
                None => Spent::Unknown,
                Some((since, at_ms)) => Spent::Known(Span::between(since, at_ms)),
            },
        };
        known.since.insert(key, Entry { at_ms, instance, number: self.events, waits: into });
        self.events += 1;
        self.last_ms = self.last_ms.max(at_ms.unwrap_or_default());
        let is_long = matches!(spent, Spent::Known(Span { is_back: false, ms: 1.. }));
        self.rows.push_back(Row {
            at_ms: at_ms.unwrap_or(self.last_ms),
            is_timed,
            spent,
            waited: event.from.as_deref().filter(waits).filter(|_| is_long).map(name),
            is_back,
            is_illegal,
            run,
            lifecycle: name(&event.lifecycle),
            instance: name(&event.instance),
            number: instance,
            what: event.to_string(),
        });
        if self.rows.len() > self.last {
            let left_out = self.rows.pop_front();
            self.left_out += 1;
            self.left_out_ms = self.left_out_ms.max(left_out.as_ref().map_or(0, |row| row.at_ms));
            self.illegal_left_out += u64::from(left_out.is_some_and(|row| row.is_illegal));
        }
    }

    /// Records that a line after the events is no event. The table ends with the line and the loss.
    pub fn interrupted(&mut self, interruption: Interruption) {
        self.interruption = Some(interruption);
    }

    /// The date and the time of the earliest event, in UTC. None without events, and for a clock that does not count from 1970.
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
}

impl Row {
    fn instance(&self, of: &Timeline<'_>) -> String {
        of.instance(&of.runs[self.run], &self.instance)
    }

    /// The time since the earliest event.
    fn since(&self, of: &Timeline<'_>) -> u64 {
        self.at_ms.saturating_sub(of.first_ms.unwrap_or_default())
    }

    fn time(&self, of: &Timeline<'_>, precision: Precision) -> String {
        let (illegal, back) = (if self.is_illegal { "!" } else { "" }, if self.is_back { "<" } else { "" });
        if !self.is_timed {
            return format!("{illegal}?");
        }
        format!("{illegal}{back}{}", precision.shown(self.since(of)))
    }

    fn waits(&self) -> String {
        self.waited.as_ref().map(|state| format!("~ waits in {state}")).unwrap_or_default()
    }

    fn spent(&self) -> String {
        match self.spent {
            Spent::No => String::new(),
            Spent::Unknown => "?".to_owned(),
            Spent::Known(spent) => spent.to_string(),
        }
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
