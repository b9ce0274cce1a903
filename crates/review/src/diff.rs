//! Two traces, aligned.

use std::collections::{HashMap, HashSet};
use std::fmt;

use runstate::trace::{Event, Ordinals};
use similar::{Algorithm, ChangeTag, capture_diff_slices};

use crate::snapshot::unnumbered;
use crate::text::name;

/// The number of equal events that are shown around a difference.
const CONTEXT: usize = 3;
/// The number of events that are aligned, from the first difference on.
const ALIGNED: usize = 4_000;
/// The maximum number of shown rows.
const ROWS: usize = 200;

/// An event with its line, from 1.
pub type Numbered<'a> = (u64, Event<'a>);

/// The differences of two traces; see [`diff`].
#[derive(Debug, Clone)]
pub struct TraceDiff {
    first: (Option<Side>, Option<Side>),
    /// The lines of the first changed row; none at the end of a trace.
    begins: (Option<u64>, Option<u64>),
    rows: Vec<Row>,
    more: usize,
    only_old: usize,
    only_new: usize,
    is_whole: bool,
}

/// An event at the first difference.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Side {
    /// The line of the trace, from 1.
    pub line: u64,
    /// The event in the stable text form.
    pub text: String,
}

#[derive(Debug, Clone)]
enum Row {
    Gap(usize),
    Event { sign: char, old: Option<u64>, new: Option<u64>, text: String },
}

