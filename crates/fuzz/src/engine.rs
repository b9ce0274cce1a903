//! The fuzzer: what it sends, and what it concludes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::finding::{Exchange, Finding, Kind, Report};
use crate::fuzz::Fuzz;
use crate::judge::{self, Wrong};
use crate::map::Map;
use crate::payload::{Draft, FromData};
use crate::quiet;
use crate::sequence::{Sequence, Step};
use crate::subject::rng;
use crate::sut::{Broken, Sut, caught};

/// The maximum number of findings: a run ends there.
const FINDINGS: usize = 20;

/// The place of a difference: findings with equal places count as one.
pub(crate) type Key = (Kind, Option<usize>, usize);

/// The end of a sequence.
pub(crate) enum Stop {
    /// A difference, and its place.
    Wrong(Wrong, Key),
    /// The system cannot be tested.
    Unusable(String),
    /// The time limit has passed.
    Late,
    /// The run ends before its end, with the reason.
    Over(String),
}

pub(crate) struct Engine<'a> {
    pub(crate) fuzz: &'a Fuzz,
    pub(crate) map: &'a Map,
    sut: &'a mut dyn Sut,
    runner: TestRunner,
    /// How often each transition was taken.
    pub(crate) taken: Vec<u64>,
    /// How often each event was sent in each state.
    pub(crate) sent: Vec<Vec<u64>>,
    /// The reason of the last refusal of each event in each state.
    refused: BTreeMap<(usize, usize), String>,
    sequences: u64,
    requests: u64,
    pub(crate) findings: Vec<Finding>,
    /// The known differences.
    pub(crate) keys: BTreeSet<Key>,
    /// The known differences that a fresh replay showed: sequences avoid them.
    pub(crate) closed: BTreeSet<Key>,
    /// The last sequence ended with a difference, so the system starts anew.
    needs_renewal: bool,
    has_started: bool,
    /// The events that were not sent in a state, because their payload needs data of an earlier reply.
    unsent: BTreeSet<(usize, usize)>,
    /// The start of the random phase, by the clock; that of the run before.
    pub(crate) began: Duration,
    pub(crate) is_exploring: bool,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(fuzz: &'a Fuzz, sut: &'a mut dyn Sut) -> Self {
        let map = &fuzz.map;
        Engine {
            fuzz,
            map,
            sut,
            runner: TestRunner::new_with_rng(Config::default(), rng(fuzz.seed)),
            taken: vec![0; map.edges.len()],
            sent: vec![vec![0; map.events.len()]; map.states.len()],
            refused: BTreeMap::new(),
            sequences: 0,
            requests: 0,
            findings: Vec::new(),
            keys: BTreeSet::new(),
            closed: BTreeSet::new(),
            needs_renewal: true,
            has_started: false,
            unsent: BTreeSet::new(),
            began: (fuzz.now)(),
            is_exploring: false,
        }
    }

    /// Whether the run must end here: on demand, or since its time limit has passed. The limit is that of the random phase.
    /// After a difference it holds for the phases before, too: each replay of a system that hangs takes the time of a reply.
    pub(crate) fn check_end(&self) -> Result<(), Stop> {
        if (self.fuzz.is_stopped)() {
            return Err(Stop::Over("the run was stopped".to_owned()));
        }
        let is_limited = self.is_exploring || !self.keys.is_empty();
        match self.fuzz.limit {
            Some(limit) if is_limited && (self.fuzz.now)().saturating_sub(self.began) >= limit => {
                Err(Stop::Late)
            }
            _ => Ok(()),
        }
    }

    /// Whether the system has started at least once.
    pub(crate) fn has_started(&self) -> bool {
        self.has_started
    }

    pub(crate) fn report(
        self,
        (fixed, stale): (Vec<String>, Vec<String>),
        (stopped, ended): (Option<String>, Option<String>),
    ) -> Report {
        let illegal: usize = (0..self.map.states.len()).map(|state| self.illegal(state).len()).sum();
        let untried: usize = (0..self.map.states.len()).map(|state| self.untried(state).len()).sum();
        let untaken = (0..self.map.edges.len()).filter(|edge| self.taken[*edge] == 0);
        let uncovered = untaken.map(|edge| self.uncovered(edge)).collect();
        let unsent = (0..self.map.states.len()).flat_map(|state| self.not_sent(state)).collect();
        Report {
            lifecycle: self.map.name.clone(),
            seed: self.fuzz.seed,
            transitions: self.map.edges.len(),
            uncovered,
            sequences: self.sequences,
            requests: self.requests,
            findings: self.findings,
            illegal: (illegal, illegal - untried),
            unsent,
            fixed,
            stale,
            stopped,
            ended,
        }
    }

    /// The events that a state must refuse and that were not sent in it, with the reason; one text for each reason.
    fn not_sent(&self, state: usize) -> Vec<String> {
        let name = &self.map.states[state];
        let (needing, others): (Vec<usize>, Vec<usize>) =
            self.untried(state).into_iter().partition(|event| self.unsent.contains(&(state, *event)));
        let others_why = if self.is_reached(state) {
            format!("no sequence went on from {name}")
        } else {
            format!("{name} was not reached")
        };
        let told = |events: Vec<usize>, why: String| {
            let events: Vec<String> =
                events.iter().map(|event| format!("`{}`", self.map.events[*event])).collect();
            (!events.is_empty()).then(|| format!("{} in {name}: {why}", events.join(", ")))
        };
        let needing = told(needing, "the payload needs data of an earlier reply".to_owned());
        needing.into_iter().chain(told(others, others_why)).collect()
    }

    fn is_reached(&self, state: usize) -> bool {
        self.map.initial.contains(&state)
            || (0..self.map.edges.len()).any(|at| self.map.edges[at].to == state && self.taken[at] > 0)
    }

    /// A transition that was not taken, with the reason.
    fn uncovered(&self, at: usize) -> String {
        let edge = &self.map.edges[at];
        let from = &self.map.states[edge.from];
        let is_reached = self.is_reached(edge.from);
        let Some(event) = edge.event else {
            let why = if is_reached { "was not observed" } else { "has a source that was not reached" };
            return format!("{} {why}", edge.text);
        };
        match (self.sent[edge.from][event], self.refused.get(&(edge.from, event))) {
            (0, _) if self.unsent.contains(&(edge.from, event)) => {
                format!("{} was not sent: its payload needs data of an earlier reply", edge.text)
            }
            (0, _) if is_reached => format!("{} was not sent: no sequence went on from {from}", edge.text),
            (0, _) => format!("{} was not sent: {from} was not reached", edge.text),
            (sent, Some(reason)) => {
                format!("{} was not taken in {sent} requests; the last refusal is {reason:?}", edge.text)
            }
            (sent, None) => format!("{} was not taken in {sent} requests", edge.text),
        }
    }

    /// Executes one sequence on a machine that is started anew. A difference ends the sequence and is noted.
    pub(crate) fn sequence(
        &mut self,
        send: impl FnOnce(&mut Self, &mut Sequence) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut sequence = Sequence::new();
        self.sequences += 1;
        let is_renewed = self.needs_renewal;
        let sent = self.begin(&mut sequence, false).and_then(|()| send(self, &mut sequence));
        match sent {
            Err(Stop::Wrong(wrong, key)) => {
                // Without a start there is nothing else to send. After a failed reset the system starts anew.
                let is_over = sequence.start.is_none() && is_renewed;
                if self.keys.insert(key) {
                    self.note(sequence, wrong, key)?;
                }
                if is_over {
                    return Err(Stop::Over("the system does not start".to_owned()));
                }
                if self.findings.len() >= FINDINGS {
                    let why = format!("a run has at most {FINDINGS} differences; there may be more");
                    return Err(Stop::Over(why));
                }
                Ok(())
            }
            sent => sent,
        }
    }

    /// Starts a machine.
    pub(crate) fn begin(&mut self, sequence: &mut Sequence, is_fresh: bool) -> Result<(), Stop> {
        self.check_end()?;
        let sut = &mut *self.sut;
        let started =
            if is_fresh || self.needs_renewal { caught(|| sut.renew()) } else { caught(|| sut.reset()) };
        let state = started.map_err(wrong).and_then(|state| {
            judge::start(self.map, &state).map_err(|wrong| Stop::Wrong(wrong.clone(), (wrong.kind, None, 0)))
        });
        self.needs_renewal = state.is_err();
        if state.is_err() {
            sequence.log = quiet::with_place(self.sut.log());
        }
        let state = state?;
        self.has_started = true;
        (sequence.start, sequence.state) = (Some(state), state);
        Ok(())
    }

    /// Sends a request and judges the reply. Returns the transitions that were taken, or none for an event whose payload
    /// needs data of a reply that did not come.
    pub(crate) fn send(&mut self, sequence: &mut Sequence, step: Step) -> Result<Option<Vec<usize>>, Stop> {
        self.check_end()?;
        let from = sequence.state;
        let event = step.event();
        let (payload, from_data) = match &step {
            Step::Apply(event, tree) => {
                let draft = tree.current();
                let from_data = draft.data_parts();
                let Some(payload) = draft.resolve(&sequence.data) else {
                    self.unsent.insert((from, *event));
                    return Ok(None);
                };
                (payload, from_data)
            }
            Step::Observe => (Value::Null, FromData::new()),
        };
        sequence.steps.push(step);
        self.requests += 1;
        let mut exchange = Exchange {
            from: self.map.states[from].clone(),
            event: event.map(|event| self.map.events[event].clone()),
            payload,
            from_data,
            refused: None,
            to: None,
        };
        let sut = &mut *self.sut;
        let judged = match event {
            None => caught(|| sut.state()).map(|state| {
                exchange.to = Some(state.clone());
                judge::observed(self.map, from, &state)
            }),
            Some(event) => {
                self.sent[from][event] += 1;
                caught(|| sut.apply(&self.map.events[event], &exchange.payload)).map(|reply| {
                    (exchange.to, exchange.refused) = (Some(reply.state.clone()), reply.refused.clone());
                    if let Some(reason) = &reply.refused {
                        self.refused.insert((from, event), reason.clone());
                    }
                    let judged = judge::reply(self.map, from, event, &reply);
                    sequence.data.extend(reply.data);
                    judged
                })
            }
        };
        sequence.exchanges.push(exchange);
        if !matches!(judged, Ok(Ok(_))) {
            sequence.log = quiet::with_place(self.sut.log());
            self.needs_renewal = true;
        }
        let place = |kind| (kind, event, from);
        match judged {
            Err(broken) => Err(match wrong(broken) {
                Stop::Wrong(wrong, _) => Stop::Wrong(wrong.clone(), place(wrong.kind)),
                stop => stop,
            }),
            Ok(Err(wrong)) => {
                let kind = wrong.kind;
                Err(Stop::Wrong(wrong, place(kind)))
            }
            Ok(Ok((state, taken))) => {
                sequence.state = state;
                taken.iter().for_each(|edge| self.taken[*edge] += 1);
                Ok(Some(taken))
            }
        }
    }

    /// An event with a drawn payload.
    pub(crate) fn step(&mut self, event: usize) -> Step {
        match self.map.payloads[event].new_tree(&mut self.runner) {
            Ok(tree) => Step::Apply(event, Box::new(tree) as Box<dyn ValueTree<Value = Draft>>),
            // A strategy without a filter always gives a tree.
            Err(_) => Step::fixed(event, Value::Object(serde_json::Map::new()), FromData::new()),
        }
    }

    /// A drawn number below `limit`.
    pub(crate) fn number(&mut self, limit: usize) -> usize {
        use proptest::prelude::Rng;
        let drawn = usize::try_from(self.runner.rng().next_u32()).unwrap_or_default();
        drawn.checked_rem(limit).unwrap_or_default()
    }
}

/// The end of a sequence after a reply that is none.
fn wrong(broken: Broken) -> Stop {
    match judge::broken(broken) {
        Ok(wrong) => Stop::Wrong(wrong.clone(), (wrong.kind, None, 0)),
        Err(why) => Stop::Unusable(why),
    }
}
