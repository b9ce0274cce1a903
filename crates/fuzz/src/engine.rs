//! The fuzzer: what it sends, and what it concludes.

use std::collections::{BTreeMap, BTreeSet};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use crate::finding::{Exchange, Finding, Kind, Report};
use crate::fuzz::Fuzz;
use crate::judge::{self, Wrong};
use crate::map::Map;
use crate::payload::Draft;
use crate::sequence::{Sequence, Step};
use crate::sut::{Broken, Sut, caught};

/// The maximum number of findings: a run ends there.
const FINDINGS: usize = 20;
/// The payloads that a guard gets in one state.
const PAYLOADS: usize = 32;
/// The observations that a transition without a label gets.
const OBSERVATIONS: usize = 4;
/// The further paths to a transition that the cover did not take.
const PREFIXES: usize = 40;
/// The requests to a state without a legal event.
const AT_THE_END: usize = 3;

/// The place of a difference: findings with equal places count as one.
pub(crate) type Key = (Kind, Option<usize>, usize);

/// The end of a sequence.
pub(crate) enum Stop {
    /// A difference, and its place.
    Wrong(Wrong, Key),
    /// The system cannot be tested.
    Unusable(String),
    /// The run ends.
    Over,
}

pub(crate) struct Engine<'a> {
    pub(crate) fuzz: &'a Fuzz,
    pub(crate) map: &'a Map,
    sut: &'a mut dyn Sut,
    runner: TestRunner,
    /// How often each transition was taken.
    taken: Vec<u64>,
    /// How often each event was sent in each state.
    sent: Vec<Vec<u64>>,
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
}

impl<'a> Engine<'a> {
    pub(crate) fn new(fuzz: &'a Fuzz, sut: &'a mut dyn Sut) -> Self {
        let map = &fuzz.map;
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&fuzz.seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        Engine {
            fuzz,
            map,
            sut,
            runner: TestRunner::new_with_rng(Config::default(), rng),
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
        }
    }

    /// Whether the system has started at least once.
    pub(crate) fn has_started(&self) -> bool {
        self.has_started
    }

