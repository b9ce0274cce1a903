//! Bundles in memory.

use std::fmt;

use serde::Serialize;

use super::super::{RestoreError, Seal, SnapshotError};
use super::{Bundle, Graphs, Machines, write};
use crate::kernel::Graph;

/// An in-memory log of bundles, with the bytes of its form on disk.
///
/// The bundles have no checksum, because only this type can change them.
///
/// ```
/// use runstate::kernel::Stateful;
/// use runstate::run::{AnyRun, RunRecord};
/// use runstate::snapshot::BundleLog;
///
/// let mut log = BundleLog::default();
/// let run = AnyRun::new(RunRecord::new("r1"));
/// log.append(&[AnyRun::GRAPH], true, &(), |machines| machines.add("run", &run))?;
/// assert_eq!(log.len(), 1);
/// let bundle = log.read().next().unwrap()?;
/// assert_eq!(bundle.machine("run").unwrap().status(), "Running");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct BundleLog {
    bytes: Vec<u8>,
    /// The end of each bundle.
    ends: Vec<usize>,
    /// The graphs of all bundles, in order.
    graphs: Vec<&'static Graph>,
}

impl BundleLog {
    /// Appends a bundle; the arguments are those of [`Bundle::write`]. All bundles of a log have the same graphs.
    ///
    /// # Errors
    /// As [`Bundle::write`]; and [`SnapshotError::Bundle`] when the graphs differ from the earlier ones. The log is
    /// unchanged then.
    pub fn append<T: Serialize + ?Sized>(
        &mut self,
        graphs: &[&'static Graph],
        tells: bool,
        content: &T,
        machines: impl FnOnce(&mut Machines<'_>) -> Result<(), SnapshotError>,
    ) -> Result<(), SnapshotError> {
        if self.is_empty() {
            self.graphs = graphs.to_vec();
        } else if self.graphs != graphs {
            let message = "the log has other graphs".to_owned();
            return Err(SnapshotError::Bundle { name: "graphs".to_owned(), message });
        }
        // Removes the leftovers of a panic in an earlier call.
        let before = self.ends.last().copied().unwrap_or(0);
        self.bytes.truncate(before);
        let outcome = write(&mut self.bytes, graphs, tells, content, machines);
        match outcome {
            Ok(()) => self.ends.push(self.bytes.len()),
            Err(_) => self.bytes.truncate(before),
        }
        outcome
    }

    /// Reads the bundles in order.
    pub fn read(&self) -> impl Iterator<Item = Result<Bundle, RestoreError>> {
        let (mut from, mut graphs) = (0, Graphs::default());
        self.ends.iter().map(move |to| {
            let json = &self.bytes[from..*to];
            from = *to;
            // An index without a graph in the log is refused before this digest is compared.
            let none = || Seal::Read(String::new());
            let seal =
                |of: usize| self.graphs.get(of).map_or_else(none, |graph| Seal::Taken(graph.witness()));
            Bundle::vouched(json, &mut graphs, seal)
        })
    }

    /// The number of bundles.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the log has no bundles.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The size of all bundles in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

impl fmt::Debug for BundleLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BundleLog({} bundles, {} bytes)", self.len(), self.size())
    }
}
