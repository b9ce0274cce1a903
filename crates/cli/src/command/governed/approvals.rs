//! `runstate governed approvals`: the waiting questions.

use runstate_governed::AwaitedInput;
use serde_json::{Value, json};

use super::drive::{approve, question};
use super::of_many;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::governed::{self, Runs};
use crate::output::Output;

/// List the actions that wait for an approval
///
/// Each entry has the exact action, its digest and its deadline. This command changes no run: an expired entry is listed
/// until `sweep` halts its run.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate governed approvals --json")]
pub(super) struct Args {
    /// A list of JSON objects: run, approval, tool, action, risk, digest, answer_by
    #[arg(long)]
    json: bool,
}

pub(super) fn list(args: &Args, runs: &Runs, out: &mut Output) -> Result<Exit, Failure> {
    let (mut told, mut bad) = (Vec::new(), false);
    for run in runs.listed()?.0 {
        let waits = runs.reader(&run).and_then(|governor| governor.waits(&run).map_err(governed::refused));
        if let Some(Some(AwaitedInput::Approval(pending))) = of_many(&run, waits, &mut bad) {
            told.push((run, pending));
        }
    }
    if args.json {
        let listed = told.iter().map(|(run, pending)| {
            let request = pending.request.as_ref();
            json!({
                "run": run, "approval": pending.id, "tool": request.map(|it| it.tool()),
                "action": request.map(|it| it.action()), "risk": request.map(|it| it.risk()),
                "digest": pending.digest(), "answer_by": pending.answer_by,
            })
        });
        out.json(&Value::Array(listed.collect()));
    } else if told.is_empty() && !bad {
        out.line("no action waits for an approval");
    }
    for (_, pending) in told.iter().filter(|_| !args.json) {
        out.line(&question(pending));
        if let Some(command) = approve(pending, runs) {
            out.line(&format!("  {command}"));
        }
    }
    Ok(if bad { Exit::BadInput } else { Exit::Good })
}
