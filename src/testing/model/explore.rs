//! Breadth-first search over states that can be copied and hashed.

use core::hash::Hash;
use std::collections::HashSet;

use super::outcome::{Counterexample, Explored, Unproven};

/// Visits every reachable state from `start`, breadth first, and checks each against `invariant`.
///
/// `successors` returns the steps that leave a state, each with a label. It must be deterministic. The search visits
/// at most `most` states. For concurrent lifecycles [`Composition`](super::Composition) is faster. This function is for steps
/// of several machines at once, and for states with more data than statuses.
///
/// # Errors
/// [`Unproven::Violated`] with a shortest counterexample; [`Unproven::TooMany`] when there are more than `most`
/// states.
///
/// ```
/// use runstate::testing::{Unproven, explore};
///
/// // Two jugs hold 3 and 5 litres. Can they hold 4 in total?
/// let pour = |(a, b): (u8, u8)| {
///     let (to_b, to_a) = (a.min(5 - b), b.min(3 - a));
///     [
///         ("fill a", (3, b)),
///         ("fill b", (a, 5)),
///         ("empty a", (0, b)),
///         ("empty b", (a, 0)),
///         ("a to b", (a - to_b, b + to_b)),
///         ("b to a", (a + to_a, b - to_a)),
///     ]
/// };
/// let error = explore((0, 0), pour, |(_, b)| b != 4, 1_000).unwrap_err();
/// let way: Vec<_> = error.counterexample().unwrap().steps.iter().map(|(label, _)| *label).collect();
/// assert_eq!(way, ["fill b", "b to a", "empty a", "b to a", "fill b", "b to a"]);
///
/// let holds = explore((0, 0), pour, |(a, b)| a <= 3 && b <= 5, 1_000)?;
/// assert_eq!((holds.states, holds.depth), (16, 7));
/// # Ok::<(), Unproven<(u8, u8), &str>>(())
/// ```
pub fn explore<S, L, I>(
    start: S,
    successors: impl Fn(S) -> I,
    invariant: impl Fn(S) -> bool,
    most: u64,
) -> Result<Explored, Unproven<S, L>>
where
    S: Copy + Eq + Hash,
    I: IntoIterator<Item = (L, S)>,
{
    let mut seen = HashSet::from([start]);
    // Each state with the index of its predecessor: a queue that keeps its served states.
    let mut found: Vec<(S, usize)> = vec![(start, 0)];
    let (mut next, mut steps, mut depth, mut level_end) = (0, 0, 0, 1);
    while let Some(&(state, _)) = found.get(next) {
        if next == level_end {
            depth += 1;
            level_end = found.len();
        }
        if !invariant(state) {
            return Err(Unproven::Violated(way_to(&found, next, successors)));
        }
        for (_, successor) in successors(state) {
            steps += 1;
            if seen.insert(successor) {
                if found.len() as u64 >= most {
                    return Err(Unproven::TooMany { most });
                }
                found.push((successor, next));
            }
        }
        next += 1;
    }
    Ok(Explored { states: found.len() as u64, steps, depth })
}

/// Traces the path to a state. It computes labels again, which is cheaper than storing all of them.
fn way_to<S: Copy + Eq, L, I: IntoIterator<Item = (L, S)>>(
    found: &[(S, usize)],
    mut place: usize,
    successors: impl Fn(S) -> I,
) -> Counterexample<S, L> {
    let mut steps = Vec::new();
    while place != 0 {
        let (state, from) = found[place];
        steps.extend(successors(found[from].0).into_iter().find(|(_, successor)| *successor == state));
        place = from;
    }
    steps.reverse();
    Counterexample { start: found[0].0, steps }
}
