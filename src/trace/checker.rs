//! The checker of events against the rules, one by one.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::coverage::{Coverage, LifecycleCoverage};
use super::event::Event;
use super::explain::explain;
use super::read_error::ReadError;
use super::report::{Backwards, Report, Unfinished, Verdict};
use super::rulebook::Rulebook;
use super::rules::Rules;
use super::step::{Instance, Step, step};
use super::violation::{Violation, ViolationKind};

/// A checker for a trace that is being recorded or read.
///
/// It keeps one small entry per instance: its name and its state. The entry of an ended instance stays, because it
/// identifies later events as violations. An ended instance may be created again.
///
/// # Example
/// ```
/// # #[cfg(feature = "lifecycles")] {
/// use runstate::kernel::Stateful;
/// use runstate::trace::{Checker, Event, Rulebook};
///
/// let book = Rulebook::of([<runstate::tool_call::AnyToolCall as Stateful>::GRAPH]);
/// let mut checker = Checker::new(&book);
/// let line = r#"{"seq":1,"at_ms":0,"run":"r1","lifecycle":"tool_call","instance":"c","event":"create","from":null,"to":"New"}"#;
/// checker.event(1, &Event::from_json(line).unwrap());
/// assert!(checker.violation().is_none(), "so far");
/// checker.event(2, &Event::from_json(&line.replace(":1,", ":2,")).unwrap());
/// assert_eq!(checker.violation().unwrap().reason(), "it was created on line 1 and is still in New");
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Checker<'b> {
    book: &'b Rulebook,
    /// One element for each set of rules in the book.
    laws: Vec<Law>,
    runs: Vec<Run>,
    run_places: HashMap<Box<str>, usize>,
    /// The indices of the last event's lifecycle and run. The next event mostly has the same ones.
    last: (usize, usize),
    events: u64,
    skipped: u64,
    /// The lifecycles of the skipped events; the list is limited.
    passed_over: Vec<Box<str>>,
    violations: u64,
    first: Option<Box<Violation>>,
    /// The first violation of each other instance.
    others: Vec<Violation>,
    /// The listed lifecycles without rules.
    strangers: HashSet<Box<str>>,
    most: usize,
    backwards: Option<Backwards>,
    whole: bool,
}

#[derive(Debug, Clone)]
struct Run {
    name: Box<str>,
    seq: u64,
    line: u64,
    at_ms: u64,
    /// The line that created the last instance of the lifecycle that cuts off others; 0 for none.
    restarted: u64,
    /// The line of the run's end; 0 before the end.
    ended: u64,
}

/// The check of one lifecycle.
#[derive(Debug, Clone)]
struct Law {
    rules: Arc<Rules>,
    taken: Vec<u64>,
    entered: Vec<u64>,
    instances: u64,
    violations: u64,
    /// The lifecycles that are checked against the rules. There are several where the rules are for all lifecycles.
    lifecycles: Vec<Arc<str>>,
    lifecycle_places: HashMap<Arc<str>, usize>,
    /// The instances, by run and lifecycle and then by name, so that a look-up allocates no combined key.
    tables: Vec<HashMap<Box<str>, Instance>>,
    table_places: HashMap<(usize, usize), usize>,
    last: Option<((usize, usize), usize)>,
}

impl Law {
    fn new(rules: &Arc<Rules>) -> Self {
        Law {
            rules: Arc::clone(rules),
            taken: vec![0; rules.edges.len()],
            entered: vec![0; rules.states.len()],
            instances: 0,
            violations: 0,
            lifecycles: Vec::new(),
            lifecycle_places: HashMap::new(),
            tables: Vec::new(),
            table_places: HashMap::new(),
            last: None,
        }
    }

    fn table(&mut self, run: usize, lifecycle: &str) -> usize {
        if let Some(((last, of), table)) = self.last
            && last == run
            && *self.lifecycles[of] == *lifecycle
        {
            return table;
        }
        let of = self.lifecycle_places.get(lifecycle).copied().unwrap_or_else(|| {
            let (name, place) = (Arc::<str>::from(lifecycle), self.lifecycles.len());
            self.lifecycles.push(Arc::clone(&name));
            self.lifecycle_places.insert(name, place);
            place
        });
        let table = *self.table_places.entry((run, of)).or_insert_with(|| {
            self.tables.push(HashMap::new());
            self.tables.len() - 1
        });
        self.last = Some(((run, of), table));
        table
    }
}

