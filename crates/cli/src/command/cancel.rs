//! `runstate cancel RUN`

use runstate::run::RunStatus;
use serde_json::json;

use super::hand::{by_whom, holder};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, complain, printable};
use crate::run;
use crate::store::{Missing, StoreArgs};

/// Cancel a run, from any process
///
/// The cancellation is durable when this command returns. The process that drives the run ends it. If no process drives the
/// run, a worker or `runstate resume` ends it. Effects of its tools remain.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate cancel tidy-folder-1 --reason 'started by mistake'

Exit codes:
  0  the run has a cancellation, now or from before
  1  the run is over
  2  the run does not exist; the store or another argument is unusable")]
pub(crate) struct Args {
    /// The run's id
    run: String,
    /// The reason. Default: "cancelled on the command line"
    #[arg(long, default_value = "cancelled on the command line", hide_default_value = true)]
    reason: String,
    /// One JSON object: reply (accepted, duplicate, over), accepted, run, status, reason, cancel, holder
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreArgs,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let Args { run, reason, place, .. } = args;
    let opened = place.open(Missing::Refuse)?;
    // A cancellation without a tag would be stored, and would block its run.
    opened.ask(async {
        match opened.store.parts(run).await {
            Ok(parts) => parts.untagged(),
            Err(_) => Ok(()),
        }
    })?;
    let is_noted = opened.change(opened.store.cancel(run, reason))?;
    let info = match run::load(&opened, run) {
        Ok(loaded) => Some(loaded.info),
        // The cancellation is stored, even if the run cannot be read.
        Err(failure) if is_noted => {
            let why = failure.message();
            complain(&printable(&format!("warning: the status of {run} cannot be read: {why}")));
            None
        }
        Err(failure) => return Err(failure),
    };
    let info = info.as_ref();
    // The run may already be over because of this cancellation.
    let is_over = info.is_some_and(|info| info.status == RunStatus::Done);
    let is_accepted = is_noted || !is_over;
    let holder = info.and_then(holder).filter(|_| !is_over);
    let ended = info.and_then(|info| info.reason.as_deref());
    if args.json {
        let reply = match (is_noted, is_over) {
            (true, _) => "accepted",
            (false, true) => "over",
            (false, false) => "duplicate",
        };
        out.json(&json!({
            "reply": reply,
            "accepted": is_accepted,
            "run": run,
            "status": info.map(|info| info.status),
            "reason": ended,
            "cancel": info.map_or(Some(reason), |info| info.cancel.as_ref()),
            "holder": holder,
        }));
    } else {
        out.line(&printable(&match (is_noted, is_over, holder) {
            (_, true, _) => format!("{run} is over: {}", ended.unwrap_or_default()),
            (false, ..) => format!("{run} has a cancellation from before"),
            (true, _, Some(holder)) => {
                format!("{run} has a cancellation; {holder} drives the run, and ends it")
            }
            (true, _, None)
                if opened.ask(opened.store.pending_signals(run)).is_ok_and(|mail| mail.message.is_some()) =>
            {
                let again = opened.again();
                format!(
                    "{run} has a cancellation; a worker ends the run: runstate worker{again}{}",
                    again.note()
                )
            }
            (true, _, None) => {
                format!("{run} has a cancellation; the run is ended {}", by_whom(&opened, run))
            }
        }));
    }
    Ok(if is_accepted { Exit::Good } else { Exit::Bad })
}
