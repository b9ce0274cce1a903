//! The construction of a review from events.

mod finish;

use std::collections::{HashMap, HashSet};

use runstate::trace::{Event, Rulebook, Rules};

use crate::interruption::Interruption;
use crate::marks::Marks;
use crate::model::{Fact, Lane, Stay, StayKind, Step, Unit};
use crate::redacted::Redacted;

/// Takes the events of a trace, checks them, and makes a [`Review`](crate::Review).
///
/// It holds the whole trace in memory. Events of a lifecycle without rules are shown and not checked.
///
/// # Example
/// ```
/// use runstate::trace::{Event, Rulebook};
/// use runstate_review::{Fact, ReviewBuilder};
///
/// let line = r#"{"seq":1,"at_ms":5,"run":"r-7","lifecycle":"order","instance":"o-9","event":"create","from":null,"to":"Cart","by":"ada"}"#;
/// let book = Rulebook::new();
/// let mut builder = ReviewBuilder::new("orders.jsonl", &book).redact("ada").stable();
/// builder.event(1, &Event::from_json(line).unwrap());
/// builder.fact("r-7", "order", "o-9", Fact::new("total", "12.5"));
/// let review = builder.finish();
/// assert_eq!(review.lanes()[0].instance, "order#1");
/// assert_eq!(review.steps()[0].facts, [Fact::new("by", "\"[redacted]\"")]);
/// assert_eq!(review.lanes()[0].facts, [Fact::new("total", "12.5")]);
/// assert_eq!(review.unchecked(), ["order"]);
/// ```
#[derive(Debug)]
pub struct ReviewBuilder<'b> {
    book: &'b Rulebook,
    marks: Marks<'b>,
    title: String,
    is_stable: bool,
    unit: Unit,
    hides_values: bool,
    redacted: Redacted,
    diagrams: Vec<(String, String)>,
    begun_ms: Option<u64>,
    runs: Vec<String>,
    /// The runs as the trace names them.
    run_names: Vec<String>,
    run_places: HashMap<String, usize>,
    lanes: Vec<Lane>,
    lane_places: HashMap<(usize, String, String), usize>,
    /// The number of instances of each lifecycle in each run.
    instances: HashMap<(usize, String), usize>,
    steps: Vec<Step>,
    unchecked: Vec<String>,
    /// The names of `unchecked`.
    strangers: HashSet<String>,
    ends: HashMap<String, HashSet<&'b str>>,
    /// The time of the last event of each run.
    last_ms: HashMap<usize, u64>,
    /// The faults of events, with their steps, and whether the step follows the rules.
    faults: Vec<(usize, String, bool)>,
    omitted: u64,
    interruption: Option<Interruption>,
}

impl<'b> ReviewBuilder<'b> {
    /// Makes a builder for a trace with this title, and for these rules.
    pub fn new(title: impl Into<String>, book: &'b Rulebook) -> Self {
        ReviewBuilder {
            book,
            marks: Marks::new(book),
            title: title.into(),
            is_stable: false,
            unit: Unit::Line,
            hides_values: false,
            redacted: Redacted::default(),
            diagrams: Vec::new(),
            begun_ms: None,
            runs: Vec::new(),
            run_names: Vec::new(),
            run_places: HashMap::new(),
            lanes: Vec::new(),
            lane_places: HashMap::new(),
            instances: HashMap::new(),
            steps: Vec::new(),
            unchecked: Vec::new(),
            strangers: HashSet::new(),
            ends: HashMap::new(),
            last_ms: HashMap::new(),
            faults: Vec::new(),
            omitted: 0,
            interruption: None,
        }
    }

    /// Replaces ids by numbers in the order of their appearance, and times by the numbers of the events. Equal behaviour then
    /// has an equal review. Facts keep their values.
    #[must_use]
    pub fn stable(mut self) -> Self {
        self.is_stable = true;
        self
    }

    /// Says `entry` in place of `line`, for events that have the numbers of the entries of a list.
    #[must_use]
    pub fn entries(mut self) -> Self {
        self.unit = Unit::Entry;
        self
    }

    /// Hides the values of the further fields of events. Their names are shown. Facts from
    /// [`fact`](ReviewBuilder::fact) are not hidden.
    #[must_use]
    pub fn hide_values(mut self) -> Self {
        self.hides_values = true;
        self
    }

