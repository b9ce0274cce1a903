//! `runstate schema`

use clap::ValueEnum;

use crate::exit::Exit;
use crate::output::Output;

/// Print a JSON Schema
///
/// With the schema of scenarios, an editor completes and checks a scenario. The other schemas describe files of this program:
/// a line of a trace, a graph (`diagram --format json`), a report (`check --format json`), an agent file (`chat`). `runstate stream --schema` prints
/// the schema of stream scenarios.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate schema > scenario.schema.json
  runstate schema trace

Exit codes:
  0  printed")]
pub(crate) struct Args {
    /// The subject of the schema. Default: scenario
    #[arg(value_enum, default_value_t = Of::Scenario, hide_default_value = true)]
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
    /// An agent file
    Agent,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Exit {
    out.text(match args.of {
        // Derived from the types of the scenario file; a test compares both.
        Of::Scenario => include_str!("../../schemas/scenario.schema.json"),
        Of::Trace => include_str!("../../schemas/trace.schema.json"),
        Of::Graph => include_str!("../../schemas/graph.schema.json"),
        Of::Check => include_str!("../../schemas/check.schema.json"),
        Of::Agent => include_str!("../../schemas/agent.schema.json"),
    });
    Exit::Good
}
