//! The whole matrix of states and events of a documented lifecycle, made from its graph: each legal cell compiles and
//! leads where the graph says, each other cell is the error E0599.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use runstate::kernel::{Graph, Persist};
use runstate::resume_tool_call::AnyResumeToolCall;
use runstate::run::AnyRun;
use runstate::run_flow::AnyRunFlow;
use runstate::tool_call::AnyToolCall;
use runstate::tool_execution::AnyToolExecution;

use super::pinned::assert_pinned;
use super::rustc::{Against, compile, scratch};

/// A lifecycle and what its graph does not tell: the name of its machine.
struct Matrix {
    graph: &'static Graph,
    machine: &'static str,
}

impl Matrix {
    fn of<A: Persist>() -> Self {
        let any = std::any::type_name::<A>().rsplit("::").next().unwrap();
        Matrix { graph: A::GRAPH, machine: any.strip_prefix("Any").unwrap() }
    }

    /// A cell as a function of the machine in that state and the event.
    fn cell(&self, source: &mut String, from: &str, event: &str, to: Option<&str>) {
        let (machine, from_type, event_type) = (self.machine, type_name(from), type_name(event));
        write!(source, "pub fn {}_{event}", from.to_lowercase()).unwrap();
        write!(source, "(machine: m::{machine}<m::{from_type}>, event: m::{event_type}) {{ ").unwrap();
        match to {
            Some(to) => {
                writeln!(source, "leads::<m::{machine}<m::{}>>(machine.{event}(event)); }}", type_name(to))
            }
            None => writeln!(source, "drop(machine.{event}(event)); }}"),
        }
        .unwrap();
    }

    fn source(&self, legal: bool) -> String {
        let mut source = format!("use runstate::{} as m;\n", self.graph.name);
        if legal {
            source += "pub trait Leads<M> {}\nimpl<M> Leads<M> for M {}\n";
            source += "impl<M, E> Leads<M> for Result<M, E> {}\n";
            source += "pub fn leads<M>(_: impl Leads<M>) {}\n";
        }
        for state in self.graph.states {
            for event in self.graph.events {
                let edge = self.graph.edge(state.name, event);
                if edge.is_some() == legal {
                    self.cell(&mut source, state.name, event, edge.map(|edge| edge.to));
                }
            }
        }
        source
    }

    fn compile(&self, legal: bool) -> Result<(), String> {
        let side = if legal { "legal" } else { "illegal" };
        let file = scratch("matrix").join(format!("{}_{side}.rs", self.graph.name));
        std::fs::write(&file, self.source(legal)).unwrap();
        compile(&file, Against::Library, !legal)
    }

    /// The cells that the graph has no edge for.
    fn illegal_cells(&self) -> BTreeSet<(String, String)> {
        let cells =
            self.graph.states.iter().flat_map(|s| self.graph.events.iter().map(move |e| (s.name, *e)));
        cells
            .filter(|(state, event)| self.graph.edge(state, event).is_none())
            .map(|(state, event)| (type_name(state), event.to_owned()))
            .collect()
    }

    /// Compiles both sides; gives the number of illegal cells and what the compiler says of them.
    fn check(&self) -> (usize, String) {
        if let Err(said) = self.compile(true) {
            panic!("a legal cell of {} does not compile, or leads elsewhere:\n{said}", self.graph.name);
        }
        let said = self.compile(false).expect_err("all illegal cells compile");
        let refused: Vec<_> = said.lines().filter_map(refused_cell).collect();
        let errors = said.lines().filter(|line| line.starts_with("error[")).count();
        assert_eq!(errors, refused.len(), "an error that is no missing method:\n{said}");
        let illegal = self.illegal_cells();
        assert_eq!(refused.len(), illegal.len(), "an error for each illegal cell");
        assert_eq!(BTreeSet::from_iter(refused), illegal);
        (errors, said)
    }
}

/// The state and event of "error[E0599]: no method named `EVENT` found for struct `MACHINE<path::STATE>` …".
fn refused_cell(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix("error[E0599]: no method named `")?;
    let (event, rest) = rest.split_once("` found for struct `")?;
    let (_, rest) = rest.split_once('<')?;
    let (path, _) = rest.split_once('>')?;
    Some((path.rsplit("::").next()?.to_owned(), event.to_owned()))
}

/// The type of a state or event: `AWAITING_APPROVAL` is `AwaitingApproval`, `give_back` is `GiveBack`, `New` is `New`.
fn type_name(name: &str) -> String {
    let shouts = !name.contains(|c: char| c.is_ascii_lowercase());
    name.split('_')
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_uppercase() + &if shouts { rest.to_lowercase() } else { rest.to_owned() }
        })
        .collect()
}

#[test]
fn every_illegal_cell_of_tool_call_is_a_missing_method() {
    let (illegal, said) = Matrix::of::<AnyToolCall>().check();
    assert_eq!(illegal, 7 * 6 - 13);
    assert_pinned("matrix/tool_call", &said);
}

#[test]
fn every_illegal_cell_of_run_is_a_missing_method() {
    let (illegal, said) = Matrix::of::<AnyRun>().check();
    assert_eq!(illegal, 3 * 3 - 4);
    assert_pinned("matrix/run", &said);
}

// The others are not pinned word by word: their words are those of the two above.

#[test]
fn every_illegal_cell_of_run_flow_is_a_missing_method() {
    let (illegal, _) = Matrix::of::<AnyRunFlow>().check();
    assert_eq!(illegal, AnyRunFlow::GRAPH.states.len() * AnyRunFlow::GRAPH.events.len() - (29 + 14));
}

#[test]
fn every_illegal_cell_of_resume_tool_call_is_a_missing_method() {
    let (illegal, _) = Matrix::of::<AnyResumeToolCall>().check();
    assert_eq!(illegal, AnyResumeToolCall::GRAPH.states.len() * AnyResumeToolCall::GRAPH.events.len() - 13);
}

#[test]
fn every_illegal_cell_of_tool_execution_is_a_missing_method() {
    let (illegal, _) = Matrix::of::<AnyToolExecution>().check();
    assert_eq!(illegal, AnyToolExecution::GRAPH.states.len() * AnyToolExecution::GRAPH.events.len() - 11);
}
