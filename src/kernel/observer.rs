//! Observers of transitions.

use core::fmt;
use std::sync::Arc;

use super::graph::{Edge, Graph};
use super::proof::Witness;

/// A receiver of transitions: a recorder, a counter, a log.
///
/// Only the kernel calls it. A holder of an [`Observer`] cannot: a call needs the witness of the lifecycle, and only
/// the code that `lifecycle!` generates has it. The implementation's own methods are as public as their type.
pub trait Observe: Send + Sync {
    /// Reports that a machine was created in the initial state of `graph`. `instance` is the argument of
    /// [`Observer::new`].
    fn created(&self, instance: u32, graph: &'static Graph);

    /// Reports that a machine of `graph` took `edge`, which is one of `graph.edges`.
    fn moved(&self, instance: u32, graph: &'static Graph, edge: &'static Edge);
}

/// A handle on an [`Observe`], kept in a record. Default: empty, at the cost of one test of a null pointer per
/// transition.
///
/// It is no part of a machine's value: it is not stored, and two records that differ only in it are equal.
#[derive(Clone, Default)]
pub struct Observer {
    told: Option<Arc<dyn Observe>>,
    instance: u32,
}

impl Observer {
    /// Makes a handle that reports transitions to `told`, under the number `instance`.
    pub fn new(told: Arc<dyn Observe>, instance: u32) -> Self {
        Observer { told: Some(told), instance }
    }

    /// Reports a creation.
    #[inline]
    pub(super) fn created(&self, witness: &Witness, graph: &'static Graph) {
        if let Some(told) = &self.told
            && graph.has_witness(witness)
        {
            told.created(self.instance, graph);
        }
    }

    /// Reports a transition.
    #[inline]
    pub(super) fn moved(&self, witness: &Witness, graph: &'static Graph, edge: &'static Edge) {
        if let Some(told) = &self.told
            && graph.has_witness(witness)
            && edge.has_witness(witness)
        {
            told.moved(self.instance, graph, edge);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.told.is_some() { "Observer(on)" } else { "Observer(off)" })
    }
}

impl PartialEq for Observer {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Observer {}
