//! The commands: each file has its arguments and its action.

#[cfg(not(all(feature = "agents", feature = "serve")))]
mod absent;
mod approvals;
mod cancel;
#[cfg(feature = "agents")]
mod chat;
mod check;
mod decide;
mod decision;
mod diagram;
mod diff;
mod expire;
mod export;
mod fuzz;
#[cfg(unix)]
mod governed;
mod governed_facts;
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
#[cfg(feature = "serve")]
mod serve;
mod show;
mod source;
mod stream;
mod summary;
mod test;
mod time;
#[cfg(feature = "serve")]
mod token;
mod watch;
mod worker;

#[cfg(feature = "agents")]
pub(crate) use time::time;

use clap::{Parser, Subcommand};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Run agents with a type for each state, and check traces against state diagrams
#[derive(Debug, Parser)]
#[command(name = "runstate", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  the command succeeded, and the result is positive
  1  the command did its work, and the result is negative: the run ended in
     another way than naturally, a trace violates a diagram, a scenario differs,
     a decision is not accepted
  2  the command could not do its work: an argument, a file or a store is
     unusable
  3  the run waits for a decision
  4  the run is not over, and waits for no decision

`runstate help COMMAND` shows the exit codes and an example of a command.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Resume(resume::Args),
    #[cfg(feature = "agents")]
    Chat(chat::Args),
    #[cfg(not(feature = "agents"))]
    #[command(hide = true)]
    Chat(absent::Args),
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
    Fuzz(fuzz::Args),
    #[cfg(unix)]
    Governed(governed::Args),
    List(list::Args),
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    #[cfg(feature = "serve")]
    Token(token::Args),
    #[cfg(not(feature = "serve"))]
    #[command(hide = true)]
    Serve(absent::Args),
    #[cfg(not(feature = "serve"))]
    #[command(hide = true)]
    Token(absent::Args),
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
        #[cfg(feature = "agents")]
        Command::Chat(args) => chat::run(&args, out),
        #[cfg(not(feature = "agents"))]
        Command::Chat(args) => absent::run("chat", "agents", &args),
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
        Command::Fuzz(args) => fuzz::run(&args, out),
        #[cfg(unix)]
        Command::Governed(args) => governed::run(&args, out),
        Command::List(args) => Ok(list::run(&args, out)),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args),
        #[cfg(feature = "serve")]
        Command::Token(args) => token::run(&args, out),
        #[cfg(not(feature = "serve"))]
        Command::Serve(args) => absent::run("serve", "serve", &args),
        #[cfg(not(feature = "serve"))]
        Command::Token(args) => absent::run("token", "serve", &args),
        Command::Schema(args) => Ok(schema::run(&args, out)),
        Command::Seal(args) => seal::run(&args, out),
        Command::Stream(args) => stream::run(&args, out),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::Cli;

    /// Each default that the parser has is written in the help of its argument.
    fn check(command: &Command) {
        for arg in command.get_arguments().filter(|arg| !arg.get_default_values().is_empty()) {
            if arg.get_action().takes_values() {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let default = arg.get_default_values().join(std::ffi::OsStr::new(","));
                let default = default.to_string_lossy();
                let default = if default.is_empty() { "no reason" } else { &*default };
                let is_told = help.contains(&format!("Default: {default}"))
                    || help.contains(&format!("Default: \"{default}\""));
                assert!(is_told, "{} {}: {help}", command.get_name(), arg.get_id());
            }
        }
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn each_default_is_in_the_help() {
        check(&Cli::command());
    }
}
