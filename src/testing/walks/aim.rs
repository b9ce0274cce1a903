//! Which step brings a walk nearer to an edge.

use std::collections::VecDeque;

use crate::kernel::{Edge, Graph};

/// An edge to make for, and how far each state is from it.
#[derive(Debug)]
pub(super) struct Aim {
    edge: &'static Edge,
    /// By state: the steps to the state that the edge leaves.
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

    /// The steps from a state to the one that the edge leaves; none where no way leads there.
    pub(super) fn steps_from(&self, state: usize) -> Option<usize> {
        self.distance.get(state).copied().flatten()
    }

    pub(super) fn is_reached_by(&self, step: &Edge) -> bool {
        self.edge == step
    }

    /// Is `step` one on a shortest way?
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
