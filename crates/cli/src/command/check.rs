//! `runstate check TRACE…`

use clap::ValueEnum;
use runstate::diagram::Span;
use runstate::trace::{
    Checker, Coverage, JsonlReader, Junit, Report, Unmet, Verdict, Violation, ViolationKind, WantedEdge,
};
use serde_json::{Value, json};

use crate::excerpt::caret;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::output::{Output, complain, printable};
use crate::rules::{Laws, RulesArgs, closest};
use crate::run_log::{self, CheckedLog};
use crate::run_state::{self, CheckedState};

/// Hold traces, and states of governed runs, against their diagrams
///
/// A trace conforms, is incomplete (an instance has not ended), or violates. Of each instance the first violation is shown: its
/// line, what happened, what was legal, and where the diagram says so. Several diagrams are named by the lifecycles whose events
/// they hold: --diagram order=shop.md#Order --diagram payment=shop.md#Payment. However long a trace is, it is read as a stream. A RUN_STATE.json of a governed run is sound, or has entries in its history that no legal transition
/// leads to, tools or approvals that cannot be: all of that is named. So are the lines of a RUN_LOG.jsonl or
/// RUN_LEDGER.jsonl that tell of no legal transition, whichever program wrote it. A state and the logs that tell of its run are
/// held against each other.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate check trace.jsonl
  runstate check - --lifecycle tool_call --complete < trace.jsonl
  runstate check shop.jsonl --diagram docs/shop.md#check-out
  runstate check RUN_STATE.json RUN_LOG.jsonl
  runstate check a.jsonl b.jsonl --min-coverage 90 --require-edge Suspended:Resuming --format junit

Exit codes:
  0  every trace conforms, or is incomplete and --complete was not given; every state and log is sound
  1  a trace violates, is incomplete with --complete, or coverage is missed; a state or a log has a fault
  2  a trace or another argument cannot be used: a line is no event, wherever it stands; or nothing was checked")]
pub(crate) struct Args {
    /// The traces, as JSON lines, and files of governed runs, by their names or what is in them; `-` reads a trace from
    /// standard input
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<String>,
    #[command(flatten)]
    rules: RulesArgs,
    /// Fail traces that have instances which have not ended
    #[arg(long)]
    complete: bool,
    /// Accept that nothing is checked: that no trace has an event of the lifecycles that are asked for
    #[arg(long)]
    allow_empty: bool,
    /// List at most so many violations of each trace: the first one, and the first of each other instance
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    max_violations: u16,
    /// Fail traces whose time runs backwards within a run
    #[arg(long)]
    monotonic_time: bool,
    /// Show which edges were taken, in all traces together, and which never
    #[arg(long)]
    coverage: bool,
    /// Fail when fewer of the edges were taken, in all traces together
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    min_coverage: Option<f64>,
    /// Fail when this edge was never taken; may be given several times, and as LIFECYCLE/FROM:TO
    #[arg(long, value_name = "FROM:TO")]
    require_edge: Vec<WantedEdge>,
    /// How to show the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// An object with verdict, exit, traces, states, logs, coverage, percent, unmet and empty
    Json,
    /// XML that CI systems show as tests
    Junit,
}

pub(super) fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a number from 0 to 100".to_owned()),
    }
}

/// One trace, and what was found in it.
struct Checked {
    name: String,
    found: Result<Report, String>,
    /// The line of the first violation, where the file can be read again, and that of the diagram.
    excerpts: Vec<String>,
}

