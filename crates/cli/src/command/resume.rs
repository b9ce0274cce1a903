//! `runstate resume RUN`

use super::run::How;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::run;
use crate::store::Missing;

/// Go on with a run that waits for decisions, or that was killed
///
/// The run comes back from its store as types, or not at all, and takes what was decided with `runstate approve` and
/// `runstate deny`. A call that was executing when the run was killed is in doubt: one that only reads is executed again,
/// about any other a person is asked. A run that somebody else has in hand is waited for until that lease is over.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate resume tidy-folder-1 --approve rm_draft --deny rm_notes

Exit codes:
  0  the run ended naturally
  1  the run ended in another way (error, stopped, blocked), or its trace violates a diagram
  2  there is no such run, it is over, another process drives it, or it cannot be read
  3  the run waits for a decision")]
pub(crate) struct Args {
    /// The run's id
    run: String,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let opened = args.how.place.open(Missing::Refuse)?;
    args.how.drive(run::take(opened, &args.run, args.how.lease, args.how.real_time)?, out)
}
