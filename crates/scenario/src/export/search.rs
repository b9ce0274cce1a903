//! The search for the times of external inputs.

use super::outside::Came;
use super::{ExportError, Exported, Record, limit, same};
use crate::Scenario;
use crate::play::{Options, Played, Unplayed, play_or_begin};

/// Rounds of the search.
const ROUNDS: usize = 3;

/// The upper limit of plays of a search.
const MOST_PLAYS: usize = 2_000;

/// The upper limit of combinations of the times of crashes.
const MOST_CRASHES: usize = 48;

/// The upper limit of moves of the answer that reaches a time limit.
const MOST_MOVES: usize = 3;

/// Searches the times of external inputs.
pub(super) struct Search<'r> {
    record: &'r Record<'r>,
    made: Scenario,
    came: &'r [Came],
    /// For each input, the index of its chosen step.
    chosen: Vec<usize>,
    plays: usize,
}

/// The result of playing a candidate.
enum Tried {
    Same(Box<Exported>),
    /// The length of the common beginning with the record.
    Differs(usize, ExportError),
}

impl<'r> Search<'r> {
    pub(super) fn new(record: &'r Record<'r>, made: Scenario, came: &'r [Came]) -> Self {
        Search { record, made, came, chosen: vec![0; came.len()], plays: 0 }
    }

    /// Plays the scenario with the chosen steps. The answer that reaches a time limit is moved to the recorded time.
    fn attempt(&mut self) -> Result<Tried, ExportError> {
        let made = self.made.clone();
        for _ in 0..MOST_MOVES {
            match self.attempt_once()? {
                (Tried::Differs(..), Some(played)) if limit::reach(self.record, &played, &mut self.made) => {}
                (tried, _) => return Ok(tried),
            }
        }
        let (tried, _) = self.attempt_once()?;
        if let Tried::Differs(..) = tried {
            self.made = made;
        }
        Ok(tried)
    }

    /// Plays the scenario once. Returns its play, if it ended and differs.
    fn attempt_once(&mut self) -> Result<(Tried, Option<Box<Played>>), ExportError> {
        self.plays += 1;
        let outside =
            self.came.iter().zip(&self.chosen).map(|(came, step)| came.steps[*step].clone()).collect();
        let scenario = Scenario { outside, ..self.made.clone() };
        let scenario = Scenario::parse(&scenario.to_json()).map_err(ExportError::Refused)?;
        let played = match play_or_begin(&scenario, &Options::default()) {
            Ok(played) => played,
            // An input that never came leaves a play without an end.
            Err(left) => {
                let Unplayed { error, trace, events } = *left;
                let agreeing = same::agreeing(self.record, &self.made.name, &trace, &events);
                return Ok((Tried::Differs(agreeing, ExportError::Play(error)), None));
            }
        };
        Ok(match same::compare(self.record, &played) {
            Ok(()) if played.missed.is_empty() => {
                (Tried::Same(Box::new(Exported { scenario, played })), None)
            }
            Ok(()) => (Tried::Differs(usize::MAX, ExportError::Missed(played.missed)), None),
            Err(difference) => {
                let agreeing =
                    same::agreeing(self.record, played.state.id(), &played.trace, &played.committed);
                let error = ExportError::Differs(Box::new(difference));
                (Tried::Differs(agreeing, error), Some(Box::new(played)))
            }
        })
    }

    /// The scenario with the likeliest times, if it reproduces the record.
    pub(super) fn first(mut self) -> Option<Exported> {
        match self.attempt() {
            Ok(Tried::Same(exported)) => Some(*exported),
            _ => None,
        }
    }

    /// The scenario that reproduces the record. What follows a crash depends on its time, so the other inputs are searched
    /// anew for each choice of crashes.
    pub(super) fn find(mut self) -> Result<Exported, ExportError> {
        let mut best: Option<(usize, ExportError)> = None;
        for crashes in self.crash_choices() {
            self.chosen = crashes;
            match self.climb()? {
                Tried::Same(exported) => return Ok(*exported),
                Tried::Differs(agreeing, error) => {
                    if best.as_ref().is_none_or(|(most, _)| agreeing > *most) {
                        best = Some((agreeing, error));
                    }
                }
            }
        }
        Err(best.map_or(ExportError::Empty, |(_, error)| self.cause(error)))
    }

    /// Times are whole milliseconds, so the order of an input and of other events within one has no time.
    fn cause(&self, error: ExportError) -> ExportError {
        let ExportError::Differs(difference) = error else { return error };
        let at_ms = difference.recorded_ms(self.record);
        match at_ms.filter(|at_ms| self.came.iter().any(|came| came.taken_ms == *at_ms)) {
            Some(at_ms) => {
                let began_ms = self.record.events.first().map_or(0, |event| event.at_ms);
                ExportError::Order { ms: at_ms.saturating_sub(began_ms), difference }
            }
            None => ExportError::Differs(difference),
        }
    }

    /// The combinations of the steps of crashes, the likeliest first, and the first steps of all other inputs.
    fn crash_choices(&self) -> Vec<Vec<usize>> {
        let mut choices = vec![vec![0; self.came.len()]];
        for (place, came) in self.came.iter().enumerate().filter(|(_, came)| came.is_crash()) {
            let chosen = |step: usize| {
                choices.iter().map(move |choice| {
                    let mut choice = choice.clone();
                    choice[place] = step;
                    choice
                })
            };
            choices = (0..came.steps.len()).flat_map(chosen).take(MOST_CRASHES).collect();
        }
        choices
    }

    /// Moves one input after the other, except for crashes, to the time that repeats most of the record.
    fn climb(&mut self) -> Result<Tried, ExportError> {
        let (mut best, mut error) = match self.attempt()? {
            Tried::Differs(agreeing, error) => (agreeing, error),
            same @ Tried::Same(_) => return Ok(same),
        };
        let inputs: Vec<usize> = (0..self.came.len()).filter(|place| !self.came[*place].is_crash()).collect();
        for _ in 0..ROUNDS {
            let before = best;
            for &place in &inputs {
                let mut chosen = self.chosen[place];
                for moment in 0..self.came[place].steps.len() {
                    if self.plays >= MOST_PLAYS {
                        return Ok(Tried::Differs(best, error));
                    }
                    self.chosen[place] = moment;
                    match self.attempt()? {
                        Tried::Differs(agreeing, why) if agreeing > best => {
                            (best, error, chosen) = (agreeing, why, moment);
                        }
                        Tried::Differs(..) => {}
                        same @ Tried::Same(_) => return Ok(same),
                    }
                }
                self.chosen[place] = chosen;
            }
            if best == before {
                break;
            }
        }
        Ok(Tried::Differs(best, error))
    }
}
