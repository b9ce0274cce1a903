//! The alignment of the events of two traces.

use std::collections::{HashMap, HashSet, VecDeque};

use similar::{Algorithm, ChangeTag, capture_diff_slices};

use super::Numbered;
use super::instances::{Subject, Subjects};

/// The number of events of each trace that are aligned at once. Larger parts take time that grows with their square.
const WINDOW: usize = 2_000;

/// A row of two aligned traces, with the indices of its events. A removed event has no new one, and an added one no old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) old: Option<usize>,
    pub(super) new: Option<usize>,
    /// The index of the row in the other trace that has the equal event in another place.
    pub(super) moved: Option<usize>,
}

/// Aligns two lists. Equal events in another place are paired.
pub(super) fn align(old: &[usize], new: &[usize]) -> Vec<Row> {
    let pair = |(old, new)| Row { old, new, moved: None };
    let begin = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old[begin..].iter().rev().zip(new[begin..].iter().rev());
    let end = rest.take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (old.len() - end, new.len() - end);
    let mut rows: Vec<Row> = (0..begin).map(|at| pair((Some(at), Some(at)))).collect();
    let (mut old_from, mut new_from) = (begin, begin);
    while old_from < old_end || new_from < new_end {
        let (old_to, new_to) = (old_end.min(old_from + WINDOW), new_end.min(new_from + WINDOW));
        let mut part = window(&old[old_from..old_to], &new[new_from..new_to]);
        if old_to < old_end || new_to < new_end {
            // The partner of a row at the end may be behind the window.
            let equal =
                part.iter().rposition(|(old, new)| old.is_some() && new.is_some()).map_or(0, |at| at + 1);
            if equal > part.len() / 4 {
                part.truncate(equal);
            }
        }
        let (old_begin, new_begin) = (old_from, new_from);
        for (of_old, of_new) in part {
            let of_old = of_old.map(|at| old_begin + at);
            let of_new = of_new.map(|at| new_begin + at);
            old_from = of_old.map_or(old_from, |at| at + 1);
            new_from = of_new.map_or(new_from, |at| at + 1);
            rows.push(pair((of_old, of_new)));
        }
    }
    rows.extend((0..end).map(|at| pair((Some(old_end + at), Some(new_end + at)))));
    pair_moved(&mut rows, old, new);
    rows
}

fn window(old: &[usize], new: &[usize]) -> Vec<(Option<usize>, Option<usize>)> {
    // The time of the algorithm grows with the number of differences, and most of them have no partner at all.
    let [olds, news] = [(old, new), (new, old)].map(|(of, other)| {
        let known: HashSet<usize> = other.iter().copied().collect();
        (0..of.len()).filter(|at| known.contains(&of[*at])).collect::<Vec<usize>>()
    });
    let keys = |places: &[usize], of: &[usize]| places.iter().map(|at| of[*at]).collect::<Vec<usize>>();
    let (old_keys, new_keys) = (keys(&olds, old), keys(&news, new));
    let changes = capture_diff_slices(Algorithm::Myers, &old_keys, &new_keys);
    let changes = changes.iter().flat_map(|change| change.iter_changes(&old_keys, &new_keys));
    let equal = changes.filter(|change| change.tag() == ChangeTag::Equal);
    let pairs = equal.filter_map(|change| Some((olds[change.old_index()?], news[change.new_index()?])));
    let mut rows = Vec::with_capacity(old.len() + new.len());
    let (mut of_old, mut of_new) = (0, 0);
    let mut until = |old_to: usize, new_to: usize, rows: &mut Vec<_>| {
        rows.extend((of_old..old_to).map(|at| (Some(at), None)));
        rows.extend((of_new..new_to).map(|at| (None, Some(at))));
        (of_old, of_new) = (old_to + 1, new_to + 1);
    };
    for (old_at, new_at) in pairs {
        until(old_at, new_at, &mut rows);
        rows.push((Some(old_at), Some(new_at)));
    }
    until(old.len(), new.len(), &mut rows);
    rows
}