/// Compares two traces. Ids, times, sequence numbers and further fields may differ. Returns none for equal behaviour.
///
/// Events are aligned, so that an inserted event is one row, and the events around each difference are shown. An instance has
/// its name where both traces have one with that name, and a number otherwise. At most 4,000 events of each trace are aligned,
/// from the first difference on, and at most 200 rows are shown.
///
/// # Example
/// ```
/// use runstate::trace::Event;
/// use runstate_review::diff;
///
/// let line = |run: &str, instance: &str, to: &str| {
///     let text = format!(
///         r#"{{"seq":1,"at_ms":0,"run":"{run}","lifecycle":"run","instance":"{instance}","event":"create","from":null,"to":"{to}"}}"#
///     );
///     (1, Event::from_json(&text).unwrap().into_owned())
/// };
/// assert!(diff(&[line("a", "x", "Running")], &[line("b", "y", "Running")]).is_none());
/// let changes = diff(&[line("a", "x", "Running")], &[line("b", "y", "Waiting")]).unwrap();
/// assert_eq!(
///     changes.to_string(),
///     "the traces differ from line 1 of the old and line 1 of the new one on\n\
///      -    1        run#1  [*] --> Running : create\n\
///      +         1   run#1  [*] --> Waiting : create\n\
///      1 event only in the old trace, 1 event only in the new one\n",
/// );
/// ```
pub fn diff(old: &[Numbered<'_>], new: &[Numbered<'_>]) -> Option<TraceDiff> {
    let (old_texts, new_texts) = (ordinals(old), ordinals(new));
    let same = old_texts.iter().zip(&new_texts).take_while(|(old, new)| old == new).count();
    if same == old.len() && same == new.len() {
        return None;
    }
    let side = |events: &[Numbered<'_>], texts: &[String]| {
        let ((line, _), text) = (events.get(same)?, texts.get(same)?);
        Some(Side { line: *line, text: text.trim_start().to_owned() })
    };
    let first = (side(old, &old_texts), side(new, &new_texts));
    let shared: HashSet<_> = instances(old).intersection(&instances(new)).copied().collect();
    let (old_keys, new_keys) = (keys(old, &shared), keys(new, &shared));
    let aligned = old_keys.iter().zip(&new_keys).take_while(|(old, new)| old == new).count();
    let from = aligned.saturating_sub(CONTEXT);
    let until = |events: &[Numbered<'_>]| events.len().min(from + ALIGNED);
    let (old_end, new_end) = (until(old), until(new));
    let changes = capture_diff_slices(Algorithm::Myers, &old_keys[from..old_end], &new_keys[from..new_end]);
    let mut rows = Vec::new();
    let (mut only_old, mut only_new) = (0, 0);
    for change in changes
        .iter()
        .flat_map(|change| change.iter_changes(&old_keys[from..old_end], &new_keys[from..new_end]))
    {
        let line = |events: &[Numbered<'_>], at: Option<usize>| at.map(|at| events[from + at].0);
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        only_old += usize::from(sign == '-');
        only_new += usize::from(sign == '+');
        let (old, new) = (line(old, change.old_index()), line(new, change.new_index()));
        rows.push(Row::Event { sign, old, new, text: change.value() });
    }
    let is_whole = old_end == old.len() && new_end == new.len();
    if !is_whole {
        // The partner of a row at the end may be behind the compared events.
        let end = rows.iter().rposition(|row| !row.is_change()).map_or(0, |at| at + 1);
        let end = if rows[..end].iter().any(Row::is_change) { end } else { rows.len() };
        for row in rows.drain(end..) {
            let Row::Event { sign, .. } = row else { continue };
            only_old -= usize::from(sign == '-');
            only_new -= usize::from(sign == '+');
        }
    }
    let changed = rows.iter().position(Row::is_change).unwrap_or(rows.len());
    let begin = |line: fn(&Row) -> Option<u64>| rows[changed..].iter().find_map(line);
    let begins = (begin(Row::old_line), begin(Row::new_line));
    let mut rows = near(rows);
    let more = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    Some(TraceDiff { first, begins, rows, more, only_old, only_new, is_whole })
}

impl Row {
    fn is_change(&self) -> bool {
        matches!(self, Row::Event { sign: '-' | '+', .. })
    }

    fn old_line(&self) -> Option<u64> {
        if let Row::Event { old, .. } = self { *old } else { None }
    }

    fn new_line(&self) -> Option<u64> {
        if let Row::Event { new, .. } = self { *new } else { None }
    }
}

impl TraceDiff {
    /// The first event of the old trace whose stable text differs; none after its end.
    pub fn first_old(&self) -> Option<&Side> {
        self.first.0.as_ref()
    }

    /// The first event of the new trace whose stable text differs; none after its end.
    pub fn first_new(&self) -> Option<&Side> {
        self.first.1.as_ref()
    }
}

impl fmt::Display for TraceDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |line: Option<u64>| line.map_or("the end".to_owned(), |line| format!("line {line}"));
        let (old, new) = (place(self.begins.0), place(self.begins.1));
        writeln!(f, "the traces differ from {old} of the old and {new} of the new one on")?;
        for row in &self.rows {
            match row {
                Row::Gap(events) => writeln!(f, "… {}", count(*events, "equal event"))?,
                Row::Event { sign, old, new, text } => {
                    let cell = |line: &Option<u64>| line.map(|line| line.to_string()).unwrap_or_default();
                    writeln!(f, "{sign} {:>4} {:>4}   {text}", cell(old), cell(new))?;
                }
            }
        }
        if self.more > 0 {
            writeln!(f, "… and {}", count(self.more, "more row"))?;
        }
        let (old, new) = (count(self.only_old, "event"), count(self.only_new, "event"));
        write!(f, "{old} only in the old trace, {new} only in the new one")?;
        if !self.is_whole {
            write!(f, ", among {ALIGNED} compared events of each")?;
        }
        writeln!(f)
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// The rows around differences. Others are counted.
fn near(rows: Vec<Row>) -> Vec<Row> {
    let mut is_shown = vec![false; rows.len()];
    for (at, _) in rows.iter().enumerate().filter(|(_, row)| row.is_change()) {
        let end = rows.len().min(at + CONTEXT + 1);
        is_shown[at.saturating_sub(CONTEXT)..end].fill(true);
    }
    let mut shown = Vec::new();
    for (row, is_shown) in rows.into_iter().zip(is_shown) {
        match (is_shown, shown.last_mut()) {
            (true, _) => shown.push(row),
            (false, Some(Row::Gap(events))) => *events += 1,
            (false, _) => shown.push(Row::Gap(1)),
        }
    }
    shown
}

fn ordinals(events: &[Numbered<'_>]) -> Vec<String> {
    let mut ordinals = Ordinals::new();
    events.iter().map(|(_, event)| ordinals.line(event)).collect()
}

fn instances<'e>(events: &'e [Numbered<'_>]) -> HashSet<(&'e str, &'e str)> {
    events.iter().map(|(_, event)| (&*event.lifecycle, &*event.instance)).collect()
}

/// A text for each event that is equal for equal steps of one instance.
fn keys(events: &[Numbered<'_>], shared: &HashSet<(&str, &str)>) -> Vec<String> {
    let mut runs: HashMap<&str, usize> = HashMap::new();
    let mut numbers: HashMap<(&str, &str, &str), usize> = HashMap::new();
    let mut next: HashMap<(&str, &str), usize> = HashMap::new();
    let mut ordinals = Ordinals::new();
    events
        .iter()
        .map(|(_, event)| {
            let (run, lifecycle, instance) = (&*event.run, &*event.lifecycle, &*event.instance);
            let runs_before = runs.len();
            let of_run = *runs.entry(run).or_insert(runs_before + 1);
            let prefix = if of_run == 1 { String::new() } else { format!("run {of_run}: ") };
            let subject = if shared.contains(&(lifecycle, instance)) {
                format!("{} {}", name(lifecycle), name(instance))
            } else {
                let number = *numbers.entry((run, lifecycle, instance)).or_insert_with(|| {
                    let next = next.entry((run, lifecycle)).or_default();
                    *next += 1;
                    *next
                });
                format!("{}#{number}", name(lifecycle))
            };
            let line = ordinals.line(event);
            // The transition is the last part of the line of an event.
            let transition = unnumbered(&line).split_once("  ").map_or("", |(_, transition)| transition);
            format!("{prefix}{subject}  {transition}")
        })
        .collect()
}
