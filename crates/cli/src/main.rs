//! The `runstate` command: run scenarios, check traces, read and compare lifecycle diagrams.
//!
//! A command reads its arguments, calls the library and prints its result. An unusable input is a
//! [`Failure`](failure::Failure) with the place in the file; the result is an [`Exit`].

mod actor;
#[cfg(feature = "agents")]
mod agents;
#[cfg(not(feature = "agents"))]
#[path = "agents/absent.rs"]
mod agents;
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
mod meant;
mod migrations;
mod output;
mod preview;
mod rules;
mod run;
mod run_log;
mod run_state;
mod runs;
mod scenario;
mod secrets;
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
    agents::end_commands();
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // Earlier output comes first; if it cannot be written, the failure still can.
            drop(out.finish());
            output::complain(&failure.to_string());
            failure.exit().into()
        }
    }
}

/// A message that quotes arguments: an argument that may contain a password or a key is omitted, and no argument can change
/// the terminal or begin a line.
fn quotable(text: String, args: impl Iterator<Item = std::ffi::OsString>) -> String {
    let (text, is_any_hidden) = without_secrets(text, args);
    let text = secrets::masked(&text);
    let note = if is_any_hidden {
        "\n  = note: an argument that may have a password or a key is shown as …"
    } else {
        ""
    };
    output::harmless(&(text.trim_end().to_owned() + note)).into_owned()
}

/// The text without its arguments that may contain a password or a key. Returns whether there are any.
fn without_secrets(text: String, args: impl Iterator<Item = std::ffi::OsString>) -> (String, bool) {
    let mut is_any_hidden = false;
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    let split = secrets::split(&args);
    let parts = args.iter().flat_map(|arg| secrets::parts(arg)).map(str::to_owned);
    let parts: Vec<String> = parts.filter(|part| !std::path::Path::new(part).exists()).collect();
    let mut args: Vec<(String, bool)> = args.into_iter().zip(split).collect();
    // One argument may be the beginning of another.
    args.sort_by_key(|(arg, _)| std::cmp::Reverse(arg.len()));
    let text = args.into_iter().fold(text, |text, (arg, is_split)| {
        // Of `--flag=value` the value alone is quoted.
        let value = arg.split_once('=').map_or("", |(_, value)| value);
        let quoted = [arg.as_str(), value].into_iter().filter(|part| !part.trim().is_empty());
        quoted.fold(text, |text, part| {
            let shown = output::printable(part);
            // The address of a store without a password is shown, and so is the name of an existing file.
            let is_shown = || {
                std::path::Path::new(part).exists()
                    || part.parse::<store::StoreUrl>().is_ok_and(|url| url.to_string() == part)
            };
            if is_split || secrets::may_have_one(part) && !is_shown() {
                // A name is shown without the blanks around it.
                let (bare, debug) = (part.trim(), format!("{part:?}"));
                let forms = [part, &*shown, debug.trim_matches('"'), bare];
                is_any_hidden |= forms.iter().any(|form| text.contains(form));
                return forms.iter().fold(text, |text, form| text.replace(form, "…"));
            }
            if shown == part { text } else { text.replace(part, &shown) }
        })
    });
    // A command may have read a part of an argument separately.
    let text = parts.iter().fold(text, |text, part| {
        let hidden = secrets::without_word(&text, part);
        is_any_hidden |= matches!(hidden, std::borrow::Cow::Owned(_));
        hidden.into_owned()
    });
    (text, is_any_hidden)
}

/// Help goes to standard output, a wrong argument to standard error; a closed output is no error.
fn usage(refused: &clap::Error) -> ExitCode {
    // The name of an internal type has no meaning for a user.
    let text = refused.render().to_string();
    let text = text.replace("number too large to fit in target type", "expected a smaller number");
    if refused.use_stderr() {
        output::complain(&text);
        return Exit::BadInput.into();
    }
    let mut out = output::Output::stdout();
    out.text(&text);
    match out.finish() {
        Ok(()) => Exit::Good.into(),
        Err(_) => Exit::BadInput.into(),
    }
}
