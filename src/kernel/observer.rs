//! Who is told of a machine's transitions.

use core::fmt;
use std::sync::Arc;

use super::graph::{Edge, Graph};

/// What is told of transitions: a recorder, a counter, a log.
pub trait Observe: Send + Sync {
    /// A machine was created in the initial state of `graph`. `instance` is what [`Observer::new`] was given.
    fn created(&self, instance: u32, graph: &'static Graph);

    /// A machine took `edge`.
    fn moved(&self, instance: u32, edge: &'static Edge);
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
    pub(super) fn created(&self, graph: &'static Graph) {
        if let Some(told) = &self.told {
            told.created(self.instance, graph);
        }
    }

    /// Passes a transition on.
    #[inline]
    pub(super) fn moved(&self, edge: &'static Edge) {
        if let Some(told) = &self.told {
            told.moved(self.instance, edge);
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
