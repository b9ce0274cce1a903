//! The room of a page for facts.

use super::markup::{Markup, put};
use crate::model::{Fact, Review};
use crate::text::{name, seen};

/// The maximum length of a value, in characters, and the length to which values are shortened.
const VALUE: usize = 2_000;
const SHORT: usize = 60;
/// The size of a page of a thousand events, in bytes, and that of each event beyond them.
const PAGE: usize = 300_000;
const OF_EVENT: usize = 300;
/// The room that facts have on a page that is larger without them, in bytes.
const LEAST: usize = 20_000;
/// The room for the note on facts without room.
const NOTE: usize = 200;

/// The room that is left for facts. A value has at most `most` characters, so that all facts have room if possible.
pub(super) struct Room {
    most: usize,
    left: usize,
    left_out: usize,
    is_told: bool,
}

impl Room {
    /// For a page without facts, and without a note on them.
    pub(super) fn none() -> Self {
        Room { most: 0, left: 0, left_out: 0, is_told: false }
    }

    /// The room beside a page of that size without facts; `None` for a review without facts.
    pub(super) fn of(review: &Review, bare: usize) -> Option<Self> {
        let whole = PAGE.max(OF_EVENT.saturating_mul(review.steps().len()));
        let left = if bare > whole { LEAST } else { whole.saturating_sub(bare + NOTE) };
        let facts = || {
            let of_lanes = review.lanes().iter().flat_map(|lane| &lane.facts);
            of_lanes.chain(review.steps().iter().flat_map(|step| &step.facts))
        };
        facts().next()?;
        let mut most = VALUE;
        while most > SHORT && facts().map(|fact| size(fact, most)).sum::<usize>() > left {
            most = (most * 2 / 3).max(SHORT);
        }
        Some(Room { most, left, left_out: 0, is_told: true })
    }

    /// The number of facts that had no room.
    pub(super) fn left_out(&self) -> usize {
        if self.is_told { self.left_out } else { 0 }
    }

    /// Appends the facts that have room.
    pub(super) fn facts(&mut self, out: &mut Markup, facts: &[Fact]) {
        let mut is_begun = false;
        for fact in facts {
            let size = size(fact, self.most);
            if size > self.left {
                self.left_out += 1;
                continue;
            }
            self.left -= size;
            if !is_begun {
                put!(out, "<dl>");
                is_begun = true;
            }
            put!(out, "<dt>" (name(&fact.name)) "<dd>" (seen(&fact.value, self.most)));
        }
        if is_begun {
            put!(out, "</dl>\n");
        }
    }
}

/// The size of a fact in bytes, markup and escapes included.
fn size(fact: &Fact, most: usize) -> usize {
    let written = |text: &str| {
        let mut out = Markup::default();
        out.text(text);
        out.finish().len()
    };
    written(&name(&fact.name)) + written(&seen(&fact.value, most)) + "<dl><dt><dd></dl>\n".len()
}
