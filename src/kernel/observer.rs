//! Observers of transitions.

use core::fmt;
use std::sync::Arc;

use super::graph::{Edge, Graph};
use super::proof::Witness;

/// A receiver of transitions: a recorder, a counter, a log.
///
/// The kernel calls it. Code that holds an [`Observer`] cannot: a call needs the witness of the lifecycle, which only the
/// code that `lifecycle!` generates has. The implementation's own methods stay as public as their type.
pub trait Observe: Send + Sync {
    /// A machine was created in the initial state of `graph`. `instance` is what [`Observer::new`] was given.
    fn created(&self, instance: u32, graph: &'static Graph);

    /// A machine of `graph` took `edge`, which is one of `graph.edges`.
    fn moved(&self, instance: u32, graph: &'static Graph, edge: &'static Edge);
}

/// A handle on an [`Observe`], kept in a record; empty by default, and then it costs a test of a null pointer.
///
/// It is no part of a machine's value: it is not stored, and two records that differ in it alone are equal.
#[derive(Clone, Default)]
pub struct Observer {
    told: Option<Arc<dyn Observe>>,
    instance: u32,
}

impl Observer {
    /// Tells `told` of the transitions of the machine that it calls `instance`.
    pub fn new(told: Arc<dyn Observe>, instance: u32) -> Self {
        Observer { told: Some(told), instance }
    }

    /// Passes a creation on.
    #[inline]
    pub(super) fn created(&self, witness: &Witness, graph: &'static Graph) {
        if let Some(told) = &self.told
            && graph.has_witness(witness)
        {
            told.created(self.instance, graph);
        }
    }

    /// Passes a transition on.
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
