//! The sentences about a review that each of its outputs has.

use crate::model::{Review, StayKind, Step, Unit};
use crate::text::{name, seen};

/// The maximum number of listed names, and of listed instances.
const LISTED: usize = 10;
/// The maximum length of the note on a wait, in characters.
pub(crate) const NOTE: usize = 200;

impl Review {
    /// What the outputs leave out, and what the trace does not say: each in one sentence.
    pub(crate) fn notes(&self) -> Vec<String> {
        [self.not_checked(), self.omitted(), self.back(), self.untimed()].into_iter().flatten().collect()
    }

    fn not_checked(&self) -> Option<String> {
        let names: Vec<String> = self.unchecked.iter().take(LISTED).map(|it| name(it)).collect();
        let more = match self.unchecked.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = (!names.is_empty()).then(|| names.join(", "))?;
        Some(format!("not checked, since there is no diagram: {names}{more}"))
    }

    fn omitted(&self) -> Option<String> {
        match self.omitted {
            0 => None,
            1 => Some("1 event of another lifecycle is not shown".to_owned()),
            several => Some(format!("{several} events of other lifecycles are not shown")),
        }
    }

    fn back(&self) -> Option<String> {
        let places = self.places(|step| step.is_back)?;
        Some(format!("time runs backwards {places}"))
    }

    fn untimed(&self) -> Option<String> {
        if !self.steps.is_empty() && self.steps.iter().all(|step| !step.is_timed) {
            return Some("no event has a time: all durations are unknown".to_owned());
        }
        let places = self.places(|step| !step.is_timed)?;
        Some(format!("there is no time {places}: the durations beside it are unknown"))
    }

    /// The first of these steps, and the number of the others.
    fn places(&self, is: impl Fn(&Step) -> bool) -> Option<String> {
        let mut lines = self.steps.iter().filter(|step| is(step)).map(|step| step.line);
        let (first, more) = (lines.next()?, lines.count());
        let (one, several) = match self.unit {
            Unit::Line => ("on line", "lines"),
            Unit::Entry => ("at entry", "entries"),
        };
        Some(match more {
            0 => format!("{one} {first}"),
            1 => format!("{one} {first}, and {} 1 more {}", &one[..2], self.unit),
            more => format!("{one} {first}, and {} {more} more {several}", &one[..2]),
        })
    }

    /// The instances that have not ended, with their states: at most ten, and the number of the others. Waits can be left out.
    pub(crate) fn unfinished(&self, with_waits: bool) -> Vec<String> {
        let is_checked = |lifecycle: &str| !self.unchecked.iter().any(|it| it == lifecycle);
        let open = self.lanes.iter().filter(|lane| is_checked(&lane.lifecycle)).filter_map(|lane| {
            let last =
                lane.stays.last().filter(|stay| !matches!(stay.kind, StayKind::Over | StayKind::CutOff))?;
            if last.kind == StayKind::Waiting && !with_waits {
                return None;
            }
            let line = self.steps[last.begun].line;
            let note = lane.note.as_ref().map(|note| format!(": {}", seen(note, NOTE))).unwrap_or_default();
            let verb = if last.kind == StayKind::Waiting { "waits in" } else { "is in" };
            let run = self.of_run(lane);
            Some(format!(
                "{}{run} {verb} {} since {} {line}{note}",
                lane.label(),
                name(&last.state),
                self.unit
            ))
        });
        let mut open: Vec<String> = open.collect();
        let more = open.len().saturating_sub(LISTED);
        open.truncate(LISTED);
        match more {
            0 => {}
            1 => open.push("1 more instance has not ended".to_owned()),
            more => open.push(format!("{more} more instances have not ended")),
        }
        open
    }
}
