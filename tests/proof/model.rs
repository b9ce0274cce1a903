//! The form in which the documents' lifecycles are written down here: a table of names, and a rule for the data.

use std::fmt::Debug;

use runstate::kernel::{Persist, ReadRecord, Restore, Stateful, Status};
use runstate::testing::{EventOf, Matrix, RecordOf, Subject, exhaustive};
use serde::Serialize;
use serde_json::Value;

use super::facts;

/// A lifecycle as its document has it, by names alone: the one transcription of it, made by hand from the source documents
/// and from nothing in `src/`. Each test that counts or expects edges takes them from here.
///
/// The edges stand in their document's order.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// The type of its machine.
    pub(crate) machine: &'static str,
    /// The states, by the names that the document gives them.
    pub(crate) states: &'static [&'static str],
    /// Those whose type is named otherwise than they are.
    pub(crate) renamed: &'static [(&'static str, &'static str)],
    pub(crate) initial: &'static str,
    pub(crate) terminal: &'static [&'static str],
    pub(crate) events: &'static [&'static str],
    /// The edges that the document draws or lists: from, event, to, and the caption that it puts on them, if it puts one.
    pub(crate) drawn: &'static [(&'static str, &'static str, &'static str, &'static str)],
    /// The edges that follow from its prose or tables alone, or from a decision: from, event, to, what it says there.
    pub(crate) prose: &'static [(&'static str, &'static str, &'static str, &'static str)],
    /// The state and event of each edge that a condition may refuse.
    pub(crate) guarded: &'static [(&'static str, &'static str)],
}

impl Table {
    /// All edges: from, event, to.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        self.drawn.iter().chain(self.prose).map(|(from, event, to, _)| (*from, *event, *to))
    }

    /// The number of pairs of a state and an event that no edge has.
    pub(crate) fn illegal(&self) -> usize {
        self.states.len() * self.events.len() - self.edges().count()
    }

    /// Where the event leads from there, if it leads anywhere.
    pub(crate) fn to(&self, from: &str, event: &str) -> Option<&'static str> {
        self.edges().find(|edge| (edge.0, edge.1) == (from, event)).map(|edge| edge.2)
    }
}

/// A machine as the documents have it: what is stored of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct At {
    pub(crate) status: &'static str,
    pub(crate) record: Value,
    pub(crate) state: Value,
}

impl At {
    /// What is stored of a real machine.
    pub(crate) fn of<M: Persist<Record: Serialize>>(machine: &M) -> At {
        At {
            status: machine.status().name(),
            record: serde_json::to_value(machine.record()).unwrap(),
            state: machine.serialize_state(serde_json::value::Serializer).unwrap(),
        }
    }

    /// A number of the record.
    pub(crate) fn number(&self, field: &str) -> u64 {
        self.record[field].as_u64().unwrap_or_else(|| panic!("{field} is no number in {}", self.record))
    }

    /// Adds to a number of the record and gives the sum.
    pub(crate) fn count(&mut self, field: &str) -> u64 {
        let sum = self.number(field) + 1;
        self.record[field] = sum.into();
        sum
    }
}

/// What comes of an event, as the documents have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Taken,
    NoEdge,
    ByGuard,
}

/// A lifecycle under proof. Its [`Subject`] makes machines and payloads; the rest is written from the documents and knows
/// nothing of the code but the names under which it stores things.
pub(crate) trait Documented:
    Subject<Machine: Debug, Machine: Restore<Record: ReadRecord + Serialize>> + Copy
{
    const TABLE: Table;

    /// The conditions that no payload fails, but something that happens within a state.
    const REFUSED_BY_ASIDES: &[(&str, &str)] = &[];

    /// A machine in that state, reached by legal steps and with data in it.
    fn at(status: <Self::Machine as Stateful>::Status) -> Self::Machine;

    /// What every state makes of every event, by one subject or by several that together reach every state.
    fn exhaustive(&self) -> Vec<Matrix> {
        vec![exhaustive(self)]
    }

    /// The record and the state's data of a new machine.
    fn begin() -> (Value, Value);

    /// What the edge from `at` by `event` makes of the record, which is changed in `at`, and of the state's data, which is
    /// returned; none when a condition of the documents is not met.
    fn enter(at: &mut At, event: &str, with: &Value) -> Option<Value>;

    /// Takes a machine from storage for the one that the events were made for: what comes back is another flow.
    fn assume(_machine: &mut Self::Machine) {}

    /// Something that happens within a state and is no transition, to machine and model alike.
    fn aside(_machine: &mut Self::Machine, _at: &mut At, _lot: u8) {}
}

/// A new machine, as the documents have it.
pub(crate) fn begin<D: Documented>() -> At {
    let (record, state) = D::begin();
    At { status: D::TABLE.initial, record, state }
}

/// Gives the model an event.
pub(crate) fn step<D: Documented>(at: &mut At, event: &EventOf<D>) -> Outcome
where
    RecordOf<D>: Serialize,
{
    use runstate::kernel::Event;

    let Some(to) = D::TABLE.to(at.status, event.name()) else { return Outcome::NoEdge };
    let mut next = at.clone();
    match D::enter(&mut next, event.name(), &facts::of(event)) {
        Some(state) => {
            *at = At { status: to, state, ..next };
            Outcome::Taken
        }
        None => Outcome::ByGuard,
    }
}
