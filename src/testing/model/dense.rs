//! The search on packed states.

use super::outcome::Explored;
use crate::kernel::{Edge, Graph};

/// The maximum number of machines: each needs at least one bit of a packed state.
const MOST_MACHINES: usize = 64;

/// A finite space of combinations of statuses, with two numbers per combination.
///
/// The *packed* form has a field of whole bits per machine. It is fast to decode, so the queue holds it. The *place*
/// is the number of the combination in mixed radix, without gaps. It is fast to compute from the statuses. The set of
/// visited combinations has one bit per place, so it is as small as possible and stays in a cache.
pub(super) struct Space {
    machines: Vec<Machine>,
    places: u64,
}

struct Machine {
    /// The offset of the machine's field in the packed form; `mask` extracts the field.
    shift: u32,
    mask: u64,
    /// The weight of the machine's status in the place.
    stride: u64,
    /// The outgoing transitions by status.
    ways: Vec<Vec<Way>>,
}

/// A transition, and its change of both numbers.
struct Way {
    edge: &'static Edge,
    packed: u64,
    place: u64,
}

impl Space {
    /// Makes the space of these machines, if it has at most `most` places and packs into 64 bits.
    pub(super) fn of(graphs: &[&'static Graph], most: u64) -> Option<Space> {
        let (mut shift, mut stride) = (0_u32, 1_u64);
        let mut machines = Vec::new();
        for graph in graphs {
            let count = graph.states.len() as u64;
            let bits = u64::BITS - (count - 1).max(1).leading_zeros();
            if shift + bits > u64::BITS || count > 1 << 8 {
                return None;
            }
            let way = |edge: &'static Edge| {
                let change = (edge.to_index as u64).wrapping_sub(edge.from_index as u64);
                Way { edge, packed: change << shift, place: change.wrapping_mul(stride) }
            };
            let ways = graph.states.iter().map(|state| graph.ways_out(state.name).map(way).collect());
            machines.push(Machine { shift, mask: (1 << bits) - 1, stride, ways: ways.collect() });
            shift += bits;
            stride = stride.checked_mul(count).filter(|places| *places <= most)?;
        }
        Some(Space { machines, places: stride })
    }

    /// Searches breadth first from `start`.
    ///
    /// # Errors
    /// A shortest path to a combination that violates the invariant, as pairs of machine and transition.
    pub(super) fn search(
        &self,
        start: &[u8],
        rule: impl Fn(&[u8], usize, &'static Edge) -> bool,
        invariant: impl Fn(&[u8]) -> bool,
    ) -> Result<Explored, Vec<(usize, &'static Edge)>> {
        let mut statuses = [0_u8; MOST_MACHINES];
        let statuses = &mut statuses[..self.machines.len()];
        let mut visited = vec![0_u64; (self.places / 64 + 1) as usize];
        let mut insert = |place: u64| {
            let (word, bit) = (&mut visited[(place / 64) as usize], 1 << (place % 64));
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new
        };
        // The queue keeps its served states: their levels allow to trace a path back.
        let mut queue = vec![self.pack(start)];
        let mut levels = vec![0];
        let (mut next, mut level_end, mut steps) = (0, 1, 0);
        insert(self.place(start));
        while let Some(&packed) = queue.get(next) {
            if next == level_end {
                levels.push(next);
                level_end = queue.len();
            }
            self.unpack(packed, statuses);
            if !invariant(statuses) {
                return Err(self.way_to(packed, &queue, &levels, rule));
            }
            let place = self.place(statuses);
            for (i, machine) in self.machines.iter().enumerate() {
                for way in &machine.ways[usize::from(statuses[i])] {
                    if rule(statuses, i, way.edge) {
                        steps += 1;
                        if insert(place.wrapping_add(way.place)) {
                            queue.push(packed.wrapping_add(way.packed));
                        }
                    }
                }
            }
            next += 1;
        }
        Ok(Explored { states: queue.len() as u64, steps, depth: levels.len() - 1 })
    }

    /// Traces the path to a state of the last level: for each level, backwards, the first state with a step to the
    /// next state.
    fn way_to(
        &self,
        mut target: u64,
        queue: &[u64],
        levels: &[usize],
        rule: impl Fn(&[u8], usize, &'static Edge) -> bool,
    ) -> Vec<(usize, &'static Edge)> {
        let mut statuses = vec![0; self.machines.len()];
        let mut way = Vec::new();
        for level in levels.windows(2).rev() {
            let step = queue[level[0]..level[1]].iter().find_map(|&packed| {
                self.unpack(packed, &mut statuses);
                let ways = self.machines.iter().enumerate().flat_map(|(i, machine)| {
                    machine.ways[usize::from(statuses[i])].iter().map(move |way| (i, way))
                });
                let mut leading_on = ways.filter(|(_, way)| packed.wrapping_add(way.packed) == target);
                let (i, way) = leading_on.find(|(i, way)| rule(&statuses, *i, way.edge))?;
                Some((packed, (i, way.edge)))
            });
            if let Some((packed, taken)) = step {
                way.push(taken);
                target = packed;
            }
        }
        way.reverse();
        way
    }

    fn pack(&self, statuses: &[u8]) -> u64 {
        self.machines.iter().zip(statuses).map(|(machine, at)| u64::from(*at) << machine.shift).sum()
    }

    fn unpack(&self, packed: u64, statuses: &mut [u8]) {
        for (machine, at) in self.machines.iter().zip(statuses) {
            *at = (packed >> machine.shift & machine.mask) as u8;
        }
    }

    fn place(&self, statuses: &[u8]) -> u64 {
        self.machines.iter().zip(statuses).map(|(machine, at)| u64::from(*at) * machine.stride).sum()
    }
}
