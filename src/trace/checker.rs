//! Holds events against the rules, one by one.

use std::collections::HashMap;
use std::sync::Arc;

use super::coverage::{Coverage, LifecycleCoverage};
use super::event::Event;
use super::explain::explain;
use super::read_error::ReadError;
use super::report::{Report, Unfinished, Verdict};
use super::rulebook::Rulebook;
use super::rules::Rules;
use super::step::{Instance, Step, step};
use super::violation::{Violation, ViolationKind};

/// Checks a trace while it is made or read.
///
/// It keeps one small entry for each instance, its name and the state it is in: also for one that has ended, since an
/// event after the end would not be known for one otherwise. An instance that has ended may be created anew.
///
/// # Example
/// ```
/// # #[cfg(feature = "lifecycles")] {
/// use runstate::kernel::Persist;
/// use runstate::trace::{Checker, Event, Rulebook};
///
/// let book = Rulebook::of([<runstate::tool_call::AnyToolCall as Persist>::GRAPH]);
/// let mut checker = Checker::new(&book);
/// let line = r#"{"seq":1,"at_ms":0,"run":"r1","lifecycle":"tool_call","instance":"c","event":"create","from":null,"to":"New"}"#;
/// checker.event(1, &Event::from_json(line).unwrap());
/// assert!(checker.violation().is_none(), "so far");
/// checker.event(2, &Event::from_json(&line.replace(":1,", ":2,")).unwrap());
/// assert_eq!(checker.violation().unwrap().reason(), "it was created on line 1 and is still in New");
/// # }
/// ```
#[derive(Debug)]
pub struct Checker<'b> {
    book: &'b Rulebook,
    /// One for each of the book's rules.
    laws: Vec<Law>,
    runs: Vec<Run>,
    run_places: HashMap<Box<str>, usize>,
    /// Where the last event's lifecycle and run were found; the next is mostly of the same.
    last: (usize, usize),
    events: u64,
    skipped: u64,
    violations: u64,
    first: Option<Box<Violation>>,
    whole: bool,
}

#[derive(Debug)]
struct Run {
    name: Box<str>,
    seq: u64,
    line: u64,
}

/// What has happened to one lifecycle.
#[derive(Debug)]
struct Law {
    rules: Arc<Rules>,
    taken: Vec<u64>,
    entered: Vec<u64>,
    instances: u64,
    /// The instances, by run and then by name, so that a look-up needs no key of both.
    tables: Vec<HashMap<Box<str>, Instance>>,
    table_places: HashMap<usize, usize>,
    last: Option<(usize, usize)>,
}

impl Law {
    fn new(rules: &Arc<Rules>) -> Self {
        Law {
            rules: Arc::clone(rules),
            taken: vec![0; rules.edges.len()],
            entered: vec![0; rules.states.len()],
            instances: 0,
            tables: Vec::new(),
            table_places: HashMap::new(),
            last: None,
        }
    }

    fn table(&mut self, run: usize) -> usize {
        if let Some((last, table)) = self.last
            && last == run
        {
            return table;
        }
        let table = *self.table_places.entry(run).or_insert_with(|| {
            self.tables.push(HashMap::new());
            self.tables.len() - 1
        });
        self.last = Some((run, table));
        table
    }
}

