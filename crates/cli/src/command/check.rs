//! `runstate check TRACE…`

use clap::ValueEnum;
use runstate::diagram::Span;
use runstate::trace::{
    Checker, Coverage, JsonlReader, Problem, Report, UnmetRequirement, Violation, ViolationKind, WantedEdge,
};

use super::outcome::{Checked, Outcome};
use crate::excerpt::caret;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::output::Output;
use crate::rules::{Laws, RulesArgs, none_of};
use crate::run_log::{self, CheckedLog, Told};
use crate::run_state::{self, CheckedState};

/// Check traces, and files of governed runs, against their diagrams
///
/// A trace conforms, is incomplete (an instance has not ended), or violates. For each instance the first violation is shown:
/// its line, the event, the legal events, and the place in the diagram. Several diagrams have the names of their lifecycles:
/// --diagram order=shop.md#Order --diagram payment=shop.md#Payment. A trace can have any length.
///
/// Of a governed run, the history of RUN_STATE.json and the lines of RUN_LOG.jsonl and RUN_LEDGER.jsonl are checked, written
/// by any program. A state is compared with the logs of its run. A trace beside a state is checked against its diagrams, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate check trace.jsonl
  runstate check - --lifecycle tool_call --complete < trace.jsonl
  runstate check shop.jsonl --diagram docs/shop.md#check-out
  runstate check RUN_STATE.json RUN_LOG.jsonl
  runstate check a.jsonl b.jsonl --min-coverage 90 --require-edge Suspended:Resuming --format junit
  runstate check traces/*.jsonl --format markdown >> $GITHUB_STEP_SUMMARY

Exit codes:
  0  each trace conforms, or is incomplete without --complete; each state and
     each log is sound
  1  a trace violates, or is incomplete with --complete; coverage is missed;
     time is wrong with --monotonic-time; a state or a log has a fault
  2  a trace or another argument is unusable: a line is no event, or nothing was
     checked of a trace, of a named diagram, or of a state beside logs")]
pub(crate) struct Args {
    /// Traces as JSON lines, and files of governed runs. The name or the content of a file decides its kind. `-` reads a trace
    /// from standard input
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<String>,
    #[command(flatten)]
    rules: RulesArgs,
    /// Fail for a trace with an instance that has not ended
    #[arg(long)]
    complete: bool,
    /// Accept an input without anything to check: a trace without events of the requested lifecycles, a named diagram without
    /// events, a state without lines in the given logs
    #[arg(long)]
    allow_empty: bool,
    /// Maximum number of listed violations of a trace. The first violation of each instance is listed. Default: 10, with
    /// --format markdown 50
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    max_violations: Option<u16>,
    /// Fail for a trace with a time that is before the time of an earlier event of its run
    #[arg(long)]
    monotonic_time: bool,
    /// Show the edges that the traces took, and the edges that no trace took
    #[arg(long)]
    coverage: bool,
    /// The minimum percentage of taken edges, over all traces
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    min_coverage: Option<f64>,
    /// Fail if no trace took this edge. LIFECYCLE/FROM:TO names an edge of one lifecycle. The flag can be repeated
    #[arg(long, value_name = "FROM:TO")]
    require_edge: Vec<WantedEdge>,
    /// Output format. Default: text
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Text for people
    Text,
    /// One object: verdict, exit, traces, states, logs, coverage, percent, unmet and empty
    Json,
    /// XML that CI systems show as tests
    Junit,
    /// Verdicts, the first violation of each instance, and coverage with missed edges, for the summary of a CI job
    Markdown,
}

pub(super) fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a number from 0 to 100".to_owned()),
    }
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let from_stdin = args.traces.iter().filter(|trace| *trace == "-").count() + args.rules.on_stdin();
    if from_stdin > 1 {
        return Err(Failure::new("expected `-` once, got it twice: standard input can be read once"));
    }
    let laws = args.rules.laws()?;
    if args.complete {
        laws.check_ends()?;
    }
    args.require_edge.iter().try_for_each(|edge| laws.check_edge(edge))?;
    let (states, traces): (Vec<&String>, Vec<&String>) =
        args.traces.iter().partition(|path| run_state::is_one(path));
    let has_governed = args.rules.has_builtin("governed_run");
    let (logs, traces): (Vec<&String>, Vec<&String>) =
        traces.into_iter().partition(|path| has_governed && run_log::is_one(path, !states.is_empty()));
    if let (Some(state), false) = (states.first(), has_governed) {
        let what = format!(
            "{state} is the state of a governed run: expected no --diagram, and no --lifecycle of another lifecycle"
        );
        return Err(Failure::new(what)
            .with_help("check the state in a separate command, without --diagram and --lifecycle, or with --lifecycle governed_run"));
    }
    let others = logs.len() + traces.len();
    let default = if matches!(args.format, Format::Markdown) { 50 } else { 10 };
    let most = usize::from(args.max_violations.unwrap_or(default));
    let mut states: Vec<CheckedState> = states.into_iter().map(|path| CheckedState::of(path)).collect();
    let runs: Vec<_> = states.iter().filter_map(CheckedState::run).collect();
    let beside: Vec<Told> = traces.iter().map(|path| Told::of_trace(path, &runs)).collect();
    let traces: Vec<Checked> = traces.into_iter().map(|path| check(path, &laws, most)).collect();
    let logs = CheckedLog::of_all(&logs, &laws, &runs);
    let told: Vec<&Told> =
        logs.iter().filter(|log| log.found.is_ok()).map(|log| &log.told).chain(&beside).collect();
    states.iter_mut().for_each(|state| state.against(&told, others > 0));
    let mut coverage = Coverage::new();
    logs.iter().filter(|log| log.found.is_ok()).for_each(|log| coverage.merge(&log.coverage));
    for report in traces.iter().filter_map(|trace| trace.found.as_ref().ok()) {
        coverage.merge(&report.coverage);
    }
    let asked = asked(args, &coverage);
    let mut empty = diagrams_without_events(&traces, &coverage, &laws);
    if told.iter().any(|told| told.is_log) {
        empty.extend(states.iter().filter_map(CheckedState::note));
    }
    let helps = traces.iter().filter_map(|trace| trace.help(&laws)).collect();
    let allow_empty = args.allow_empty;
    let (complete, monotonic) = (args.complete, args.monotonic_time);
    let outcome =
        Outcome { traces, states, logs, coverage, asked, complete, monotonic, empty, helps, allow_empty };
    match args.format {
        Format::Text => outcome.text(args.coverage, out),
        Format::Json => out.json(&outcome.json()),
        Format::Junit => outcome.junit(out),
        Format::Markdown => outcome.markdown(out),
    }
    outcome.complain();
    Ok(outcome.exit())
}

/// Named diagrams without events: a mistyped name would pass.
fn diagrams_without_events(traces: &[Checked], coverage: &Coverage, laws: &Laws) -> Vec<String> {
    let reports: Vec<&Report> = traces.iter().filter_map(|trace| trace.found.as_ref().ok()).collect();
    let is_whole = reports.len() == traces.len() && reports.iter().all(|report| report.consumed_whole);
    if !laws.named || !is_whole || reports.iter().all(|report| report.checked() == 0) {
        return Vec::new();
    }
    let of_others = reports.iter().flat_map(|report| report.violation.iter().chain(&report.others));
    let unknown = of_others.filter(|it| matches!(it.kind, ViolationKind::UnknownLifecycle { .. }));
    let occurs = |name: &str| coverage.lifecycle(name).is_some_and(|covered| covered.instances > 0);
    let mut there: Vec<String> =
        coverage.iter().map(|covered| &covered.lifecycle).filter(|name| occurs(name)).cloned().collect();
    there.extend(unknown.map(|violation| violation.lifecycle.clone()));
    there.sort_unstable();
    there.dedup();
    let absent = laws.asked().filter(|rules| !occurs(rules.name()));
    absent.map(|rules| none_of(rules.file().unwrap_or("a diagram"), rules.name(), &there)).collect()
}

fn check(path: &str, laws: &Laws, most: usize) -> Checked {
    let name = input::name_of(path);
    let found = match input::open(path) {
        Ok(from) => {
            let checker = Checker::new(&laws.book).most_violations(most);
            match checker.jsonl(JsonlReader::new(from)) {
                // It has no events, which may be accepted.
                Err(error) if matches!(error.problem(), Problem::Empty) => {
                    Ok(Checker::new(&laws.book).finish())
                }
                checked => checked.map_err(|error| error.named(&name).report()),
            }
        }
        Err(error) => Err(input::unreadable(path, &error).in_a_line()),
    };
    let violation = found.as_ref().ok().and_then(|report| report.violation.as_ref());
    let of_trace = violation.and_then(|violation| excerpt(path, violation));
    let of_diagram = violation.and_then(|violation| laws.excerpt(violation));
    Checked { name, found, excerpts: of_trace.into_iter().chain(of_diagram).collect(), empty: None }
        .with_empty(laws)
}

/// The line of a violation, with a caret at the wrong field.
fn excerpt(path: &str, violation: &Violation) -> Option<String> {
    let field = match &violation.kind {
        // Its line is already shown.
        ViolationKind::Garbage { .. } | ViolationKind::Cut { .. } => return None,
        ViolationKind::UnknownLifecycle { .. } => "\"lifecycle\"",
        ViolationKind::UnknownState { state, .. } | ViolationKind::CompositeState { state, .. }
            if violation.from.as_ref() == Some(state) =>
        {
            "\"from\""
        }
        ViolationKind::NoCreation
        | ViolationKind::BrokenChain { .. }
        | ViolationKind::AfterTerminal { .. } => "\"from\"",
        ViolationKind::WrongEvent { .. } | ViolationKind::SecondCreation { .. } => "\"event\"",
        ViolationKind::SeqNotIncreasing { .. } => "\"seq\"",
        _ => "\"to\"",
    };
    let line = input::line(path, violation.line)?;
    let start = line.find(field).unwrap_or(0);
    let length = line[start..].find([',', '}']).unwrap_or(0);
    Some(caret(path, violation.line, &line, Span::new(start, start + length)))
}

fn asked(args: &Args, coverage: &Coverage) -> Vec<(String, Option<UnmetRequirement>)> {
    let percent = args
        .min_coverage
        .map(|least| (format!("at least {least} % of the edges"), coverage.require_percent(least).err()));
    let edges =
        args.require_edge.iter().map(|edge| (format!("edge {edge}"), coverage.require_edge(edge).err()));
    percent.into_iter().chain(edges).collect()
}
