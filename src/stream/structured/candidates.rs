//! The parts of a text that may be the JSON that is meant.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use super::reader::{self, Part};
use super::{Repair, StructuredError, is_json};

/// So many parts are read at most, since each may reach to the end of the text.
const MOST: usize = 16;

/// A part of the text, as JSON.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) json: String,
    pub(super) repairs: Vec<Repair>,
    rank: Rank,
}

/// The best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// It lies within another part, which then is prose with brackets.
    within: bool,
    /// It needs repairs, other than that what is around it is taken away.
    unsound: bool,
    length: Reverse<usize>,
}

/// The parts, the best first.
pub(super) fn of(text: &str) -> Result<Vec<Candidate>, StructuredError> {
    let mut parts = Parts { text, found: Vec::new(), read: 0, too_deep: None };
    let unsound = parts.side_by_side(0..text.len(), false);
    for within in unsound {
        parts.side_by_side(within.start + 1..within.end, true);
    }
    let Parts { mut found, read, too_deep, .. } = parts;
    if read == 0 {
        found.extend(lone_value(text));
    }
    found.sort_by_key(|candidate| candidate.rank);
    match too_deep {
        // What is whole and came before may be what was meant.
        Some(at) if found.first().is_none_or(|best| best.rank.unsound) => {
            Err(StructuredError::TooDeep { at })
        }
        _ => Ok(found),
    }
}

struct Parts<'t> {
    text: &'t str,
    found: Vec<Candidate>,
    read: usize,
    too_deep: Option<usize>,
}

impl Parts<'_> {
    /// Reads the parts that begin in that range, one after another. Gives the places of those that need repairs: prose may open a
    /// bracket and not close it, so that what is meant lies within.
    fn side_by_side(&mut self, range: Range<usize>, within: bool) -> Vec<Range<usize>> {
        let mut unsound = Vec::new();
        let mut from = range.start;
        while self.read < MOST && self.too_deep.is_none() {
            let Some(begin) = bracket(self.text, from).filter(|begin| *begin < range.end) else { break };
            self.read += 1;
            match reader::read(self.text, begin) {
                Ok(part) => {
                    let sound = part.repairs.is_empty();
                    if !sound {
                        unsound.push(begin..part.end);
                    }
                    from = if sound || !within { part.end } else { begin + 1 };
                    self.found.extend(candidate(self.text, begin, part, within));
                }
                Err(at) => self.too_deep = Some(at),
            }
        }
        unsound
    }
}

fn bracket(text: &str, from: usize) -> Option<usize> {
    text.get(from..)?.find(['{', '[']).map(|within| from + within)
}

fn candidate(text: &str, begin: usize, part: Part, within: bool) -> Option<Candidate> {
    let Part { json, mut repairs, end } = part;
    // The reader writes nothing else; should it ever, no text is better than a wrong one.
    if !is_json(&json) {
        return None;
    }
    let rank = Rank { within, unsound: !repairs.is_empty(), length: Reverse(end - begin) };
    around(&mut repairs, &text[..begin], &text[end..]);
    Some(Candidate { json, repairs: repairs.into_iter().collect(), rank })
}

/// What was taken away before and after the part.
fn around(repairs: &mut BTreeSet<Repair>, before: &str, after: &str) {
    let (before, after) = (before.trim(), after.trim());
    let line = before.rsplit('\n').next().unwrap_or_default();
    let fenced = line.strip_prefix("```").is_some_and(|info| !info.contains('`'));
    let before = if fenced { before[..before.len() - line.len()].trim() } else { before };
    let closed = after.strip_prefix("```");
    if fenced || closed.is_some() {
        repairs.insert(Repair::Fence);
    }
    if !before.is_empty() || !closed.unwrap_or(after).trim().is_empty() {
        repairs.insert(Repair::Prose);
    }
}

/// A text without brackets: a string, a number or a literal, and nothing else beside a fence.
fn lone_value(text: &str) -> Option<Candidate> {
    let mut inner = text.trim();
    if let Some(fenced) = inner.strip_prefix("```") {
        inner = fenced.split_once('\n')?.1;
    }
    let inner = inner.trim_end_matches('`').trim();
    let begin = text.find(inner).filter(|_| !inner.is_empty())?;
    let part = reader::read(text, begin).ok()?;
    let prose = part.repairs.contains(&Repair::UnquotedText) || part.end < begin + inner.len();
    if prose { None } else { candidate(text, begin, part, false) }
}
