//! The search for the times of external inputs.

use super::outside::Came;
use super::{ExportError, Exported, Record, limit, same};
use crate::Scenario;
use crate::play::{Options, Played, play};

/// Rounds of the search.
const ROUNDS: usize = 3;

/// The upper limit of plays of a search.
const MOST_PLAYS: usize = 2_000;

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
        let outside = self.came.iter().zip(&self.chosen).map(|(came, step)| came[*step].clone()).collect();
        let scenario = Scenario { outside, ..self.made.clone() };
        let scenario = Scenario::parse(&scenario.to_json()).map_err(ExportError::Refused)?;
        let played = match play(&scenario, Options::default()) {
            Ok(played) => played,
            Err(error) => return Ok((Tried::Differs(0, ExportError::Play(error)), None)),
        };
        Ok(match same::compare(self.record, &played) {
            Ok(()) if played.missed.is_empty() => {
                (Tried::Same(Box::new(Exported { scenario, played })), None)
            }
            Ok(()) => (Tried::Differs(usize::MAX, ExportError::Missed(played.missed)), None),
            Err(difference) => {
                let agreeing = same::agreeing(self.record, &played);
                let error = ExportError::Differs(Box::new(difference));
                (Tried::Differs(agreeing, error), Some(Box::new(played)))
            }
        })
    }

    /// The scenario that reproduces the record: one input after the other moves to the time that repeats most of the record.
    pub(super) fn find(mut self) -> Result<Exported, ExportError> {
        let (mut best, mut error) = match self.attempt()? {
            Tried::Same(exported) => return Ok(*exported),
            Tried::Differs(agreeing, error) => (agreeing, error),
        };
        for _ in 0..ROUNDS {
            let before = best;
            for place in 0..self.came.len() {
                let mut chosen = self.chosen[place];
                for moment in 0..self.came[place].len() {
                    if self.plays >= MOST_PLAYS {
                        return Err(error);
                    }
                    self.chosen[place] = moment;
                    match self.attempt()? {
                        Tried::Same(exported) => return Ok(*exported),
                        Tried::Differs(agreeing, why) if agreeing > best => {
                            (best, error, chosen) = (agreeing, why, moment);
                        }
                        Tried::Differs(..) => {}
                    }
                }
                self.chosen[place] = chosen;
            }
            if best == before {
                break;
            }
        }
        Err(error)
    }
}
