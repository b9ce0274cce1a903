//! The input of `runstate show`: a trace, a stored run, or a file of governed runs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

use runstate::trace::{Event, JsonlReader, Problem, ReadError, Report};
use runstate_governed::StateReport;
use runstate_review::Interruption;

use super::governed_facts;
use super::summary::Summary;
use crate::failure::Failure;
use crate::input;
use crate::rules::{RulesArgs, none_of};
use crate::run_log::{self, LoggedEvent};
use crate::run_state;
use crate::store::{Opened, StoreArgs, StoredTrace};

/// An event of the input.
pub(super) struct Shown<'e> {
    /// The line, from 1.
    pub(super) line: u64,
    pub(super) event: &'e Event<'e>,
    /// The faults of the line of a log.
    pub(super) fault: Option<&'e str>,
    /// Does its line have a time?
    pub(super) is_timed: bool,
}

/// What the input has beside the shown events.
#[derive(Default)]
pub(super) struct Rest {
    /// The line that is no event, at the end.
    pub(super) lost: Option<Lost>,
    /// The number of events of other lifecycles.
    pub(super) others: u64,
}

/// The shown input.
pub(super) enum Source {
    File(String),
    Log(String),
    State(String, Box<StateReport>),
    Run(Box<Opened>, Box<Summary>),
}

/// A file if there is one of that name, or a pipe; otherwise a run, even if a folder has its name.
///
/// # Errors
/// There is no such file and no such run, or the file cannot be read.
pub(super) fn source(what: &str, rules: &RulesArgs, place: &StoreArgs) -> Result<Source, Failure> {
    let is_file = fs::metadata(what).is_ok_and(|about| !about.is_dir());
    if is_file && run_state::is_one(what) {
        if !rules.has_builtin("governed_run") {
            return Err(Failure::new(format!(
                "{what} is the state of a governed run: expected no --diagram, and no --lifecycle of another lifecycle"
            ))
            .with_help("omit --diagram and --lifecycle"));
        }
        return Ok(Source::State(what.to_owned(), Box::new(governed_facts::read(what)?)));
    }
    if is_file && rules.has_builtin("governed_run") && run_log::is_one(what, false) {
        return Ok(Source::Log(what.to_owned()));
    }
    if what == "-" || is_file {
        return Ok(Source::File(what.to_owned()));
    }
    let path = Path::new(what);
    let folder = if path.is_dir() { ", which is a folder" } else { "" };
    let no_file = format!("there is no file {what:?}{folder}");
    // The id of a run has no ending, as a rule.
    let near = path.extension().and_then(|_| input::nearest(path));
    let meant = near.map(|near| format!("did you mean {near}?"));
    if let Some(missing) = place.missing()? {
        let help = "name a file, or the store of the run with --store or --state-dir".to_owned();
        let message = format!("{no_file}; {}", missing.message());
        return Err(Failure::new(message).with_help(meant.unwrap_or(help)));
    }
    let opened = place.open_to_read()?;
    let Some(summary) = Summary::of(&opened, what)? else {
        let failure = opened.absent(&format!("{no_file}, and no run of that id in {}", opened.url()), what);
        return Err(match meant {
            Some(meant) => failure.with_help(meant),
            None => failure,
        });
    };
    Ok(Source::Run(Box::new(opened), Box::new(summary)))
}

impl Source {
    /// Its name in messages.
    pub(super) fn name(&self) -> String {
        match self {
            Source::File(path) | Source::Log(path) | Source::State(path, _) => input::name_of(path),
            Source::Run(_, summary) => summary.id().to_owned(),
        }
    }

