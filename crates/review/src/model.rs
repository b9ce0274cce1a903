//! The content of a trace that all renderers share.

use runstate::trace::{Report, Verdict};

use crate::breach::Breach;
use crate::interruption::Interruption;
use crate::redacted::Redacted;

/// A checked trace: its instances as lanes, its events as steps, and its violations.
///
/// [`ReviewBuilder`](crate::ReviewBuilder) makes it. Names are the names of the trace, and the renderers escape them. In a
/// stable review, ids are numbered in the order of their appearance, and the time of an event is its number.
#[derive(Debug, Clone)]
pub struct Review {
    pub(crate) title: String,
    pub(crate) runs: Vec<String>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) steps: Vec<Step>,
    pub(crate) breaches: Vec<Breach>,
    pub(crate) interruption: Option<Interruption>,
    pub(crate) report: Report,
    /// The number of events that have a fault, and follow the rules.
    pub(crate) faults: u64,
    pub(crate) begun_ms: Option<u64>,
    pub(crate) unchecked: Vec<String>,
    /// The number of events of other lifecycles, which are not part of the review.
    pub(crate) omitted: u64,
    pub(crate) redacted: Redacted,
    pub(crate) is_stable: bool,
    pub(crate) unit: Unit,
    pub(crate) end_ms: u64,
}

/// The name of the number of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// The line of a trace.
    Line,
    /// The entry of a list in a file.
    Entry,
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unit::Line => "line",
            Unit::Entry => "entry",
        })
    }
}

/// One instance of a lifecycle.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Lane {
    /// The index of its run in [`Review::runs`].
    pub run: usize,
    /// The lifecycle.
    pub lifecycle: String,
    /// The name of the instance.
    pub instance: String,
    /// Its stays in states, in the order of the trace.
    pub stays: Vec<Stay>,
    /// Facts about the instance, such as the arguments of a call.
    pub facts: Vec<Fact>,
    /// The name for a reader: two instances of a review have different ones.
    pub(crate) shown: String,
    /// The note on its open wait.
    pub(crate) note: Option<String>,
}

/// The time of an instance in one state.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Stay {
    /// The state.
    pub state: String,
    /// The index of the step into the state, in [`Review::steps`].
    pub begun: usize,
    /// The index of the step out of the state; none at the end of the trace.
    pub ended: Option<usize>,
    /// The kind of the state.
    pub kind: StayKind,
}

/// The kind of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StayKind {
    /// The instance works.
    Active,
    /// The instance waits: the name of the state contains `wait`, `suspend`, `pending`, `paused` or `park`, in any letter
    /// case.
    Waiting,
    /// The instance has ended: no transition of the rules leaves the state.
    Over,
    /// The instance was cut off: a new activation replaced it, or its run ended.
    CutOff,
}

impl StayKind {
    /// The kind of a state that is not known to be an end.
    pub(crate) fn of_name(state: &str) -> Self {
        let lower = state.to_lowercase();
        let waits = ["wait", "suspend", "pending", "paused", "park"].iter().any(|word| lower.contains(word));
        if waits { StayKind::Waiting } else { StayKind::Active }
    }
}

/// One event.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Step {
    /// The index of the lane in [`Review::lanes`].
    pub lane: usize,
    /// The line of the trace, from 1.
    pub line: u64,
    /// The time since the first event, in milliseconds; 0 for an event with an earlier time. In a stable review the index of
    /// the step.
    pub at_ms: u64,
    /// The name of the event.
    pub event: String,
    /// The source state; none for a creation.
    pub from: Option<String>,
    /// The target state.
    pub to: String,
    /// Whether the event violates the rules, or has a fault.
    pub is_illegal: bool,
    /// Whether the time is earlier than that of the previous event of the run; never in a stable review.
    pub is_back: bool,
    /// Whether the time is known. An event without a time has the time of the event before it in its run.
    pub is_timed: bool,
    /// The further fields of the event.
    pub facts: Vec<Fact>,
}

/// Further data of an event or of an instance: an argument, a decision, an actor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The value as text.
    pub value: String,
    /// The number of the wait of the instance that it belongs to, from 1; none for a fact about the instance.
    pub wait: Option<usize>,
}

