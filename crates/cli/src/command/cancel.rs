//! `runstate cancel RUN`

use runstate::run::RunStatus;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, printable};
use crate::run;
use crate::store::{Missing, StoreArgs};

/// Cancel a run, in whatever process it is driven
///
/// The wish is durable when this returns. Whoever drives the run ends it; one that nobody drives is ended by a worker, or by
/// `runstate resume`. What its tools have done stays done.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate cancel tidy-folder-1 --reason 'started by mistake'

Exit codes:
  0  the run is to be cancelled, or was before
  1  the run is over
  2  there is no such run, or the store cannot be used")]
pub(crate) struct Args {
    /// The run's id
    run: String,
    /// Why
    #[arg(long, default_value = "somebody cancelled it")]
    reason: String,
    #[command(flatten)]
    place: StoreArgs,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let Args { run, reason, place } = args;
    let opened = place.open(Missing::Refuse)?;
    let is_noted = opened.change(opened.store.cancel(run, reason))?;
    let info = run::load(&opened, run)?.info;
    if !is_noted && info.status == RunStatus::Done {
        let ended = info.reason.unwrap_or_default();
        out.line(&printable(&format!("{run} is over: {ended}")));
        return Ok(Exit::Bad);
    }
    out.line(&printable(&match (is_noted, info.holder) {
        (false, _) => format!("{run} is to be cancelled already"),
        (true, Some(holder)) => format!("{run} is to be cancelled; {} has it in hand", holder.name),
        (true, None) => {
            format!("{run} is to be cancelled by a worker, or by: runstate resume {run}{}", place.to_repeat())
        }
    }));
    Ok(Exit::Good)
}
