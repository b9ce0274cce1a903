//! `runstate expire`

use runstate_store::expire_due;
use serde_json::json;

use crate::clock::unix_ms;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::store::{Missing, StoreArgs, damaged_to_json, tell_damage};

/// Cancel the calls with an expired question
///
/// A worker does this too. The clock of the store decides. An expired call gets a decision to cancel it, and its run takes
/// the decision when it is driven next.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate expire --store sqlite:runs.db

Exit codes:
  0  each expired call is cancelled
  1  a run or the store keeps its expired calls: the reasons are on standard
     error
  2  the store or another argument is unusable")]
pub(crate) struct Args {
    /// One JSON object: given_up, the number of cancelled calls; and damaged, the unreadable runs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreArgs,
}

/// The number of calls given up together, with one sync of the store.
const TOGETHER: usize = 100;

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let opened = args.place.open(Missing::Refuse)?;
    let (mut given_up, mut damaged) = (0, Vec::new());
    loop {
        let lapsed = opened.change(expire_due(&*opened.store, unix_ms(), TOGETHER))?;
        given_up += lapsed.given_up;
        for damage in lapsed.damaged {
            if !damaged.contains(&damage) {
                tell_damage(&opened, &damage);
                damaged.push(damage);
            }
        }
        // None of the rest can be given up.
        if !lapsed.has_more || lapsed.settled == 0 {
            break;
        }
    }
    if args.json {
        out.json(&json!({"given_up": given_up, "damaged": damaged_to_json(&damaged)}));
    } else {
        let calls = if given_up == 1 { "call" } else { "calls" };
        out.line(&format!("cancelled {given_up} expired {calls}"));
    }
    Ok(if damaged.is_empty() { Exit::Good } else { Exit::Bad })
}