impl Lane {
    /// The lifecycle and the name of the instance, for a reader. The number of a stable review has the lifecycle in it.
    pub(crate) fn label(&self) -> String {
        let (lifecycle, instance) = (crate::text::name(&self.lifecycle), self.shown.clone());
        let number = instance.strip_prefix(&lifecycle);
        if number.is_some_and(|rest| rest.starts_with('#')) {
            return instance;
        }
        format!("{lifecycle} {instance}")
    }

    /// The stay that a fact belongs to: its wait, or the last stay, since an output is no part of the first state.
    pub(crate) fn stay_of(&self, fact: &Fact) -> Option<&Stay> {
        let mut waits = self.stays.iter().filter(|stay| stay.kind == StayKind::Waiting);
        let wait = fact.wait.and_then(|number| {
            let nth = waits.nth(number.saturating_sub(1));
            nth.or_else(|| self.stays.iter().rfind(|stay| stay.kind == StayKind::Waiting))
        });
        wait.or(self.stays.last())
    }
}

impl Stay {
    /// Whether it is a wait that has not ended.
    pub(crate) fn is_open_wait(&self) -> bool {
        self.kind == StayKind::Waiting && self.ended.is_none()
    }
}

impl Fact {
    /// Makes a fact.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Fact { name: name.into(), value: value.into(), wait: None }
    }

    /// Sets the number of the wait that it belongs to, from 1, such as that of a question and its decision. A higher number
    /// than that of the last wait means the last one.
    #[must_use]
    pub fn of_wait(mut self, number: usize) -> Self {
        self.wait = Some(number);
        self
    }
}

impl Review {
    /// The title, such as the name of the file.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The names of the runs, in the order of their first events.
    pub fn runs(&self) -> &[String] {
        &self.runs
    }

    /// The instances, in the order of their first events.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The events, in the order of the trace.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The first violation of each instance, in the order of the trace.
    pub fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    /// The line that is no event, after the last event; none for a trace that was read to its end.
    pub fn interruption(&self) -> Option<&Interruption> {
        self.interruption.as_ref()
    }

    /// The number of illegal events: those that violate the rules, and those with a fault.
    pub fn illegal(&self) -> u64 {
        self.report.violations + self.faults
    }

    /// The run of an instance, behind its label; empty in a trace with a single run.
    pub(crate) fn of_run(&self, lane: &Lane) -> String {
        match self.runs.get(lane.run) {
            Some(run) if self.runs.len() > 1 => format!(" of run {}", crate::text::name(run)),
            _ => String::new(),
        }
    }

    /// Returns whether the begin and the end of a stay are known.
    pub(crate) fn is_timed(&self, stay: &Stay) -> bool {
        let is_timed = |step: usize| self.steps.get(step).is_some_and(|step| step.is_timed);
        is_timed(stay.begun) && stay.ended.is_none_or(is_timed)
    }

    /// The duration of a stay, or `unknown`. A stay that ends before it begins has a negative one.
    pub(crate) fn lasts(&self, stay: &Stay) -> String {
        let (begun, ended) = self.times(stay);
        match self.ends_before(stay) {
            _ if !self.is_timed(stay) => "unknown".to_owned(),
            0 => self.duration(ended - begun),
            back => format!("-{}", self.duration(back)),
        }
    }

    /// The time from the end of a stay to its begin, where the end is the earlier one; else 0.
    pub(crate) fn ends_before(&self, stay: &Stay) -> u64 {
        let at_ms = |step: usize| self.steps.get(step).map(|step| step.at_ms);
        let times = at_ms(stay.begun).zip(stay.ended.and_then(at_ms));
        times.map_or(0, |(begun, ended)| begun.saturating_sub(ended))
    }

    /// Returns whether all times are equal, so that a chart of times has nothing to show.
    pub(crate) fn is_without_times(&self) -> bool {
        self.end_ms == 0 && !self.is_stable
    }

    /// The result of the check. Events of lifecycles without rules are not part of it, and faults are not.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The lifecycles without rules, in the order of their first events.
    pub fn unchecked(&self) -> &[String] {
        &self.unchecked
    }

