//! The whole matrix of states and events of a documented lifecycle, made from its graph: each legal cell compiles and
//! leads where the graph says, each other cell is the error E0599.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use runstate::approval::AnyApproval;
use runstate::governed_run::AnyGovernedRun;
use runstate::kernel::{Graph, Stateful, Status};
use runstate::resume_tool_call::AnyResumeToolCall;
use runstate::run::AnyRun;
use runstate::run_flow::AnyRunFlow;
use runstate::service_pass::AnyServicePass;
use runstate::service_run::AnyServiceRun;
use runstate::stream_session::AnyStreamSession;
use runstate::tool_call::AnyToolCall;
use runstate::tool_execution::AnyToolExecution;

use super::pinned::assert_pinned;
use super::rustc::{Against, compile, scratch};
use crate::proof::transcribed;

/// A lifecycle and what its graph does not tell: the names of the types of its machine and of its states.
struct Matrix {
    graph: &'static Graph,
    machine: &'static str,
    states: Vec<String>,
}

impl Matrix {
    fn of<A: Stateful>() -> Self {
        let any = std::any::type_name::<A>().rsplit("::").next().unwrap();
        let states = A::Status::ALL.iter().map(|status| format!("{status:?}")).collect();
        Matrix { graph: A::GRAPH, machine: any.strip_prefix("Any").unwrap(), states }
    }

    /// Each cell: the type of the state, the event, and the type of the state that it leads to.
    fn cells(&self) -> impl Iterator<Item = (&str, &'static str, Option<&str>)> {
        let states = self.graph.states.iter().zip(&self.states);
        states.flat_map(|(state, of_type)| {
            self.graph.events.iter().map(|event| {
                let edge = self.graph.edge(state.name, event);
                (of_type.as_str(), *event, edge.map(|edge| self.states[edge.to_index].as_str()))
            })
        })
    }

    /// A function for each legal cell, or for each other one, of a machine in that state and an event.
    fn source(&self, legal: bool) -> String {
        let mut source = format!("use runstate::{} as m;\n", self.graph.name);
        if legal {
            source += "pub trait Leads<M> {}\nimpl<M> Leads<M> for M {}\n";
            source += "impl<M, E> Leads<M> for Result<M, E> {}\n";
            source += "pub fn leads<M>(_: impl Leads<M>) {}\n";
        }
        let machine = self.machine;
        for (state, event, next) in self.cells().filter(|cell| cell.2.is_some() == legal) {
            write!(source, "pub fn {}_{event}", state.to_lowercase()).unwrap();
            write!(source, "(machine: m::{machine}<m::{state}>, event: m::{}) {{ ", camel_case(event))
                .unwrap();
            match next {
                Some(next) => {
                    writeln!(source, "leads::<m::{machine}<m::{next}>>(machine.{event}(event)); }}")
                }
                None => writeln!(source, "drop(machine.{event}(event)); }}"),
            }
            .unwrap();
        }
        source
    }

    fn compile(&self, legal: bool) -> Result<(), String> {
        let side = if legal { "legal" } else { "illegal" };
        let file = scratch("matrix").join(format!("{}_{side}.rs", self.graph.name));
        std::fs::write(&file, self.source(legal)).unwrap();
        compile(&file, Against::Library, !legal)
    }

    /// Compiles both sides; gives the number of illegal state/event pairs and what the compiler says of them.
    fn check(&self) -> (usize, String) {
        if let Err(said) = self.compile(true) {
            panic!(
                "a legal state/event pair of {} does not compile, or leads elsewhere:\n{said}",
                self.graph.name
            );
        }
        let said = self.compile(false).expect_err("all illegal state/event pairs compile");
        let refused: Vec<_> = said.lines().filter_map(refused_cell).collect();
        let errors = said.lines().filter(|line| line.starts_with("error[")).count();
        assert_eq!(errors, refused.len(), "an error that is no missing method:\n{said}");
        let illegal: BTreeSet<_> = self
            .cells()
            .filter(|cell| cell.2.is_none())
            .map(|(state, event, _)| (state.to_owned(), event.to_owned()))
            .collect();
        assert_eq!(refused.len(), illegal.len(), "an error for each illegal state/event pair");
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

/// The type of an event: `fall_back` is `FallBack`.
fn camel_case(event: &str) -> String {
    event.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

#[test]
fn every_illegal_event_of_tool_call_is_a_missing_method() {
    let (illegal, said) = Matrix::of::<AnyToolCall>().check();
    assert_eq!(illegal, transcribed("tool_call").illegal());
    assert_pinned("matrix/tool_call", &said);
}

#[test]
fn every_illegal_event_of_run_is_a_missing_method() {
    let (illegal, said) = Matrix::of::<AnyRun>().check();
    assert_eq!(illegal, transcribed("run").illegal());
    assert_pinned("matrix/run", &said);
}

/// The others are not pinned word by word: their words are those of the two above.
macro_rules! matrices {
    ($($name:ident: $any:ty;)+) => {
        $(
            #[test]
            fn $name() {
                let (illegal, _) = Matrix::of::<$any>().check();
                assert_eq!(illegal, transcribed(<$any as Stateful>::GRAPH.name).illegal());
            }
        )+
    };
}

matrices! {
    every_illegal_cell_of_run_flow_is_a_missing_method: AnyRunFlow;
    every_illegal_cell_of_resume_tool_call_is_a_missing_method: AnyResumeToolCall;
    every_illegal_cell_of_tool_execution_is_a_missing_method: AnyToolExecution;
    every_illegal_cell_of_stream_session_is_a_missing_method: AnyStreamSession;
    every_illegal_cell_of_governed_run_is_a_missing_method: AnyGovernedRun;
    every_illegal_cell_of_approval_is_a_missing_method: AnyApproval;
    every_illegal_cell_of_service_run_is_a_missing_method: AnyServiceRun;
    every_illegal_cell_of_service_pass_is_a_missing_method: AnyServicePass;
}
