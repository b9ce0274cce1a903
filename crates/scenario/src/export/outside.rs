//! External inputs and their times.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use runstate::decision::DecisionAction;
use runstate::run::RunStatus;
use runstate::termination::TerminationReason;
use runstate::tool_call::CancelCause;
use runstate_agent::event::{AgentEvent, CallOutcome, EventKind};
use serde_json::{Value, json};

use super::same::prefix_of;
use super::{ExportError, Record, turns};
use crate::file::{Act, Action, Decision, OnEvent, RUN, Step, When};

/// An external input. The record has the time at which the run took it.
#[derive(Debug)]
pub(super) struct Came {
    pub(super) taken_ms: u64,
    /// The candidate steps, the likeliest first.
    pub(super) steps: Vec<Step>,
}

impl Came {
    pub(super) fn is_crash(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.act, Act::Crash | Act::CrashFor(_)))
    }
}

/// The number of earlier events in one millisecond that may have caused an input.
const LOOKS_BACK: usize = 8;

/// The upper limit of earlier crashes that moved the number of a commit.
const MOST_MOVED: usize = 3;

/// Decisions, messages, a cancellation and crashes, in order.
pub(super) fn came(record: &Record<'_>) -> Result<Vec<Came>, ExportError> {
    let names = record.events.iter().map(Name::of).collect();
    let mut reader =
        Reader { record, events: record.events, names, untold: BTreeSet::new(), inputs: Vec::new() };
    reader.crashes();
    reader.decisions()?;
    reader.messages();
    reader.looks();
    reader.cancellation();
    Ok(reader.inputs)
}

/// The features by which a step names an event.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    kind: String,
    call: Option<String>,
    activation: u32,
}

impl Name {
    fn of(event: &AgentEvent) -> Name {
        let json = json!(event);
        let kind = json.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let call = json.get("call").or_else(|| json.get("interrupt")?.get("call"));
        let call = call.and_then(Value::as_str).map(str::to_owned);
        Name { kind, call, activation: event.activation }
    }
}

/// The possible times of a crash behind that commit: at once, or when the next commit is tried, with the effects of tools
/// between. A scenario counts tries, so each crash before a commit moves the numbers of later ones.
fn crash_moments(commit: u32, earlier_crashes: usize) -> impl Iterator<Item = When> {
    let moved = 0..=u32::try_from(earlier_crashes.min(MOST_MOVED)).unwrap_or(0);
    moved.flat_map(move |moved| {
        let tried = commit.saturating_add(moved);
        [When::AfterCommit(tried), When::BeforeCommit(tried.saturating_add(1))]
    })
}

struct Reader<'r> {
    record: &'r Record<'r>,
    events: &'r [AgentEvent],
    names: Vec<Name>,
    /// The places of events that the play does not emit: their process is gone once they are committed.
    untold: BTreeSet<usize>,
    inputs: Vec<Came>,
}

