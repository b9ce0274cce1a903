//! A RUN_LOG.jsonl or RUN_LEDGER.jsonl of governed runs, of this program or another one.

use std::io::BufRead;
use std::path::Path;

use runstate::governed_run::{GovernedRunStatus, RunId};
use runstate::kernel::Status;
use runstate::trace::{Checker, Coverage, Event, Junit};
use runstate_governed::{
    LogReport, LoggedLine, LoggedRun, LoggedStep, Timestamp, check_log, check_log_after, read_log,
};
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
    let (run, from) = (step.run.as_deref().unwrap_or("the run"), step.from.map(|from| from.name()));
    if let Some(name) = event_name(from, step.to.name())
        && let Some(event) = event_between(run, step.line, 0, (from, name, step.to.name()))
    {
        checker.event(step.line, &event);
    }
}

/// The name of the event between two states; `None` for a transition that the lifecycle lacks.
pub(crate) fn event_name(from: Option<&str>, to: &str) -> Option<&'static str> {
    let Some(from) = from else { return Some("create") };
    let mut edges = GovernedRunStatus::graph().edges.iter();
    edges.find(|edge| edge.from == from && edge.to == to).map(|edge| edge.event)
}

/// An event of a governed run.
pub(crate) fn event_between(
    run: &str,
    seq: u64,
    at_ms: u64,
    (from, event, to): (Option<&str>, &str, &str),
) -> Option<Event<'static>> {
    let line = json!({
        "seq": seq, "at_ms": at_ms, "run": run, "lifecycle": GovernedRunStatus::graph().name, "instance": run,
        "event": event, "from": from, "to": to,
    });
    Event::from_json(&line.to_string()).ok().map(Event::into_owned)
}

/// A line of a log as an event.
pub(crate) struct LoggedEvent {
    pub(crate) line: u64,
    pub(crate) event: Event<'static>,
    /// The faults of the line.
    pub(crate) fault: Option<String>,
    /// Does the line have a time?
    pub(crate) is_timed: bool,
}

/// The lines of a log about runs as a trace, and its lines that are no event.
pub(crate) type LoggedTrace = (Vec<LoggedEvent>, Option<Interruption>);

/// The lines of a log about runs as a trace. A line that is an event stays as it is recorded. Another line has the states that
/// it names, known or not. Its event is the one between these states, and `unknown` if the lifecycle lacks that transition.
/// Without a time it has the time of the line before it.
///
/// # Errors
/// The file cannot be read, or no line is about a run.
pub(crate) fn trace(path: &str) -> Result<LoggedTrace, Failure> {
    let (mut lines, mut lost) = (Vec::new(), Vec::new());
    let file = input::open(path).map_err(|error| input::unreadable(path, &error))?;
    let report = read_log(file, None, |line: &LoggedLine<'_>| match Read::of(line) {
        Some(read) => lines.push(read),
        None => lost.extend(line.faults.iter().map(|why| (line.line, why.clone()))),
    })
    .map_err(|error| input::unreadable(path, &error))?;
    let unreadable = report.faults.into_iter().filter(|fault| fault.is_unreadable);
    lost.extend(unreadable.map(|fault| (fault.line, fault.why)));
    let first = lost.iter().min_by_key(|(line, _)| *line);
    if lines.is_empty() {
        let why = first.map_or_else(
            || "expected a transition of a governed run, got none".to_owned(),
            |(line, why)| format!("line {line}: {why}"),
        );
        return Err(Failure::new(format!("{path}: {why}")));
    }
    let more = (lost.len() as u64 - u64::from(first.is_some())).max(report.unreadable.saturating_sub(1));
    // The interruption says itself that the line is no event.
    let plain = |why: &str| why.strip_prefix("it is no event: ").unwrap_or(why).to_owned();
    let interruption = first.map(|(line, why)| Interruption::new(*line, plain(why), more));
    let mut at_ms = lines.iter().find_map(|line| line.at_ms).unwrap_or_default();
    let mut seq = 0;
    let events = lines.into_iter().filter_map(|line| line.event(&mut seq, &mut at_ms)).collect();
    Ok((events, interruption))
}

/// A line that is shown as an event.
struct Read {
    line: u64,
    at_ms: Option<u64>,
    content: Content,
    fault: Option<String>,
}

enum Content {
    Event(Event<'static>),
    States { run: String, seq: Option<u64>, from: Option<String>, to: String },
}

impl Read {
    fn of(line: &LoggedLine<'_>) -> Option<Self> {
        let recorded = std::str::from_utf8(line.text).ok().and_then(|text| Event::from_json(text).ok());
        let (at_ms, content) = match recorded {
            Some(event) => (Some(event.at_ms), Content::Event(event.into_owned())),
            None => {
                let (run, from) = (line.run.unwrap_or("the run").to_owned(), line.from.map(str::to_owned));
                let content = Content::States { run, seq: line.seq, from, to: line.to?.to_owned() };
                (line.at.map(Timestamp::ms), content)
            }
        };
        let fault = (!line.faults.is_empty()).then(|| line.faults.join("; "));
        Some(Read { line: line.line, at_ms, content, fault })
    }

    /// The event, with the number after the last one and the last time if its line has none.
    fn event(self, last: &mut u64, last_ms: &mut u64) -> Option<LoggedEvent> {
        let Read { line, at_ms, content, fault } = self;
        *last_ms = at_ms.unwrap_or(*last_ms);
        let event = match content {
            Content::Event(event) => event,
            Content::States { run, seq, from, to } => {
                let event = event_name(from.as_deref(), &to).unwrap_or("unknown");
                let seq = seq.unwrap_or(last.saturating_add(1));
                event_between(&run, seq, *last_ms, (from.as_deref(), event, &to))?
            }
        };
        *last = event.seq;
        Some(LoggedEvent { line, event, fault, is_timed: at_ms.is_some() })
    }
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
