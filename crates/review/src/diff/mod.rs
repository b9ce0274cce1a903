//! Two traces, aligned.

mod align;
mod fields;
mod instances;
mod shown;

use runstate::trace::Event;

use crate::names::Names;
use align::{Keys, Place, Row, align};
use instances::{Instances, Subject, by_order, paired};

/// An event with its line, from 1.
pub type Numbered<'a> = (u64, Event<'a>);

/// The differences of two traces; see [`diff`].
///
/// The [`Display`](std::fmt::Display) is for people: the events around each difference of behaviour, at most 200 rows, the
/// largest differences of times, and the first differences of fields.
#[derive(Debug, Clone)]
pub struct TraceDiff {
    /// The first events that differ, counted from the begins of the traces.
    first: (Option<Side>, Option<Side>),
    changes: Vec<Change>,
    /// The rows around differences of behaviour.
    rows: Vec<shown::Row>,
}

/// A difference of two traces.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The kind, with its details.
    pub kind: ChangeKind,
    /// The event of the old trace; none for an added event.
    pub old: Option<Side>,
    /// The event of the new trace; none for a removed event.
    pub new: Option<Side>,
}

/// The kind of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// Only the old trace has the event.
    Removed,
    /// Only the new trace has the event.
    Added,
    /// Both traces have the event, in another order among the others.
    Moved,
    /// The event takes another time: of an event that leaves a state, the time in that state, and of a creation, the time
    /// since the first event of the run. In milliseconds; negative where time runs backwards.
    Time {
        /// The time in the old trace.
        old_ms: i64,
        /// The time in the new trace.
        new_ms: i64,
    },
    /// A further field of the event has another value, as JSON text; none for an absent field.
    Field {
        /// The name of the field.
        name: String,
        /// The value in the old trace.
        old: Option<String>,
        /// The value in the new trace.
        new: Option<String>,
    },
}

/// An event of one of the traces.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Side {
    /// The line of the trace, from 1.
    pub line: u64,
    /// The event, with the number of its instance in place of the name if the instance has another name in the other trace. Long
    /// names are shortened so that two different ones differ.
    pub text: String,
}

impl ChangeKind {
    /// Whether the behaviour differs: the events, or their order.
    pub fn is_of_behaviour(&self) -> bool {
        matches!(self, ChangeKind::Removed | ChangeKind::Added | ChangeKind::Moved)
    }
}

/// Compares two traces. Ids, the zero of the clock and sequence numbers may differ.
///
/// Events are aligned, so that an inserted event is one difference. Instances are paired by their names; where names differ, by
/// the instances that they belong to, and else by behaviour, fields and order. An instance has a number if the two names of its
/// pair differ, and its name otherwise. The differences are those of behaviour, of times and of further fields, and each is
/// listed. Two traces of equal behaviour have no difference of behaviour, whatever their ids.
///
/// # Example
/// ```
/// use runstate::trace::Event;
/// use runstate_review::{ChangeKind, diff};
///
/// let line = |run: &str, instance: &str, to: &str| {
///     let text = format!(
///         r#"{{"seq":1,"at_ms":0,"run":"{run}","lifecycle":"run","instance":"{instance}","event":"create","from":null,"to":"{to}"}}"#
///     );
///     (1, Event::from_json(&text).unwrap().into_owned())
/// };
/// let equal = diff(&[line("a", "x", "Running")], &[line("b", "y", "Running")]);
/// assert!(equal.has_equal_behaviour() && equal.changes().is_empty());
/// let differs = diff(&[line("a", "x", "Running")], &[line("b", "y", "Waiting")]);
/// assert_eq!(differs.changes()[0].kind, ChangeKind::Removed);
/// assert_eq!(
///     differs.to_string(),
///     "the traces differ from line 1 of the old and line 1 of the new one on\n\
///      -    1        run#1  [*] --> Running : create\n\
///      +         1   run#1  [*] --> Waiting : create\n\
///      1 event only in the old trace, 1 event only in the new one\n",
/// );
/// ```
pub fn diff(old: &[Numbered<'_>], new: &[Numbered<'_>]) -> TraceDiff {
    let instances = (Instances::of(old), Instances::of(new));
    // By their order alone, instances of equal behaviour are equal.
    let mut keys = Keys::default();
    let mut of_old = keys.of(old, &by_order(&instances.0));
    let mut of_new = keys.of(new, &by_order(&instances.1));
    let names = Names::of_events(old.iter().chain(new).map(|(_, event)| event));
    if of_old.0 != of_new.0 {
        let subjects = paired(&instances.0, &instances.1);
        let mut keys = Keys::default();
        (of_old, of_new) = (keys.of(old, &subjects.0), keys.of(new, &subjects.1));
    }
    let rows = align(&of_old.0, &of_new.0);
    let (old, new) = (Trace::of(old, &of_old.1), Trace::of(new, &of_new.1));
    let times = (fields::times(old.events), fields::times(new.events));
    let mut changes = Vec::new();
    for row in &rows {
        match *row {
            Row { old: Some(of_old), new: Some(of_new), .. } => {
                let times = (times.0[of_old], times.1[of_new]);
                fields::compare((&old, of_old), (&new, of_new), times, &names, &mut changes);
            }
            Row { old: Some(of_old), moved, .. } => {
                let to = moved.and_then(|moved| rows[moved].new).map(|at| new.side(at, &names));
                let kind = if moved.is_some() { ChangeKind::Moved } else { ChangeKind::Removed };
                changes.push(Change { kind, old: Some(old.side(of_old, &names)), new: to });
            }
            Row { new: Some(of_new), moved: None, .. } => {
                let side = new.side(of_new, &names);
                changes.push(Change { kind: ChangeKind::Added, old: None, new: Some(side) });
            }
            // The removed row of a moved event has both places.
            Row { .. } => {}
        }
    }
    let first = first(&rows, &old, &new, &names);
    TraceDiff { first, changes, rows: shown::rows(&rows, &old, &new, &names) }
}

