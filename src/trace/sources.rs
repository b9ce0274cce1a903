//! The graphs and edges that a recorder was told of, by their addresses.

use std::collections::HashMap;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::tape::lock;
use crate::kernel::{Edge, Graph};

/// What there is to know of a transition besides who and when.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    Created(&'static Graph),
    Moved(&'static Edge),
}

impl Source {
    /// All of them live for good and none is empty, so that no two have one address.
    #[inline]
    fn address(self) -> usize {
        match self {
            Source::Created(graph) => ptr::from_ref(graph).addr(),
            Source::Moved(edge) => ptr::from_ref(edge).addr(),
        }
    }
}

const RECENT: usize = 256;

/// Atomic slots hold no references; so they hold addresses, and this gives the references back.
pub(super) struct Sources {
    known: Mutex<HashMap<usize, Source>>,
    /// Addresses that are known to be known, each at a place that follows from it: in nearly all cases one look here
    /// is enough.
    recent: Box<[AtomicUsize; RECENT]>,
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
        lock(&self.known).insert(source.address(), source);
        recent.store(source.address(), Ordering::Release);
    }

    pub(super) fn find(&self, address: usize) -> Option<Source> {
        lock(&self.known).get(&address).copied()
    }
}