    /// The time of the earliest event, in milliseconds of the recorder's clock; none in a stable review and without events.
    pub fn begun_ms(&self) -> Option<u64> {
        self.begun_ms
    }

    /// Returns whether ids and times are replaced by numbers.
    pub fn is_stable(&self) -> bool {
        self.is_stable
    }

    /// The end of the trace: the latest time of a step, in milliseconds since the earliest event.
    pub fn end_ms(&self) -> u64 {
        self.end_ms
    }

    /// The begin and the end of a stay, in milliseconds since the earliest event. A stay without an end lasts to the end of the
    /// trace, and a last stay in a terminal state or of an instance that was cut off has no duration. A stay never ends before
    /// it begins. A stay of another review has the times of steps with its numbers, or the end of the trace.
    pub fn times(&self, stay: &Stay) -> (u64, u64) {
        let at_ms = |step: usize| self.steps.get(step).map_or(self.end_ms, |step| step.at_ms);
        let begun = at_ms(stay.begun);
        let ended = match (stay.ended, stay.kind) {
            (Some(ended), _) => at_ms(ended),
            (None, StayKind::Over | StayKind::CutOff) => begun,
            (None, StayKind::Active | StayKind::Waiting) => self.end_ms(),
        };
        (begun, ended.max(begun))
    }

    /// The instances that still wait at the end of the trace, with their waits: the earliest first.
    ///
    /// # Example
    /// ```
    /// use runstate::trace::Event;
    /// use runstate_review::ReviewBuilder;
    ///
    /// let lines = [
    ///     r#"{"seq":1,"at_ms":2,"run":"r","lifecycle":"tool_call","instance":"a","event":"suspend","from":"New","to":"Suspended"}"#,
    ///     r#"{"seq":2,"at_ms":9,"run":"r","lifecycle":"tool_call","instance":"b","event":"create","from":null,"to":"New"}"#,
    /// ];
    /// let book = runstate::rulebook();
    /// let mut builder = ReviewBuilder::new("calls", &book);
    /// for (number, line) in (1..).zip(lines) {
    ///     builder.event(number, &Event::from_json(line).unwrap());
    /// }
    /// let review = builder.finish();
    /// let [(lane, stay)] = review.open_waits()[..] else { panic!("b works") };
    /// assert_eq!((lane.instance.as_str(), stay.state.as_str(), review.times(stay)), ("a", "Suspended", (0, 7)));
    /// ```
    pub fn open_waits(&self) -> Vec<(&Lane, &Stay)> {
        let lanes = self.lanes.iter().filter_map(|lane| Some((lane, lane.stays.last()?)));
        let mut waits: Vec<(&Lane, &Stay)> = lanes.filter(|(_, stay)| stay.is_open_wait()).collect();
        waits.sort_by_key(|(_, stay)| stay.begun);
        waits
    }

    /// The verdict in a word or two. A trace without any checked event is `not checked`, one with lifecycles without rules
    /// `conforms in part`, and a legal one with an unreadable line `interrupted`.
    pub(crate) fn verdict(&self) -> &'static str {
        match (&self.interruption, verdict(&self.report)) {
            _ if self.faults > 0 => "violates",
            (Some(_), "conforms" | "incomplete" | "not checked") => "interrupted",
            (None, "conforms") if !self.unchecked.is_empty() => "conforms in part",
            (_, verdict) => verdict,
        }
    }

    /// A duration, or a number of steps in a stable review.
    pub(crate) fn duration(&self, ms: u64) -> String {
        match (self.is_stable, ms) {
            (false, ms) => crate::span::Span(ms).to_string(),
            (true, 1) => "1 step".to_owned(),
            (true, steps) => format!("{steps} steps"),
        }
    }
}

/// The verdict of a report in one word.
pub(crate) fn verdict(report: &Report) -> &'static str {
    match report.verdict {
        Verdict::Interrupted => "interrupted",
        Verdict::Conforms if report.checked() == 0 && report.consumed_whole => "not checked",
        Verdict::Conforms => "conforms",
        Verdict::Incomplete => "incomplete",
        Verdict::Violates => "violates",
    }
}
