//! `runstate show TRACE`

use clap::ValueEnum;
use runstate::trace::{Event, JsonlReader, Ordinals, ReadError, Timeline, check_jsonl, to_mermaid};
use serde_json::{Value, json};

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
    let book = args.rules.rulebook()?;
    match args.format {
        Format::Text => {
            let mut ordinals = Ordinals::new();
            each(&args.trace, |event| out.line(&ordinals.line(event)))?;
        }
        Format::Timeline => out.text(&timeline(&args.trace)?.to_string()),
        Format::Mermaid => {
            let report = check_jsonl(reader(&args.trace)?, &book).map_err(|error| refuse(&args.trace, error))?;
            let rules: Vec<_> =
                report.coverage.iter().filter_map(|covered| book.rules(&covered.lifecycle)).collect();
            for rules in &rules {
                let diagram = to_mermaid(rules, Some(&report));
                if rules.len() == 1 { out.text(&diagram) } else { todo!() }
            }
        }
        Format::Json => {
            let mut events: Vec<Value> = Vec::new();
            each(&args.trace, |event| events.push(json!(event)))?;
            out.json(&json!({"trace": input::name_of(&args.trace), "events": events}));
        }
    }
    Ok(Exit::Good)
}
