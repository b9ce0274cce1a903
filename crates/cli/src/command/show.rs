//! `runstate show TRACE`

use std::path::Path;

use clap::ValueEnum;
use runstate::trace::{Checker, Event, JsonlReader, Ordinals, Report, Rulebook, Timeline, to_mermaid};
use serde_json::json;

use crate::diagrams::section;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::output::Output;
use crate::rules::RulesArgs;

/// Show a trace: as stable text, as a timeline, as a diagram, as JSON
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate show trace.jsonl
  runstate show trace.jsonl --format timeline
  runstate show trace.jsonl --format mermaid --lifecycle tool_call > trace.mmd

Exit codes:
  0  shown, whatever the trace says
  2  the trace cannot be read to its end")]
pub(crate) struct Args {
    /// The trace, as JSON lines; `-` reads standard input
    trace: String,
    #[command(flatten)]
    rules: RulesArgs,
    /// How to show it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A line for each transition, with ordinals for ids and numbers for times: the same for the same behaviour
    Text,
    /// A table with a column for each call and one for the run
    Timeline,
    /// The diagram of each lifecycle, with the states that were visited and how often each edge was taken
    Mermaid,
    /// An object with trace, report and events
    Json,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let book = args.rules.laws()?.book;
    match args.format {
        Format::Text => {
            let mut ordinals = Ordinals::new();
            each(&args.trace, |_, event| out.line(&ordinals.line(event)))?;
        }
        Format::Timeline => {
            let mut timeline = Timeline::new("tool_call", "run");
            each(&args.trace, |_, event| timeline.event(event))?;
            out.text(&timeline.to_string());
        }
        Format::Mermaid => {
            let mut checker = Checker::new(&book);
            each(&args.trace, |line, event| checker.event(line, event))?;
            out.text(&diagrams(&book, &checker.finish())?);
        }
        Format::Json => {
            let (mut checker, mut events) = (Checker::new(&book), Vec::new());
            each(&args.trace, |line, event| {
                checker.event(line, event);
                events.push(json!(event));
            })?;
            out.json(&json!({
                "trace": input::name_of(&args.trace),
                "report": checker.finish(),
                "events": events,
            }));
        }
    }
    Ok(Exit::Good)
}

/// Reads the trace to its end.
fn each(path: &str, mut with: impl FnMut(u64, &Event<'_>)) -> Result<(), Failure> {
    let name = input::name_of(path);
    let from = input::open(path).map_err(|error| Failure::io("read", Path::new(&name), &error))?;
    let mut reader = JsonlReader::new(from);
    loop {
        match reader.read_numbered() {
            Ok(Some((line, event))) => with(line, &event),
            Ok(None) => return Ok(()),
            Err(error) => return Err(Failure::rendered(error.named(&name).report())),
        }
    }
}

/// The diagram of each lifecycle that occurs: alone as it is, several as a Markdown document.
fn diagrams(book: &Rulebook, report: &Report) -> Result<String, Failure> {
    let rules: Vec<_> = report.coverage.iter().filter_map(|covered| book.rules(&covered.lifecycle)).collect();
    match rules.as_slice() {
        [] => Err(Failure::new("no event of the trace is of a lifecycle with rules")),
        [one] => Ok(to_mermaid(one, Some(report))),
        several => Ok(several
            .iter()
            .map(|rules| section(rules.name(), &to_mermaid(rules, Some(report))))
            .collect::<Vec<_>>()
            .join("\n")),
    }
}
