//! `runstate run SCENARIO`

use std::path::PathBuf;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, complain, printable};
use crate::run::{self, COMMAND_LINE, Driven, report};
use crate::{runs, scenario};

/// Run a scenario: a scripted model, real tools on a copy of a folder, people who decide
///
/// The tools work on a fresh copy of the scenario's folder. The run's state and its trace are written at every
/// checkpoint, so that a run which waits, or was killed, can be resumed. At the end the trace is held against the
/// diagrams of the lifecycles.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate run examples/tidy-folder.yaml

Exit codes:
  0  the run ended naturally
  1  the run ended in another way (error, stopped, blocked), or its trace violates a diagram
  2  the scenario or another argument cannot be used, or a file cannot be written
  3  the run waits for a decision")]
pub(crate) struct Args {
    /// The scenario, a YAML file
    scenario: String,
    #[command(flatten)]
    how: How,
}

/// What `run` and `resume` have in common.
#[derive(Debug, clap::Args)]
pub(super) struct How {
    /// Approve this call when it waits, whatever the scenario decides; may be given several times
    #[arg(long, value_name = "CALL")]
    pub(super) approve: Vec<String>,
    /// Deny this call when it waits, whatever the scenario decides; may be given several times
    #[arg(long, value_name = "CALL")]
    pub(super) deny: Vec<String>,
    /// Ask at the terminal about calls that nothing decides
    #[arg(long)]
    pub(super) ask: bool,
    /// Wait in real time for what takes time; without this a scripted delay takes none
    #[arg(long)]
    pub(super) real_time: bool,
    /// Where runs are kept [default: runstate/runs in the user's data folder]
    #[arg(long, value_name = "DIR")]
    pub(super) state_dir: Option<PathBuf>,
    /// End with one JSON object: run, status, reason, exit, steps, calls, waiting, verdict, violation, trace, state, folder
    #[arg(long)]
    pub(super) json: bool,
}

impl How {
    /// Drives a run as far as it goes, and reports.
    pub(super) fn drive(&self, mut driven: Driven, out: &mut Output) -> Result<Exit, Failure> {
        let answers = run::answers(driven.scenario(), &self.approve, &self.deny)?;
        let ending = driven.drive(run::How { answers, ask: self.ask })?;
        for ready in ending.unused.iter().filter(|ready| ready.actor == COMMAND_LINE) {
            let call = printable(&ready.answer.call);
            complain(&format!("warning: {call} did not wait, so nothing was decided about it"));
        }
        let state_dir = self.state_dir.as_ref().map(|dir| dir.display().to_string());
        let exit = report(&driven, &ending, state_dir.as_deref(), self.json, out);
        driven.leave();
        exit
    }
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let file = scenario::read(&args.scenario)?;
    // Before a folder is made, so that a mistyped call leaves nothing behind.
    run::answers(&file.scenario, &args.how.approve, &args.how.deny)?;
    let state_dir = runs::state_dir(args.how.state_dir.as_deref())?;
    args.how.drive(Driven::create(&state_dir, file, args.how.real_time)?, out)
}
