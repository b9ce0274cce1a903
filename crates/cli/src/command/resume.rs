//! `runstate resume RUN`

use super::run::How;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::run::Driven;
use crate::runs::{self, RunFolder};
use crate::scenario;

/// Go on with a run that waits for decisions, or that was killed
///
/// The run comes back from its state file as types, or not at all. A call that was executing when the run was killed is
/// in doubt: one that only reads is executed again, about any other a person is asked.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate resume tidy-folder-1 --approve rm_draft --deny rm_notes

Exit codes:
  0  the run ended naturally
  1  the run ended in another way (error, stopped, blocked), or its trace violates a diagram
  2  there is no such run, it is over, another process drives it, or its files cannot be used
  3  the run waits for a decision")]
pub(crate) struct Args {
    /// The run's id
    run: String,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let state_dir = runs::state_dir(args.how.state_dir.as_deref())?;
    let folder = RunFolder::open(&state_dir, &args.run)?;
    let scenario = scenario::read(&folder.scenario().to_string_lossy())?.scenario;
    args.how.drive(Driven::restore(folder, scenario, args.how.real_time)?, out)
}
