//! The results of all state/event pairs.

use core::fmt;

use super::step::{Fault, Step, Verdict};
use crate::kernel::{Event, Graph, Machine, Status};

/// The result of each state/event pair, as [`exhaustive`](super::exhaustive) found it.
///
/// The order is the source order of the lifecycle, so the text is stable and can be a snapshot:
///
/// ```
/// use runstate::testing::{example::Doors, exhaustive};
///
/// assert_eq!(exhaustive(&Doors).to_string(), "\
/// door    close  reopen  lock    unlock  remove
/// Open    Shut   .       .       .       Gone
/// Shut    .      Open    Locked  .       .
/// Locked  .      .       .       Shut ?  .
/// Gone    .      .       .       .       .
///
/// 4 states x 5 events: 5 taken, 15 refused
/// ? a guard refuses some payloads
/// ");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    lifecycle: &'static str,
    start: Option<&'static str>,
    states: Vec<&'static str>,
    reached: Vec<bool>,
    events: &'static [&'static str],
    /// The results by state, then by event.
    cells: Vec<Cell>,
    faults: Vec<Fault>,
}

/// The result of one state/event pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Cell {
    to: Option<&'static str>,
    no_edge: bool,
    by_guard: bool,
    faulty: bool,
}

impl Cell {
    fn was_tried(self) -> bool {
        self.to.is_some() || self.no_edge || self.by_guard || self.faulty
    }
}

impl Matrix {
    pub(super) fn new<M: Machine>() -> Self {
        let states: Vec<_> = M::Status::ALL.iter().map(|status| status.name()).collect();
        let events = M::Event::NAMES;
        Matrix {
            lifecycle: M::GRAPH.name,
            start: None,
            reached: vec![false; states.len()],
            cells: vec![Cell::default(); states.len() * events.len()],
            states,
            events,
            faults: Vec::new(),
        }
    }

    pub(super) fn starts_in(&mut self, state: &'static str) {
        self.start = Some(state);
        self.reach(state);
    }

    /// Marks a state as reached. Returns whether it was the first time.
    pub(super) fn reach(&mut self, state: &str) -> bool {
        match self.states.iter().position(|name| *name == state) {
            Some(i) => !core::mem::replace(&mut self.reached[i], true),
            None => false,
        }
    }

    pub(super) fn record(&mut self, step: Step) {
        let Some(i) = self.place(step.from, step.event) else { return };
        let cell = &mut self.cells[i];
        let before = cell.to.map(Verdict::Taken).or(cell.no_edge.then_some(Verdict::NoEdge));
        match step.verdict {
            Verdict::Taken(to) => cell.to = Some(to),
            Verdict::NoEdge => cell.no_edge = true,
            Verdict::ByGuard => cell.by_guard = true,
        }
        match before {
            // A guard may accept one payload and refuse another. All other results must be equal each time.
            Some(before) if before != step.verdict && step.verdict != Verdict::ByGuard => {
                self.fault(Fault::Ambiguous { step, before });
            }
            _ => {}
        }
    }

    pub(super) fn fault(&mut self, fault: Fault) {
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// Marks the pair of a fault, if it has one, as tried.
    pub(super) fn tried(&mut self, fault: &Fault) {
        if let Fault::MachineChanged { step, .. } | Fault::EventChanged { step, .. } = fault
            && let Some(i) = self.place(step.from, step.event)
        {
            self.cells[i].faulty = true;
        }
    }

    /// Returns whether states were not reached, or pairs were only refused by a guard.
    pub(super) fn has_gaps(&self) -> bool {
        let reached = self.cells.chunks(self.events.len()).zip(&self.reached);
        self.reached.contains(&false)
            || reached
                .flat_map(|(row, _)| row)
                .any(|cell| !cell.was_tried() || cell.by_guard && cell.to.is_none())
    }

    pub(super) fn was_tried(&self, state: &str, event: &str) -> bool {
        self.place(state, event).is_none_or(|i| self.cells[i].was_tried())
    }

    fn place(&self, state: &str, event: &str) -> Option<usize> {
        let state = self.states.iter().position(|name| *name == state)?;
        let event = self.events.iter().position(|name| *name == event)?;
        Some(state * self.events.len() + event)
    }

    fn cells(&self) -> impl Iterator<Item = (&'static str, &'static str, Cell)> + '_ {
        let pairs =
            self.states.iter().flat_map(|state| self.events.iter().map(move |event| (*state, *event)));
        pairs.zip(&self.cells).map(|((state, event), cell)| (state, event, *cell))
    }

    /// The transitions that were taken, as (from, event, to).
    pub fn taken(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        self.cells().filter_map(|(from, event, cell)| Some((from, event, cell.to?))).collect()
    }

    /// The state/event pairs without a transition.
    pub fn refused(&self) -> Vec<(&'static str, &'static str)> {
        self.cells().filter(|(.., cell)| cell.no_edge).map(|(from, event, _)| (from, event)).collect()
    }

    /// The state/event pairs in which a guard refused a payload. Pairs in which it also accepted another payload are
    /// in [`taken`](Matrix::taken) too.
    pub fn refused_by_guard(&self) -> Vec<(&'static str, &'static str)> {
        self.cells().filter(|(.., cell)| cell.by_guard).map(|(from, event, _)| (from, event)).collect()
    }

