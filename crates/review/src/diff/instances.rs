//! The instances of two traces, paired.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Numbered;
use super::align::align;

/// An instance of a lifecycle in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Subject<'e> {
    /// The name: both traces have it, or one trace alone has such an instance.
    Name(&'e str),
    /// The number among the pairs of the lifecycle in the run, from 1. The names in the two traces differ.
    Number(usize),
}

/// A run, from 1 in the order of appearance, a lifecycle and an instance.
pub(super) type Id<'e> = (usize, &'e str, &'e str);

/// The subjects of the instances of a trace.
pub(super) type Subjects<'e> = HashMap<Id<'e>, Subject<'e>>;

/// An instance, with its behaviour.
struct Instance<'e> {
    id: Id<'e>,
    /// Its events and states.
    path: DefaultHasher,
    /// The further fields of its first event, without those that have its name or the name of its run.
    fields: Vec<(&'e str, &'e str)>,
}

/// The instances of a trace, in the order of their appearance.
pub(super) struct Instances<'e> {
    list: Vec<Instance<'e>>,
    /// The first instance with a name in a run.
    named: HashMap<(usize, &'e str), usize>,
}

impl<'e> Instances<'e> {
    pub(super) fn of(events: &'e [Numbered<'_>]) -> Self {
        let mut runs: HashMap<&str, usize> = HashMap::new();
        let mut places: HashMap<Id<'e>, usize> = HashMap::new();
        let mut of = Instances { list: Vec::new(), named: HashMap::new() };
        for (_, event) in events {
            let next = runs.len() + 1;
            let run = *runs.entry(&event.run).or_insert(next);
            let id: Id<'e> = (run, &event.lifecycle, &event.instance);
            let place = *places.entry(id).or_insert_with(|| {
                let has_name = |value: &str| has_word(value, &event.run) || has_word(value, &event.instance);
                let fields = event.extra.iter().filter(|(_, value)| !has_name(value)).collect();
                of.named.entry((run, id.2)).or_insert(of.list.len());
                of.list.push(Instance { id, path: DefaultHasher::new(), fields });
                of.list.len() - 1
            });
            (&event.event, &event.from, &event.to).hash(&mut of.list[place].path);
        }
        of
    }

    /// The instance that this one belongs to, and the rest of its name: `c1.2` is the second execution of the call `c1`.
    fn owner(&self, place: usize) -> Option<(usize, &'e str)> {
        let (run, lifecycle, name) = self.list[place].id;
        let ends = [Some(name.len()), name.rfind('.')];
        ends.into_iter().flatten().find_map(|end| {
            let owner = *self.named.get(&(run, &name[..end]))?;
            (self.list[owner].id.1 != lifecycle).then(|| (owner, &name[end..]))
        })
    }
}

/// Numbers the instances of a trace in the order of their appearance.
pub(super) fn by_order<'e>(of: &Instances<'e>) -> Subjects<'e> {
    let mut next: HashMap<(usize, &str), usize> = HashMap::new();
    let mut number = |(run, lifecycle, _): Id<'e>| {
        let next = next.entry((run, lifecycle)).or_default();
        *next += 1;
        Subject::Number(*next)
    };
    of.list.iter().map(|it| (it.id, number(it.id))).collect()
}

