//! The writer of a bundle's text.

use std::fmt;
use std::io::Write;
use std::ptr;

use serde::de::IgnoredAny;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::super::{SnapshotError, is_documented, is_pretended, sealable};
use crate::json::numbers_keep_their_text;
use crate::kernel::{Graph, Persist, Status, proven_witness};

/// The collector for the machines of a bundle.
#[derive(Debug)]
pub struct Machines<'a> {
    out: &'a mut Vec<u8>,
    graphs: &'a [&'static Graph],
    /// The position of each name in `out`. Most bundles have one machine, and need no list.
    first: Option<(usize, usize)>,
    more: Vec<(usize, usize)>,
    /// The error of a machine that was not added. Its bytes may be in `out`, so the bundle fails too.
    failed: Option<SnapshotError>,
    /// Whether an addition is in progress. If it still is at the next addition or at the end, the machine's own code
    /// panicked, and a caller caught the panic.
    is_adding: bool,
}

impl Machines<'_> {
    /// Adds a machine, typed or dynamic, under a unique name.
    ///
    /// # Errors
    /// As [`Bundle::write`](super::Bundle::write), which then also fails.
    pub fn add<P: Persist>(&mut self, name: impl fmt::Display, machine: &P) -> Result<(), SnapshotError>
    where
        P::Record: Serialize,
    {
        self.note_cut_off();
        self.is_adding = true;
        let added = self.write(name, machine);
        self.is_adding = false;
        if let Err(error) = &added {
            self.failed = Some(error.clone());
        }
        added
    }

    /// Records an interrupted addition as an error.
    fn note_cut_off(&mut self) {
        if self.is_adding {
            let message = "a panic cut its writing off".to_owned();
            self.failed = Some(SnapshotError::Bundle { name: "a machine".to_owned(), message });
        }
    }

    fn write<P: Persist>(&mut self, name: impl fmt::Display, machine: &P) -> Result<(), SnapshotError>
    where
        P::Record: Serialize,
    {
        let refused =
            |message: &str| SnapshotError::Bundle { name: name.to_string(), message: message.to_owned() };
        // The start of the bundle has checked its graphs.
        let of = self.graphs.iter().position(|graph| ptr::eq(*graph, P::GRAPH));
        let Some(of) = of.filter(|_| proven_witness::<P>().is_some()) else {
            sealable::<P>()?;
            return Err(refused("its graph is not one of the bundle's"));
        };
        let failed = |error: serde_json::Error| refused(&error.to_string());
        if self.first.is_some() {
            self.out.push(b',');
        }
        let from = self.out.len();
        serde_json::to_writer(&mut *self.out, &Shown(&name)).map_err(failed)?;
        let to = self.out.len();
        if self.first.iter().chain(&self.more).any(|(a, b)| self.out[*a..*b] == self.out[from..to]) {
            return Err(refused("the bundle has one of that name"));
        }
        match self.first {
            None => self.first = Some((from, to)),
            Some(_) => self.more.push((from, to)),
        }
        self.out.push(b':');
        let from = self.out.len();
        // A status is an identifier and needs no escape.
        write!(self.out, "{{\"of\":{of},\"status\":\"").unwrap_or_else(|_| unreachable!("memory takes all"));
        self.out.extend_from_slice(machine.status().name().as_bytes());
        self.out.extend_from_slice(b"\",\"record\":");
        serde_json::to_writer(&mut *self.out, machine.record()).map_err(failed)?;
        self.out.extend_from_slice(b",\"state\":");
        serde_json::to_writer(&mut *self.out, &State(machine)).map_err(failed)?;
        self.out.push(b'}');
        // A `Serialize` of a foreign record may write raw text through a private name of `serde_json`, and so close
        // its own object and begin a forged one. A record of this crate can do so only where numbers keep their text.
        if numbers_keep_their_text() || !is_documented(P::GRAPH) {
            serde_json::from_slice::<IgnoredAny>(&self.out[from..]).map_err(failed)?;
        }
        Ok(())
    }
}

/// A text that is written piece by piece, without a copy.
struct Shown<'a, T>(&'a T);

impl<T: fmt::Display> Serialize for Shown<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.0)
    }
}

struct State<'a, P>(&'a P);

impl<P: Persist> Serialize for State<'_, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_state(serializer)
    }
}

/// Appends the JSON of a bundle. After an error, part of the JSON may be in `out`.
pub(super) fn write<T: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    graphs: &[&'static Graph],
    tells: bool,
    content: &T,
    machines: impl FnOnce(&mut Machines<'_>) -> Result<(), SnapshotError>,
) -> Result<(), SnapshotError> {
    // Each field is written even when it is empty, so that a forged second field, from raw text in the content, is a
    // duplicate.
    out.extend_from_slice(b"{\"graphs\":");
    out.push(b'[');
    for (i, graph) in graphs.iter().enumerate() {
        let is_documented = is_documented(graph);
        if !is_documented && is_pretended(graph) {
            return Err(SnapshotError::Unproven {
                machine: "the graph",
                lifecycle: graph.identity().to_string(),
            });
        }
        if i > 0 {
            out.push(b',');
        }
        if is_documented && !tells {
            // The name identifies the listed graph, so that no bundle is read with the graphs of another log. It is
            // an identifier and needs no escape.
            out.push(b'"');
            out.extend_from_slice(graph.name.as_bytes());
            out.push(b'"');
            continue;
        }
        let identity = Value::from(graph.identity().to_string());
        write!(out, "[{identity},{},\"{}\"]", graph.version, graph.fingerprint())
            .unwrap_or_else(|_| unreachable!("writing to memory does not fail"));
    }
    out.push(b']');
    out.extend_from_slice(b",\"machines\":{");
    let mut added = Machines { out, graphs, first: None, more: Vec::new(), failed: None, is_adding: false };
    machines(&mut added)?;
    added.note_cut_off();
    if let Some(failed) = added.failed {
        return Err(failed);
    }
    out.extend_from_slice(b"},\"content\":");
    serde_json::to_writer(&mut *out, content)
        .map_err(|error| SnapshotError::Bundle { name: "content".to_owned(), message: error.to_string() })?;
    out.push(b'}');
    Ok(())
}
