//! The generation of a random path.

use core::fmt;
use std::sync::Arc;

use proptest::prelude::RngExt;
use proptest::strategy::{NewTree, Strategy};
use proptest::test_runner::{Reason, TestRunner};

use super::EventPath;
use super::aim::Aim;
use super::shrink::EventPathTree;
use crate::kernel::{Edge, Event, Machine, Slot, Stateful, Status};
use crate::testing::step::{Payload, Verdict, apply, payload};
use crate::testing::subject::Subject;

/// The maximum number of payloads for a guard before the path takes another transition.
const PATIENCE: usize = 32;

/// The number of events that a mixed path applies in a terminal state, which refuses all of them.
const BEYOND_THE_END: usize = 4;

/// The strategy of [`legal_paths`](super::legal_paths) and [`mixed_paths`](super::mixed_paths).
pub struct EventPaths<S> {
    subject: Arc<S>,
    most: usize,
    is_mixed: bool,
}

impl<S: Subject> EventPaths<S> {
    pub(super) fn new(subject: S, most: usize, is_mixed: bool) -> Self {
        EventPaths { subject: Arc::new(subject), most, is_mixed }
    }
}

impl<S> Clone for EventPaths<S> {
    fn clone(&self) -> Self {
        EventPaths { subject: self.subject.clone(), most: self.most, is_mixed: self.is_mixed }
    }
}

impl<S> fmt::Debug for EventPaths<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_mixed { "mixed" } else { "legal" };
        write!(f, "{kind} paths of up to {} steps", self.most)
    }
}

impl<S: Subject> Strategy for EventPaths<S> {
    type Tree = EventPathTree<S>;
    type Value = EventPath<S::Machine>;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let drawn = runner.rng().random_range(0..=self.most);
        let mut stroll = Stroll::begin(&*self.subject, self.is_mixed, runner);
        // The path is long enough for its target transition; occasionally a path is empty.
        let length = if drawn == 0 { 0 } else { drawn.max(stroll.way_to_aim()).min(self.most) };
        let mut beyond_the_end = 0;
        while stroll.steps.len() < length && beyond_the_end < BEYOND_THE_END {
            let is_any = self.is_mixed && stroll.runner.rng().random();
            if !is_any && stroll.legal_step()? {
                continue;
            }
            // Without a legal step, a legal path ends and a mixed path takes an illegal step.
            if !self.is_mixed {
                break;
            }
            stroll.any_step()?;
            beyond_the_end += usize::from(stroll.machine.get().status().is_terminal());
        }
        let steps = stroll.steps;
        Ok(EventPathTree::new(self.subject.clone(), self.is_mixed, steps))
    }
}

/// A path under construction. The machine takes each step, so that each payload can fit it.
struct Stroll<'a, S: Subject> {
    subject: &'a S,
    is_mixed: bool,
    runner: &'a mut TestRunner,
    machine: Slot<S::Machine>,
    /// The target transition of the path, until the path takes it.
    aim: Option<Aim>,
    steps: Vec<Payload<S>>,
}

impl<'a, S: Subject> Stroll<'a, S> {
    fn begin(subject: &'a S, is_mixed: bool, runner: &'a mut TestRunner) -> Self {
        let graph = S::Machine::GRAPH;
        let aim = runner.rng().random_range(0..graph.edges.len().max(1));
        Stroll {
            subject,
            is_mixed,
            runner,
            machine: Slot::new(S::Machine::create(subject.record())),
            aim: graph.edges.get(aim).map(|edge| Aim::at(graph, edge)),
            steps: Vec::new(),
        }
    }

    /// The number of legal steps to the target transition, that transition included.
    fn way_to_aim(&self) -> usize {
        let start = self.machine.get().status().index();
        self.aim.as_ref().and_then(|aim| aim.steps_from(start)).map_or(0, |steps| steps + 1)
    }

    /// Takes a declared transition, if a payload passes its guard.
    fn legal_step(&mut self) -> Result<bool, Reason> {
        let state = self.machine.get().status().name();
        let mut ways: Vec<&'static Edge> = S::Machine::GRAPH.ways_out(state).collect();
        let mut nearer: Vec<_> = ways.clone();
        nearer.retain(|way| self.aim.as_ref().is_some_and(|aim| aim.is_nearer_by(way)));
        while !ways.is_empty() {
            let choice = if nearer.is_empty() { &ways } else { &nearer };
            let edge = choice[self.runner.rng().random_range(0..choice.len())];
            if self.pass(edge)? {
                self.aim.take_if(|aim| aim.is_reached_by(edge));
                return Ok(true);
            }
            ways.retain(|way| *way != edge);
            nearer.retain(|way| *way != edge);
        }
        Ok(false)
    }

    /// Takes that transition, unless its guard refuses all payloads. In a mixed path a refusal is a step too.
    fn pass(&mut self, edge: &'static Edge) -> Result<bool, Reason> {
        for _ in 0..PATIENCE {
            let payload = self.payload(edge.event)?;
            match self.give(&payload) {
                Verdict::Taken(_) => {
                    self.steps.push(payload);
                    return Ok(true);
                }
                Verdict::ByGuard if self.is_mixed => {
                    self.steps.push(payload);
                    return Ok(true);
                }
                Verdict::ByGuard => {}
                Verdict::NoEdge => {
                    return Err(format!("{edge} is declared, and `apply` refuses it").into());
                }
            }
        }
        Ok(false)
    }

    /// Applies a random event, legal or not.
    fn any_step(&mut self) -> Result<(), Reason> {
        let names = <S::Machine as Machine>::Event::NAMES;
        let name = names[self.runner.rng().random_range(0..names.len())];
        let payload = self.payload(name)?;
        self.give(&payload);
        self.steps.push(payload);
        Ok(())
    }

    fn payload(&mut self, name: &'static str) -> Result<Payload<S>, Reason> {
        payload(self.subject, self.machine.get(), name, self.runner).map_err(|fault| fault.to_string().into())
    }

    fn give(&mut self, payload: &Payload<S>) -> Verdict {
        self.machine.step(|machine| {
            let (machine, _, step) = apply(machine, payload.current());
            (machine, step.verdict)
        })
    }
}