/// Pairs the instances of two traces: by their names, then by the instances that they belong to, then by their behaviour and
/// their fields in the order of their appearance.
pub(super) fn paired<'e>(old: &Instances<'e>, new: &Instances<'e>) -> (Subjects<'e>, Subjects<'e>) {
    let names = |of: &Instances<'e>| -> HashSet<(&'e str, &'e str)> {
        of.list.iter().map(|it| (it.id.1, it.id.2)).collect()
    };
    let (of_old, of_new) = (names(old), names(new));
    let is_shared = |it: &Instance<'e>| {
        let name = (it.id.1, it.id.2);
        of_old.contains(&name) && of_new.contains(&name)
    };
    let mut partners: HashMap<usize, usize> = HashMap::new();
    // Those without an owner come first, so that their parts find them.
    let mut groups: HashMap<(usize, &str), [Vec<usize>; 2]> = HashMap::new();
    let mut parts = Vec::new();
    for (place, it) in old.list.iter().enumerate().filter(|(_, it)| !is_shared(it)) {
        match old.owner(place) {
            Some(owner) => parts.push((place, owner)),
            None => groups.entry((it.id.0, it.id.1)).or_default()[0].push(place),
        }
    }
    for (place, it) in new.list.iter().enumerate().filter(|(_, it)| !is_shared(it)) {
        if new.owner(place).is_none() {
            groups.entry((it.id.0, it.id.1)).or_default()[1].push(place);
        }
    }
    for [of_old, of_new] in groups.values() {
        pair((old, of_old), (new, of_new), 0, &mut partners);
    }
    let places: HashMap<Id<'e>, usize> =
        new.list.iter().enumerate().map(|(place, it)| (it.id, place)).collect();
    for (place, (owner, rest)) in parts {
        let (run, lifecycle, _) = old.list[place].id;
        let Some(owner) = partners.get(&owner) else { continue };
        let name = format!("{}{rest}", new.list[*owner].id.2);
        if let Some(partner) = places.get(&(run, lifecycle, &*name)) {
            partners.insert(place, *partner);
        }
    }
    let mut numbers: HashMap<(usize, &str), usize> = HashMap::new();
    let name = |it: &Instance<'e>| (it.id, Subject::Name(it.id.2));
    let mut subjects = (Subjects::new(), new.list.iter().map(name).collect::<Subjects<'e>>());
    for (place, it) in old.list.iter().enumerate() {
        let subject = match partners.get(&place) {
            Some(partner) => {
                let number = numbers.entry((it.id.0, it.id.1)).or_default();
                *number += 1;
                subjects.1.insert(new.list[*partner].id, Subject::Number(*number));
                Subject::Number(*number)
            }
            None => Subject::Name(it.id.2),
        };
        subjects.0.insert(it.id, subject);
    }
    subjects
}

/// Pairs two lists of instances. Lists with the same texts are paired in their order. Others: equal behaviour and fields, then equal texts, then equal behaviour, then the order.
fn pair(
    (old, of_old): (&Instances<'_>, &[usize]),
    (new, of_new): (&Instances<'_>, &[usize]),
    level: u8,
    partners: &mut HashMap<usize, usize>,
) {
    if of_old.is_empty() || of_new.is_empty() {
        return;
    }
    // The same instances in the same order, whatever became of them.
    let texts = |of: &Instances<'_>, places: &[usize]| -> Vec<String> {
        places.iter().map(|place| likeness(&of.list[*place], 1)).collect()
    };
    if level > 2 || (level == 0 && texts(old, of_old) == texts(new, of_new)) {
        partners.extend(of_old.iter().copied().zip(of_new.iter().copied()));
        return;
    }
    let mut keys = HashMap::new();
    let mut of = |instances: &Instances<'_>, places: &[usize]| -> Vec<usize> {
        places
            .iter()
            .map(|place| {
                let key = likeness(&instances.list[*place], level);
                let next = keys.len();
                *keys.entry(key).or_insert(next)
            })
            .collect()
    };
    let rows = align(&of(old, of_old), &of(new, of_new));
    let (mut from_old, mut from_new) = (0, 0);
    let ends = rows.iter().filter_map(|row| row.old.zip(row.new)).chain([(of_old.len(), of_new.len())]);
    for (to_old, to_new) in ends {
        let between = (&of_old[from_old..to_old], &of_new[from_new..to_new]);
        pair((old, between.0), (new, between.1), level + 1, partners);
        if let (Some(old), Some(new)) = (of_old.get(to_old), of_new.get(to_new)) {
            partners.insert(*old, *new);
        }
        (from_old, from_new) = (to_old + 1, to_new + 1);
    }
}

fn likeness(it: &Instance<'_>, level: u8) -> String {
    match level {
        0 => format!("{:?}{}", it.fields, it.path.finish()),
        1 => {
            // A text names a tool or a kind. Objects and numbers differ between equal runs: times, sizes, further ids.
            let texts = it.fields.iter().filter(|(_, value)| value.starts_with('"'));
            format!("{:?}", texts.collect::<Vec<_>>())
        }
        _ => it.path.finish().to_string(),
    }
}

/// Has the text this name, with nothing before and behind it that could belong to a name?
fn has_word(text: &str, name: &str) -> bool {
    let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            is_end(text[..at].chars().next_back()) && is_end(text[at + name.len()..].chars().next())
        })
}
