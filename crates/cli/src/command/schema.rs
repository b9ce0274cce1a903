//! `runstate schema`

use crate::exit::Exit;
use crate::output::Output;

/// As the types of the scenario file give it, which a test holds.
const SCHEMA: &str = include_str!("../../../../docs/scenario.schema.json");

/// Print the JSON Schema of the scenario file
///
/// An editor that knows it completes and checks scenarios while they are written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate schema > scenario.schema.json

Exit codes:
  0  printed")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, out: &mut Output) -> Exit {
    out.text(SCHEMA);
    Exit::Good
}