/// All traces, and what was asked of their coverage.
struct Outcome {
    traces: Vec<Checked>,
    states: Vec<CheckedState>,
    logs: Vec<CheckedLog>,
    coverage: Coverage,
    asked: Vec<(String, Option<Unmet>)>,
    complete: bool,
    monotonic: bool,
    /// Why nothing was checked, if nothing was.
    empty: Option<String>,
    allow_empty: bool,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let from_stdin = args.traces.iter().filter(|trace| *trace == "-").count() + args.rules.on_stdin();
    if from_stdin > 1 {
        return Err(Failure::new("standard input is named twice, and can be read once"));
    }
    let laws = args.rules.laws()?;
    if args.complete {
        laws.check_ends()?;
    }
    for edge in &args.require_edge {
        if !laws.has_edge(edge.lifecycle.as_deref(), &edge.from, &edge.to) {
            let failure = Failure::new(format!("there is no edge {edge} that a trace could take"));
            return Err(failure.with_help(
                "an edge is FROM:TO or LIFECYCLE/FROM:TO; `runstate diagram NAME` shows those of a built-in lifecycle",
            ));
        }
    }
    let (states, traces): (Vec<&String>, Vec<&String>) =
        args.traces.iter().partition(|path| run_state::is_one(path));
    let has_governed = args.rules.has_builtin("governed_run");
    let (logs, traces): (Vec<&String>, Vec<&String>) =
        traces.into_iter().partition(|path| has_governed && run_log::is_one(path, !states.is_empty()));
    let others = logs.len() + traces.len();
    let most = usize::from(args.max_violations);
    let traces: Vec<Checked> = traces.into_iter().map(|path| check(path, &laws, most)).collect();
    let mut states: Vec<CheckedState> = states.into_iter().map(|path| CheckedState::of(path)).collect();
    let runs: Vec<_> = states.iter().filter_map(CheckedState::run).collect();
    let logs: Vec<CheckedLog> = logs.into_iter().map(|path| CheckedLog::of(path, &laws, &runs)).collect();
    states.iter_mut().for_each(|state| state.against(&logs, others > 0));
    let mut coverage = Coverage::new();
    logs.iter().filter(|log| log.found.is_ok()).for_each(|log| coverage.merge(&log.coverage));
    for report in traces.iter().filter_map(|trace| trace.found.as_ref().ok()) {
        coverage.merge(&report.coverage);
    }
    let asked = asked(args, &coverage);
    let empty = if traces.is_empty() { None } else { nothing_checked(&traces, &laws) };
    let allow_empty = args.allow_empty;
    let (complete, monotonic) = (args.complete, args.monotonic_time);
    let outcome = Outcome { traces, states, logs, coverage, asked, complete, monotonic, empty, allow_empty };
    match args.format {
        Format::Text => outcome.text(args.coverage, out),
        Format::Json => out.json(&outcome.json()),
        Format::Junit => outcome.junit(out),
    }
    Ok(outcome.exit())
}

/// Says that no event was held against anything, if none was. A name that is mistyped would be green.
fn nothing_checked(traces: &[Checked], laws: &Laws) -> Option<String> {
    let reports = || traces.iter().filter_map(|trace| trace.found.as_ref().ok());
    if reports().any(|report| report.checked() > 0) || traces.iter().any(|trace| trace.found.is_err()) {
        return None;
    }
    let mut others: Vec<&str> =
        reports().flat_map(|report| &report.passed_over).map(String::as_str).collect();
    others.sort_unstable();
    others.dedup();
    let asked = laws.book.iter().map(|rules| rules.name()).collect::<Vec<_>>();
    Some(if others.is_empty() {
        "nothing was checked: there is no event; --allow-empty accepts that".to_owned()
    } else {
        let only = laws.only.as_deref().unwrap_or_else(|| asked.first().copied().unwrap_or_default());
        let meant =
            closest(only, &others).map(|name| format!(" (did you mean {name:?}?)")).unwrap_or_default();
        format!(
            "nothing was checked: no event is of the lifecycle {only:?}; there are events of {}{meant}; --allow-empty accepts that",
            others.join(", ")
        )
    })
}

fn check(path: &str, laws: &Laws, most: usize) -> Checked {
    let name = input::name_of(path);
    let found = match input::open(path) {
        Ok(from) => {
            let checker = Checker::new(&laws.book).most_violations(most);
            checker.jsonl(JsonlReader::new(from)).map_err(|error| error.named(&name).report())
        }
        Err(error) => Err(format!("cannot read {name}: {error}")),
    };
    let violation = found.as_ref().ok().and_then(|report| report.violation.as_ref());
    let of_trace = violation.and_then(|violation| excerpt(path, violation));
    let of_diagram = violation.and_then(|violation| laws.excerpt(violation));
    Checked { name, found, excerpts: of_trace.into_iter().chain(of_diagram).collect() }
}

