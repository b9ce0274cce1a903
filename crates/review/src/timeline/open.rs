//! The rows of waits that have not ended.

use std::collections::{HashMap, HashSet};

use super::{Entry, Run, Timeline};
use crate::build::ends;
use crate::span::Span;
use crate::text::name;

/// The maximum number of rows.
const OPEN: usize = 20;

/// A wait that has not ended.
pub(super) struct OpenWait {
    pub(super) spent: String,
    pub(super) lifecycle: String,
    pub(super) instance: String,
    pub(super) number: usize,
    pub(super) what: String,
}

impl Timeline<'_> {
    /// The rows of waits that have not ended, and the number of those that are left out.
    pub(super) fn still_waiting(&self) -> (Vec<OpenWait>, usize) {
        let Some(checker) = &self.checker else { return Default::default() };
        let book = checker.book();
        let mut open = Vec::new();
        let mut ends_of: HashMap<&str, HashSet<&str>> = HashMap::new();
        for run in &self.runs {
            for ((lifecycle, instance), entry) in &run.since {
                let Some(state) = &entry.waits else { continue };
                let ends_of = ends_of.entry(lifecycle);
                let ends = ends_of.or_insert_with(|| book.rules(lifecycle).map(ends).unwrap_or_default());
                if !ends.contains(&**state) && !checker.is_cut_off(&run.name, lifecycle, instance) {
                    open.push((entry, run, lifecycle, instance, state));
                }
            }
        }
        open.sort_by_key(|(entry, ..)| entry.number);
        let more = open.len().saturating_sub(OPEN);
        let wait = |(entry, run, lifecycle, instance, state): (&Entry, &Run, &String, &String, &String)| {
            let spent = entry.at_ms.map_or(0, |at_ms| self.last_ms.saturating_sub(at_ms));
            OpenWait {
                // The trace ends with the entry, so its time says nothing of the wait.
                spent: if spent == 0 { String::new() } else { Span(spent).to_string() },
                lifecycle: name(lifecycle),
                instance: self.instance(run, &name(instance)),
                number: entry.instance,
                what: format!("~ still waits in {}", name(state)),
            }
        };
        (open.into_iter().take(OPEN).map(wait).collect(), more)
    }
}
