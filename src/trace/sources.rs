//! The graphs and edges that a recorder was told of, by their addresses.

use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::tape::lock;
use crate::kernel::{Edge, Graph};

/// What there is to know of a transition besides who and when.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    Created(&'static Graph),
    Moved(&'static Graph, &'static Edge),
}

impl Source {
    /// All of them live for good and none is empty, so that no two have one address.
    #[inline]
    fn address(self) -> usize {
        match self {
            Source::Created(graph) => ptr::from_ref(graph).addr(),
            Source::Moved(_, edge) => ptr::from_ref(edge).addr(),
        }
    }
}

const RECENT: usize = 256;

impl Source {
    fn graph(self) -> &'static Graph {
        match self {
            Source::Created(graph) | Source::Moved(graph, _) => graph,
        }
    }
}

/// Atomic slots hold no references; so they hold addresses, and this gives the references back.
pub(super) struct Sources {
    known: Mutex<Known>,
    /// Addresses that are known to be known, each at a place that follows from it: in nearly all cases one look here
    /// is enough.
    recent: Box<[AtomicUsize; RECENT]>,
}

#[derive(Default)]
struct Known {
    sources: HashMap<usize, (Source, Label)>,
    graphs: Vec<&'static Graph>,
}

/// The name of a lifecycle in events: its own, unless another lifecycle of that name was there before.
#[derive(Debug, Clone)]
pub(super) enum Label {
    Name(&'static str),
    Identity(Arc<str>),
}

impl Known {
    /// The documented lifecycles own their names, so that no other one writes events in them.
    fn label(&mut self, graph: &'static Graph) -> Label {
        if self.graphs.is_empty() {
            self.graphs.extend(crate::documented_graphs());
        }
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
    pub(super) fn new() -> Self {
        Sources { known: Mutex::default(), recent: Box::new([const { AtomicUsize::new(0) }; RECENT]) }
    }

    /// The address of a source that can be [found](Sources::find) again.
    #[inline]
    pub(super) fn keep(&self, source: Source) -> usize {
        let address = source.address();
        // Edges lie beside each other, so that a multiplication scatters them well.
        let place = (address >> 3).wrapping_mul(0x9e37_79b9) >> 16;
        let recent = &self.recent[place % RECENT];
        if recent.load(Ordering::Acquire) != address {
            self.learn(source, recent);
        }
        address
    }

    #[cold]
    fn learn(&self, source: Source, recent: &AtomicUsize) {
        let mut known = lock(&self.known);
        let label = known.label(source.graph());
        known.sources.insert(source.address(), (source, label));
        drop(known);
        recent.store(source.address(), Ordering::Release);
    }

    pub(super) fn find(&self, address: usize) -> Option<(Source, Label)> {
        lock(&self.known).sources.get(&address).cloned()
    }
}