/// Shows the line of a violation, with a caret at the field that is wrong.
fn excerpt(path: &str, violation: &Violation) -> Option<String> {
    let field = match &violation.kind {
        // It has shown its line already.
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

fn asked(args: &Args, coverage: &Coverage) -> Vec<(String, Option<Unmet>)> {
    let percent = args
        .min_coverage
        .map(|least| (format!("at least {least} % of the edges"), coverage.require_percent(least).err()));
    let edges =
        args.require_edge.iter().map(|edge| (format!("edge {edge}"), coverage.require_edge(edge).err()));
    percent.into_iter().chain(edges).collect()
}

impl Outcome {
    fn unmet(&self) -> impl Iterator<Item = &Unmet> {
        self.asked.iter().filter_map(|(_, unmet)| unmet.as_ref())
    }

    /// Why nothing was checked, where that is not accepted.
    fn refused_as_empty(&self) -> Option<&String> {
        self.empty.as_ref().filter(|_| !self.allow_empty)
    }

    /// The traces whose time runs backwards, where that is refused.
    fn backwards(&self) -> impl Iterator<Item = String> {
        let traces = self.traces.iter().filter(|_| self.monotonic);
        traces.filter_map(|trace| {
            let backwards = trace.found.as_ref().ok()?.backwards?;
            Some(format!("{}: {backwards}; --monotonic-time refuses that", printable(&trace.name)))
        })
    }

    fn reports(&self) -> impl Iterator<Item = &Report> {
        self.traces.iter().filter_map(|trace| trace.found.as_ref().ok())
    }

    /// The worst of the verdicts; none when no trace could be read.
    fn verdict(&self) -> Option<Verdict> {
        self.reports().map(|report| report.verdict).max_by_key(|verdict| match verdict {
            Verdict::Conforms => 0,
            Verdict::Incomplete => 1,
            Verdict::Violates => 2,
        })
    }

    fn exit(&self) -> Exit {
        if self.traces.iter().any(|trace| trace.found.is_err())
            || self.states.iter().any(|state| state.found.is_err())
            || !self.logs.iter().all(CheckedLog::is_readable)
            || self.reports().any(|report| !report.consumed_whole)
            || self.refused_as_empty().is_some()
        {
            return Exit::BadInput;
        }
        let failed = match self.verdict() {
            Some(Verdict::Violates) => true,
            Some(Verdict::Incomplete) => self.complete,
            Some(Verdict::Conforms) | None => false,
        };
        let failed = failed
            || self.backwards().next().is_some()
            || self.states.iter().any(|state| !state.holds(self.complete))
            || self.logs.iter().any(|log| !log.holds(self.complete));
        if failed || self.unmet().next().is_some() { Exit::Bad } else { Exit::Good }
    }

    fn text(&self, coverage: bool, out: &mut Output) {
        for trace in &self.traces {
            match &trace.found {
                Ok(report) => {
                    out.text(&format!("{}: {}", printable(&trace.name), report.summary()));
                    trace.excerpts.iter().for_each(|excerpt| out.line(excerpt));
                }
                Err(error) => complain(&format!("error: {}", error.trim_end())),
            }
        }
        self.states.iter().for_each(|state| state.text(self.complete, out));
        self.logs.iter().for_each(|log| log.text(self.complete, out));
        if coverage {
            out.text(&self.coverage.to_string());
        }
        self.backwards().for_each(|why| out.line(&why));
        for unmet in self.unmet() {
            out.line(&unmet.to_string());
        }
        if let Some(empty) = self.refused_as_empty() {
            complain(&format!("error: {empty}"));
        }
    }

    fn json(&self) -> Value {
        let traces: Vec<Value> = self
            .traces
            .iter()
            .map(|trace| match &trace.found {
                Ok(report) => json!({"trace": trace.name, "report": report}),
                Err(error) => json!({"trace": trace.name, "error": error}),
            })
            .collect();
        json!({
            "verdict": self.verdict(),
            "exit": self.exit().code(),
            "traces": traces,
            "states": self.states.iter().map(CheckedState::json).collect::<Vec<_>>(),
            "logs": self.logs.iter().map(CheckedLog::json).collect::<Vec<_>>(),
            "coverage": self.coverage,
            "percent": self.coverage.iter().next().map(|_| self.coverage.percent()),
            "unmet": self.backwards().chain(self.unmet().map(ToString::to_string)).collect::<Vec<_>>(),
            "empty": self.empty,
        })
    }

    fn junit(&self, out: &mut Output) {
        let mut junit = Junit::new();
        if self.complete {
            junit = junit.complete();
        }
        if self.monotonic {
            junit = junit.monotonic();
        }
        for trace in &self.traces {
            match &trace.found {
                Ok(report) => junit.trace(&trace.name, report),
                Err(error) => {
                    junit.unusable(&trace.name, error);
                    complain(&format!("error: {}", error.trim_end()));
                }
            }
        }
        if let Some(empty) = self.refused_as_empty() {
            junit.unusable("runstate check", empty);
            complain(&format!("error: {empty}"));
        }
        self.states.iter().for_each(|state| state.junit(self.complete, &mut junit));
        self.logs.iter().for_each(|log| log.junit(self.complete, &mut junit));
        junit.coverage(self.asked.iter().cloned());
        out.text(&junit.to_string());
    }
}
