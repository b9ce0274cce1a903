//! `runstate run SCENARIO`

use std::time::Duration;

use runstate_scenario::Ready;
use serde_json::json;

use super::time::time;
use crate::actor::actor;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, complain, printable};
use crate::run::{self, Driven, report};
use crate::scenario;
use crate::store::StoreArgs;

/// Run a scenario: a scripted model, real tools on a copy of a folder, people who decide
///
/// The tools work on a fresh copy of the scenario's folder. The run and its trace are in a store, durable at every
/// checkpoint, so that a run which waits, or was killed, goes on with `runstate resume`, or in the hands of a
/// `runstate worker`. At the end the trace is held against the diagrams of the lifecycles.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate run examples/tidy-folder.yaml
  runstate run --detach examples/tidy-folder.yaml --store sqlite:runs.db

Exit codes:
  0  the run ended naturally; with --detach it is created
  1  the run ended in another way (error, stopped, blocked), or its trace violates a diagram
  2  the scenario or another argument cannot be used, or the store cannot be
  3  the run waits for a decision")]
pub(crate) struct Args {
    /// The scenario, a YAML file
    scenario: String,
    /// Create the run and leave it to a worker; --json has run and store then
    #[arg(long, conflicts_with_all = ["approve", "deny", "ask", "real_time"])]
    detach: bool,
    /// Approve the first question of this call before it is asked, whatever the scenario decides; may be given several times
    #[arg(long, value_name = "CALL")]
    approve: Vec<String>,
    /// Deny the first question of this call, likewise
    #[arg(long, value_name = "CALL")]
    deny: Vec<String>,
    #[command(flatten)]
    how: How,
}

/// What `run` and `resume` have in common.
#[derive(Debug, clap::Args)]
pub(super) struct How {
    /// Ask at the terminal about calls that nothing decides
    #[arg(long)]
    pub(super) ask: bool,
    /// The name of the person that decides here, which is not checked [default: the user of the operating system]
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Wait in real time for what takes time; without this a scripted delay takes none, and a question with a time limit lapses as
    /// soon as nothing else is left to do
    #[arg(long)]
    pub(super) real_time: bool,
    /// Keep the run in hand for so long at a time: it is renewed while this process lives, and free when it is over
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub(super) lease: Duration,
    #[command(flatten)]
    pub(super) place: StoreArgs,
    /// End with one JSON object: run, status, reason, exit, steps, calls, waiting, verdict, violation, store, folder
    #[arg(long)]
    pub(super) json: bool,
}

impl How {
    /// Returns the name of the person at the terminal.
    pub(super) fn actor(&self) -> String {
        actor(self.actor.as_deref())
    }

    /// Drives a run with these prepared decisions until it ends or waits, and reports.
    pub(super) fn drive(
        &self,
        mut driven: Driven,
        answers: Vec<Ready>,
        out: &mut Output,
    ) -> Result<Exit, Failure> {
        let ending = driven.drive(run::How { answers, ask: self.ask, actor: self.actor() })?;
        for ready in ending.unused.iter().filter(|ready| ready.is_of_command) {
            let call = printable(&ready.answer.call);
            complain(&format!(
                "warning: nothing was decided about {call}: it did not wait, or asks for an answer, which `runstate approve` gives"
            ));
        }
        report(&driven, &ending, &self.place, self.json, out)
    }
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let file = scenario::read(&args.scenario)?;
    // The check precedes the creation of a folder, so that a mistyped call leaves no folder.
    let answers = run::answers(&file.scenario, &args.approve, &args.deny, &args.how.actor())?;
    let created = run::create(&args.how.place, &file, !args.detach)?;
    if args.detach {
        detached(&created, &args.how, out);
        return Ok(Exit::Good);
    }
    let How { lease, real_time, .. } = args.how;
    args.how.drive(run::take(created.opened, &created.id, lease, real_time)?, answers, out)
}

fn detached(created: &run::Created, how: &How, out: &mut Output) {
    let (id, store) = (&created.id, created.opened.url());
    if how.json {
        out.json(&json!({"run": id, "store": store}));
        return;
    }
    out.line(&format!("{id} is created, and waits for a worker"));
    out.line(&format!("store    {store}"));
    let place = how.place.to_repeat();
    out.line(&format!("drive it with: runstate worker{place}{}", place.note()));
}