/// The events of the traces at the first row without a pair.
fn first(rows: &[Row], old: &Trace<'_>, new: &Trace<'_>, names: &Names) -> (Option<Side>, Option<Side>) {
    let Some(at) = rows.iter().position(|row| row.old.is_none() || row.new.is_none()) else {
        return (None, None);
    };
    let side = |trace: &Trace<'_>| (at < trace.events.len()).then(|| trace.side(at, names));
    (side(old), side(new))
}

/// The events of one trace, with their runs and instances.
struct Trace<'t> {
    events: &'t [Numbered<'t>],
    places: &'t [Place<'t>],
}

impl<'t> Trace<'t> {
    fn of(events: &'t [Numbered<'t>], places: &'t [Place<'t>]) -> Self {
        Trace { events, places }
    }

    fn line(&self, at: usize) -> u64 {
        self.events[at].0
    }

    fn side(&self, at: usize, names: &Names) -> Side {
        Side { line: self.line(at), text: self.text(at, names) }
    }

    fn text(&self, at: usize, names: &Names) -> String {
        let ((_, event), (run, subject)) = (&self.events[at], self.places[at]);
        let of_run = if run == 1 { String::new() } else { format!("run {run}: ") };
        let lifecycle = names.shown(&event.lifecycle);
        let subject = match subject {
            Subject::Name(name) => format!("{lifecycle} {}", names.shown(name)),
            Subject::Number(number) => format!("{lifecycle}#{number}"),
        };
        let from = event.from.as_deref().map_or("[*]".to_owned(), |from| match from {
            "[*]" => "\"[*]\"".to_owned(),
            from => names.shown(from),
        });
        let (to, event) = (names.shown(&event.to), names.shown(&event.event));
        format!("{of_run}{subject}  {from} --> {to} : {event}")
    }
}

impl TraceDiff {
    /// Each difference, in the order of the aligned traces.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The first event of the old trace that differs from the event at its place in the new one; none after its end.
    pub fn first_old(&self) -> Option<&Side> {
        self.first.0.as_ref()
    }

    /// The first event of the new trace that differs from the event at its place in the old one; none after its end.
    pub fn first_new(&self) -> Option<&Side> {
        self.first.1.as_ref()
    }

    /// Returns whether the traces have the same events in the same order, apart from ids, times and further fields.
    pub fn has_equal_behaviour(&self) -> bool {
        !self.changes.iter().any(|change| change.kind.is_of_behaviour())
    }
}
