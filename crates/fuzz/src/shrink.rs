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
    /// Notes a difference: it is replayed from a fresh start, and shrunk if each replay shows it.
    pub(crate) fn note(&mut self, sequence: Sequence, wrong: Wrong, key: Key) -> Result<(), Stop> {
        let mut best = (sequence, wrong);
        let mut steps = std::mem::take(&mut best.0.steps);
        let mut reproduced = 0;
        for _ in 0..Finding::REPLAYS {
            if let Some((sequence, wrong)) = self.shown(&mut steps, key)? {
                reproduced += 1;
                best = (sequence, wrong);
            }
        }
        if reproduced == Finding::REPLAYS {
            self.shrink(steps, key, &mut best)?;
        }
        self.add(best, reproduced, false);
        Ok(())
    }

    fn add(&mut self, (sequence, wrong): (Sequence, Wrong), reproduced: u32, is_regression: bool) {
        self.findings.push(Finding {
            kind: wrong.kind,
            why: wrong.why,
            start: sequence.start.map(|state| self.map.states[state].clone()),
            exchanges: sequence.exchanges,
            log: sequence.log,
            reproduced,
            is_regression,
        });
    }

    /// Shortens the steps, and then simplifies their payloads, as long as the difference shows.
    fn shrink(&mut self, mut steps: Vec<Step>, key: Key, best: &mut (Sequence, Wrong)) -> Result<(), Stop> {
        let began = (self.fuzz.now)();
        let mut left = SHRINKS;
        let mut is_over = |now: Duration| {
            left = left.saturating_sub(1);
            left == 0 || now.saturating_sub(began) >= SHRINK_FOR
        };
        let mut size = steps.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < steps.len() {
                if is_over((self.fuzz.now)()) {
                    return Ok(());
                }
                let end = (at + size).min(steps.len());
                let without: Vec<Step> = steps.drain(at..end).collect();
                match self.shown(&mut steps, key)? {
                    Some(shorter) => *best = shorter,
                    None => {
                        steps.splice(at..at, without);
                        at = end;
                    }
                }
            }
            size /= 2;
        }
        for at in 0..steps.len() {
            let mut is_simpler = simplify(&mut steps, at);
            while is_simpler {
                if is_over((self.fuzz.now)()) {
                    return Ok(());
                }
                is_simpler = match self.shown(&mut steps, key)? {
                    Some(simpler) => {
                        *best = simpler;
                        simplify(&mut steps, at)
                    }
                    None => complicate(&mut steps, at),
                };
            }
            // The last tried payload may not show the difference.
            if let (Some(step), Some(exchange)) = (steps.get_mut(at), best.0.exchanges.get(at))
                && let Some(event) = step.event()
            {
                *step = Step::fixed(event, exchange.payload.clone());
            }
        }
        Ok(())
    }

    /// Replays the steps on a fresh machine. Returns the sequence if it shows the difference; the steps after it are removed.
    fn shown(&mut self, steps: &mut Vec<Step>, key: Key) -> Result<Option<(Sequence, Wrong)>, Stop> {
        let mut sequence = Sequence::new();
        let mut end = self.begin(&mut sequence, true).err();
        let mut left = std::mem::take(steps).into_iter();
        while end.is_none()
            && let Some(step) = left.next()
        {
            // A step whose payload needs data that did not come is not sent, and not kept.
            end = self.send(&mut sequence, step).err();
        }
        *steps = std::mem::take(&mut sequence.steps);
        match end {
            Some(Stop::Wrong(wrong, found)) if found == key => Ok(Some((sequence, wrong))),
            None | Some(Stop::Wrong(..)) => {
                steps.extend(left);
                Ok(None)
            }
            Some(stop) => Err(stop),
        }
    }

    /// Replays stored regressions. Returns the names of those that show no difference, and of those that belong to another
    /// diagram.
    pub(crate) fn replay_all(
        &mut self,
        regressions: &[Regression],
    ) -> Result<(Vec<String>, Vec<String>), String> {
        let (mut fixed, mut stale) = (Vec::new(), Vec::new());
        for regression in regressions {
            if regression.fingerprint != self.map.fingerprint {
                stale.push(regression.name.clone());
            }
            match self.replay(regression) {
                Ok(true) => {}
                Ok(false) => fixed.push(regression.name.clone()),
                Err(Stop::Unusable(why)) => return Err(why),
                Err(_) => break,
            }
        }
        Ok((fixed, stale))
    }

    fn replay(&mut self, regression: &Regression) -> Result<bool, Stop> {
        let mut sequence = Sequence::new();
        let mut end = self.begin(&mut sequence, true).err();
        for request in &regression.requests {
            if end.is_some() {
                break;
            }
            let step = match &request.event {
                None => Step::Observe,
                Some(event) => match self.map.events.iter().position(|name| name == event) {
                    Some(event) => Step::fixed(event, request.payload.clone()),
                    // The diagram has no such event any more.
                    None => continue,
                },
            };
            end = self.send(&mut sequence, step).err();
        }
        match end {
            None => Ok(false),
            Some(Stop::Wrong(wrong, key)) => {
                self.keys.insert(key);
                self.add((sequence, wrong), Finding::REPLAYS, true);
                Ok(true)
            }
            Some(stop) => Err(stop),
        }
    }
}

fn simplify(steps: &mut [Step], at: usize) -> bool {
    if let Some(Step::Apply(_, tree)) = steps.get_mut(at) { tree.simplify() } else { false }
}

fn complicate(steps: &mut [Step], at: usize) -> bool {
    if let Some(Step::Apply(_, tree)) = steps.get_mut(at) { tree.complicate() } else { false }
}
