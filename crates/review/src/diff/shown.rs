//! The differences of two traces for people.

use std::cmp::Reverse;
use std::fmt;

use serde_json::Value;

use super::align::Row as Aligned;
use super::fields::{changed, json};
use super::{Change, ChangeKind, Trace, TraceDiff};
use crate::names::{Names, apart};
use crate::span::Span;
use crate::text::name;

/// The number of equal events that are shown around a difference.
const CONTEXT: usize = 3;
/// The maximum number of shown rows.
const ROWS: usize = 200;
/// The maximum number of shown times, and of shown fields.
const LISTED: usize = 10;

#[derive(Debug, Clone)]
pub(super) enum Row {
    Gap(usize),
    Event { old: Option<u64>, new: Option<u64>, moved: Option<u64>, text: String },
}

/// The rows around differences. Others are counted.
pub(super) fn rows(rows: &[Aligned], old: &Trace<'_>, new: &Trace<'_>, names: &Names) -> Vec<Row> {
    let is_change = |row: &Aligned| row.old.is_none() || row.new.is_none();
    let mut is_shown = vec![false; rows.len()];
    for (at, _) in rows.iter().enumerate().filter(|(_, row)| is_change(row)) {
        is_shown[at.saturating_sub(CONTEXT)..rows.len().min(at + CONTEXT + 1)].fill(true);
    }
    if !is_shown.contains(&true) {
        return Vec::new();
    }
    let shown = |row: &Aligned| {
        let text = match (row.new, row.old) {
            (Some(at), _) => new.text(at, names),
            (None, Some(at)) => old.text(at, names),
            (None, None) => String::new(),
        };
        let other = row.moved.map(|place| rows[place]);
        let moved = other.and_then(|other| match (other.old, other.new) {
            (Some(at), _) => Some(old.line(at)),
            (None, at) => at.map(|at| new.line(at)),
        });
        Row::Event { old: row.old.map(|at| old.line(at)), new: row.new.map(|at| new.line(at)), moved, text }
    };
    let mut listed: Vec<Row> = Vec::new();
    for (row, is_shown) in rows.iter().zip(is_shown) {
        match (is_shown, listed.last_mut()) {
            (true, _) => listed.push(shown(row)),
            (false, Some(Row::Gap(events))) => *events += 1,
            (false, _) => listed.push(Row::Gap(1)),
        }
    }
    listed
}

impl fmt::Display for TraceDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.changes.is_empty() {
            return writeln!(f, "no difference");
        }
        if self.has_equal_behaviour() {
            writeln!(f, "no difference of behaviour")?;
        } else {
            self.behaviour(f)?;
        }
        self.times(f)?;
        self.fields(f)
    }
}

impl TraceDiff {
    fn behaviour(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first: [Option<u64>; 2] = [None, None];
        for row in &self.rows {
            if let Row::Event { old, new, .. } = row
                && (old.is_none() || new.is_none() || first != [None, None])
            {
                first = [first[0].or(*old), first[1].or(*new)];
            }
        }
        let place = |line: Option<u64>| line.map_or("the end".to_owned(), |line| format!("line {line}"));
        let [old, new] = first.map(place);
        writeln!(f, "the traces differ from {old} of the old and {new} of the new one on")?;
        for row in self.rows.iter().take(ROWS) {
            match row {
                Row::Gap(events) => writeln!(f, "… {}", count(*events, "equal event"))?,
                Row::Event { old, new, moved, text } => {
                    let cell = |line: &Option<u64>| line.map(|line| line.to_string()).unwrap_or_default();
                    let (sign, place) = match (old, new) {
                        (Some(_), Some(_)) => (' ', ""),
                        (Some(_), None) => ('-', "new line"),
                        (None, _) => ('+', "old line"),
                    };
                    let moved = moved.map(|line| format!("  (moved: {place} {line})")).unwrap_or_default();
                    writeln!(f, "{sign} {:>4} {:>4}   {text}{moved}", cell(old), cell(new))?;
                }
            }
        }
        if let more @ 1.. = self.rows.len().saturating_sub(ROWS) {
            writeln!(f, "… and {}", count(more, "more row"))?;
        }
        let of = |kind: &ChangeKind| self.changes.iter().filter(|change| change.kind == *kind).count();
        let (old, new) = (of(&ChangeKind::Removed), of(&ChangeKind::Added));
        let (old, new) = (count(old, "event"), count(new, "event"));
        write!(f, "{old} only in the old trace, {new} only in the new one")?;
        match of(&ChangeKind::Moved) {
            0 => writeln!(f),
            moved => writeln!(f, ", {} in another order", count(moved, "event")),
        }
    }

