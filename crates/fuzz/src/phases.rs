//! The events that the fuzzer sends: each transition, each illegal event, and random sequences.

use std::collections::BTreeSet;

use crate::engine::{Engine, Stop};
use crate::finding::Kind;
use crate::sequence::{Sequence, Step};

/// The payloads that a guard gets in one state.
const PAYLOADS: usize = 32;
/// The observations that a transition without a label gets.
const OBSERVATIONS: usize = 4;
/// The further paths to a transition that the cover did not take.
const PREFIXES: usize = 40;
/// The requests to a state without a legal event.
const AT_THE_END: usize = 3;

impl Engine<'_> {
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
    pub(crate) fn illegal(&self, state: usize) -> Vec<usize> {
        let legal = self.map.legal(state);
        (0..self.map.events.len()).filter(|event| !legal.contains(event)).collect()
    }

    /// The events that a state must refuse and that were not sent in it.
    pub(crate) fn untried(&self, state: usize) -> Vec<usize> {
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
        if self.keys.is_empty() {
            self.began = (self.fuzz.now)();
        }
        self.is_exploring = true;
        match self.explore_to_the_limit() {
            Err(Stop::Late) => Ok(()),
            done => done,
        }
    }

    fn explore_to_the_limit(&mut self) -> Result<(), Stop> {
        let mut left = self.fuzz.sequences;
        if self.fuzz.limit.is_none() {
            left = left.or(Some(100));
        }
        loop {
            self.check_end()?;
            if left == Some(0) {
                return Ok(());
            }
            left = left.map(|left| left - 1);
            self.sequence(|engine, sequence| {
                let steps = engine.number(engine.fuzz.depth) + 1;
                engine.stray(sequence, steps)
            })?;
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
}
