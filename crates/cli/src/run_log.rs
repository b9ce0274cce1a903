//! A RUN_LOG.jsonl or RUN_LEDGER.jsonl of governed runs, of this program or another one.

use std::io::BufRead;
use std::path::Path;

use runstate::governed_run::{GovernedRunStatus, RunId};
use runstate::kernel::Status;
use runstate::trace::{Checker, Coverage, Event, Junit};
use runstate_governed::{LogReport, LoggedRun, LoggedStep, Timestamp, check_log, check_log_after};
use runstate_review::{Entry, Interruption};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::input;
use crate::output::{Output, complain, printable};
use crate::rules::Laws;
use crate::run_state::now;

/// The part of a file that is read to recognise it.
const PEEKED: u64 = 64 << 10;

/// Is it the log of governed runs, by its name, or by a line with a state? A file whose first object names a lifecycle is a
/// trace, unless it has the name of a log and belongs to governed runs.
pub(crate) fn is_one(path: &str, beside_state: bool) -> bool {
    if path == "-" {
        return false;
    }
    let name = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_named = matches!(name, "RUN_LOG.jsonl" | "RUN_LEDGER.jsonl");
    if !is_named && !beside_state && !name.ends_with(".jsonl") {
        return false;
    }
    let objects = first_objects(path);
    if let Some(lifecycle) = objects.first().and_then(|first| first.get("lifecycle")) {
        return is_named && *lifecycle == GovernedRunStatus::graph().name;
    }
    // In another version the first lines may name any states.
    let tells = |fields: &Map<String, Value>| {
        ["current_state", "state", "to"].iter().any(|field| {
            let state = fields.get(*field).and_then(Value::as_str);
            state.is_some_and(|state| state.parse::<GovernedRunStatus>().is_ok())
        })
    };
    is_named || objects.iter().any(tells) && !objects.iter().any(|fields| fields.contains_key("lifecycle"))
}

/// The first lines that are JSON objects.
fn first_objects(path: &str) -> Vec<Map<String, Value>> {
    let Ok(file) = input::open(path) else { return Vec::new() };
    let lines = std::io::Read::take(file, PEEKED).lines();
    lines.map_while(Result::ok).filter_map(|line| runstate::json::from_str(&line).ok()).collect()
}

/// The content of a file about runs with given states.
pub(crate) struct Told {
    pub(crate) name: String,
    pub(crate) steps: Vec<LoggedStep>,
    /// Has it a line of any governed run?
    pub(crate) is_log: bool,
}

impl Told {
    fn new(path: &str, is_log: bool) -> Self {
        Told { name: path.to_owned(), steps: Vec::new(), is_log }
    }

    /// The content of a trace about these runs, beside its check as a trace.
    pub(crate) fn of_trace(path: &str, runs: &[&RunId]) -> Self {
        let mut told = Told::new(path, false);
        if path == "-" || runs.is_empty() {
            return told;
        }
        let keep = |step: &LoggedStep| {
            told.is_log = true;
            told.keep(step, runs);
        };
        // Unreadable lines were reported already.
        drop(input::open(path).and_then(|file| check_log(file, None, keep)));
        told
    }

    fn keep(&mut self, step: &LoggedStep, runs: &[&RunId]) {
        // A line without an id belongs to the single run.
        let is_kept = match step.run.as_deref() {
            None => runs.len() == 1,
            Some(run) => runs.iter().any(|of| of.as_str() == run),
        };
        if is_kept {
            self.steps.push(step.clone());
        }
    }

    /// Is it compared with the state of this run? A log that names no other run is, even without its name.
    pub(crate) fn tells_of(&self, run: &RunId) -> bool {
        self.steps.iter().any(|step| step.run.as_deref().is_none_or(|of| of == run.as_str()))
    }
}

/// Such a file and its findings.
pub(crate) struct CheckedLog {
    name: String,
    pub(crate) told: Told,
    pub(crate) found: Result<LogReport, String>,
    /// The edges of its transitions.
    pub(crate) coverage: Coverage,
}

impl CheckedLog {
    /// Reads files, line by line, and keeps the lines of these runs. A file that continues an earlier one is a part of one
    /// log.
    pub(crate) fn of_all(paths: &[&String], laws: &Laws, runs: &[&RunId]) -> Vec<Self> {
        let mut logs: Vec<CheckedLog> = Vec::new();
        for path in paths {
            let alone = CheckedLog::of(path, laws, runs, &[]);
            let faults = |log: &CheckedLog| log.found.as_ref().map_or(0, |report| report.faults.len());
            let part = logs.iter().enumerate().find_map(|(at, before)| {
                let before = before.found.as_ref().ok().filter(|_| faults(&alone) > 0)?;
                let part = CheckedLog::of(path, laws, runs, &before.runs);
                (faults(&part) < faults(&alone)).then_some((at, part))
            });
            let log = match part {
                None => alone,
                Some((at, part)) => part.behind(&mut logs[at]),
            };
            logs.push(log);
        }
        logs
    }

