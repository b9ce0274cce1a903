//! A trace as a table: who was in which state when.

use std::collections::HashMap;
use std::fmt;

use super::event::{Event, Plain};

/// The table of a trace: a row for each transition, a column for each instance of one lifecycle and one for the run, as
/// in the timeline of document 003, "Parallel tool call state timeline".
///
/// A row shows the states after its transition. The column of the run shows the state of the run's own lifecycle; the
/// transitions of other lifecycles have no row. A cell is `-` before its instance exists.
///
/// # Example
/// ```
/// use runstate::trace::{Event, Timeline};
///
/// let lines = [
///     r#"{"seq":1,"at_ms":0,"run":"r","lifecycle":"run","instance":"r","event":"create","from":null,"to":"Running"}"#,
///     r#"{"seq":2,"at_ms":0,"run":"r","lifecycle":"tool_call","instance":"tool_A","event":"create","from":null,"to":"New"}"#,
///     r#"{"seq":3,"at_ms":0,"run":"r","lifecycle":"tool_call","instance":"tool_A","event":"suspend","from":"New","to":"Suspended"}"#,
///     r#"{"seq":4,"at_ms":0,"run":"r","lifecycle":"run","instance":"r","event":"wait","from":"Running","to":"Waiting"}"#,
/// ];
/// let mut timeline = Timeline::new("tool_call", "run");
/// for line in lines {
///     timeline.event(&Event::from_json(line).unwrap());
/// }
/// assert_eq!(timeline.to_string(), "\
/// Time  tool_A     run
/// t0    -          Running  run: create
/// t1    New        Running  tool_A: create
/// t2    Suspended  Running  tool_A: suspend
/// t3    Suspended  Waiting  run: wait
/// ");
/// ```
#[derive(Debug, Clone)]
pub struct Timeline {
    lifecycle: String,
    run_lifecycle: String,
    instances: Vec<String>,
    columns: HashMap<String, usize>,
    rows: Vec<Row>,
}

#[derive(Debug, Clone)]
struct Row {
    /// The column that changes; none for that of the run.
    column: Option<usize>,
    state: String,
    event: String,
}

impl Timeline {
    /// A table of the instances of `lifecycle`, such as `tool_call`, beside those of `run_lifecycle`, such as `run`.
    pub fn new(lifecycle: &str, run_lifecycle: &str) -> Self {
        Timeline {
            lifecycle: lifecycle.to_owned(),
            run_lifecycle: run_lifecycle.to_owned(),
            instances: Vec::new(),
            columns: HashMap::new(),
            rows: Vec::new(),
        }
    }

    /// Adds the next event of the trace.
    pub fn event(&mut self, event: &Event<'_>) {
        let column = if *event.lifecycle == *self.lifecycle {
            let name = Plain(&event.instance).to_string();
            Some(self.columns.get(&name).copied().unwrap_or_else(|| {
                self.columns.insert(name.clone(), self.instances.len());
                self.instances.push(name);
                self.instances.len() - 1
            }))
        } else if *event.lifecycle == *self.run_lifecycle {
            None
        } else {
            return;
        };
        self.rows.push(Row {
            column,
            state: Plain(&event.to).to_string(),
            event: Plain(&event.event).to_string(),
        });
    }

    /// The number of columns beside those of the time and of the run. The text is as long as rows times columns, so a caller that
    /// shows many may show something else.
    pub fn columns(&self) -> usize {
        self.instances.len()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Is there no row?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How wide each column is: the instances', then the run's.
    fn widths(&self) -> Vec<usize> {
        let names = self.instances.iter().chain([&self.run_lifecycle]);
        let mut widths: Vec<usize> = names.map(|name| name.chars().count()).collect();
        for row in &self.rows {
            let width = &mut widths[row.column.unwrap_or(self.instances.len())];
            *width = (*width).max(row.state.chars().count());
        }
        widths
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let run = self.instances.len();
        let time = 4.max(self.rows.len().saturating_sub(1).to_string().len() + 1);
        write!(f, "{:time$}", "Time")?;
        for (name, width) in self.instances.iter().chain([&self.run_lifecycle]).zip(&widths[..run]) {
            write!(f, "  {name:width$}")?;
        }
        writeln!(f, "  {}", Plain(&self.run_lifecycle))?;
        let mut states = vec!["-"; run + 1];
        for (tick, row) in self.rows.iter().enumerate() {
            states[row.column.unwrap_or(run)] = &row.state;
            write!(f, "{:time$}", format!("t{tick}"))?;
            for (state, width) in states.iter().zip(&widths) {
                write!(f, "  {state:width$}")?;
            }
            let who = row.column.map_or(&self.run_lifecycle, |column| &self.instances[column]);
            writeln!(f, "  {who}: {}", row.event)?;
        }
        Ok(())
    }
}