    /// Replaces this text by `[redacted]` in names, facts and reasons. The empty text has no effect. The letter case counts.
    #[must_use]
    pub fn redact(mut self, text: impl Into<String>) -> Self {
        self.redacted.add(text.into());
        self
    }

    /// Adds the text of a file with diagrams, so that a violation shows the lines of its legal alternatives.
    #[must_use]
    pub fn diagram(mut self, file: impl Into<String>, text: impl Into<String>) -> Self {
        self.diagrams.push((file.into(), text.into()));
        self
    }

    /// Adds the next event, given the number of its line in the trace.
    pub fn event(&mut self, line: u64, event: &Event<'_>) {
        self.add(line, event, true);
    }

    /// Adds the next event, whose time is unknown: so are the durations of the states before and after it.
    pub fn event_without_time(&mut self, line: u64, event: &Event<'_>) {
        self.add(line, event, false);
    }

    fn add(&mut self, line: u64, event: &Event<'_>, is_timed: bool) {
        if is_timed {
            self.begun_ms = Some(self.begun_ms.map_or(event.at_ms, |begun_ms| begun_ms.min(event.at_ms)));
        }
        if !self.marks.has_rules(event) {
            let lifecycle = self.clean(&event.lifecycle);
            if self.strangers.insert(lifecycle.clone()) {
                self.unchecked.push(lifecycle);
            }
        }
        let is_illegal = self.marks.event(line, event).is_some();
        let lane = self.lane(&event.run, &event.lifecycle, &event.instance);
        let run = self.lanes[lane].run;
        let before = self.last_ms.get(&run).copied();
        let recorded = if is_timed { event.at_ms } else { before.or(self.begun_ms).unwrap_or_default() };
        if is_timed {
            self.last_ms.insert(run, recorded);
        }
        let at_ms = if self.is_stable { self.steps.len() as u64 } else { recorded };
        let is_back = !self.is_stable && before.is_some_and(|before| recorded < before);
        let (place, kind) = (self.steps.len(), self.kind(&event.lifecycle, &event.to));
        let (state, facts) = (self.clean(&event.to), event.extra.iter().map(|it| self.field(it)).collect());
        let stays = &mut self.lanes[lane].stays;
        if let Some(last) = stays.last_mut() {
            last.ended = Some(place);
        }
        stays.push(Stay { state: state.clone(), begun: place, ended: None, kind });
        self.steps.push(Step {
            lane,
            line,
            at_ms,
            event: self.clean(&event.event),
            from: event.from.as_deref().map(|from| self.clean(from)),
            to: state,
            is_illegal,
            is_back,
            is_timed: is_timed || self.is_stable,
            facts,
        });
    }

    /// Marks the last event as illegal for a reason that the rules lack, such as a fault of its line in a log. Of an event that
    /// violates the rules, it is the shown reason.
    ///
    /// # Example
    /// ```
    /// use runstate::trace::Event;
    /// use runstate_review::ReviewBuilder;
    ///
    /// let line = r#"{"seq":1,"at_ms":5,"run":"r","lifecycle":"tool_call","instance":"c","event":"create","from":null,"to":"New"}"#;
    /// let book = runstate::rulebook();
    /// let mut builder = ReviewBuilder::new("a call", &book);
    /// builder.event(1, &Event::from_json(line).unwrap());
    /// builder.fault("its time is in the future");
    /// let review = builder.finish();
    /// assert_eq!(review.breaches()[0].reason, "its time is in the future");
    /// assert_eq!((review.illegal(), review.report().violations), (1, 0));
    /// ```
    pub fn fault(&mut self, why: &str) {
        let reason = self.clean(why);
        let place = self.steps.len().wrapping_sub(1);
        let Some(step) = self.steps.last_mut() else { return };
        self.faults.push((place, reason, !step.is_illegal));
        step.is_illegal = true;
    }

    /// Counts events of other lifecycles, which are not part of the review.
    pub fn omitted(&mut self, events: u64) {
        self.omitted += events;
    }

    /// Adds a fact about an instance. An instance without an event in the trace is not shown, so the fact is dropped.
    pub fn fact(&mut self, run: &str, lifecycle: &str, instance: &str, fact: Fact) {
        if let Some(lane) = self.known(run, lifecycle, instance) {
            let fact = Fact { name: self.clean(&fact.name), value: self.redacted.value(&fact.value), ..fact };
            self.lanes[lane].facts.push(fact);
        }
    }

