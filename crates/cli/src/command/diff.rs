//! `runstate diff OLD NEW`

use std::io::BufRead;

use clap::ValueEnum;
use runstate::diagram::{Change, Severity, StateGraph, diff};
use runstate::trace::{Event, JsonlReader};
use runstate_review::{ChangeKind, TraceDiff};
use serde_json::{Value, json};

use crate::diagrams::{self, Loaded};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, TEXT_LIMIT};
use crate::output::{Output, complain, printable};

/// Compare two diagrams, two graphs in JSON, or two traces
///
/// A change of a graph is breaking (a stored run may be stuck), for review (new behaviour is possible), or informational. Two
/// traces are aligned. A difference of behaviour, such as a missing event or another order, is shown with the events around it.
/// Differences of times and of further fields are shown too, and do not fail. Ids and the zero of the clock may differ.
///
/// A run that was parked under the old graph is refused under the new graph until a migration maps it. With --parked, the
/// command fails for each change that needs a migration, and for each renamed event. The names of the graphs are not
/// compared.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate diff old/run.md new/run.md
  runstate diff tool_call docs/lifecycles/tool-call.md
  runstate diff expected.jsonl trace.jsonl
  runstate diff --parked released/run.json run

Exit codes:
  0  no change is breaking; the traces have equal behaviour
  1  a change is breaking, or with --parked needs a migration or renames an
     event; the traces differ in behaviour
  2  an input is unusable, or the two inputs are of different kinds")]
pub(crate) struct Args {
    /// A built-in lifecycle, FILE[#heading] of a diagram, a graph in JSON, or a trace; `-` reads standard input
    old: String,
    /// The second input, in one of the forms of OLD
    new: String,
    /// Fail also if runs that were parked under the old graph need a migration
    #[arg(long)]
    parked: bool,
    /// Output format. Default: text
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For graphs a line for each change, the most severe first; for traces the events around each difference, then
    /// differences of times and of fields
    Text,
    /// One object: exit; and for graphs changes and needs_migration, or for traces difference (the
    /// first one of behaviour) and differences (each one)
    Json,
}

/// One of the two sides.
enum Side {
    Graph(StateGraph),
    Trace(String, Box<dyn BufRead>),
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    if args.old == "-" && args.new == "-" {
        return Err(Failure::new("expected `-` once, got it twice: standard input can be read once"));
    }
    match (side(&args.old)?, side(&args.new)?) {
        (Side::Graph(old), Side::Graph(mut new)) => {
            // The name of a heading or a file is not compared.
            new.name.clone_from(&old.name);
            Ok(graphs(&old, &new, args, out))
        }
        (Side::Trace(..), Side::Trace(..)) if args.parked => {
            Err(Failure::new("expected two graphs with --parked, got two traces"))
        }
        (Side::Trace(old_name, old), Side::Trace(new_name, new)) => {
            let (old, new) = (events(&old_name, old)?, events(&new_name, new)?);
            let difference = runstate_review::diff(&old, &new);
            Ok(traces(&difference, args.format, out))
        }
        (Side::Graph(_), Side::Trace(..)) => Err(of_two_kinds("a graph", "a trace")),
        (Side::Trace(..), Side::Graph(_)) => Err(of_two_kinds("a trace", "a graph")),
    }
}

fn of_two_kinds(old: &str, new: &str) -> Failure {
    Failure::new(format!("expected two graphs or two traces, got {old} and {new}"))
}

/// Reads an input: a built-in diagram and a `.jsonl` file by its name, others by their beginning.
fn side(spec: &str) -> Result<Side, Failure> {
    if let Some(builtin) = diagrams::builtin_named(spec)? {
        return Ok(Side::Graph(builtin.graph()?));
    }
    let (file, heading) = diagrams::split(spec);
    let name = input::name_of(file);
    let refuse = |error| input::unreadable(file, &error);
    let mut reader = input::open(file).map_err(refuse)?;
    let begin = reader.fill_buf().map_err(refuse)?;
    if file.ends_with(".jsonl") || is_trace(begin) {
        return Ok(Side::Trace(name, reader));
    }
    if file == "-" && begin.is_empty() {
        return Err(Failure::new(format!("{name}: expected a trace, a diagram or a graph, got nothing"))
            .with_help("did the program before the pipe fail?"));
    }
    let source = input::whole(reader, &name, TEXT_LIMIT)?;
    let loaded = Loaded::read(source, heading)?;
    loaded.warnings().for_each(|warning| complain(&warning));
    let graph = loaded.graph()?;
    loaded.tell_lost(&graph);
    Ok(Side::Graph(graph))
}

