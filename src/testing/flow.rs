//! A minimum flow through a graph in which every edge must be used.

use std::collections::VecDeque;

/// A graph with a source, and a sink that stands for the end of a path.
///
/// Arcs are numbered: first the edges with a minimum of one, in order of insertion, then one arc from each end to the
/// sink. A flow of one along a path is one path through the lifecycle.
pub(super) struct Flow {
    nodes: usize,
    source: usize,
    ends: Vec<usize>,
    edges: Vec<(usize, usize)>,
}

/// The flow of each arc, and its minimum.
struct Counts {
    arcs: Vec<(usize, usize)>,
    flow: Vec<usize>,
    least: Vec<usize>,
}

impl Flow {
    pub(super) fn new(nodes: usize, source: usize, ends: &[usize]) -> Self {
        Flow { nodes, source, ends: ends.to_vec(), edges: Vec::new() }
    }

    pub(super) fn must_take(&mut self, from: usize, to: usize) {
        self.edges.push((from, to));
    }

    /// Computes the fewest paths, as indices of edges.
    pub(super) fn minimal_transition_cover(&self) -> Vec<Vec<usize>> {
        let Some((mut counts, mut paths)) = self.any_cover() else { return Vec::new() };
        // One path must remain, even if a cycle through the source takes every edge.
        while paths > 1 && counts.take_back(self.sink(), self.source) {
            paths -= 1;
        }
        while counts.cancel_detour(self.sink() + 1) {}
        self.split(&counts, paths)
    }

    fn sink(&self) -> usize {
        self.nodes
    }

    /// A path for each edge: from the source to the edge, over it, and on to an end. None if the graph has no edges.
    fn any_cover(&self) -> Option<(Counts, usize)> {
        let mut arcs = self.edges.clone();
        arcs.extend(self.ends.iter().map(|end| (*end, self.sink())));
        let mut least = vec![1; self.edges.len()];
        least.resize(arcs.len(), 0);
        let mut counts = Counts { flow: vec![0; arcs.len()], arcs, least };
        let mut paths = 0;
        for (i, (from, to)) in self.edges.iter().enumerate() {
            let there = counts.shortest_path(self.source, *from);
            let on = counts.shortest_path(*to, self.sink());
            match (there, on) {
                (Some(there), Some(on)) => {
                    there.into_iter().chain([i]).chain(on).for_each(|arc| counts.flow[arc] += 1);
                    paths += 1;
                }
                // An unreachable edge: `lifecycle!` compiles no such graph.
                _ => counts.least[i] = 0,
            }
        }
        (paths > 0).then_some((counts, paths))
    }

    /// Splits the flow into paths. The flow is connected, since it contains every edge and the source reaches every
    /// edge. With one return arc from the sink to the source per path, the flow is one closed tour (Hierholzer).
    fn split(&self, counts: &Counts, paths: usize) -> Vec<Vec<usize>> {
        let back = counts.arcs.len();
        let mut arcs = counts.arcs.clone();
        arcs.push((self.sink(), self.source));
        let mut left = counts.flow.clone();
        left.push(paths);
        let mut way: Vec<(usize, Option<usize>)> = vec![(self.sink(), None)];
        let mut tour = Vec::new();
        while let Some(&(node, arrived_by)) = way.last() {
            match (0..arcs.len()).find(|&arc| arcs[arc].0 == node && left[arc] > 0) {
                Some(arc) => {
                    left[arc] -= 1;
                    way.push((arcs[arc].1, Some(arc)));
                }
                None => {
                    tour.extend(arrived_by);
                    way.pop();
                }
            }
        }
        tour.reverse();
        let paths = tour.split(|arc| *arc == back).skip(1);
        paths.map(|path| path.iter().copied().filter(|arc| *arc < self.edges.len()).collect()).collect()
    }
}

impl Counts {
    fn shortest_path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let forward = self.arcs.iter().enumerate().map(|(arc, (from, to))| (*from, *to, arc)).collect();
        shortest_path(forward, from, to)
    }

    /// Removes one path along a path from the sink to the source: against arcs with a flow above their minimum, and
    /// along other arcs, which gain one.
    fn take_back(&mut self, sink: usize, source: usize) -> bool {
        let count = self.arcs.len();
        let Some(path) = shortest_path(self.residual(), sink, source) else { return false };
        for step in path {
            if step < count {
                self.flow[step] += 1;
            } else {
                self.flow[step - count] -= 1;
            }
        }
        true
    }

    /// The possible changes of the flow: one more along an arc (by its number), or one less (by its number plus the
    /// number of arcs).
    fn residual(&self) -> Vec<(usize, usize, usize)> {
        let count = self.arcs.len();
        let more = self.arcs.iter().enumerate().map(|(arc, (from, to))| (*from, *to, arc));
        let less = self.arcs.iter().enumerate().filter(|(arc, _)| self.flow[*arc] > self.least[*arc]);
        more.chain(less.map(|(arc, (from, to))| (*to, *from, arc + count))).collect()
    }

    /// Replaces one detour by a shorter one, with an equal number of paths: a cycle of changes that saves steps
    /// (Bellman and Ford). Returns false when there is none; the paths are then as short as possible.
    fn cancel_detour(&mut self, nodes: usize) -> bool {
        let (steps, count) = (self.residual(), self.arcs.len());
        let mut cost = vec![0_isize; nodes];
        let mut reached_by: Vec<Option<usize>> = vec![None; nodes];
        let mut changed = None;
        for _ in 0..nodes {
            changed = None;
            for (i, (from, to, arc)) in steps.iter().enumerate() {
                let step_cost = if *arc < count { 1 } else { -1 };
                if cost[*from] + step_cost < cost[*to] {
                    cost[*to] = cost[*from] + step_cost;
                    reached_by[*to] = Some(i);
                    changed = Some(*to);
                }
            }
        }
        let Some(mut node) = changed else { return false };
        // As many steps back as there are nodes lead into the cycle, and once around it.
        let back = |node: usize| reached_by[node].map_or(node, |i| steps[i].0);
        for _ in 0..nodes {
            node = back(node);
        }
        let start = node;
        loop {
            if let Some(i) = reached_by[node] {
                let arc = steps[i].2;
                if arc < count {
                    self.flow[arc] += 1;
                } else {
                    self.flow[arc - count] -= 1;
                }
            }
            node = back(node);
            if node == start {
                return true;
            }
        }
    }
}

/// The numbers of the arcs on a shortest path; arcs are (from, to, number).
fn shortest_path(arcs: Vec<(usize, usize, usize)>, from: usize, to: usize) -> Option<Vec<usize>> {
    let nodes = arcs.iter().map(|(from, to, _)| from.max(to) + 1).max().unwrap_or(0).max(from.max(to) + 1);
    let mut reached_by: Vec<Option<usize>> = vec![None; nodes];
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        if node == to {
            break;
        }
        for (i, arc) in arcs.iter().enumerate() {
            if arc.0 == node && arc.1 != from && reached_by[arc.1].is_none() {
                reached_by[arc.1] = Some(i);
                queue.push_back(arc.1);
            }
        }
    }
    let mut path = Vec::new();
    let mut node = to;
    while node != from {
        let arc = arcs[reached_by[node]?];
        path.push(arc.2);
        node = arc.0;
    }
    path.reverse();
    Some(path)
}