    fn open(&self) -> Result<Box<dyn BufRead + '_>, Failure> {
        Ok(match self {
            Source::File(path) | Source::Log(path) | Source::State(path, _) => {
                input::open(path).map_err(|error| input::unreadable(path, &error))?
            }
            Source::Run(opened, summary) => Box::new(BufReader::new(StoredTrace::of(opened, summary.id()))),
        })
    }

    /// Reads the trace to its end: all events, or the events of one lifecycle.
    ///
    /// # Errors
    /// As [`Source::each`], and for a trace with a line that is no event.
    pub(super) fn whole(&self, only: Option<&str>, with: impl FnMut(Shown<'_>)) -> Result<(), Failure> {
        self.each(only, with)?.lost.map_or(Ok(()), |lost| Err(lost.failure))
    }

    /// Reads the trace to its end, or to a line after its first event that is no event: all events, or the events of one
    /// lifecycle. An event of a log comes with the faults of its line.
    ///
    /// # Errors
    /// The trace cannot be read, or has events of other lifecycles alone.
    pub(super) fn each(&self, only: Option<&str>, mut with: impl FnMut(Shown<'_>)) -> Result<Rest, Failure> {
        let refused = |error: ReadError| Failure::rendered(error.named(&self.name()).report());
        let mut rest = Rest::default();
        match self {
            Source::Run(_, summary) if summary.is_new() => return Ok(rest),
            Source::Log(path) => {
                let (events, interruption) = run_log::trace(path)?;
                for LoggedEvent { line, event, fault, is_timed } in &events {
                    if only.is_some_and(|only| event.lifecycle != only) {
                        rest.others += 1;
                    } else {
                        with(Shown { line: *line, event, fault: fault.as_deref(), is_timed: *is_timed });
                    }
                }
                rest.lost = interruption.map(|interruption| {
                    let failure = Failure::new(format!("{path}: {interruption}"));
                    Lost { interruption, failure }
                });
                return Ok(rest);
            }
            Source::State(_, state) => {
                for (line, event) in &governed_facts::events(state) {
                    let fault = governed_facts::faults_at(state, *line);
                    with(Shown { line: *line, event, fault: fault.as_deref(), is_timed: true });
                }
                return Ok(rest);
            }
            Source::File(_) | Source::Run(..) => {}
        }
        let mut input = self.open()?;
        let mut reader = JsonlReader::new(&mut input);
        let (mut others, mut is_shown): (Vec<String>, bool) = (Vec::new(), matches!(self, Source::Run(..)));
        loop {
            match reader.read_numbered() {
                Ok(Some((_, event))) if only.is_some_and(|only| event.lifecycle != only) => {
                    rest.others += 1;
                    if others.len() < Report::MOST_SKIPPED
                        && !others.iter().any(|it| **it == *event.lifecycle)
                    {
                        others.push(event.lifecycle.to_string());
                    }
                }
                Ok(Some((line, event))) => {
                    is_shown = true;
                    with(Shown { line, event: &event, fault: None, is_timed: true });
                }
                Ok(None) => match only {
                    // The summary covers a run without an event.
                    Some(only) if !is_shown => {
                        return Err(Failure::new(none_of(&self.name(), only, &others)));
                    }
                    _ => return Ok(rest),
                },
                Err(error) if !is_shown || matches!(error.problem(), Problem::Io(_)) => {
                    return Err(refused(error));
                }
                Err(error) => {
                    let more = lines_left(&mut input, matches!(error.problem(), Problem::TooLong { .. }));
                    let interruption = Interruption::of(&error, more);
                    rest.lost = Some(Lost { interruption, failure: refused(error) });
                    return Ok(rest);
                }
            }
        }
    }
}

/// The end of a trace with a line that is no event.
pub(super) struct Lost {
    pub(super) interruption: Interruption,
    pub(super) failure: Failure,
}

/// The number of lines to the end of an input, which may stand inside a line that was too long.
fn lines_left(input: &mut impl BufRead, is_inside: bool) -> u64 {
    let (mut lines, mut is_begun) = (0_u64, is_inside);
    let mut buffer = [0; 8 << 10];
    // An error ends the count, as the end of the input does.
    while let Ok(read @ 1..) = input.read(&mut buffer) {
        for byte in &buffer[..read] {
            lines += u64::from(!is_begun);
            is_begun = *byte != b'\n';
        }
    }
    lines
}
