//! The `runstate` command: run scenarios, check traces, read and compare lifecycle diagrams.
//!
//! A command reads its arguments, calls the library and says what it found. What can go wrong with the input is a
//! [`Failure`](failure::Failure) with the place in the file; what the input says is an [`Exit`].

mod actor;
mod builtin;
mod clock;
mod command;
mod diagrams;
mod excerpt;
mod exit;
mod failure;
#[cfg(unix)]
mod governed;
mod host;
mod input;
mod keys;
mod machine;
mod migrations;
mod output;
mod rules;
mod run;
mod run_log;
mod run_state;
mod runs;
mod scenario;
mod signals;
mod spec;
mod store;
mod stream;
mod suite;
mod tools;

use std::process::ExitCode;

use clap::Parser;

use command::Cli;
use exit::Exit;

fn main() -> ExitCode {
    #[cfg(unix)]
    if governed::is_supervisor() {
        return governed::supervise();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refused) => return usage(&refused),
    };
    let mut out = output::Output::stdout();
    let done = command::run(cli, &mut out).and_then(|exit| out.finish().map(|()| exit));
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // What was said before the failure comes first; if that cannot be written, the failure still can.
            drop(out.finish());
            output::complain(&failure.to_string());
            failure.exit().into()
        }
    }
}

/// A message about arguments, which are quoted in it: an address, which may have a password, is left out, and nothing in them can garble
/// a terminal or begin a line.
fn quotable(text: String, args: impl Iterator<Item = std::ffi::OsString>) -> String {
    let text = args.map(|arg| arg.to_string_lossy().into_owned()).fold(text, |text, arg| {
        // Of `--flag=value` the value alone is quoted.
        let value = arg.split_once('=').map_or("", |(_, value)| value);
        let quoted = [arg.as_str(), value].into_iter().filter(|part| !part.trim().is_empty());
        quoted.fold(text, |text, part| {
            // The address of a store without a password is shown as it is.
            let is_shown = || part.parse::<store::StoreUrl>().is_ok_and(|url| url.to_string() == part);
            if may_have_a_password(part) && !is_shown() {
                return text.replace(part, "…");
            }
            let shown = output::printable(part);
            if shown == part { text } else { text.replace(part, &shown) }
        })
    });
    output::harmless(&text).into_owned()
}

/// An address: `postgres://…`, `ada:secret@db`, `host=… password=…`. A parameter with an encoded name may be one too.
fn may_have_a_password(text: &str) -> bool {
    const SECRETS: [&str; 8] = ["password", "passwd", "passphrase", "pass", "pwd", "secret", "token", "key"];
    let is_parameter = |part: &str| {
        let name = part.split_once('=').map(|(name, _)| name.trim_end().to_ascii_lowercase());
        name.is_some_and(|name| name.contains('%') || SECRETS.iter().any(|secret| name.ends_with(secret)))
    };
    text.contains("://")
        || (text.contains('@') && text.contains(':'))
        || text.split(['?', '&', ';', ',', ' ']).any(is_parameter)
}

/// Help goes to standard output, a wrong argument to standard error; a reader that went away is no error.
fn usage(refused: &clap::Error) -> ExitCode {
    let text = refused.render().to_string();
    if refused.use_stderr() {
        output::complain(text.trim_end());
        return Exit::BadInput.into();
    }
    let mut out = output::Output::stdout();
    out.text(&text);
    match out.finish() {
        Ok(()) => Exit::Good.into(),
        Err(_) => Exit::BadInput.into(),
    }
}
