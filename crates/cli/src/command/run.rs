//! `runstate run FILE`

use std::time::Duration;

use runstate_scenario::Ready;
use serde_json::json;

use super::time::time;
use crate::actor::actor;
use crate::agents;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, complain, printable};
use crate::run::{self, Driven, report};
use crate::scenario;
use crate::store::{Opened, StoreArgs};

/// Run a scenario, or an agent with a message
///
/// A scenario has a scripted model, file tools on a copy of a folder, and decisions of people. The tools work on a fresh copy of the scenario's folder. The store has the run and its trace, durable at every
/// checkpoint: `runstate resume` or a `runstate worker` continues a run that waits or was killed. At the end, the trace is
/// checked against the diagrams of the lifecycles.
///
/// An agent file (feature `agents`) has a real model and real tools. Its answer is on standard output, its progress on standard
/// error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate run examples/tidy-folder.yaml
  runstate run --detach examples/tidy-folder.yaml --store sqlite:runs.db
  runstate run examples/agent.yaml 'Which notes are old?' --ask

Exit codes:
  0  the run ended naturally; with --detach, the run is created
  1  the run ended in another way (error, stopped, blocked), or its trace
     violates a diagram
  2  the scenario, the store or another argument is unusable
  3  the run waits for a decision
  4  the run has a message, which a worker gives to it")]
pub(crate) struct Args {
    /// The scenario or the agent, a YAML file
    #[arg(value_name = "FILE")]
    scenario: String,
    /// The message for an agent
    message: Option<String>,
    /// Create the run and leave it to a worker. With --json, the object has run and store
    #[arg(long, conflicts_with_all = ["approve", "deny", "ask", "real_time"])]
    detach: bool,
    /// Approve the first question of this call in advance. This decision replaces the scenario's decision. The flag can be
    /// repeated
    #[arg(long, value_name = "CALL")]
    approve: Vec<String>,
    /// Deny the first question of this call in advance. This decision replaces the scenario's decision. The flag can be
    /// repeated
    #[arg(long, value_name = "CALL")]
    deny: Vec<String>,
    #[command(flatten)]
    how: How,
}

/// What `run` and `resume` have in common.
#[derive(Debug, clap::Args)]
pub(super) struct How {
    /// Ask at the terminal about each waiting call without a prepared decision
    #[arg(long)]
    pub(super) ask: bool,
    /// The actor of the decisions of this command. The name is not verified. Default: the user of the operating system
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Use real time. Without this flag time is virtual: a scripted delay takes no time. `run` then also expires a question
    /// with a time limit when the run has nothing else to do; `resume` does not, and the clock of the store decides
    #[arg(long)]
    pub(super) real_time: bool,
    /// The duration of the lease on the run. This process renews the lease. After its end another process may drive the run.
    /// Default: 10s
    #[arg(long, value_name = "TIME", default_value = "10s", hide_default_value = true, value_parser = time)]
    pub(super) lease: Duration,
    #[command(flatten)]
    pub(super) place: StoreArgs,
    /// Print one JSON object at the end: run, status, reason, exit, steps, calls, waiting, verdict, violation, store, folder
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
        plays_expiry: bool,
        out: &mut Output,
    ) -> Result<Exit, Failure> {
        let ending = driven.drive(run::How { answers, ask: self.ask, actor: self.actor(), plays_expiry })?;
        for ready in ending.unused.iter().filter(|ready| ready.is_of_command) {
            let call = printable(&ready.answer.call);
            complain(&format!(
                "warning: the decision on {call} was not used: the call did not wait, or needs an answer, which `runstate approve --result` gives"
            ));
        }
        report(&driven, &ending, &self.place, self.json, out)
    }
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    // A file beside a message is an agent, and its mistakes are those of an agent file.
    let is_scenario = || args.message.is_some() && scenario::read(&args.scenario).is_ok();
    if scenario::is_agent_file(&args.scenario) || args.message.is_some() && !is_scenario() {
        return of_agent(args, out);
    }
    if args.message.is_some() {
        let why = format!("{}: expected an agent file beside a message, got a scenario", args.scenario);
        return Err(Failure::new(why).with_help("`message` of a scenario is its message"));
    }
    let file = scenario::read(&args.scenario)?;
    file.warn_of_unknown_tools(false);
    // The check precedes the creation of a folder, so that a mistyped call leaves no folder.
    let answers = run::answers(&file.scenario, &args.approve, &args.deny, &args.how.actor())?;
    let created = run::create(&args.how.place, &file, !args.detach)?;
    if args.detach {
        detached(&created.id, &created.opened, &args.how, "", out);
        return Ok(Exit::Good);
    }
    let How { lease, real_time, .. } = args.how;
    // A new run under virtual time demonstrates an expiry. A person at the terminal has the time of the store.
    let plays_expiry = !real_time && !args.how.ask;
    args.how.drive(run::take(created.opened, &created.id, lease, real_time)?, answers, plays_expiry, out)
}

#[cfg(not(feature = "agents"))]
fn of_agent(args: &Args, _: &mut Output) -> Result<Exit, Failure> {
    // A missing file is told first.
    crate::input::read_text(&args.scenario, scenario::LIMIT)?;
    Err(agents::absent(&args.scenario))
}

#[cfg(feature = "agents")]
fn of_agent(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let file = agents::read(&args.scenario)?;
    let Some(message) = args.message.as_deref().filter(|message| !message.trim().is_empty()) else {
        let why = format!("{}: an agent needs a message", args.scenario);
        return Err(Failure::new(why).with_help(format!("runstate run {} 'MESSAGE'", args.scenario)));
    };
    if !args.approve.is_empty() || !args.deny.is_empty() {
        let why = "--approve and --deny: the calls of an agent are unknown before it runs";
        return Err(Failure::new(why).with_help("give --ask, or decide with `runstate approve`"));
    }
    // Mistakes of the file show before a run is created.
    file.check()?;
    let place = &args.how.place;
    file.keep_out(place)?;
    let opened = place.open(crate::store::Missing::Make)?;
    if args.detach {
        let id = run::create_agent_run(place, &opened, &file, message, false)?;
        detached(&id, &opened, &args.how, " --agents DIR", out);
        return Ok(Exit::Good);
    }
    let interrupts = agents::Interrupts::of(&opened)?;
    let (lease, asks) = (args.how.lease, args.how.ask);
    let driver = agents::Driver {
        opened: &opened,
        file,
        actor: args.how.actor(),
        lease,
        asks,
        streams: false,
        interrupts,
    };
    driver.prepare()?;
    let id = run::create_agent_run(place, &opened, &driver.file, message, true)?;
    let ending = driver.drive(&id, &mut None)?;
    driver.report(&id, &ending, (place, args.how.json), out)
}

fn detached(id: &str, opened: &Opened, how: &How, agents: &str, out: &mut Output) {
    let store = opened.url();
    if how.json {
        out.json(&json!({"run": id, "store": store}));
        return;
    }
    out.line(&format!("{id} is created, and waits for a worker"));
    out.line(&format!("store    {store}"));
    let place = how.place.to_repeat();
    out.line(&format!("drive it with: runstate worker{agents}{place}{}", place.note()));
}
