//! Long names and values, shortened so that a difference stays visible.

use std::collections::{BTreeSet, HashMap};

use runstate::trace::Event;

use crate::text::{NAME, name};

/// The characters that are shown of the beginning, before the difference, and from the difference on.
const HEAD: usize = 16;
const BEFORE: usize = 8;
const AFTER: usize = 40;

/// The shown forms of long names, of which several share the characters that are usually shown.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<String, String>);

impl Names {
    /// Collects the names of the events.
    pub(crate) fn of_events<'e>(events: impl Iterator<Item = &'e Event<'e>>) -> Self {
        Names::of(events.flat_map(|event| {
            let names = [&*event.lifecycle, &*event.instance, &*event.event, &*event.to];
            names.into_iter().chain(event.from.as_deref())
        }))
    }

    /// Collects names.
    pub(crate) fn of<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        // A name has at least as many bytes as characters.
        let long = names.filter(|name| name.len() > NAME && name.chars().nth(NAME).is_some());
        let sorted: Vec<&str> = long.collect::<BTreeSet<&str>>().into_iter().collect();
        let mut forms: HashMap<String, usize> = HashMap::new();
        sorted.iter().for_each(|text| *forms.entry(name(text)).or_default() += 1);
        let mut shown = HashMap::new();
        for (place, text) in sorted.iter().enumerate() {
            // In this order, one of the neighbours has the longest common beginning.
            let before = place.checked_sub(1).map_or(0, |before| common(sorted[before], text));
            let after = sorted.get(place + 1).map_or(0, |after| common(text, after));
            let differs = before.max(after);
            if forms.get(&name(text)).is_some_and(|equal| *equal > 1) {
                shown.insert((*text).to_owned(), around(text, differs));
            }
        }
        Names(shown)
    }

    /// The name for people.
    pub(crate) fn shown(&self, text: &str) -> String {
        self.0.get(text).cloned().unwrap_or_else(|| name(text))
    }
}

/// Two values for people. Long ones are shortened around their first difference.
pub(crate) fn apart(old: &str, new: &str) -> (String, String) {
    let differs = common(old, new);
    let shown = |text: &str| {
        if differs + BEFORE < NAME { name(text) } else { around(text, differs) }
    };
    (shown(old), shown(new))
}

/// The number of equal characters at the beginning of two texts.
fn common(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

/// The beginning of a text, and the text around a character.
fn around(text: &str, place: usize) -> String {
    let from = place.saturating_sub(BEFORE);
    let window: String = text.chars().skip(from).take(BEFORE + AFTER).collect();
    let end = if text.chars().nth(from + BEFORE + AFTER).is_some() { "…" } else { "" };
    let head: String = text.chars().take(HEAD).collect();
    let window = if window.is_empty() { String::new() } else { name(&window) };
    format!("{}… (character {}) …{window}{end}", name(&head), from + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_shown_around_their_difference() {
        let long = |end: &str| format!("{}{end}", "x".repeat(500));
        let (old, new) = apart(&long("alpha"), &long("beta"));
        assert_eq!(old, format!("{}… (character 493) …xxxxxxxxalpha", "x".repeat(16)));
        assert!(new.ends_with("xxxxxxxxbeta"), "{new}");
        assert_eq!(apart(&long(""), &long("a")).0, format!("{}… (character 493) …xxxxxxxx", "x".repeat(16)));
        assert_eq!(apart("1", "2"), ("1".to_owned(), "2".to_owned()));
        let far = format!("a{}", "y".repeat(1 << 20));
        assert_eq!(apart(&far, "b").0.chars().count(), 80);
    }
}