    /// The states that no legal path reached.
    pub fn unreached(&self) -> Vec<&'static str> {
        let states = self.states.iter().zip(&self.reached);
        states.filter(|(_, reached)| !**reached).map(|(state, _)| *state).collect()
    }

    /// The faults independent of the graph: refusals that changed a machine or an event, and wrong reports to
    /// observers.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Checks that the results equal the declarations of `graph`, without faults.
    ///
    /// # Errors
    /// [`Mismatch`], with a line for each difference and each fault.
    ///
    /// ```
    /// use runstate::kernel::Stateful;
    /// use runstate::testing::{example::Doors, exhaustive};
    /// use runstate::tool_call::AnyToolCall;
    ///
    /// let error = exhaustive(&Doors).check(AnyToolCall::GRAPH).unwrap_err();
    /// assert!(error.to_string().contains("New --> Running : start is declared, and there is no state New"));
    /// ```
    pub fn check(&self, graph: &Graph) -> Result<(), Mismatch> {
        let mut lines = Vec::new();
        let initial = graph.initial().name;
        match self.start {
            Some(start) if start != initial => {
                lines.push(format!("a new machine is in {start}, the graph declares {initial}"));
            }
            _ => {}
        }
        let unreached = self.unreached();
        for state in &unreached {
            lines.push(format!("no legal path reached {state}"));
        }
        for (from, event, cell) in self.cells() {
            if !cell.was_tried() && !unreached.contains(&from) {
                lines.push(format!("{from} was reached, and never given '{event}'"));
            }
        }
        for edge in graph.edges {
            let Some(i) = self.place(edge.from, edge.event) else {
                let (what, name) = if self.states.contains(&edge.from) {
                    ("event", edge.event)
                } else {
                    ("state", edge.from)
                };
                lines.push(format!("{edge} is declared, and there is no {what} {name}"));
                continue;
            };
            match self.cells[i] {
                Cell { to: Some(to), .. } if to == edge.to => {}
                Cell { to: Some(to), .. } => lines.push(format!("{edge} is declared, and it leads to {to}")),
                Cell { by_guard: true, .. } => lines.push(format!(
                    "{edge} is declared, and its guard refused every payload: let the subject give one that the guard accepts"
                )),
                Cell { no_edge: true, .. } => lines.push(format!("{edge} is declared, and it is refused")),
                // The pair was never tried, or it is among the faults.
                Cell { .. } => {}
            }
        }
        for (from, event, cell) in self.cells() {
            if graph.edge(from, event).is_some() {
                continue;
            }
            if let Some(to) = cell.to {
                lines.push(format!("{from} --> {to} : {event} is taken, and the graph lacks it"));
            } else if cell.by_guard {
                lines.push(format!("{from} refuses '{event}' by a guard, and the graph has no such edge"));
            }
        }
        lines.extend(self.faults.iter().map(Fault::to_string));
        if lines.is_empty() { Ok(()) } else { Err(Mismatch { lifecycle: self.lifecycle, lines }) }
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows: Vec<Vec<String>> = Vec::new();
        rows.push([self.lifecycle].iter().chain(self.events).map(|name| (*name).to_owned()).collect());
        for (state, cells) in self.states.iter().zip(self.cells.chunks(self.events.len())) {
            let mut row = vec![(*state).to_owned()];
            row.extend(cells.iter().map(|cell| match cell {
                Cell { to: Some(to), by_guard: false, .. } => (*to).to_owned(),
                Cell { to: Some(to), by_guard: true, .. } => format!("{to} ?"),
                Cell { by_guard: true, .. } => "?".to_owned(),
                Cell { no_edge: true, .. } => ".".to_owned(),
                Cell { faulty: true, .. } => "!".to_owned(),
                Cell { .. } => "-".to_owned(),
            }));
            rows.push(row);
        }
        for row in &rows {
            let mut line = String::new();
            for (column, text) in row.iter().enumerate() {
                let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
                line.push_str(&format!("{text:width$}  "));
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        let (states, events) = (self.states.len(), self.events.len());
        let (taken, refused) = (self.taken().len(), self.refused().len());
        writeln!(f, "\n{states} states x {events} events: {taken} taken, {refused} refused")?;
        let has = |mark: fn(&Cell) -> bool| self.cells.iter().any(mark);
        if has(|cell| cell.by_guard) {
            writeln!(f, "? a guard refuses some payloads")?;
        }
        if has(|cell| cell.faulty) {
            writeln!(f, "! a refusal changed something")?;
        }
        if has(|cell| !cell.was_tried()) {
            writeln!(f, "- never tried, since its state was not reached")?;
        }
        Ok(())
    }
}

/// The differences between results and a declared graph: a line for each difference.
#[derive(Clone, PartialEq, Eq)]
pub struct Mismatch {
    lifecycle: &'static str,
    lines: Vec<String>,
}

impl Mismatch {
    /// The differences, one text each.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: the executed transitions differ from the declared ones", self.lifecycle)?;
        self.lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

/// The `Display` text, because `unwrap` shows it in a failed test.
impl fmt::Debug for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Mismatch {}
