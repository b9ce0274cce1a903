//! The horizontal scale of lanes: times to scale, with a fixed width for each long wait.

use crate::model::Review;
use crate::pause::longest_to_scale;

/// The place of each step, in per cent of the width.
#[derive(Debug)]
pub(crate) struct Axis {
    places: Vec<f64>,
    pub(crate) breaks: Vec<Break>,
}

/// A long wait: time without an event that is drawn with a fixed width.
#[derive(Debug, PartialEq)]
pub(crate) struct Break {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) ms: u64,
}

/// The share of the width for steps that take no time, in per cent. Without it they would lie on one another.
const STEPS: f64 = 25.0;
/// The width of a long wait, and of all of them together, in per cent.
const BREAK: f64 = 5.0;
const BREAKS: f64 = 40.0;

impl Axis {
    pub(crate) fn new(review: &Review) -> Self {
        // An event with an earlier time stands at the place of its predecessor.
        let times: Vec<u64> = review
            .steps()
            .iter()
            .scan(0, |last, step| {
                *last = step.at_ms.max(*last);
                Some(*last)
            })
            .collect();
        let waits: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let limit = longest_to_scale(&waits);
        let long = waits.iter().filter(|wait| **wait > limit).count();
        let width_of_breaks = (BREAK * long as f64).min(BREAKS);
        let one_break = if long == 0 { 0.0 } else { width_of_breaks / long as f64 };
        let to_scale: f64 = waits.iter().filter(|wait| **wait <= limit).map(|wait| *wait as f64).sum();
        let rest = 100.0 - width_of_breaks;
        let (for_steps, for_times) = if to_scale > 0.0 { (STEPS, rest - STEPS) } else { (rest, 0.0) };
        let one_step = for_steps / times.len().max(1) as f64;
        let mut places = Vec::with_capacity(times.len());
        let mut breaks = Vec::new();
        let mut at = 0.0;
        for wait in std::iter::once(0).chain(waits).take(times.len()) {
            if wait > limit {
                breaks.push(Break { from: at, to: at + one_break, ms: wait });
                at += one_break;
            } else if to_scale > 0.0 {
                at += for_times * wait as f64 / to_scale;
            }
            places.push(at);
            at += one_step;
        }
        Axis { places, breaks }
    }

    /// The place of a step; the right edge for none.
    pub(crate) fn place(&self, step: Option<usize>) -> f64 {
        step.and_then(|step| self.places.get(step)).copied().unwrap_or(100.0)
    }
}