/// Pairs each removed event with an equal added one, in their order.
fn pair_moved(rows: &mut [Row], old: &[usize], new: &[usize]) {
    let mut added: HashMap<usize, VecDeque<usize>> = HashMap::new();
    for (place, row) in rows.iter().enumerate() {
        if let Row { old: None, new: Some(at), .. } = row {
            added.entry(new[*at]).or_default().push_back(place);
        }
    }
    for place in 0..rows.len() {
        if let Row { old: Some(at), new: None, .. } = rows[place]
            && let Some(to) = added.get_mut(&old[at]).and_then(VecDeque::pop_front)
        {
            rows[place].moved = Some(to);
            rows[to].moved = Some(place);
        }
    }
}

/// The steps of events as numbers: equal ones are equal.
#[derive(Debug, Default)]
pub(super) struct Keys<'e>(HashMap<Key<'e>, usize>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key<'e> {
    run: usize,
    lifecycle: &'e str,
    subject: Subject<'e>,
    event: &'e str,
    from: Option<&'e str>,
    to: &'e str,
}

/// The run, from 1, and the instance of an event.
pub(super) type Place<'e> = (usize, Subject<'e>);

impl<'e> Keys<'e> {
    /// The numbers of the events of a trace, with the runs and instances.
    pub(super) fn of(
        &mut self,
        events: &'e [Numbered<'_>],
        subjects: &Subjects<'e>,
    ) -> (Vec<usize>, Vec<Place<'e>>) {
        let mut runs: HashMap<&str, usize> = HashMap::new();
        let (mut keys, mut places) = (Vec::with_capacity(events.len()), Vec::with_capacity(events.len()));
        for (_, event) in events {
            let (lifecycle, instance) = (&*event.lifecycle, &*event.instance);
            let next_run = runs.len() + 1;
            let run = *runs.entry(&event.run).or_insert(next_run);
            let subject = subjects.get(&(run, lifecycle, instance)).copied();
            let subject = subject.unwrap_or(Subject::Name(instance));
            let (from, to) = (event.from.as_deref(), &*event.to);
            let key = Key { run, lifecycle, subject, event: &event.event, from, to };
            let number = self.0.len();
            keys.push(*self.0.entry(key).or_insert(number));
            places.push((run, subject));
        }
        (keys, places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &[usize], new: &[usize]) -> Vec<(Option<usize>, Option<usize>, Option<usize>)> {
        align(old, new).into_iter().map(|row| (row.old, row.new, row.moved)).collect()
    }

    #[test]
    fn moved_event_is_paired_with_its_other_place() {
        assert_eq!(
            shown(&[1, 2, 3, 4], &[2, 3, 1, 4]),
            [
                (Some(0), None, Some(3)),
                (Some(1), Some(0), None),
                (Some(2), Some(1), None),
                (None, Some(2), Some(0)),
                (Some(3), Some(3), None),
            ]
        );
    }

    #[test]
    fn each_event_has_one_row_in_lists_beyond_a_window() {
        let old: Vec<usize> = (0..11_000).map(|at| at % 13).collect();
        for new in [
            (0..11_000).map(|at| at % 13 + usize::from(at % 700 == 0)).collect::<Vec<_>>(),
            (0..9_000).map(|at| at % 11 + 20).collect(),
            Vec::new(),
        ] {
            let rows = align(&old, &new);
            let olds: Vec<usize> = rows.iter().filter_map(|row| row.old).collect();
            let news: Vec<usize> = rows.iter().filter_map(|row| row.new).collect();
            assert!(olds.iter().copied().eq(0..old.len()) && news.iter().copied().eq(0..new.len()));
            let pairs = rows.iter().filter_map(|row| row.old.zip(row.new));
            assert!(pairs.into_iter().all(|(of_old, of_new)| old[of_old] == new[of_new]));
        }
    }

    #[test]
    fn long_insertion_is_one_gap() {
        let old: Vec<usize> = (0..9_000).collect();
        let new: Vec<usize> = (0..4_500).chain(20_000..29_000).chain(4_500..9_000).collect();
        let rows = align(&old, &new);
        assert_eq!(rows.iter().filter(|row| row.old.is_none()).count(), 9_000);
        assert_eq!(rows.iter().filter(|row| row.new.is_none()).count(), 0);
    }
}
