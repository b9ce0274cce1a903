//! The steps that bring a path nearer to a target transition.

use std::collections::VecDeque;

use crate::kernel::{Edge, Graph};

/// A target transition, and the distance of each state to it.
#[derive(Debug)]
pub(super) struct Aim {
    edge: &'static Edge,
    /// The number of steps from each state to the source of the target transition.
    distance: Vec<Option<usize>>,
}

impl Aim {
    pub(super) fn at(graph: &Graph, edge: &'static Edge) -> Aim {
        let mut distance = vec![None; graph.states.len()];
        distance[edge.from_index] = Some(0);
        let mut queue = VecDeque::from([(edge.from_index, 0)]);
        while let Some((state, steps)) = queue.pop_front() {
            for e in graph.edges {
                if e.to_index == state && distance[e.from_index].is_none() {
                    distance[e.from_index] = Some(steps + 1);
                    queue.push_back((e.from_index, steps + 1));
                }
            }
        }
        Aim { edge, distance }
    }

    /// The number of steps from a state to the source of the target transition; none if it is unreachable.
    pub(super) fn steps_from(&self, state: usize) -> Option<usize> {
        self.distance.get(state).copied().flatten()
    }

    pub(super) fn is_reached_by(&self, step: &Edge) -> bool {
        self.edge == step
    }

    /// Returns whether `step` is on a shortest path.
    pub(super) fn is_nearer_by(&self, step: &Edge) -> bool {
        if step.from_index == self.edge.from_index {
            return step == self.edge;
        }
        match (self.distance[step.from_index], self.distance[step.to_index]) {
            (Some(before), Some(after)) => after < before,
            _ => false,
        }
    }
}
