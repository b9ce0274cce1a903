//! Differences of times and of further fields between two equal events.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::names::Names;

use super::{Change, ChangeKind, Numbered, Trace};

/// The time of each event: for a creation since the first event of its run, for others since the last event of the instance.
/// It is negative where time runs backwards. None for the first event of an instance without a creation.
pub(super) fn times(events: &[Numbered<'_>]) -> Vec<Option<i64>> {
    let mut runs: HashMap<&str, u64> = HashMap::new();
    let mut entered: HashMap<(&str, &str, &str), u64> = HashMap::new();
    let mut times = Vec::with_capacity(events.len());
    for (_, event) in events {
        let begun = *runs.entry(&event.run).or_insert(event.at_ms);
        let before = entered.insert((&event.run, &event.lifecycle, &event.instance), event.at_ms);
        let since = if event.is_creation() { Some(begun) } else { before };
        let ms = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        times.push(since.map(|since| ms(event.at_ms).saturating_sub(ms(since))));
    }
    times
}

/// Lists the differences of two equal events.
pub(super) fn compare(
    (old, of_old): (&Trace<'_>, usize),
    (new, of_new): (&Trace<'_>, usize),
    (old_ms, new_ms): (Option<i64>, Option<i64>),
    names: &Names,
    changes: &mut Vec<Change>,
) {
    let mut push = |kind| {
        let (old, new) = (old.side(of_old, names), new.side(of_new, names));
        changes.push(Change { kind, old: Some(old), new: Some(new) });
    };
    if let (Some(old_ms), Some(new_ms)) = (old_ms, new_ms)
        && old_ms != new_ms
    {
        push(ChangeKind::Time { old_ms, new_ms });
    }
    let (old, new) = (&old.events[of_old].1.extra, &new.events[of_new].1.extra);
    if old == new {
        return;
    }
    let fields: BTreeSet<&str> = old.iter().chain(new.iter()).map(|(name, _)| name).collect();
    for name in fields {
        let (old, new) = (old.get(name), new.get(name));
        if !is_equal(old, new) {
            let owned = |value: Option<&str>| value.map(str::to_owned);
            push(ChangeKind::Field { name: name.to_owned(), old: owned(old), new: owned(new) });
        }
    }
}

/// White space, the order of keys and escapes are no difference of a value.
fn is_equal(old: Option<&str>, new: Option<&str>) -> bool {
    old == new || old.zip(new).is_some_and(|(old, new)| json(old).is_some_and(|old| json(new) == Some(old)))
}

/// A value with its long numbers as texts: a floating-point number would lose their last digits.
pub(super) fn json(text: &str) -> Option<Value> {
    let (mut quoted, mut is_text, mut is_escaped) = (String::new(), false, false);
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let length = rest.find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c)).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(if is_text || length == 0 { next.len_utf8() } else { length });
        let is_long = !is_text && part.len() > EXACT;
        quoted.push_str(&if is_long { format!("\"{part}\"") } else { part.to_owned() });
        is_text ^= next == '"' && !is_escaped;
        is_escaped = is_text && next == '\\' && !is_escaped;
        rest = behind;
    }
    serde_json::from_str(&quoted).ok()
}

/// The length of a number that a floating-point number holds without loss.
const EXACT: usize = 15;

/// Lists the changed values within two values, each with its path.
pub(super) fn changed(
    path: &str,
    old: Option<&Value>,
    new: Option<&Value>,
    into: &mut Vec<(String, [Option<Value>; 2])>,
) {
    match (old, new) {
        (old, new) if old == new => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in names {
                changed(&format!("{path}.{name}"), old.get(name), new.get(name), into);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for at in 0..old.len().max(new.len()) {
                changed(&format!("{path}[{at}]"), old.get(at), new.get(at), into);
            }
        }
        (old, new) => into.push((path.to_owned(), [old.cloned(), new.cloned()])),
    }
}
