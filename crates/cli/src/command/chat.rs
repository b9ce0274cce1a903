//! `runstate chat AGENT`

use std::io::{IsTerminal, stdin};
use std::time::Duration;

use runstate::run::RunStatus;
use runstate_store::Sent;

use super::send;
use super::time::time;
use crate::actor::actor;
use crate::agents::{self, Driver, Ending, Interrupts};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, complain};
use crate::run::{self, Lines};
use crate::store::{Missing, StoreArgs, quoted};

/// Talk with an agent, on one durable thread
///
/// Each line of standard input is a message, and a run of the agent. Answers are written as they arrive. At a terminal the
/// command asks about each call that needs an approval. Ctrl-C cancels the run that is driven. The end of the input ends the command; the thread stays, and --thread continues it,
/// also after a kill: a run that was interrupted goes on first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate chat examples/agent.yaml
  runstate chat examples/agent.yaml --thread notes-1

Exit codes:
  0  the input is over, and no run waits
  1  the last run ended in another way than naturally
  2  the agent file, the store or another argument is unusable
  3  a run waits for a decision")]
pub(crate) struct Args {
    /// The agent file
    agent: String,
    /// The thread: the id of the run that began it. Default: a new one
    #[arg(long, value_name = "RUN")]
    thread: Option<String>,
    /// Ask about calls also if standard input is no terminal: its next lines are the answers
    #[arg(long)]
    ask: bool,
    /// The actor of the decisions of this command. The name is not verified. Default: the user of the operating system
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// The duration of the lease on a run. This process renews the lease. Default: 10s
    #[arg(long, value_name = "TIME", default_value = "10s", hide_default_value = true, value_parser = time)]
    lease: Duration,
    #[command(flatten)]
    place: StoreArgs,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let file = agents::read(&args.agent)?;
    let mut lines = Some(Lines::of_stdin()?);
    let mut thread = args.thread.clone();
    let opened = args.place.open(if thread.is_some() { Missing::Refuse } else { Missing::Make })?;
    let driver = Driver {
        opened: &opened,
        file,
        actor: actor(args.actor.as_deref()),
        lease: args.lease,
        // A message must not pass for an approval.
        asks: args.ask || stdin().is_terminal(),
        streams: true,
        interrupts: Interrupts::of(&opened)?,
    };
    driver.file.keep_out(&args.place)?;
    driver.prepare()?;
    let mut exit = Exit::Good;
    if let Some(thread) = &thread {
        let last = send::last_of_thread(&args.place, &opened, thread)?;
        if run::load(&opened, &last)?.info.status != RunStatus::Done {
            complain(&format!("{} goes on", quoted(&last)));
            exit = ended(driver.drive(&last, &mut lines)?);
        }
    }
    while exit != Exit::Waiting {
        if stdin().is_terminal() {
            eprint!("> ");
        }
        let Some(message) =
            lines.as_mut().and_then(|lines| lines.next_message(opened.handle()).transpose()).transpose()?
        else {
            break;
        };
        if message.trim().is_empty() {
            continue;
        }
        let run = match &thread {
            Some(thread) => next(args, &driver, thread, &message)?,
            None => {
                let created = run::create_agent_run(&args.place, &opened, &driver.file, &message, true)?;
                thread = Some(created.clone());
                created
            }
        };
        exit = ended(driver.drive(&run, &mut lines)?);
    }
    if let Some(thread) = &thread {
        let place = args.place.to_repeat();
        let agent = quoted(&args.agent);
        if exit == Exit::Waiting {
            complain(&format!("a call waits; decide with: runstate approvals{place}{}", place.note()));
        }
        complain(&format!(
            "continue with: runstate chat {agent} --thread {}{place}{}",
            quoted(thread),
            place.note()
        ));
    }
    out.flush();
    Ok(exit)
}

/// The next run of a thread, with that message.
fn next(args: &Args, driver: &Driver<'_>, thread: &str, message: &str) -> Result<String, Failure> {
    match send::begin(&args.place, driver.opened, thread, message, &driver.file)? {
        Sent::Began { run } => Ok(run),
        Sent::Busy { run, status, .. } => {
            let why =
                format!("{run}, the last run of the thread, is {status}: another process goes on with it");
            Err(Failure::new(why).with_help("wait for its end, or begin another thread"))
        }
        // A random id is no earlier one.
        _ => Err(Failure::new("the message was not accepted; send it again")),
    }
}

fn ended(ending: Ending) -> Exit {
    match ending {
        Ending::Over(runstate::termination::TerminationReason::NaturalEnd) => Exit::Good,
        Ending::Over(reason) => {
            complain(&crate::output::printable(&format!("the run ended: {reason}")));
            Exit::Bad
        }
        Ending::Waits => Exit::Waiting,
    }
}
