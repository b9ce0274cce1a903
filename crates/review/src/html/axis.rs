//! The horizontal scale of lanes: times to scale, with a fixed width for each long wait.

use crate::model::Review;

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
/// The most waits that are drawn as breaks.
const MOST_BREAKS: usize = 20;
/// A wait is long if it exceeds the sum of all shorter waits by this factor.
const LONG: u64 = 10;

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
        let mut limit = longest_to_scale(&waits);
        // Many long waits are no exception.
        if waits.iter().filter(|wait| **wait > limit).count() > MOST_BREAKS {
            limit = u64::MAX;
        }
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

/// The longest wait that is drawn to scale.
fn longest_to_scale(waits: &[u64]) -> u64 {
    let mut sorted: Vec<u64> = waits.iter().copied().filter(|wait| *wait > 0).collect();
    sorted.sort_unstable();
    let (mut sum, mut limit) = (0_u64, u64::MAX);
    for wait in &sorted {
        if sum > 0 && *wait > sum.saturating_mul(LONG) {
            // `sum` is at least each wait before.
            // The last of such jumps counts: one between two short waits has no effect.
            limit = sum;
        }
        sum = sum.saturating_add(*wait);
    }
    limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_dwarf_all_others_are_breaks() {
        assert_eq!(longest_to_scale(&[5, 0, 3, 3_600_000, 4, 3_600_000]), 12);
        assert_eq!(longest_to_scale(&[86_400_000, 0, 0]), u64::MAX);
        assert_eq!(longest_to_scale(&[1, 2, 4, 8, 16]), u64::MAX);
        // A wait of 1 ms makes no break of one of 20 ms.
        assert_eq!(longest_to_scale(&[1, 20, 7_200_000, 1_500, 1_400, 1_300]), 4_221);
        assert_eq!(longest_to_scale(&[u64::MAX, u64::MAX, 1]), 1);
        assert_eq!(longest_to_scale(&[]), u64::MAX);
    }
}