    pub(crate) fn report(
        self,
        (fixed, stale): (Vec<String>, Vec<String>),
        stopped: Option<String>,
    ) -> Report {
        let pairs = (0..self.map.states.len())
            .flat_map(|state| self.illegal(state).into_iter().map(move |event| (state, event)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let sent = pairs.iter().filter(|(state, event)| self.sent[*state][*event] > 0).count();
        let untaken = (0..self.map.edges.len()).filter(|edge| self.taken[*edge] == 0);
        let uncovered = untaken.map(|edge| self.uncovered(edge)).collect();
        Report {
            lifecycle: self.map.name.clone(),
            seed: self.fuzz.seed,
            transitions: self.map.edges.len(),
            uncovered,
            sequences: self.sequences,
            requests: self.requests,
            findings: self.findings,
            illegal: (pairs.len(), sent),
            fixed,
            stale,
            stopped,
        }
    }

    /// A transition that was not taken, with the reason.
    fn uncovered(&self, at: usize) -> String {
        let edge = &self.map.edges[at];
        let from = &self.map.states[edge.from];
        let is_reached = self.map.initial.contains(&edge.from)
            || (0..self.map.edges.len()).any(|at| self.map.edges[at].to == edge.from && self.taken[at] > 0);
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

    /// Takes each transition: first along the fewest paths, then along further ones.
    pub(crate) fn cover(&mut self) -> Result<(), Stop> {
        for path in &self.map.cover {
            self.sequence(|engine, sequence| {
                for edge in path {
                    if sequence.state != engine.map.edges[*edge].from || !engine.cross(sequence, *edge)? {
                        break;
                    }
                }
                Ok(())
            })?;
        }
        for goal in 0..self.map.edges.len() {
            for attempt in 0..PREFIXES {
                if self.taken[goal] > 0 || self.is_found(goal) {
                    break;
                }
                self.sequence(|engine, sequence| {
                    if attempt >= PREFIXES / 4 {
                        let steps = engine.number(engine.fuzz.depth);
                        engine.wander(sequence, steps)?;
                    }
                    engine.reach(sequence, goal)
                })?;
            }
        }
        Ok(())
    }

    /// Sends each event once in each state that must refuse it, and observes each state where the diagram has transitions
    /// without a label.
    pub(crate) fn refuse(&mut self) -> Result<(), Stop> {
        let observes = self.map.edges.iter().any(|edge| edge.event.is_none());
        for state in 0..self.map.states.len() {
            let mut has_observed = !observes;
            // A difference ends a sequence, and each sequence makes progress or is the last one.
            loop {
                let untried = self.untried(state);
                if untried.is_empty() && has_observed {
                    break;
                }
                let before = (untried.len(), has_observed, self.keys.len());
                let observed = &mut has_observed;
                self.sequence(|engine, sequence| {
                    engine.go(sequence, state)?;
                    // Their payloads need data of a reply that did not come.
                    let mut unsendable = BTreeSet::new();
                    while sequence.state == state {
                        let step =
                            match engine.untried(state).iter().find(|event| !unsendable.contains(*event)) {
                                Some(event) => engine.step(*event),
                                None if !*observed => {
                                    *observed = true;
                                    Step::Observe
                                }
                                None => break,
                            };
                        let event = step.event();
                        if engine.send(sequence, step)?.is_none() {
                            unsendable.extend(event);
                        }
                    }
                    Ok(())
                })?;
                if before == (self.untried(state).len(), has_observed, self.keys.len()) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The events that a state must refuse.
    fn illegal(&self, state: usize) -> Vec<usize> {
        let legal = self.map.legal(state);
        (0..self.map.events.len()).filter(|event| !legal.contains(event)).collect()
    }

    /// The events that a state must refuse and that were not sent in it.
    fn untried(&self, state: usize) -> Vec<usize> {
        self.illegal(state).into_iter().filter(|event| self.sent[state][*event] == 0).collect()
    }

    /// Goes to a state, if there is a path.
    fn go(&mut self, sequence: &mut Sequence, state: usize) -> Result<(), Stop> {
        for _ in 0..self.fuzz.depth {
            if sequence.state == state {
                return Ok(());
            }
            let closed = |edge: usize| self.is_found(edge);
            let Some(next) =
                self.map.path_to(sequence.state, state, &closed).and_then(|path| path.first().copied())
            else {
                return Ok(());
            };
            self.cross(sequence, next)?;
        }
        Ok(())
    }

    /// Sends random sequences until the limit.
    pub(crate) fn explore(&mut self) -> Result<(), Stop> {
        let (began, mut left) = ((self.fuzz.now)(), self.fuzz.sequences);
        if self.fuzz.limit.is_none() {
            left = left.or(Some(100));
        }
        loop {
            let is_late =
                self.fuzz.limit.is_some_and(|limit| (self.fuzz.now)().saturating_sub(began) >= limit);
            if is_late || left == Some(0) {
                return Ok(());
            }
            left = left.map(|left| left - 1);
            self.sequence(|engine, sequence| {
                let steps = engine.number(engine.fuzz.depth) + 1;
                engine.stray(sequence, steps)
            })?;
        }
    }

    /// Executes one sequence on a machine that is started anew. A difference ends the sequence and is noted.
    fn sequence(
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
                if is_over || self.findings.len() >= FINDINGS { Err(Stop::Over) } else { Ok(()) }
            }
            sent => sent,
        }
    }

    /// Starts a machine.
    pub(crate) fn begin(&mut self, sequence: &mut Sequence, is_fresh: bool) -> Result<(), Stop> {
        if (self.fuzz.is_stopped)() {
            return Err(Stop::Over);
        }
        let sut = &mut *self.sut;
        let started =
            if is_fresh || self.needs_renewal { caught(|| sut.renew()) } else { caught(|| sut.reset()) };
        let state = started.map_err(wrong).and_then(|state| {
            judge::start(self.map, &state).map_err(|wrong| Stop::Wrong(wrong.clone(), (wrong.kind, None, 0)))
        });
        self.needs_renewal = state.is_err();
        let state = state?;
        self.has_started = true;
        (sequence.start, sequence.state) = (Some(state), state);
        Ok(())
    }

    /// Sends a request and judges the reply. Returns the transitions that were taken, or none for an event whose payload
    /// needs data of a reply that did not come.
    pub(crate) fn send(&mut self, sequence: &mut Sequence, step: Step) -> Result<Option<Vec<usize>>, Stop> {
        if (self.fuzz.is_stopped)() {
            return Err(Stop::Over);
        }
        let from = sequence.state;
        let event = step.event();
        let payload = match &step {
            Step::Apply(event, tree) => match tree.current().resolve(&sequence.data) {
                Some(payload) => payload,
                None => {
                    self.unsent.insert((from, *event));
                    return Ok(None);
                }
            },
            Step::Observe => Value::Null,
        };
        sequence.steps.push(step);
        self.requests += 1;
        let mut exchange = Exchange {
            from: self.map.states[from].clone(),
            event: event.map(|event| self.map.events[event].clone()),
            payload,
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
            sequence.log = self.sut.log();
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

    /// Takes a transition from its source state. Returns whether it was taken.
    fn cross(&mut self, sequence: &mut Sequence, edge: usize) -> Result<bool, Stop> {
        let from = sequence.state;
        let (event, may_refuse) = (self.map.edges[edge].event, self.map.edges[edge].may_refuse);
        let attempts = match event {
            None => OBSERVATIONS,
            Some(_) if may_refuse => PAYLOADS,
            Some(_) => 1,
        };
        for _ in 0..attempts {
            let step = event.map_or(Step::Observe, |event| self.step(event));
            let Some(taken) = self.send(sequence, step)? else { return Ok(false) };
            if taken.contains(&edge) {
                return Ok(true);
            }
            if sequence.state != from {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Goes to the source of a transition and takes it.
    fn reach(&mut self, sequence: &mut Sequence, goal: usize) -> Result<(), Stop> {
        for _ in 0..self.fuzz.depth {
            let Some(path) = self.map.path(sequence.state, goal, &|edge| self.is_found(edge)) else {
                return Ok(());
            };
            let next = path.first().copied().unwrap_or(goal);
            if !self.cross(sequence, next)? && sequence.exchanges.len() > 2 * self.fuzz.depth || next == goal
            {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Sends legal events.
    fn wander(&mut self, sequence: &mut Sequence, steps: usize) -> Result<(), Stop> {
        for _ in 0..steps {
            let legal = self.unfound(sequence.state, self.map.legal(sequence.state));
            if legal.is_empty() {
                return Ok(());
            }
            let event = legal[self.number(legal.len())];
            let step = self.step(event);
            self.send(sequence, step)?;
        }
        Ok(())
    }

    /// Sends events of any kind: least-taken transitions first, and 30 % that the state refuses.
    fn stray(&mut self, sequence: &mut Sequence, steps: usize) -> Result<(), Stop> {
        let mut at_the_end = 0;
        for _ in 0..steps {
            let state = sequence.state;
            if self.map.is_restless(state) && self.number(4) == 0 {
                self.send(sequence, Step::Observe)?;
                continue;
            }
            let legal = self.map.legal(state);
            let illegal = self.illegal(state);
            let (legal, illegal) = (self.unfound(state, legal), self.unfound(state, illegal));
            if legal.is_empty() {
                at_the_end += 1;
            }
            if at_the_end > AT_THE_END {
                return Ok(());
            }
            let is_illegal = legal.is_empty() || !illegal.is_empty() && self.number(10) < 3;
            let choice = if is_illegal { illegal } else { legal };
            if choice.is_empty() {
                return Ok(());
            }
            let weight = |engine: &Self, event: usize| {
                let taken = engine.map.of(state, event).map(|edge| engine.taken[edge]).min();
                taken.unwrap_or(engine.sent[state][event])
            };
            let event = if self.number(4) == 0 {
                choice[self.number(choice.len())]
            } else {
                let least = choice.iter().map(|event| weight(self, *event)).min();
                let least: Vec<usize> =
                    choice.into_iter().filter(|event| Some(weight(self, *event)) == least).collect();
                least[self.number(least.len())]
            };
            let step = self.step(event);
            self.send(sequence, step)?;
        }
        Ok(())
    }

    /// The events without a known difference in a state, and one time in ten all: sequences lead beyond a difference.
    fn unfound(&mut self, state: usize, events: Vec<usize>) -> Vec<usize> {
        let events = self.unhung(state, events);
        if self.closed.is_empty() || self.number(10) == 0 {
            return events;
        }
        let is_found =
            |event: &usize| self.closed.iter().any(|(_, of, from)| (*of, *from) == (Some(*event), state));
        events.into_iter().filter(|event| !is_found(event)).collect()
    }

    /// Without the events that are known to hang in a state: each costs the time of a reply.
    fn unhung(&self, state: usize, mut events: Vec<usize>) -> Vec<usize> {
        events.retain(|event| !self.closed.contains(&(Kind::Timeout, Some(*event), state)));
        events
    }

    /// Whether a difference is known for the event of a transition in its source state.
    fn is_found(&self, edge: usize) -> bool {
        let edge = &self.map.edges[edge];
        self.closed.iter().any(|(_, event, from)| (*event, *from) == (edge.event, edge.from))
    }

    /// An event with a drawn payload.
    fn step(&mut self, event: usize) -> Step {
        match self.map.payloads[event].new_tree(&mut self.runner) {
            Ok(tree) => Step::Apply(event, Box::new(tree) as Box<dyn ValueTree<Value = Draft>>),
            // A strategy without a filter always gives a tree.
            Err(_) => Step::fixed(event, Value::Object(serde_json::Map::new())),
        }
    }

    /// A drawn number below `limit`.
    fn number(&mut self, limit: usize) -> usize {
        use proptest::prelude::Rng;
        let drawn = usize::try_from(self.runner.rng().next_u32()).unwrap_or_default();
        drawn.checked_rem(limit).unwrap_or_default()
    }
}

/// The end of a sequence after a reply that is none.
fn wrong(broken: Broken) -> Stop {
    let (kind, why) = match broken {
        Broken::Crash(why) => (Kind::Crash, why),
        Broken::Timeout(why) => (Kind::Timeout, why),
        Broken::Garbage(why) => (Kind::Garbage, why),
        Broken::Flood(why) => (Kind::Flood, why),
        Broken::Unusable(why) => return Stop::Unusable(why),
    };
    Stop::Wrong(Wrong { kind, why }, (kind, None, 0))
}
