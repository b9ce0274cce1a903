//! A counter of the transitions that machines take.

use core::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::kernel::{Edge, Graph, Observe, Observer};
use crate::trace::{Coverage, EdgeCount, LifecycleCoverage, StateCount};

/// A counter of transitions, for machines on any number of threads.
///
/// The counter counts every machine with one of its [observers](EdgeCounter::observer), typed or dynamic, driven by a
/// test or by a real runtime. Clones share their counts. Unlike a [`Recorder`](crate::trace::Recorder) it keeps no
/// order and needs no memory per transition.
///
/// ```
/// use runstate::kernel::Stateful;
/// use runstate::testing::EdgeCounter;
/// use runstate::testing::example::{AnyDoor, Close, Frame};
///
/// let counter = EdgeCounter::of([AnyDoor::GRAPH]);
/// for _ in 0..3 {
///     let door = AnyDoor::new(Frame::observed(counter.observer()));
///     let _door = door.apply(Close.into()).unwrap();
/// }
/// assert_eq!(counter.to_string(), "\
/// door: 1 of 5 edges taken (20.0 %), 3 instances
///      3  Open --> Shut : close
///  never  Open --> Gone : remove
///  never  Shut --> Open : reopen
///  never  Shut --> Locked : lock
///  never  Locked --> Shut : unlock
/// ");
/// ```
#[derive(Clone)]
pub struct EdgeCounter(Arc<Counts>);

struct Counts {
    lifecycles: Vec<Lifecycle>,
}

struct Lifecycle {
    graph: &'static Graph,
    created: AtomicU64,
    /// The counts by the index of the transition in the graph.
    taken: Vec<AtomicU64>,
}

impl EdgeCounter {
    /// Counts the transitions of these graphs. It ignores machines of other lifecycles.
    pub fn of(graphs: impl IntoIterator<Item = &'static Graph>) -> Self {
        let lifecycle = |graph: &'static Graph| Lifecycle {
            graph,
            created: AtomicU64::new(0),
            taken: graph.edges.iter().map(|_| AtomicU64::new(0)).collect(),
        };
        EdgeCounter(Arc::new(Counts { lifecycles: graphs.into_iter().map(lifecycle).collect() }))
    }

    /// Makes an observer for the record of a machine.
    pub fn observer(&self) -> Observer {
        Observer::new(Arc::clone(&self.0) as Arc<dyn Observe>, 0)
    }

    /// The counts so far. [`Coverage::merge`] adds several of them.
    ///
    /// A machine that was dropped before its end counts as unfinished. A machine that was restored from storage has
    /// no creation here; only its transitions count.
    pub fn coverage(&self) -> Coverage {
        Coverage { lifecycles: self.0.lifecycles.iter().map(Lifecycle::coverage).collect() }
    }
}

impl Lifecycle {
    fn coverage(&self) -> LifecycleCoverage {
        let instances = self.created.load(Ordering::Relaxed);
        let taken: Vec<u64> = self.taken.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let sum = |is_counted: &dyn Fn(&Edge) -> bool| -> u64 {
            let edges = self.graph.edges.iter().zip(&taken);
            edges.filter(|(edge, _)| is_counted(edge)).map(|(_, taken)| taken).sum()
        };
        let states = self.graph.states.iter().enumerate().map(|(place, state)| {
            let created = if state.initial { instances } else { 0 };
            let entered = created + sum(&|edge| edge.to_index == place);
            let left = sum(&|edge| edge.from_index == place);
            StateCount {
                state: state.name.to_owned(),
                entered,
                created,
                current: entered.saturating_sub(left),
                inside: Vec::new(),
            }
        });
        let states: Vec<StateCount> = states.collect();
        let unfinished = self.graph.states.iter().zip(&states).filter(|(state, _)| !state.terminal);
        LifecycleCoverage {
            violations: 0,
            lifecycle: self.graph.name.to_owned(),
            instances,
            unfinished: unfinished.map(|(_, count)| count.current).sum(),
            edges: self
                .graph
                .edges
                .iter()
                .zip(taken)
                .map(|(edge, taken)| EdgeCount {
                    held: true,
                    from: edge.from.to_owned(),
                    event: edge.event.to_owned(),
                    to: edge.to.to_owned(),
                    taken,
                })
                .collect(),
            plain: Vec::new(),
            states,
        }
    }
}

impl Observe for Counts {
    fn created(&self, _: u32, graph: &'static Graph) {
        if let Some(lifecycle) = self.lifecycles.iter().find(|lifecycle| lifecycle.graph == graph) {
            lifecycle.created.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn moved(&self, _: u32, graph: &'static Graph, edge: &'static Edge) {
        let lifecycle = self.lifecycles.iter().find(|lifecycle| lifecycle.graph == graph);
        let count = lifecycle.and_then(|lifecycle| {
            let place = lifecycle.graph.edges.iter().position(|known| core::ptr::eq(known, edge))?;
            lifecycle.taken.get(place)
        });
        if let Some(count) = count {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// One line per lifecycle, followed by one line per transition with its count.
impl fmt::Display for EdgeCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for covered in self.coverage().iter() {
            let (name, taken, all) = (&covered.lifecycle, covered.taken(), covered.edges.len());
            let plural = if covered.instances == 1 { "" } else { "s" };
            writeln!(
                f,
                "{name}: {taken} of {all} edges taken ({:.1} %), {} instance{plural}",
                covered.percent(),
                covered.instances
            )?;
            for edge in &covered.edges {
                let count = if edge.taken == 0 { "never".to_owned() } else { edge.taken.to_string() };
                writeln!(f, "{count:>6}  {edge}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for EdgeCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
