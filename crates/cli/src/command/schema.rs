//! `runstate schema`

use clap::ValueEnum;

use crate::exit::Exit;
use crate::output::Output;

/// Print a JSON Schema
///
/// An editor that knows that of scenarios completes and checks them while they are written. The others are of what this command writes
/// and reads: a line of a trace, a graph (`diagram --format json`), a report (`check --format json`).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate schema > scenario.schema.json
  runstate schema trace

Exit codes:
  0  printed")]
pub(crate) struct Args {
    /// Of what
    #[arg(value_enum, default_value_t = Of::Scenario)]
    of: Of,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Of {
    /// A scenario
    Scenario,
    /// A line of a trace
    Trace,
    /// A graph of states
    Graph,
    /// A report of check
    Check,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Exit {
    out.text(match args.of {
        // As the types of the scenario file give it, which a test holds.
        Of::Scenario => include_str!("../../../../docs/scenario.schema.json"),
        Of::Trace => include_str!("../../../../docs/trace.schema.json"),
        Of::Graph => include_str!("../../../../docs/graph.schema.json"),
        Of::Check => include_str!("../../../../docs/check.schema.json"),
    });
    Exit::Good
}
