//! The commands: each file has its arguments and its action.

mod approvals;
mod cancel;
mod check;
mod decide;
mod decision;
mod diagram;
mod diff;
mod expire;
mod export;
#[cfg(unix)]
mod governed;
mod hand;
mod list;
mod outcome;
mod page;
mod prune;
mod resume;
mod run;
mod runs;
mod schema;
mod seal;
mod send;
mod show;
mod stream;
mod summary;
mod test;
mod time;
mod watch;
mod worker;

use clap::{Parser, Subcommand};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Runs agents with a type for each state, and checks traces against the diagrams that document them.
#[derive(Debug, Parser)]
#[command(name = "runstate", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  the run ended naturally; the traces conform; scenarios are as expected; nothing breaks
  1  the run ended in another way; a decision was not accepted; a trace violates;
     a scenario differs; a change breaks persisted runs
  2  an argument, a file or a store that cannot be used
  3  the run waits for a decision

`runstate help COMMAND` shows an example of each.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Resume(resume::Args),
    Send(send::Args),
    Worker(worker::Args),
    Runs(runs::Args),
    Show(show::Args),
    Watch(watch::Args),
    Export(export::Args),
    Approvals(approvals::Args),
    Approve(decide::Approve),
    Deny(decide::Deny),
    Cancel(cancel::Args),
    Expire(expire::Args),
    Prune(prune::Args),
    Test(test::Args),
    Check(check::Args),
    Diagram(diagram::Args),
    Diff(diff::Args),
    #[cfg(unix)]
    Governed(governed::Args),
    List(list::Args),
    Schema(schema::Args),
    Seal(seal::Args),
    Stream(stream::Args),
}

/// Executes the command line.
///
/// # Errors
/// An unusable input.
pub(crate) fn run(cli: Cli, out: &mut Output) -> Result<Exit, Failure> {
    match cli.command {
        Command::Run(args) => run::run(&args, out),
        Command::Resume(args) => resume::run(&args, out),
        Command::Send(args) => send::run(&args, out),
        Command::Worker(args) => worker::run(&args),
        Command::Runs(args) => runs::run(&args, out),
        Command::Show(args) => show::run(&args, out),
        Command::Watch(args) => watch::run(&args, out),
        Command::Export(args) => export::run(&args, out),
        Command::Approvals(args) => approvals::run(&args, out),
        Command::Approve(args) => decide::approve(&args, out),
        Command::Deny(args) => decide::deny(&args, out),
        Command::Cancel(args) => cancel::run(&args, out),
        Command::Expire(args) => expire::run(&args, out),
        Command::Prune(args) => prune::run(&args, out),
        Command::Test(args) => test::run(&args, out),
        Command::Check(args) => check::run(&args, out),
        Command::Diagram(args) => diagram::run(&args, out),
        Command::Diff(args) => diff::run(&args, out),
        #[cfg(unix)]
        Command::Governed(args) => governed::run(&args, out),
        Command::List(args) => Ok(list::run(&args, out)),
        Command::Schema(args) => Ok(schema::run(&args, out)),
        Command::Seal(args) => seal::run(&args, out),
        Command::Stream(args) => stream::run(&args, out),
    }
}