impl<'b> Checker<'b> {
    /// Makes a checker for these rules.
    pub fn new(book: &'b Rulebook) -> Self {
        Checker {
            book,
            laws: book.rules.iter().map(Law::new).collect(),
            runs: Vec::new(),
            run_places: HashMap::new(),
            last: (0, 0),
            events: 0,
            skipped: 0,
            passed_over: Vec::new(),
            violations: 0,
            first: None,
            others: Vec::new(),
            strangers: HashSet::new(),
            most: Report::MOST_VIOLATIONS,
            backwards: None,
            whole: true,
        }
    }

    /// Sets the maximum number of listed violations: the first one, and the first of each other instance. The value 0
    /// acts like 1. Default: [`Report::MOST_VIOLATIONS`].
    #[must_use]
    pub fn most_violations(mut self, most: usize) -> Self {
        self.most = most.max(1);
        self
    }

    /// The rules of the check.
    pub fn book(&self) -> &'b Rulebook {
        self.book
    }

    /// The number of events so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The first violation so far.
    pub fn violation(&self) -> Option<&Violation> {
        self.first.as_deref()
    }

    /// The first violation of each other instance so far, as far as they are listed.
    pub fn others(&self) -> &[Violation] {
        &self.others
    }

    /// The number of violating events so far. An event that increases it is illegal.
    pub fn violations(&self) -> u64 {
        self.violations
    }

    /// Checks one event, given the number of its line in the trace.
    ///
    /// After a violation the checker trusts the event: the instance is then in the state that the event names, if
    /// that state exists. An event counts as one violation at most.
    pub fn event(&mut self, line: u64, event: &Event<'_>) {
        self.events += 1;
        if event.is_creation() && self.book.restarts.as_ref().is_some_and(|it| *it.of == *event.lifecycle) {
            let run = self.run(&event.run);
            self.runs[run].restarted = line;
        }
        if self.book.ends_run(event) {
            let run = self.run(&event.run);
            self.runs[run].ended = line;
        }
        if let Some(only) = &self.book.only
            && **only != *event.lifecycle
        {
            self.skipped += 1;
            if self.passed_over.len() < Report::MOST_SKIPPED
                && !self.passed_over.iter().any(|it| **it == *event.lifecycle)
            {
                self.passed_over.push(event.lifecycle.as_ref().into());
            }
            return;
        }
        let run = self.run(&event.run);
        let Run { seq, line: seq_line, at_ms, .. } = self.runs[run];
        if event.at_ms < at_ms {
            let first = Backwards { events: 0, line, at_ms: event.at_ms, before_ms: at_ms };
            self.backwards.get_or_insert(first).events += 1;
        }
        self.runs[run].at_ms = event.at_ms;
        let out_of_order = (seq_line > 0 && event.seq <= seq)
            .then_some(ViolationKind::SeqNotIncreasing { last: seq, line: seq_line });
        self.runs[run].seq = event.seq;
        self.runs[run].line = line;

        let Some(place) = self.law(&event.lifecycle) else {
            let kind = out_of_order.unwrap_or(ViolationKind::UnknownLifecycle { closest: None });
            // Every event of an unknown lifecycle is a violation. The report lists the lifecycle once.
            let is_its_first =
                self.others.len() < self.most && self.strangers.insert(event.lifecycle.as_ref().into());
            self.violated(None, None, line, event, kind, is_its_first);
            return;
        };
        let law = &mut self.laws[place];
        let table = law.table(run, &event.lifecycle);
        let known = law.tables[table].get_mut(&*event.instance);
        let before = known.as_deref().copied();
        let outcome = step(&law.rules, before, event);
        let is_wrong = out_of_order.is_some() || outcome.is_err();
        let state = match &outcome {
            Ok(Step { state, edge }) => {
                if let Some(edge) = edge {
                    law.taken[*edge] += 1;
                }
                law.entered[*state as usize] += 1;
                Some(*state)
            }
            Err(_) => law.rules.find(&event.to),
        };
        match known {
            Some(instance) => {
                if event.is_creation() && outcome.is_ok() {
                    law.instances += 1;
                    instance.born = line;
                }
                instance.state = state;
                instance.since = line;
                instance.is_wrong |= is_wrong;
            }
            None => {
                law.instances += 1;
                let instance = Instance { state, since: line, born: line, is_wrong };
                law.tables[table].insert(event.instance.as_ref().into(), instance);
            }
        }
        if let Some(kind) = out_of_order.or(outcome.err()) {
            let is_its_first = before.is_none_or(|instance| !instance.is_wrong);
            self.violated(Some(place), before, line, event, kind, is_its_first);
        }
    }

    /// Returns whether an unfinished instance is [cut off](Report::cut_off): a new activation replaced it, or its run ended.
    ///
    /// # Example
    /// ```
    /// # #[cfg(feature = "lifecycles")] {
    /// use runstate::trace::{Checker, Event, Rulebook};
    ///
    /// let book = Rulebook::of(runstate::lifecycles().iter().copied()).restarting("run_flow", ["tool_execution"]);
    /// let begun = |seq: u64, lifecycle: &str, instance: &str, to: &str| {
    ///     let line = format!(
    ///         r#"{{"seq":{seq},"at_ms":0,"run":"r1","lifecycle":"{lifecycle}","instance":"{instance}","event":"create","from":null,"to":"{to}"}}"#
    ///     );
    ///     Event::from_json(&line).unwrap().into_owned()
    /// };
    /// let mut checker = Checker::new(&book);
    /// checker.event(1, &begun(1, "tool_execution", "c.1", "BeforeToolExecute"));
    /// assert!(!checker.is_cut_off("r1", "tool_execution", "c.1"), "it may continue");
    /// checker.event(2, &begun(2, "run_flow", "activation_2", "RunStart"));
    /// assert!(checker.is_cut_off("r1", "tool_execution", "c.1"));
    /// # }
    /// ```
    pub fn is_cut_off(&self, run: &str, lifecycle: &str, instance: &str) -> bool {
        let place = self.book.place(lifecycle).and_then(|law| {
            let (law, run) = (self.laws.get(law)?, *self.run_places.get(run)?);
            let table = law.table_places.get(&(run, *law.lifecycle_places.get(lifecycle)?))?;
            Some((law, run, law.tables[*table].get(instance)?))
        });
        place.is_some_and(|(law, run, instance)| {
            let open = instance.state.filter(|state| !law.rules.may_stop(*state));
            open.is_some_and(|state| self.cuts_off(&self.runs[run], lifecycle, &law.rules, (instance, state)))
        })
    }

    fn cuts_off(
        &self,
        run: &Run,
        lifecycle: &str,
        rules: &Rules,
        (instance, state): (&Instance, u32),
    ) -> bool {
        let (restarts, ends) = (self.book.restarts.as_ref(), self.book.ends.as_ref());
        let name_of_state = &rules.states[state as usize].name;
        instance.since < run.restarted && restarts.is_some_and(|it| it.cuts_off(lifecycle))
            || instance.since < run.ended && ends.is_some_and(|it| it.leaves(lifecycle, name_of_state))
    }

    /// Records that the trace continues with a line that is no event.
    pub(super) fn garbage(&mut self, error: &ReadError) {
        self.whole = false;
        self.violations += 1;
        let violation = Violation::garbage(error);
        // This violation is the last of the trace and always listed, because the rest was not checked.
        match &self.first {
            None => self.first = Some(Box::new(violation)),
            Some(_) => self.others.push(violation),
        }
    }

    #[cold]
    fn violated(
        &mut self,
        law: Option<usize>,
        instance: Option<Instance>,
        line: u64,
        event: &Event<'_>,
        kind: ViolationKind,
        is_its_first: bool,
    ) {
        self.violations += 1;
        if let Some(place) = law {
            self.laws[place].violations += 1;
        }
        if self.first.is_some() && (!is_its_first || self.others.len() + 1 >= self.most) {
            return;
        }
        let rules = law.map(|place| &*self.laws[place].rules);
        let violation = explain(self.book, rules, instance, line, event, kind);
        match &self.first {
            None => self.first = Some(Box::new(violation)),
            Some(_) => self.others.push(violation),
        }
    }

    fn run(&mut self, name: &str) -> usize {
        if self.runs.get(self.last.1).is_some_and(|run| &*run.name == name) {
            return self.last.1;
        }
        let place = self.run_places.get(name).copied().unwrap_or_else(|| {
            self.runs.push(Run { name: name.into(), seq: 0, line: 0, at_ms: 0, restarted: 0, ended: 0 });
            self.run_places.insert(name.into(), self.runs.len() - 1);
            self.runs.len() - 1
        });
        self.last.1 = place;
        place
    }

    fn law(&mut self, lifecycle: &str) -> Option<usize> {
        if self.book.for_all || self.laws.get(self.last.0).is_some_and(|law| law.rules.name() == lifecycle) {
            return Some(self.last.0);
        }
        self.last.0 = self.book.place(lifecycle)?;
        Some(self.last.0)
    }

    /// Returns the report on all events so far.
    pub fn finish(self) -> Report {
        let mut unfinished = Vec::new();
        let mut lifecycles = Vec::new();
        let (mut instances, mut cut_off) = (0, 0);
        for law in &self.laws {
            let rules = &*law.rules;
            instances += law.instances;
            let asked = self.book.for_all
                || self.book.covers_all && self.book.only.is_none()
                || self.book.only.as_deref() == Some(rules.name());
            if law.instances == 0 && !asked {
                continue;
            }
            let mut covered = LifecycleCoverage::none_of(rules);
            covered.instances = law.instances;
            covered.violations = law.violations;
            covered.count(rules, &law.taken, &law.entered);
            let tables = law
                .table_places
                .iter()
                .map(|((run, of), table)| ((&self.runs[*run], &law.lifecycles[*of]), &law.tables[*table]));
            for ((run, lifecycle), (name, instance)) in
                tables.flat_map(|(of, table)| table.iter().map(move |it| (of, it)))
            {
                let Some(state) = instance.state else { continue };
                covered.states[state as usize].current += 1;
                if rules.may_stop(state) {
                    continue;
                }
                if self.cuts_off(run, lifecycle, rules, (instance, state)) {
                    cut_off += 1;
                } else {
                    covered.unfinished += 1;
                    unfinished.push((instance, (&run.name, lifecycle), name, rules, state));
                }
            }
            covered.count_composites(rules, &law.taken);
            lifecycles.push(covered);
        }
        // Tables have no order. Each instance has a unique line of birth.
        unfinished.sort_unstable_by_key(|(instance, ..)| instance.born);
        let verdict = match (self.violations, unfinished.len()) {
            // The line that is no event is the only violation.
            (1, _) if !self.whole => Verdict::Interrupted,
            (0, 0) => Verdict::Conforms,
            (0, _) => Verdict::Incomplete,
            _ => Verdict::Violates,
        };
        Report {
            verdict,
            violation: self.first.map(|first| *first),
            others: self.others,
            violations: self.violations,
            backwards: self.backwards,
            cut_off,
            unfinished_instances: unfinished.len() as u64,
            unfinished: unfinished
                .into_iter()
                .take(Report::MOST_UNFINISHED)
                .map(|(instance, (run, lifecycle), name, rules, state)| Unfinished {
                    line: instance.since,
                    run: run.to_string(),
                    lifecycle: lifecycle.to_string(),
                    instance: name.to_string(),
                    state: rules.states[state as usize].name.to_string(),
                    rules: rules.name().into(),
                })
                .collect(),
            events: self.events,
            skipped: self.skipped,
            passed_over: self.passed_over.iter().map(ToString::to_string).collect(),
            instances,
            consumed_whole: self.whole,
            coverage: Coverage { lifecycles },
        }
    }
}