impl<'b> Checker<'b> {
    /// Checks against these rules.
    pub fn new(book: &'b Rulebook) -> Self {
        Checker {
            book,
            laws: book.rules.iter().map(Law::new).collect(),
            runs: Vec::new(),
            run_places: HashMap::new(),
            last: (0, 0),
            events: 0,
            skipped: 0,
            violations: 0,
            first: None,
            whole: true,
        }
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The first violation so far.
    pub fn violation(&self) -> Option<&Violation> {
        self.first.as_deref()
    }

    /// Checks one event, which stands on that line of the trace.
    ///
    /// After a violation the checker believes the event: the instance is in the state that the event names, if there
    /// is such a state. An event counts as one violation at most.
    pub fn event(&mut self, line: u64, event: &Event<'_>) {
        self.events += 1;
        if let Some(only) = &self.book.only
            && **only != *event.lifecycle
        {
            self.skipped += 1;
            return;
        }
        let run = self.run(&event.run);
        let Run { seq, line: seq_line, .. } = self.runs[run];
        let out_of_order = (seq_line > 0 && event.seq <= seq)
            .then_some(ViolationKind::SeqNotIncreasing { last: seq, line: seq_line });
        self.runs[run].seq = event.seq;
        self.runs[run].line = line;

        let Some(place) = self.law(&event.lifecycle) else {
            let kind = out_of_order.unwrap_or(ViolationKind::UnknownLifecycle);
            self.violated(None, None, line, event, kind);
            return;
        };
        let law = &mut self.laws[place];
        let table = law.table(run);
        let known = law.tables[table].get_mut(&*event.instance);
        let before = known.as_deref().copied();
        let outcome = step(&law.rules, before, event);
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
            }
            None => {
                law.instances += 1;
                let instance = Instance { state, since: line, born: line };
                law.tables[table].insert(event.instance.as_ref().into(), instance);
            }
        }
        if let Some(kind) = out_of_order.or(outcome.err()) {
            self.violated(Some(place), before, line, event, kind);
        }
    }

    /// Notes that the trace goes on with something that is no event.
    pub(super) fn garbage(&mut self, error: &ReadError) {
        self.whole = false;
        self.violations += 1;
        if self.first.is_none() {
            self.first = Some(Box::new(Violation::garbage(error)));
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
    ) {
        self.violations += 1;
        if self.first.is_none() {
            let rules = law.map(|place| &*self.laws[place].rules);
            self.first = Some(Box::new(explain(self.book, rules, instance, line, event, kind)));
        }
    }

    fn run(&mut self, name: &str) -> usize {
        if self.runs.get(self.last.1).is_some_and(|run| &*run.name == name) {
            return self.last.1;
        }
        let place = self.run_places.get(name).copied().unwrap_or_else(|| {
            self.runs.push(Run { name: name.into(), seq: 0, line: 0 });
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

    /// The report on all events so far.
    pub fn finish(self) -> Report {
        let mut unfinished = Vec::new();
        let mut lifecycles = Vec::new();
        let mut instances = 0;
        for law in &self.laws {
            let rules = &*law.rules;
            instances += law.instances;
            let asked = self.book.for_all || self.book.only.as_deref() == Some(rules.name());
            if law.instances == 0 && !asked {
                continue;
            }
            let mut covered = LifecycleCoverage::none_of(rules);
            covered.instances = law.instances;
            covered.edges.iter_mut().zip(&law.taken).for_each(|(edge, taken)| edge.taken = *taken);
            covered.states.iter_mut().zip(&law.entered).for_each(|(state, count)| state.entered = *count);
            let runs =
                law.table_places.iter().map(|(run, table)| (&self.runs[*run].name, &law.tables[*table]));
            for (run, (name, instance)) in runs.flat_map(|(run, table)| table.iter().map(move |it| (run, it)))
            {
                let Some(state) = instance.state else { continue };
                covered.states[state as usize].current += 1;
                if !rules.may_stop(state) {
                    covered.unfinished += 1;
                    unfinished.push((instance, run, name, rules, state));
                }
            }
            lifecycles.push(covered);
        }
        // Tables have no order of their own; no two instances are born on one line.
        unfinished.sort_unstable_by_key(|(instance, ..)| instance.born);
        let verdict = match (self.violations, unfinished.len()) {
            (0, 0) => Verdict::Conforms,
            (0, _) => Verdict::Incomplete,
            _ => Verdict::Violates,
        };
        Report {
            verdict,
            violation: self.first.map(|first| *first),
            violations: self.violations,
            unfinished_instances: unfinished.len() as u64,
            unfinished: unfinished
                .into_iter()
                .take(Report::MOST_UNFINISHED)
                .map(|(instance, run, name, rules, state)| Unfinished {
                    line: instance.since,
                    run: run.to_string(),
                    lifecycle: rules.name().to_owned(),
                    instance: name.to_string(),
                    state: rules.states[state as usize].name.to_string(),
                })
                .collect(),
            events: self.events,
            skipped: self.skipped,
            instances,
            consumed_whole: self.whole,
            coverage: Coverage { lifecycles },
        }
    }
}