    /// The later part of a log: it contains the steps of the earlier part, which does not have the end of its runs.
    fn behind(mut self, before: &mut CheckedLog) -> Self {
        let mut steps = std::mem::take(&mut before.told.steps);
        steps.append(&mut self.told.steps);
        self.told.steps = steps;
        self.told.name = format!("{}, {}", before.told.name, self.told.name);
        if let (Ok(before), Ok(report)) = (&mut before.found, &self.found) {
            before.runs.retain(|run| !report.runs.iter().any(|it| it.run == run.run));
        }
        self
    }

    fn of(path: &str, laws: &Laws, runs: &[&RunId], before: &[LoggedRun]) -> Self {
        let (mut checker, mut told) = (Checker::new(&laws.book), Told::new(path, true));
        let keep = |step: &LoggedStep| {
            tell(step, &mut checker);
            told.keep(step, runs);
        };
        // Lines without an id may belong to any run.
        let before: Vec<LoggedRun> = before.iter().filter(|run| run.run.is_some()).cloned().collect();
        let found = input::open(path)
            .and_then(|file| check_log_after(&before, file, Some(now()), keep))
            .map_err(|error| input::unreadable(path, &error).in_a_line())
            .and_then(|report| match report.steps {
                0 if report.faults.is_empty() => {
                    Err(format!("{path}: expected a transition of a governed run, got none"))
                }
                _ => Ok(report),
            });
        CheckedLog { name: path.to_owned(), told, found, coverage: checker.finish().coverage }
    }

    /// Could every line be read?
    pub(crate) fn is_readable(&self) -> bool {
        self.found.as_ref().is_ok_and(|report| report.unreadable == 0)
    }

    /// Is it sound, and are its runs over if required?
    pub(crate) fn holds(&self, complete: bool) -> bool {
        self.found
            .as_ref()
            .is_ok_and(|report| report.faults.is_empty() && (unfinished(report) == 0 || !complete))
    }

    pub(crate) fn text(&self, complete: bool, out: &mut Output) {
        match &self.found {
            Ok(report) => {
                out.line(&printable(&format!("{}: {}", self.name, summary(report))));
                report
                    .faults
                    .iter()
                    .for_each(|fault| out.line(&format!("  {}", printable(&fault.to_string()))));
                missed(report, complete).iter().for_each(|missed| out.line(&format!("  {missed}")));
            }
            Err(error) => complain(&format!("error: {}", printable(error))),
        }
    }

    /// The row of a summary.
    pub(crate) fn entry(&self, complete: bool) -> Entry {
        match &self.found {
            Ok(report) => {
                let said = summary(report);
                let entry = match self.holds(complete) {
                    true => Entry::good(&self.name, said),
                    false => Entry::bad(&self.name, said),
                };
                let faults = report.faults.iter().map(ToString::to_string);
                faults.chain(missed(report, complete)).fold(entry, Entry::line)
            }
            Err(error) => Entry::bad(&self.name, "unusable").block("text", error),
        }
    }

    pub(crate) fn json(&self) -> Value {
        match &self.found {
            Ok(report) => json!({
                "file": self.name, "lines": report.lines, "transitions": report.steps,
                "runs": report.runs.iter()
                    .map(|run| json!({"run": run.run, "state": run.state})).collect::<Vec<_>>(),
                "faults": report.faults.iter()
                    .map(|fault| json!({"line": fault.line, "why": fault.why})).collect::<Vec<_>>(),
                "more_faults": report.more_faults,
            }),
            Err(error) => json!({"file": self.name, "error": error}),
        }
    }

    pub(crate) fn junit(&self, complete: bool, junit: &mut Junit) {
        match &self.found {
            Ok(report) => {
                let shown = |is_unreadable: bool| {
                    let of = report.faults.iter().filter(move |fault| fault.is_unreadable == is_unreadable);
                    of.map(ToString::to_string).collect::<Vec<_>>()
                };
                let mut faults = shown(false);
                faults.extend(missed(report, complete));
                junit.file(&self.name, "log", &faults, &shown(true), &summary(report));
            }
            Err(error) => {
                junit.unusable(&self.name, error);
                complain(&format!("error: {}", printable(error)));
            }
        }
    }
}

