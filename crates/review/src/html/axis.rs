//! The horizontal scale of lanes: times to scale, with a fixed width for each long wait.

use std::collections::HashMap;

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

/// The steps at one time.
struct Moment {
    at_ms: u64,
    /// The number of steps of the run that has the most of them.
    steps: usize,
}

/// The share of the width for steps that take no time, in per cent. Without it they would lie on one another.
const STEPS: f64 = 25.0;
/// The width of a long wait, and of all of them together, in per cent.
const BREAK: f64 = 5.0;
const BREAKS: f64 = 40.0;

impl Axis {
    pub(crate) fn new(review: &Review) -> Self {
        let steps = review.steps();
        let mut by_time: Vec<usize> = (0..steps.len()).collect();
        by_time.sort_by_key(|step| steps[*step].at_ms);
        // The steps of a run at one time stand behind one another; those of other runs stand beside them.
        let mut moments: Vec<Moment> = Vec::new();
        let mut ranks = vec![(0, 0); steps.len()];
        let mut of_run: HashMap<usize, usize> = HashMap::new();
        for step in by_time {
            let at_ms = steps[step].at_ms;
            if moments.last().is_none_or(|last| last.at_ms != at_ms) {
                moments.push(Moment { at_ms, steps: 0 });
                of_run.clear();
            }
            let rank = of_run.entry(review.lanes()[steps[step].lane].run).or_default();
            ranks[step] = (moments.len() - 1, *rank);
            *rank += 1;
            if let Some(last) = moments.last_mut() {
                last.steps = last.steps.max(*rank);
            }
        }
        let waits: Vec<u64> = moments.windows(2).map(|pair| pair[1].at_ms - pair[0].at_ms).collect();
        let limit = longest_to_scale(&waits);
        let long = waits.iter().filter(|wait| **wait > limit).count();
        let width_of_breaks = (BREAK * long as f64).min(BREAKS);
        let one_break = if long == 0 { 0.0 } else { width_of_breaks / long as f64 };
        let to_scale: f64 = waits.iter().filter(|wait| **wait <= limit).map(|wait| *wait as f64).sum();
        let rest = 100.0 - width_of_breaks;
        let (for_steps, for_times) = if to_scale > 0.0 { (STEPS, rest - STEPS) } else { (rest, 0.0) };
        let all: usize = moments.iter().map(|moment| moment.steps).sum();
        let one_step = for_steps / all.max(1) as f64;
        let (mut begins, mut breaks, mut at) = (Vec::with_capacity(moments.len()), Vec::new(), 0.0);
        for (wait, moment) in std::iter::once(0).chain(waits).zip(&moments) {
            if wait > limit {
                breaks.push(Break { from: at, to: at + one_break, ms: wait });
                at += one_break;
            } else if to_scale > 0.0 {
                at += for_times * wait as f64 / to_scale;
            }
            begins.push(at);
            at += one_step * moment.steps as f64;
        }
        let place = |(moment, rank): (usize, usize)| begins[moment] + one_step * rank as f64;
        Axis { places: ranks.into_iter().map(place).collect(), breaks }
    }

    /// The place of a step; the right edge for none.
    pub(crate) fn place(&self, step: Option<usize>) -> f64 {
        step.and_then(|step| self.places.get(step)).copied().unwrap_or(100.0)
    }
}