/// Is it a trace? No diagram begins with a brace, and a graph in JSON has no event in its first line.
fn is_trace(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let has = |field: &[u8]| line.windows(field.len()).any(|window| window == field);
    (bytes.starts_with(b"{") || bytes.starts_with(b"[")) && (has(b"\"seq\"") || has(b"\"lifecycle\""))
}

/// The message for changes that need a migration.
const REFUSED: &str = "runs that were parked under the old graph are refused under the new graph: register `Migration::only_grew` \
                       if the new graph only adds states or transitions, else raise the version and register a step";

/// The message for a renamed or added event of a transition.
const RENAMED: &str = "an event has a new name: `runstate check` refuses traces with the old name, and queued events with the old \
                       name are unknown";

fn graphs(old: &StateGraph, new: &StateGraph, args: &Args, out: &mut Output) -> Exit {
    let changes = diff(old, new);
    let needs_migration = changes.iter().any(Change::needs_migration);
    let breaks = changes.iter().any(|change| change.severity() == Severity::Breaking);
    let renames = changes.iter().any(Change::renames_event);
    let is_bad = breaks || args.parked && (needs_migration || renames);
    let exit = if is_bad { Exit::Bad } else { Exit::Good };
    match args.format {
        Format::Text if changes.is_empty() => out.line("no difference"),
        Format::Text => {
            changes.iter().for_each(|change| out.line(&printable(&change.to_string())));
            if needs_migration {
                out.line(REFUSED);
            }
            if renames {
                out.line(RENAMED);
            }
        }
        Format::Json => {
            let list: Vec<Value> = changes
                .iter()
                .map(|change| {
                    json!({
                        "severity": change.severity().to_string(),
                        "change": change.to_string(),
                        "renames_event": change.renames_event(),
                        "line": change.line,
                    })
                })
                .collect();
            out.json(&json!({"exit": exit.code(), "needs_migration": needs_migration, "changes": list}));
        }
    }
    exit
}

/// The events of a trace, with their lines.
fn events(name: &str, from: Box<dyn BufRead>) -> Result<Vec<(u64, Event<'static>)>, Failure> {
    let (mut reader, mut events) = (JsonlReader::new(from), Vec::new());
    loop {
        match reader.read_numbered() {
            Ok(Some((line, event))) => events.push((line, event.into_owned())),
            Ok(None) => return Ok(events),
            Err(error) => return Err(Failure::rendered(error.named(name).report())),
        }
    }
}

fn traces(difference: &TraceDiff, format: Format, out: &mut Output) -> Exit {
    let is_equal = difference.has_equal_behaviour();
    let exit = if is_equal { Exit::Good } else { Exit::Bad };
    match format {
        Format::Text => out.lines(&difference.to_string()),
        Format::Json => {
            let first =
                json!({"old": side_json(difference.first_old()), "new": side_json(difference.first_new())});
            let differences: Vec<Value> = difference.changes().iter().map(change).collect();
            out.json(&json!({
                "exit": exit.code(),
                "difference": (!is_equal).then_some(first),
                "differences": differences,
            }));
        }
    }
    exit
}

fn side_json(side: Option<&runstate_review::Side>) -> Value {
    side.map_or(Value::Null, |side| json!({"line": side.line, "text": side.text}))
}

fn change(change: &runstate_review::Change) -> Value {
    let mut shown = json!({"old": side_json(change.old.as_ref()), "new": side_json(change.new.as_ref())});
    let kind = match &change.kind {
        ChangeKind::Removed => "removed",
        ChangeKind::Added => "added",
        ChangeKind::Moved => "moved",
        ChangeKind::Time { old_ms, new_ms } => {
            (shown["old_ms"], shown["new_ms"]) = (json!(old_ms), json!(new_ms));
            "time"
        }
        ChangeKind::Field { name, old, new } => {
            shown["field"] = json!(name);
            // An absent field has no value, which is not null.
            for (key, text) in [("old_value", old), ("new_value", new)] {
                if let Some(text) = text {
                    shown[key] = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()));
                }
            }
            "field"
        }
        _ => "other",
    };
    shown["kind"] = kind.into();
    shown
}