/// Forwards a transition to the checker, so that it counts among the taken edges. A transition that the lifecycle lacks is a
/// fault already.
fn tell(step: &LoggedStep, checker: &mut Checker<'_>) {
    if let Some(name) = event_of(step)
        && let Some(event) = event(step, step.line, 0, name)
    {
        checker.event(step.line, &event);
    }
}

/// The name of the event of a transition; `None` for a transition that the lifecycle lacks.
fn event_of(step: &LoggedStep) -> Option<&'static str> {
    event_name(step.from.map(|from| from.name()), step.to.name())
}

/// The name of the event between two states; `None` for a transition that the lifecycle lacks.
pub(crate) fn event_name(from: Option<&str>, to: &str) -> Option<&'static str> {
    let Some(from) = from else { return Some("create") };
    let mut edges = GovernedRunStatus::graph().edges.iter();
    edges.find(|edge| edge.from == from && edge.to == to).map(|edge| edge.event)
}

fn event(step: &LoggedStep, seq: u64, at_ms: u64, event: &str) -> Option<Event<'static>> {
    let run = step.run.as_deref().unwrap_or("the run");
    let line = json!({
        "seq": seq, "at_ms": at_ms, "run": run, "lifecycle": GovernedRunStatus::graph().name, "instance": run,
        "event": event, "from": step.from, "to": step.to,
    });
    Event::from_json(&line.to_string()).ok().map(Event::into_owned)
}

/// The transitions of a log with their lines, and its unreadable lines.
pub(crate) type LoggedTrace = (Vec<(u64, Event<'static>)>, Option<Interruption>);

/// The transitions of a log as a trace, with their lines in the log. A transition without a time has the time of the next one.
/// A transition that the lifecycle lacks has the event `unknown`. The unreadable lines are described, too.
///
/// # Errors
/// The file cannot be read, or has no transition.
pub(crate) fn trace(path: &str) -> Result<LoggedTrace, Failure> {
    let mut steps = Vec::new();
    let file = input::open(path).map_err(|error| input::unreadable(path, &error))?;
    let report = check_log(file, None, |step: &LoggedStep| steps.push(step.clone()))
        .map_err(|error| input::unreadable(path, &error))?;
    let unreadable = report.faults.iter().find(|fault| fault.is_unreadable);
    if steps.is_empty() {
        let why = unreadable.map_or_else(
            || "expected a transition of a governed run, got none".to_owned(),
            ToString::to_string,
        );
        return Err(Failure::new(format!("{path}: {why}")));
    }
    let more = report.unreadable.saturating_sub(1);
    let interruption = unreadable.map(|fault| Interruption::new(fault.line, fault.why.as_str(), more));
    let mut at_ms = steps.iter().rev().find_map(|step| step.at).map_or(0, Timestamp::ms);
    let mut events = Vec::with_capacity(steps.len());
    for (place, step) in steps.iter().enumerate().rev() {
        let seq = place as u64 + 1;
        at_ms = step.at.map_or(at_ms, Timestamp::ms);
        events.extend(
            event(step, seq, at_ms, event_of(step).unwrap_or("unknown")).map(|event| (step.line, event)),
        );
    }
    events.reverse();
    Ok((events, interruption))
}

fn unfinished(report: &LogReport) -> usize {
    report.runs.iter().filter(|run| !run.state.is_some_and(GovernedRunStatus::is_terminal)).count()
}

fn missed(report: &LogReport, complete: bool) -> Option<String> {
    let (open, all) = (unfinished(report), report.runs.len());
    (complete && open > 0).then(|| match all {
        1 => "the run is not over".to_owned(),
        _ => format!("{open} of {all} runs are not over"),
    })
}

fn summary(report: &LogReport) -> String {
    let faults = report.faults.len() as u64 + report.more_faults;
    let verdict = match (faults, report.more_faults) {
        (0, _) => "sound".to_owned(),
        (1, _) => "1 fault".to_owned(),
        (faults, 0) => format!("{faults} faults"),
        (faults, more) => format!("{faults} faults, {more} of them not shown"),
    };
    let of = match report.runs.as_slice() {
        [run] => {
            let id = run.run.as_deref().unwrap_or("a run without an id");
            format!("{id} in {}", run.state.map_or("an unknown state", |state| state.name()))
        }
        runs => format!("{} runs, {} of them not over", runs.len(), unfinished(report)),
    };
    format!("{verdict}: {of}, {} transitions in {} lines", report.steps, report.lines)
}
