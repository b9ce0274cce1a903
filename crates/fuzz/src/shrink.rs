//! Fresh replays of a difference, and its shortest sequence.

use std::time::Duration;

use crate::engine::{Engine, Key, Stop};
use crate::finding::Finding;
use crate::judge::Wrong;
use crate::regression::Regression;
use crate::sequence::{Sequence, Step};

/// The maximum number of replays to shrink a difference.
const SHRINKS: usize = 200;
/// The maximum duration to shrink a difference.
const SHRINK_FOR: Duration = Duration::from_secs(60);

impl Engine<'_> {
    /// Notes a difference: it is replayed from a fresh start, and shrunk if each replay shows it. If the run ends
    /// meanwhile, the difference is noted as far as it is known.
    pub(crate) fn note(&mut self, sequence: Sequence, wrong: Wrong, key: Key) -> Result<(), Stop> {
        let mut best = (sequence, wrong);
        let mut steps = std::mem::take(&mut best.0.steps);
        let mut reproduced = 0;
        for _ in 0..Finding::REPLAYS {
            match self.shown(&mut steps, key) {
                Ok(None) => {}
                Ok(Some((sequence, wrong))) => {
                    reproduced += 1;
                    self.closed.insert(key);
                    best = (sequence, wrong);
                }
                Err(stop) => {
                    self.add(best, reproduced, Noted::Unfinished);
                    return Err(stop);
                }
            }
        }
        if reproduced < Finding::REPLAYS {
            self.add(best, reproduced, Noted::Finished);
            return Ok(());
        }
        let shrunk = self.shrink(steps, key, &mut best);
        let noted = if matches!(shrunk, Ok(true)) { Noted::Finished } else { Noted::Unfinished };
        self.add(best, reproduced, noted);
        shrunk.map(drop)
    }

    fn add(&mut self, (sequence, wrong): (Sequence, Wrong), reproduced: u32, noted: Noted) {
        self.findings.push(Finding {
            kind: wrong.kind,
            why: wrong.why,
            start: sequence.start.map(|state| self.map.states[state].clone()),
            exchanges: sequence.exchanges,
            log: sequence.log,
            reproduced,
            is_unfinished: noted == Noted::Unfinished,
            is_regression: noted == Noted::Regression,
        });
    }

    /// Shortens the steps, simplifies their payloads, and shortens the steps again, as long as the difference shows. Returns
    /// whether it came to the end before its limits.
    fn shrink(&mut self, mut steps: Vec<Step>, key: Key, best: &mut (Sequence, Wrong)) -> Result<bool, Stop> {
        let mut limit = Limit { began: (self.fuzz.now)(), left: SHRINKS };
        let is_done = self.shorten(&mut steps, key, best, &mut limit)?
            && self.simplify_all(&mut steps, key, best, &mut limit)?
            // A simpler payload may make an earlier step superfluous.
            && self.shorten(&mut steps, key, best, &mut limit)?;
        Ok(is_done)
    }

    fn shorten(
        &mut self,
        steps: &mut Vec<Step>,
        key: Key,
        best: &mut (Sequence, Wrong),
        limit: &mut Limit,
    ) -> Result<bool, Stop> {
        let mut size = steps.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < steps.len() {
                if limit.is_over((self.fuzz.now)()) {
                    return Ok(false);
                }
                let end = (at + size).min(steps.len());
                let without: Vec<Step> = steps.drain(at..end).collect();
                match self.shown(steps, key)? {
                    Some(shorter) => *best = shorter,
                    None => {
                        steps.splice(at..at, without);
                        at = end;
                    }
                }
            }
            size /= 2;
        }
        Ok(true)
    }

    fn simplify_all(
        &mut self,
        steps: &mut Vec<Step>,
        key: Key,
        best: &mut (Sequence, Wrong),
        limit: &mut Limit,
    ) -> Result<bool, Stop> {
        for at in 0..steps.len() {
            let mut is_simpler = simplify(steps, at);
            while is_simpler {
                if limit.is_over((self.fuzz.now)()) {
                    return Ok(false);
                }
                is_simpler = match self.shown(steps, key)? {
                    Some(simpler) => {
                        *best = simpler;
                        simplify(steps, at)
                    }
                    None => complicate(steps, at),
                };
            }
            // The last tried payload may not show the difference.
            if let (Some(step), Some(exchange)) = (steps.get_mut(at), best.0.exchanges.get(at))
                && let Some(event) = step.event()
            {
                *step = Step::fixed(event, exchange.payload.clone(), exchange.from_data.clone());
            }
        }
        Ok(true)
    }

    /// Replays the steps on a fresh machine. Returns the sequence if it shows the difference; the steps after it are removed.
    fn shown(&mut self, steps: &mut Vec<Step>, key: Key) -> Result<Option<(Sequence, Wrong)>, Stop> {
        let mut sequence = Sequence::new();
        let mut end = self.begin(&mut sequence, true).err();
        let mut left = std::mem::take(steps).into_iter();
        // The steps before an index of the sent ones whose payload needs data that did not come: they are not sent.
        let mut unsent: Vec<(usize, Step)> = Vec::new();
        while end.is_none()
            && let Some(step) = left.next()
        {
            let is_sendable = match &step {
                Step::Apply(_, tree) => tree.current().resolve(&sequence.data).is_some(),
                Step::Observe => true,
            };
            if is_sendable {
                end = self.send(&mut sequence, step).err();
            } else {
                unsent.push((sequence.steps.len(), step));
            }
        }
        *steps = std::mem::take(&mut sequence.steps);
        match end {
            Some(Stop::Wrong(wrong, found)) if found == key => Ok(Some((sequence, wrong))),
            None | Some(Stop::Wrong(..)) => {
                for (at, step) in unsent.into_iter().rev() {
                    steps.insert(at, step);
                }
                steps.extend(left);
                Ok(None)
            }
            Some(stop) => Err(stop),
        }
    }

    /// Replays stored regressions. Adds the names of those that show no difference, and the reasons for those that belong
    /// to another diagram.
    pub(crate) fn replay_all(
        &mut self,
        regressions: &[Regression],
        (fixed, stale): &mut (Vec<String>, Vec<String>),
    ) -> Result<(), Stop> {
        for regression in regressions {
            let name = &regression.name;
            let events = regression.requests.iter().filter_map(|request| request.event.as_ref());
            let unknown = events.clone().find(|event| !self.map.events.contains(event));
            if let Some(event) = unknown {
                stale.push(format!("the regression {name} has the event `{event}`, which the diagram lacks; it was not replayed"));
                continue;
            }
            let is_stale = regression.fingerprint != self.map.fingerprint;
            if is_stale {
                stale.push(format!(
                    "the regression {name} is of another diagram; it was replayed all the same"
                ));
            }
            match self.replay(regression)? {
                Replayed::Shown => {}
                Replayed::Partly(event) => stale.push(format!(
                    "the regression {name} shows no difference, but its `{event}` was not sent: the payload needs data of an earlier reply"
                )),
                Replayed::Fixed if is_stale => {}
                Replayed::Fixed => fixed.push(name.clone()),
            }
        }
        Ok(())
    }

    fn replay(&mut self, regression: &Regression) -> Result<Replayed, Stop> {
        let mut sequence = Sequence::new();
        let mut end = self.begin(&mut sequence, true).err();
        let mut unsent = None;
        for request in &regression.requests {
            if end.is_some() {
                break;
            }
            let event = request.event.as_ref();
            let event = event.and_then(|event| self.map.events.iter().position(|name| name == event));
            let step = event.map_or(Step::Observe, |event| {
                Step::fixed(event, request.payload.clone(), request.from_data.clone())
            });
            match self.send(&mut sequence, step) {
                Ok(None) => unsent = unsent.or(request.event.clone()),
                sent => end = sent.err(),
            }
        }
        match end {
            None => Ok(unsent.map_or(Replayed::Fixed, Replayed::Partly)),
            Some(Stop::Wrong(wrong, key)) => {
                self.keys.insert(key);
                self.closed.insert(key);
                self.add((sequence, wrong), Finding::REPLAYS, Noted::Regression);
                Ok(Replayed::Shown)
            }
            Some(stop) => Err(stop),
        }
    }
}

/// The result of the replay of a regression.
enum Replayed {
    /// The difference.
    Shown,
    /// No difference.
    Fixed,
    /// No difference, and an event was not sent.
    Partly(String),
}

/// How a finding was noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noted {
    Finished,
    Unfinished,
    Regression,
}

/// The limits of one shrinking.
struct Limit {
    began: Duration,
    left: usize,
}

impl Limit {
    fn is_over(&mut self, now: Duration) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0 || now.saturating_sub(self.began) >= SHRINK_FOR
    }
}

fn simplify(steps: &mut [Step], at: usize) -> bool {
    if let Some(Step::Apply(_, tree)) = steps.get_mut(at) { tree.simplify() } else { false }
}

fn complicate(steps: &mut [Step], at: usize) -> bool {
    if let Some(Step::Apply(_, tree)) = steps.get_mut(at) { tree.complicate() } else { false }
}
