//! The rows of a run: without a gap, in agreement with each other, and with all acknowledged ones.

use runstate::service_run::ServiceRunStatus;
use runstate::trace::{Event, Verdict, check};
use runstate_service::{Numbered, ServiceEvent, Step, StepName, StepPhase, TimelineEntry};

use super::super::store::digests;
use super::{Findings, Index, Seen};
use crate::ledger::digest;

pub(super) fn judge(seen: &Seen, index: &Index<'_>, findings: &mut Findings<'_>) {
    without_a_gap("step", &seen.steps, findings);
    without_a_gap("timeline entry", &seen.timeline, findings);
    without_a_gap("event", &seen.events, findings);
    timeline(seen, findings);
    events(seen, findings);
    trace(seen, findings);
    acknowledged(seen, index, findings);
}

fn without_a_gap<T>(name: &str, rows: &[Numbered<T>], findings: &mut Findings<'_>) {
    if let Some((row, expected)) = rows.iter().zip(1..).find(|(row, expected)| row.seq != *expected) {
        findings.say("gaps", format!("the {name} {} stands where {expected} is the next", row.seq));
    }
}

/// Each executed node has an entry, and begins before it ends.
fn timeline(seen: &Seen, findings: &mut Findings<'_>) {
    let of_nodes = || {
        seen.steps.iter().filter_map(|step| match step.row.step {
            StepName::Node(node) => Some((node, step.row.pass, step.row.attempt, step.row.phase)),
            StepName::Run(_) => None,
        })
    };
    let ended: Vec<_> = of_nodes().filter(|step| step.3 != StepPhase::Started).collect();
    let entries: Vec<_> =
        seen.timeline.iter().map(|entry| (entry.row.step, entry.row.pass, entry.row.attempt)).collect();
    if ended.iter().map(|step| (step.0, step.1, step.2)).ne(entries.iter().copied()) {
        findings.say("timeline", format!("the entries {entries:?} are not those of the steps {ended:?}"));
    }
    let mut began = None;
    for (node, pass, _, phase) in of_nodes() {
        match (phase, began.take()) {
            (StepPhase::Started, None) => began = Some((node, pass)),
            (StepPhase::Done | StepPhase::Failed, Some(current)) if current == (node, pass) => {}
            (phase, current) => {
                findings.say("steps", format!("{node} has the step {phase:?} while {current:?} executes"));
                return;
            }
        }
    }
    if let Some((node, _)) = began.filter(|_| seen.run.status != ServiceRunStatus::Running) {
        findings.say("steps", format!("{node} began and has no end, and the run is {}", seen.run.status));
    }
}

/// The events have all steps and entries, in order; an end is the last one, and only a run that is over has it.
fn events(seen: &Seen, findings: &mut Findings<'_>) {
    let (mut steps, mut entries, mut ends): (Vec<&Step>, Vec<&TimelineEntry>, Vec<_>) = Default::default();
    for event in &seen.events {
        match &event.row.event {
            ServiceEvent::Step { step } => steps.push(step),
            ServiceEvent::Timeline { entry } => entries.push(entry),
            ServiceEvent::End { status } => ends.push((event.seq, *status)),
            _ => {}
        }
    }
    if steps.iter().copied().ne(seen.steps.iter().map(|step| &step.row)) {
        findings.say("events", format!("{} steps have {} events", seen.steps.len(), steps.len()));
    }
    if entries.iter().copied().ne(seen.timeline.iter().map(|entry| &entry.row)) {
        findings.say("events", format!("{} entries have {} events", seen.timeline.len(), entries.len()));
    }
    let status = seen.run.status;
    let expected: Vec<_> =
        status.is_terminal().then_some((seen.events.len() as u64, status)).into_iter().collect();
    if ends != expected {
        findings.say("events", format!("the ends are {ends:?}; expected {expected:?}"));
    }
}

/// The transitions are those of the diagrams, without a gap, and end in the status.
fn trace(seen: &Seen, findings: &mut Findings<'_>) {
    let events: Result<Vec<Event<'_>>, _> = seen.trace.iter().map(|line| Event::from_json(line)).collect();
    let events = match events {
        Ok(events) => events,
        Err(error) => return findings.say("trace", error),
    };
    let report = check(&events, &runstate::rulebook());
    if matches!(report.verdict, Verdict::Violates | Verdict::Interrupted) {
        findings.say("trace", report.summary());
    }
    if let Some((event, expected)) = events.iter().zip(1..).find(|(event, expected)| event.seq != *expected) {
        findings.say("trace", format!("the event {} stands where {expected} is the next", event.seq));
    }
    let last = events.iter().rev().find(|event| event.lifecycle == "service_run").map(|event| &*event.to);
    if last != Some(seen.run.status.name()) {
        findings.say("trace", format!("the run is {}, and {last:?} in its trace", seen.run.status));
    }
}

/// The rows of acknowledged changes are stored, in the order of the versions, and no two changes have one version.
fn acknowledged(seen: &Seen, index: &Index<'_>, findings: &mut Findings<'_>) {
    let mut made = index.made.get(&*seen.run.id).cloned().unwrap_or_default();
    made.sort_by_key(|made| made.version);
    if let Some(pair) = made.windows(2).find(|pair| pair[0].version == pair[1].version) {
        findings.say("twice", format!("two changes have the version {}", pair[0].version));
    }
    if let Some(last) = made.last().filter(|last| last.version > seen.run.version) {
        findings.say(
            "acknowledged",
            format!("version {} is lost: the run has {}", last.version, seen.run.version),
        );
    }
    let stored = |steps: &[Numbered<Step>]| digests(&steps.iter().map(|step| &step.row).collect::<Vec<_>>());
    let steps = stored(&seen.steps);
    let timeline = digests(&seen.timeline.iter().map(|entry| &entry.row).collect::<Vec<_>>());
    let trace: Vec<u64> = seen.trace.iter().map(|line| digest(line)).collect();
    let mut ends = [0; 3];
    for made in made {
        let rows = [
            ("steps", &steps, &made.steps),
            ("timeline entries", &timeline, &made.timeline),
            ("trace lines", &trace, &made.trace),
        ];
        for ((name, stored, rows), end) in rows.into_iter().zip(&mut ends) {
            match find(&stored[*end..], rows) {
                Some(place) => *end += place + rows.len(),
                None => {
                    let what = format!("the {name} of version {} are not stored", made.version);
                    findings.say("acknowledged", what);
                }
            }
        }
    }
}

/// The first place of a part.
fn find(all: &[u64], part: &[u64]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    all.windows(part.len()).position(|window| window == part)
}