impl Reader<'_> {
    /// Adds a crash for an activation without an end that another activation follows. It was interrupted after its last
    /// commit.
    fn crashes(&mut self) {
        let mut is_open = false;
        let mut last_commit = None;
        for (place, event) in self.events.iter().enumerate() {
            match &event.kind {
                EventKind::RunStarted { .. } => {
                    if let (true, Some((number, at_ms))) = (is_open, last_commit) {
                        self.untold.extend(self.behind_commit(place));
                        let act = match event.at_ms.saturating_sub(at_ms) {
                            0 => Act::Crash,
                            away_ms => Act::CrashFor(away_ms),
                        };
                        let moments = crash_moments(number, self.inputs.len());
                        let steps = moments.map(|when| Step::new(when, act.clone())).collect();
                        self.inputs.push(Came { taken_ms: event.at_ms, steps });
                    }
                    is_open = true;
                }
                EventKind::RunFinished { .. } => is_open = false,
                EventKind::Checkpoint { commit, .. } => {
                    last_commit = Some((u32::try_from(*commit).unwrap_or(u32::MAX), event.at_ms));
                }
                _ => {}
            }
        }
    }

    fn is_checkpoint(&self, place: usize) -> bool {
        self.events.get(place).is_some_and(|event| matches!(event.kind, EventKind::Checkpoint { .. }))
    }

    /// The events that are emitted after the commit before that place.
    fn behind_commit(&self, place: usize) -> Range<usize> {
        let is_checkpoint = |event: &AgentEvent| matches!(event.kind, EventKind::Checkpoint { .. });
        let Some(checkpoint) = self.events[..place].iter().rposition(is_checkpoint) else {
            return place..place;
        };
        let first = self.events[..checkpoint].iter().rposition(is_checkpoint).map_or(0, |before| before + 1);
        let commit = &self.events[first..checkpoint];
        let decided = commit.iter().position(|it| matches!(it.kind, EventKind::ToolCallResumed { .. }));
        decided.map_or(checkpoint, |at| first + at)..place
    }

    /// Adds the decisions. Decisions of one commit arrived together.
    fn decisions(&mut self) -> Result<(), ExportError> {
        let mut at = 0;
        while let Some(first) = self.next_decision(at) {
            let mut batch = Vec::new();
            let mut last = first;
            for (place, event) in self.events.iter().enumerate().skip(first) {
                match &event.kind {
                    EventKind::ToolCallResumed { suspension_id, .. } => {
                        if let Some(decision) = self.decision(suspension_id)? {
                            batch.push(decision);
                        }
                        last = place;
                    }
                    EventKind::Checkpoint { .. } => break,
                    _ => {}
                }
            }
            if !batch.is_empty() {
                // A process that is gone may have had them, and another person may have given them to the next.
                let given = self.steps_at(first, &Act::Decide(batch));
                let insisting = given.iter().cloned().map(|step| Step { insists: true, ..step });
                let steps = insisting.chain(given.iter().cloned()).collect();
                self.inputs.push(Came { taken_ms: self.events[first].at_ms, steps });
            }
            at = last + 1;
        }
        Ok(())
    }

    fn next_decision(&self, from: usize) -> Option<usize> {
        let is_one = |event: &AgentEvent| matches!(event.kind, EventKind::ToolCallResumed { .. });
        Some(from + self.events.get(from..)?.iter().position(is_one)?)
    }

    /// The decision on a suspension; `None` for a decision of the runtime, which the time causes.
    fn decision(&self, suspension: &str) -> Result<Option<Decision>, ExportError> {
        let Some(taken) = self.record.decisions.get(suspension) else {
            return Err(ExportError::NoDecision { suspension: suspension.to_owned() });
        };
        if taken.is_expiry() {
            return Ok(None);
        }
        let action = match taken.action {
            DecisionAction::Resume => Action::Approve,
            DecisionAction::Cancel => Action::Deny,
        };
        let mut decision = Decision::new(&*taken.decision_id, &*taken.call, action);
        decision.suspension = Some(self.named(&taken.suspension_id));
        decision.result = taken.result.clone();
        decision.reason.clone_from(&taken.reason);
        decision.actor.clone_from(&taken.actor);
        // The digest of the replayed question, which differs if the question has a time or a replaced text.
        decision.as_shown = taken.digest.is_some();
        Ok(Some(decision))
    }

    /// The id of a suspension, with the variable in place of the run's id.
    fn named(&self, suspension: &str) -> String {
        match suspension.split_once('/') {
            Some((run, behind)) if run == prefix_of(self.record.run(), self.events) => {
                format!("{RUN}/{behind}")
            }
            _ => suspension.to_owned(),
        }
    }

    /// Adds the messages. A message that resumed the run gave up its questions.
    fn messages(&mut self) {
        let mut texts: VecDeque<&str> = turns::user_messages(self.record).skip(1).collect();
        let mut last = None;
        for (place, event) in self.events.iter().enumerate() {
            let superseded = matches!(
                &event.kind,
                EventKind::ToolCallDone {
                    outcome: CallOutcome::Cancelled { cause: CancelCause::Superseded, .. },
                    ..
                }
            );
            if !superseded || last == Some(event.activation) {
                continue;
            }
            last = Some(event.activation);
            let Some(text) = texts.pop_front() else { return };
            self.write(place, text);
        }
        // A run that is cancelled before it continues ends with the message in its thread.
        if let (Some(text), Some(place)) = (texts.pop_front(), self.cancelled()) {
            self.write(place, text);
        }
    }

    fn write(&mut self, place: usize, text: &str) {
        let steps = self.steps_at(place, &Act::Write(text.to_owned()));
        self.inputs.push(Came { taken_ms: self.events[place].at_ms, steps });
    }

    /// Adds the wake-ups. An activation without a decision or a message was woken by an input that it rejected, or ended before it took the input.
    fn looks(&mut self) {
        let superseded = |event: &AgentEvent| {
            matches!(
                &event.kind,
                EventKind::ToolCallDone {
                    outcome: CallOutcome::Cancelled { cause: CancelCause::Superseded, .. },
                    ..
                }
            )
        };
        for (place, event) in self.events.iter().enumerate().skip(1) {
            let EventKind::RunFinished { status: RunStatus::Waiting, waiting, .. } =
                &self.events[place - 1].kind
            else {
                continue;
            };
            if !matches!(event.kind, EventKind::RunStarted { .. }) {
                continue;
            }
            let rest = self.events[place + 1..].iter();
            let mut until_end = rest.take_while(|it| !matches!(it.kind, EventKind::RunStarted { .. }));
            let explains =
                |it: &AgentEvent| superseded(it) || matches!(it.kind, EventKind::ToolCallResumed { .. });
            if until_end.any(explains) {
                continue;
            }
            let (mut steps, mut valid) = (Vec::new(), Vec::new());
            for asked in waiting.iter().take(LOOKS_BACK) {
                let id = format!("not-taken-{}", event.activation);
                let mut decision = Decision::new(id, &*asked.call, Action::Deny);
                decision.actor = Some("export".to_owned());
                steps.extend(self.steps_at(place, &Act::Decide(vec![decision.clone()])));
                // The run may have ended before it took a decision that it would have accepted.
                decision.suspension = Some(self.named(&asked.suspension.id));
                decision.as_shown = true;
                valid.extend(self.steps_at(place, &Act::Decide(vec![decision])));
            }
            steps.extend(self.steps_at(place, &Act::Resume));
            steps.append(&mut valid);
            self.inputs.push(Came { taken_ms: event.at_ms, steps });
        }
    }

    /// Adds the cancellation, before the first call that it gave up.
    fn cancellation(&mut self) {
        let Some(first) = self.cancelled() else { return self.late_cancellation() };
        let cancelled = self.steps_at(first, &Act::Cancel).into_iter();
        let steps = cancelled.map(|step| Step { insists: true, ..step }).collect();
        self.inputs.push(Came { taken_ms: self.events[first].at_ms, steps });
    }

    /// The place of the first event that a cancellation caused.
    fn cancelled(&self) -> Option<usize> {
        let is_end = |event: &AgentEvent| {
            matches!(event.kind, EventKind::RunFinished { reason: TerminationReason::Cancelled, .. })
        };
        let end = self.events.iter().position(is_end)?;
        let is_given_up = |event: &AgentEvent| {
            matches!(
                &event.kind,
                EventKind::ToolCallDone {
                    outcome: CallOutcome::Cancelled { cause: CancelCause::RunEnded, .. },
                    ..
                }
            )
        };
        // The commit of the end has its event before the end, and no input comes between.
        let ended = end - usize::from(self.is_checkpoint(end.wrapping_sub(1)));
        Some(self.events[..end].iter().position(is_given_up).unwrap_or(ended))
    }

    /// A cancellation after the last answer omits the end of its step, and nothing else.
    fn late_cancellation(&mut self) {
        let is_answer = |event: &AgentEvent| matches!(event.kind, EventKind::InferenceFinished { .. });
        let Some(EventKind::RunFinished { reason: TerminationReason::NaturalEnd, .. }) =
            self.events.last().map(|event| &event.kind)
        else {
            return;
        };
        let Some(answered) = self.events.iter().rposition(is_answer) else { return };
        let mut behind = self.events[answered..].iter();
        if !behind.any(|event| matches!(event.kind, EventKind::StepFinished { .. })) {
            let steps = self.steps_at(answered + 1, &Act::Cancel);
            self.inputs.push(Came { taken_ms: self.events[answered + 1].at_ms, steps });
        }
    }

    /// The possible causes of the event at that place.
    fn steps_at(&self, place: usize, act: &Act) -> Vec<Step> {
        self.moments(place).into_iter().map(|when| Step::new(when, act.clone())).collect()
    }

    /// The possible times of the cause of the event at that place, the likeliest first.
    fn moments(&self, place: usize) -> Vec<When> {
        let (events, at_ms) = (self.events, self.events[place].at_ms);
        let mut moments = Vec::new();
        // An input that resumes a run arrives while the run waits.
        let begins = events[..place].iter().rposition(|it| matches!(it.kind, EventKind::RunStarted { .. }));
        let is_waiting = |event: &AgentEvent| {
            matches!(event.kind, EventKind::RunFinished { status: RunStatus::Waiting, .. })
        };
        // A worker commits the resumed run before the run takes the input.
        let is_first = |begins: usize| {
            events[begins + 1..place].iter().all(|it| matches!(it.kind, EventKind::Checkpoint { .. }))
        };
        if let Some(begins) = begins
            && is_first(begins)
            && let Some(parked) = begins.checked_sub(1).filter(|before| is_waiting(&events[*before]))
        {
            let after_ms = events[begins].at_ms.saturating_sub(events[parked].at_ms);
            moments.push(When::Event(self.on(parked, after_ms)));
        }
        let is_told = |at: &usize| {
            let kind = &events[*at].kind;
            !matches!(kind, EventKind::AnswerPieces { .. } | EventKind::ToolCallsProgress { .. })
        };
        let mut sooner = Vec::new();
        for (nth, before) in (0..place).rev().filter(is_told).take(LOOKS_BACK).enumerate() {
            let after_ms = at_ms.saturating_sub(events[before].at_ms);
            if nth == 0 || after_ms == 0 {
                moments.push(When::Event(self.on(before, after_ms)));
            }
            // An input between two events is taken at the second.
            if after_ms > 0 {
                sooner.extend([after_ms, after_ms - 1, 1, 0].map(|ms| When::Event(self.on(before, ms))));
                break;
            }
        }
        moments.push(When::AtMs(at_ms.saturating_sub(events[0].at_ms)));
        moments.append(&mut sooner);
        let commit = events[..place].iter().rev().find_map(|event| match event.kind {
            EventKind::Checkpoint { commit, .. } => u32::try_from(commit).ok(),
            _ => None,
        });
        if let Some(commit) = commit {
            moments.extend([
                When::AfterCommit(commit),
                When::BeforeCommit(commit),
                When::BeforeCommit(commit.saturating_add(1)),
            ]);
        }
        moments
    }

    /// The event at that place, by its kind, its call and its activation, with the number of earlier events of these.
    fn on(&self, place: usize, after_ms: u64) -> OnEvent {
        let this = &self.names[place];
        let told = (0..=place).filter(|at| !self.untold.contains(at));
        let nth = told.filter(|at| self.names[*at] == *this).count().max(1);
        let Name { kind, call, activation } = this.clone();
        let mut on = OnEvent::first(kind);
        on.call = call;
        on.with.insert("activation".to_owned(), json!(activation));
        (on.nth, on.after_ms) = (u32::try_from(nth).unwrap_or(u32::MAX), after_ms);
        on
    }
}
