//! The graphs and transitions that a recorder has seen, by their addresses.

use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::tape::lock;
use crate::kernel::{Edge, Graph};

/// A creation, or a transition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) graph: &'static Graph,
    /// None for a creation.
    pub(super) edge: Option<&'static Edge>,
}

const RECENT: usize = 256;

/// A map from addresses to references, because atomic slots can only hold addresses.
pub(super) struct Sources {
    known: Mutex<Known>,
    /// A cache of known addresses, each at an index derived from the address. In nearly all cases one look-up here
    /// is enough.
    recent: Box<[AtomicUsize; RECENT]>,
}

struct Known {
    sources: HashMap<usize, (Source, Label)>,
    graphs: Vec<&'static Graph>,
}

/// The name of a lifecycle in events: its own, unless an earlier lifecycle has that name.
#[derive(Debug, Clone)]
pub(super) enum Label {
    Name(&'static str),
    Identity(Arc<str>),
}

impl Known {
    fn label(&mut self, graph: &'static Graph) -> Label {
        let same_name: Vec<&Graph> =
            self.graphs.iter().copied().filter(|known| known.name == graph.name).collect();
        let place = same_name.iter().position(|known| *known == graph);
        if place.is_none() {
            self.graphs.push(graph);
        }
        let place = place.unwrap_or(same_name.len());
        match place {
            0 => Label::Name(graph.name),
            1 => Label::Identity(format!("{}!", graph.identity()).into()),
            more => Label::Identity(format!("{}!{more}", graph.identity()).into()),
        }
    }
}

impl Sources {
    /// Reserves the names of the documented lifecycles and of the owners. No other lifecycle writes events under
    /// these names.
    pub(super) fn new(owners: Vec<&'static Graph>) -> Self {
        let graphs = crate::documented_graphs().iter().copied().chain(owners).collect();
        let known = Known { sources: HashMap::new(), graphs };
        Sources { known: Mutex::new(known), recent: Box::new([const { AtomicUsize::new(0) }; RECENT]) }
    }

    /// Returns the address of a source. [`find`](Sources::find) maps it back.
    #[inline]
    pub(super) fn keep(&self, graph: &'static Graph, edge: Option<&'static Edge>) -> usize {
        // Each source is static and has a size above zero, so that no two sources share an address.
        let address = edge.map_or(ptr::from_ref(graph).addr(), |edge| ptr::from_ref(edge).addr());
        // The transitions of a graph are adjacent, at a distance of an odd number of words, so the first 256
        // transitions have distinct slots.
        let recent = &self.recent[(address / size_of::<usize>()) % RECENT];
        if recent.load(Ordering::Acquire) != address {
            self.learn(graph, edge, address, recent);
        }
        address
    }

    #[cold]
    fn learn(
        &self,
        graph: &'static Graph,
        edge: Option<&'static Edge>,
        address: usize,
        recent: &AtomicUsize,
    ) {
        let mut known = lock(&self.known);
        let label = known.label(graph);
        known.sources.insert(address, (Source { graph, edge }, label));
        drop(known);
        recent.store(address, Ordering::Release);
    }

    pub(super) fn find(&self, address: usize) -> Option<(Source, Label)> {
        lock(&self.known).sources.get(&address).cloned()
    }
}
