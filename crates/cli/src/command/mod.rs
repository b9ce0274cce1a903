//! The commands: each file has its arguments and what it does.

mod list;
mod seal;

use clap::{Parser, Subcommand};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Runs agents whose every state is a type, and holds what happened against the diagrams that document it.
#[derive(Debug, Parser)]
#[command(name = "runstate", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  the run ended naturally; the traces conform; nothing breaks
  1  the run ended in another way; a trace violates; a change breaks persisted runs
  2  an argument or a file that cannot be used
  3  the run waits for a decision

`runstate help COMMAND` shows an example of each.";

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Args),
    Seal(seal::Args),
}

/// Does what the command line says.
///
/// # Errors
/// An input that cannot be used.
pub(crate) fn run(cli: Cli, out: &mut Output) -> Result<Exit, Failure> {
    match cli.command {
        Command::List(args) => Ok(list::run(&args, out)),
        Command::Seal(args) => seal::run(&args, out),
    }
}
