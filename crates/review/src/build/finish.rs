//! The review of all events of a builder.

use std::collections::HashMap;

use runstate::diagram::LineIndex;
use runstate::trace::Violation;

use super::ReviewBuilder;
use crate::breach::{Breach, violations};
use crate::marks::Marks;
use crate::model::{Review, Stay, StayKind, Step};
use crate::names::Names;

impl ReviewBuilder<'_> {
    /// Makes the review of all events so far.
    pub fn finish(mut self) -> Review {
        for ((run, lifecycle, instance), lane) in &self.lane_places {
            let name_of_run = self.run_names.get(*run).map_or("", String::as_str);
            if let Some(last) = self.lanes[*lane].stays.last_mut()
                && self.marks.is_cut_off(name_of_run, lifecycle, instance)
            {
                last.kind = StayKind::CutOff;
            }
            let waits = self.lanes[*lane].stays.last().is_some_and(Stay::is_open_wait);
            self.lanes[*lane].note.take_if(|_| !waits);
        }
        let report = std::mem::replace(&mut self.marks, Marks::new(self.book)).finish();
        let lines: HashMap<u64, usize> =
            self.steps.iter().zip(0..).map(|(step, at)| (step.line, at)).collect();
        let mut breaches: Vec<Breach> =
            violations(&report).map(|violation| self.breach(violation, &lines)).collect();
        let mut faults = 0;
        for (place, reason, is_of_rules) in std::mem::take(&mut self.faults) {
            faults += u64::from(is_of_rules);
            match breaches.iter_mut().find(|breach| breach.step == Some(place)) {
                Some(breach) => breach.reason = reason,
                None => breaches.push(Breach::of_fault(place, &self.steps[place], reason)),
            }
        }
        breaches.sort_by_key(|breach| breach.line);
        let interruption = self.interruption.take();
        let title = self.clean(&self.title);
        let (runs, mut lanes, mut steps) = (self.runs, self.lanes, self.steps);
        let names = Names::of(lanes.iter().map(|lane| lane.instance.as_str()));
        let shown: Vec<String> = lanes.iter().map(|lane| names.shown(&lane.instance)).collect();
        lanes.iter_mut().zip(shown).for_each(|(lane, shown)| lane.shown = shown);
        let begun_ms = self.begun_ms.filter(|_| !self.is_stable);
        // Times are since the earliest event, which need not be the first one. An event without a time may precede it.
        let since = |at_ms: u64| at_ms.saturating_sub(begun_ms.unwrap_or_default());
        steps.iter_mut().for_each(|step: &mut Step| step.at_ms = since(step.at_ms));
        let (unchecked, is_stable) = (self.unchecked, self.is_stable);
        let end_ms = steps.iter().map(|step: &Step| step.at_ms).max().unwrap_or_default();
        Review {
            title,
            runs,
            lanes,
            steps,
            breaches,
            interruption,
            report,
            faults,
            begun_ms,
            unchecked,
            omitted: self.omitted,
            redacted: self.redacted,
            is_stable,
            unit: self.unit,
            end_ms,
        }
    }

    fn breach(&self, violation: &Violation, lines: &HashMap<u64, usize>) -> Breach {
        let mut breach = Breach::of(violation);
        breach.step = lines.get(&violation.line).copied();
        breach.got = self.clean(&breach.got);
        breach.reason = self.clean(&breach.reason);
        breach.place = breach.place.as_deref().map(|place| self.clean(place));
        for (legal, of) in breach.legal.iter_mut().zip(&violation.legal) {
            legal.what = self.clean(&legal.what);
            legal.place = legal.place.as_deref().map(|place| self.clean(place));
            legal.text = of.diagram_line.and_then(|line| self.line_of(violation.diagram.as_deref()?, line));
        }
        breach
    }

    fn line_of(&self, file: &str, line: u32) -> Option<String> {
        let (_, text) = self.diagrams.iter().find(|(name, _)| name == file)?;
        let line = LineIndex::new(text).line_text(text, usize::try_from(line).ok()?)?;
        Some(self.clean(line.trim()))
    }
}
