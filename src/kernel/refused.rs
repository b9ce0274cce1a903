//! Errors of a machine that refuses an event.

use core::error::Error;
use core::fmt;

use super::machine::{Event, Guard, Machine, Status};

/// A dynamic machine that refused an event, with the event, both unchanged.
///
/// ```
/// use runstate::tool_call::{AnyToolCall, CallRecord, Cancel};
///
/// let call = AnyToolCall::new(CallRecord::new("call_1", "read_file", Default::default()));
/// let refused = call.apply(Cancel::new("too late").into()).unwrap_err();
/// let said = refused.to_string();
/// assert!(said.starts_with("tool_call in state New refuses 'cancel'; it accepts 'start', 'suspend'"));
/// let (call, _event) = refused.into_parts();
/// assert_eq!(call.status().name(), "New");
/// ```
pub struct Refused<M: Machine>(Box<Parts<M>>);

struct Parts<M: Machine> {
    machine: M,
    event: M::Event,
    guard: Option<Box<dyn Error + Send + Sync>>,
}

impl<M: Machine> Refused<M> {
    /// Makes the refusal of a state without a transition by this event.
    #[doc(hidden)]
    pub fn no_edge(machine: M, event: M::Event) -> Self {
        Refused(Box::new(Parts { machine, event, guard: None }))
    }

    /// Makes the refusal of a transition by its guard.
    #[doc(hidden)]
    pub fn by_guard(machine: M, event: M::Event, error: impl Error + Send + Sync + 'static) -> Self {
        Refused(Box::new(Parts { machine, event, guard: Some(Box::new(error)) }))
    }

    /// The machine, unchanged.
    pub fn machine(&self) -> &M {
        &self.0.machine
    }

    /// The event, unchanged.
    pub fn event(&self) -> &M::Event {
        &self.0.event
    }

    /// The error of the guard; none when the state has no transition for the event.
    pub fn guard(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.0.guard.as_deref()
    }

    /// The names of the events that the state accepts.
    pub fn accepts(&self) -> impl Iterator<Item = &'static str> + use<M> {
        M::GRAPH.ways_out(self.0.machine.status().name()).map(|edge| edge.event)
    }

    /// Returns machine and event.
    pub fn into_parts(self) -> (M, M::Event) {
        (self.0.machine, self.0.event)
    }
}

impl<M: Machine> fmt::Display for Refused<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guard = self.0.guard.as_deref().map(|guard| guard as &dyn fmt::Display);
        write_refusal::<M>(f, self.0.machine.status(), self.0.event.name(), guard)
    }
}

fn write_refusal<M: Machine>(
    f: &mut fmt::Formatter<'_>,
    status: M::Status,
    event: &str,
    guard: Option<&dyn fmt::Display>,
) -> fmt::Result {
    write!(f, "{} in state {status} refuses '{event}'", M::GRAPH.name)?;
    if let Some(guard) = guard {
        return write!(f, ": {guard}");
    }
    for (i, edge) in M::GRAPH.ways_out(status.name()).enumerate() {
        write!(f, "{}'{}'", if i == 0 { "; it accepts " } else { ", " }, edge.event)?;
    }
    if status.is_terminal() {
        f.write_str("; it is terminal and accepts nothing")?;
    }
    Ok(())
}

impl<M: Machine> fmt::Debug for Refused<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Refused({self})")
    }
}

impl<M: Machine> Error for Refused<M> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.guard.as_deref().map(|e| e as &(dyn Error + 'static))
    }
}

/// The reason why a machine refuses an event, from [`Machine::check`]. It borrows machine and event.
pub struct Refusal<'a, M: Machine> {
    machine: &'a M,
    event: &'a M::Event,
    guard: Option<Box<dyn Error + Send + Sync>>,
}

impl<'a, M: Machine> Refusal<'a, M> {
    /// Makes the refusal of a state without a transition by this event.
    #[doc(hidden)]
    pub fn no_edge(machine: &'a M, event: &'a M::Event) -> Self {
        Refusal { machine, event, guard: None }
    }

    /// Asks the guard of a transition into `To`.
    #[doc(hidden)]
    #[inline]
    pub fn of_guard<To: Guard<From, E>, From, E>(
        machine: &'a M,
        event: &'a M::Event,
        (from, taken, record): (&From, &E, &To::Record),
    ) -> Result<(), Self> {
        To::check(from, taken, record).map_err(|error| Refusal {
            machine,
            event,
            guard: Some(Box::new(error)),
        })
    }

    /// The error of the guard; none when the state has no transition for the event.
    pub fn guard(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.guard.as_deref()
    }
}

impl<M: Machine> fmt::Display for Refusal<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guard = self.guard.as_deref().map(|guard| guard as &dyn fmt::Display);
        write_refusal::<M>(f, self.machine.status(), self.event.name(), guard)
    }
}

impl<M: Machine> fmt::Debug for Refusal<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Refusal({self})")
    }
}

/// A typed machine after a guard refused its transition, with the event, both unchanged.
#[derive(Debug)]
pub struct Rejected<M, E, G> {
    /// The machine, unchanged.
    pub machine: M,
    /// The event, unchanged.
    pub event: E,
    /// The error of the guard.
    pub error: G,
}

impl<M, E, G: fmt::Display> fmt::Display for Rejected<M, E, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<M: fmt::Debug, E: fmt::Debug, G: Error + 'static> Error for Rejected<M, E, G> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}
