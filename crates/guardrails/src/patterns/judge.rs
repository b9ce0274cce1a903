//! The judgement of a sentence.

use super::builtin::{PatternKind, Place};
use super::sentences::has_marks;
use super::shapes::{Sentence, Shape, start_of};
use super::{Category, EARLY, PLACES};
use crate::text::Found;

/// Reports each category with a phrase in the sentence, or with a trigger and one of its shapes, unless the
/// sentence is of everyday life.
pub(super) fn judge(
    triggers: &[Found],
    categories: &[Category],
    content: &str,
    end: usize,
    weak: &mut Vec<(Place, Found)>,
    mut tell: impl FnMut(Found),
) {
    let Some(first) = triggers.first() else { return };
    let start = start_of(content, first.at);
    let text = content.get(start..end).unwrap_or_default();
    let sentence = Sentence::new(text);
    for (place, trigger) in triggers.iter().enumerate() {
        let category = trigger.label / PLACES;
        let is_first = triggers[..place].iter().all(|other| other.label / PLACES != category);
        let Some(kind) = categories[category].kind.filter(|_| is_first) else { continue };
        let context = trigger.context;
        let is_early = |place: Place| match place {
            Place::Start => start <= EARLY && !context.letter,
            place => place.admits(*trigger),
        };
        let phrase = Found { label: category * PLACES, ..*trigger };
        let has_shape = |place: Place, shape: &Shape| is_early(place) && shape.is_in(&sentence);
        if kind.everyday().iter().any(|shape| shape.is_in(&sentence)) {
            continue;
        }
        let is_weak = |place: Place| matches!(place, Place::Ending | Place::Hint | Place::Reason);
        let mut shapes = kind.shapes().iter().filter(|(place, _)| !is_weak(*place));
        let is_marked = kind == PatternKind::InstructionLeak && has_marks(text);
        if is_marked || shapes.any(|(place, shape)| has_shape(*place, shape)) {
            tell(phrase);
            continue;
        }
        let is_whole = |other: &&Found| {
            other.label / PLACES == category && Place::of_label(other.label) != Place::Sentence
        };
        if let Some(other) = triggers.iter().find(is_whole) {
            tell(Found { label: phrase.label, ..*other });
            continue;
        }
        for place in [Place::Ending, Place::Hint, Place::Reason] {
            let mut shapes = kind.shapes().iter().filter(|(of, _)| *of == place);
            if shapes.any(|(_, shape)| has_shape(place, shape)) {
                weak.retain(|(of, held)| *of != place || held.label != phrase.label);
                weak.push((place, phrase));
            }
        }
        let held = |place: Place| {
            let of = |(of, held): &&(Place, Found)| *of == place && held.label == phrase.label;
            weak.iter().find(of).map(|(_, held)| *held)
        };
        if let (Some(hint), Some(_)) = (held(Place::Hint), held(Place::Reason)) {
            tell(hint);
        }
    }
}

/// Notes a phrase. Holds it back if it stands in an open quotation or in open code.
pub(super) fn keep(open: &mut Vec<Found>, found: &mut Vec<Found>, phrase: Found) {
    if phrase.context.is_open() {
        // One phrase of each category suffices in a region.
        let known = |held: &Found| held.label / PLACES == phrase.label / PLACES;
        if !open.iter().any(known) {
            open.push(phrase);
        }
    } else {
        note(found, phrase);
    }
}

pub(super) fn note(found: &mut Vec<Found>, phrase: Found) {
    if found.iter().all(|known| known.label / PLACES != phrase.label / PLACES) {
        found.push(phrase);
    }
}