    /// The largest differences of times.
    fn times(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |change: &Change| match change.kind {
            ChangeKind::Time { old_ms, new_ms } => Some((old_ms, new_ms)),
            _ => None,
        };
        let mut times: Vec<(&Change, (i64, i64))> =
            self.changes.iter().filter_map(|change| Some((change, time(change)?))).collect();
        if times.is_empty() {
            return Ok(());
        }
        times.sort_by_key(|(_, (old, new))| Reverse(old.abs_diff(*new)));
        let all = times.len();
        let rest = if all > LISTED { format!("; the {LISTED} largest differences:") } else { ":".to_owned() };
        writeln!(f, "{} with another time in the state before{rest}", count(all, "event"))?;
        times.truncate(LISTED);
        times.sort_by_key(|(change, _)| lines(change));
        for (change, (old, new)) in times {
            row(f, change, &format!("{} -> {}", signed(old), signed(new)))?;
        }
        Ok(())
    }

    /// The first differences of fields.
    fn fields(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_field = |change: &&Change| matches!(change.kind, ChangeKind::Field { .. });
        let all = self.changes.iter().filter(is_field).count();
        if all == 0 {
            return Ok(());
        }
        let rest = if all > LISTED { format!("; the first {LISTED}:") } else { ":".to_owned() };
        writeln!(f, "{} with another value{rest}", count(all, "field"))?;
        for change in self.changes.iter().filter(is_field).take(LISTED) {
            let ChangeKind::Field { name: field, old, new } = &change.kind else { continue };
            let value = |text: &Option<String>| text.as_deref().and_then(json);
            let mut parts = Vec::new();
            changed(field, value(old).as_ref(), value(new).as_ref(), &mut parts);
            if parts.len() < 2 {
                row(f, change, &format!("{}: {}", name(field), sides(old.as_deref(), new.as_deref())))?;
                continue;
            }
            for (path, [old, new]) in parts.iter().take(LISTED) {
                let [old, new] = [old, new].map(|value| value.as_ref().map(Value::to_string));
                row(f, change, &format!("{}: {}", name(path), sides(old.as_deref(), new.as_deref())))?;
            }
            if parts.len() > LISTED {
                row(f, change, &format!("{}: {} more values", name(field), parts.len() - LISTED))?;
            }
        }
        Ok(())
    }
}

/// The two values, shortened so that their difference is visible.
fn sides(old: Option<&str>, new: Option<&str>) -> String {
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => apart(old, new),
        (old, new) => {
            let shown = |value: Option<&str>| value.map_or("absent".to_owned(), name);
            (shown(old), shown(new))
        }
    };
    format!("{old} -> {new}")
}

/// A duration, negative where time runs backwards.
fn signed(ms: i64) -> String {
    format!("{}{}", if ms < 0 { "-" } else { "" }, Span(ms.unsigned_abs()))
}

fn lines(change: &Change) -> (Option<u64>, Option<u64>) {
    (change.old.as_ref().map(|side| side.line), change.new.as_ref().map(|side| side.line))
}

/// A row of an event that both traces have.
fn row(f: &mut fmt::Formatter<'_>, change: &Change, what: &str) -> fmt::Result {
    let (old, new) = lines(change);
    let cell = |line: Option<u64>| line.map(|line| line.to_string()).unwrap_or_default();
    let text = change.new.as_ref().map_or("", |side| &side.text);
    writeln!(f, "~ {:>4} {:>4}   {text}  {what}", cell(old), cell(new))
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