    /// Adds a note to the wait of an instance that has not ended, such as a decision that its run has not taken yet. It has an
    /// effect on an instance with an event in the trace.
    ///
    /// # Example
    /// ```
    /// use runstate::trace::Event;
    /// use runstate_review::{ReviewBuilder, html};
    ///
    /// let line = r#"{"seq":1,"at_ms":5,"run":"r","lifecycle":"order","instance":"o","event":"park","from":null,"to":"Parked"}"#;
    /// let book = runstate::rulebook();
    /// let mut builder = ReviewBuilder::new("orders", &book);
    /// builder.event(1, &Event::from_json(line).unwrap());
    /// builder.wait_note("r", "order", "o", "approved by ann");
    /// builder.wait_note("r", "order", "another", "it is not part of the trace");
    /// let page = html(&builder.finish());
    /// assert!(page.contains("since line 1: approved by ann</li>"));
    /// assert!(!page.contains("not part of the trace"));
    /// ```
    pub fn wait_note(&mut self, run: &str, lifecycle: &str, instance: &str, note: &str) {
        if let Some(lane) = self.known(run, lifecycle, instance) {
            self.lanes[lane].note = Some(self.clean(note));
        }
    }

    fn known(&self, run: &str, lifecycle: &str, instance: &str) -> Option<usize> {
        let run = *self.run_places.get(run)?;
        self.lane_places.get(&(run, lifecycle.to_owned(), instance.to_owned())).copied()
    }

    /// Records that a line after the events is no event. Renderers show the line and the loss.
    pub fn interrupted(&mut self, interruption: Interruption) {
        // A problem may quote a value.
        let problem =
            if self.hides_values { "[redacted]".to_owned() } else { self.clean(&interruption.problem) };
        self.interruption = Some(Interruption { problem, ..interruption });
    }

    fn clean(&self, text: &str) -> String {
        self.redacted.text(text)
    }

    fn lane(&mut self, run: &str, lifecycle: &str, instance: &str) -> usize {
        let run = self.run(run);
        let key = (run, lifecycle.to_owned(), instance.to_owned());
        if let Some(lane) = self.lane_places.get(&key) {
            return *lane;
        }
        let number = self.instances.entry((run, lifecycle.to_owned())).or_default();
        *number += 1;
        let number = *number;
        let lifecycle = self.clean(lifecycle);
        let instance = if self.is_stable { format!("{lifecycle}#{number}") } else { self.clean(instance) };
        self.lanes.push(Lane {
            run,
            lifecycle,
            instance,
            stays: Vec::new(),
            facts: Vec::new(),
            shown: String::new(),
            note: None,
        });
        self.lane_places.insert(key, self.lanes.len() - 1);
        self.lanes.len() - 1
    }

    fn run(&mut self, name: &str) -> usize {
        if let Some(run) = self.run_places.get(name) {
            return *run;
        }
        let place = self.runs.len();
        self.run_places.insert(name.to_owned(), place);
        self.run_names.push(name.to_owned());
        self.runs.push(if self.is_stable { format!("run {}", place + 1) } else { self.clean(name) });
        place
    }

    fn kind(&mut self, lifecycle: &str, state: &str) -> StayKind {
        let book = self.book;
        let ends = match self.ends.get(lifecycle) {
            Some(ends) => ends,
            None => {
                let ends = book.rules(lifecycle).map(ends).unwrap_or_default();
                self.ends.entry(lifecycle.to_owned()).or_insert(ends)
            }
        };
        if ends.contains(state) { StayKind::Over } else { StayKind::of_name(state) }
    }

    fn field(&self, (name, value): (&str, &str)) -> Fact {
        let value = if self.hides_values { "[redacted]".to_owned() } else { self.redacted.value(value) };
        Fact::new(self.clean(name), value)
    }
}

/// The states that no transition leaves.
pub(crate) fn ends(rules: &Rules) -> HashSet<&str> {
    let left: HashSet<&str> = rules.edges().map(|edge| edge.from).collect();
    rules.states().filter(|state| !left.contains(state)).collect()
}
