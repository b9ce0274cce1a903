//! Validation of a RUN_LOG.jsonl or RUN_LEDGER.jsonl of any program, line by line.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use runstate::governed_run::GovernedRunStatus;

use super::faults::{SKEW_MS, step};
use super::lines::{Ends, LineReader, MOST_LINE};
use super::log_line::{self, From, ParsedLine};
use super::log_report::{LogFault, LogReport, LoggedLine, LoggedRun, LoggedStep};
use super::timestamp::Timestamp;

/// The most faults that are listed.
const MOST_FAULTS: usize = 1000;

/// Validates a RUN_LOG.jsonl or RUN_LEDGER.jsonl, line by line. Each transition is checked against the documented
/// graph and against the previous line of its run. With `now` (milliseconds since 1970), times in the future are
/// faults as well. `each` is called for every transition, valid or not. It is also called for the beginning of a run
/// in INIT if no line contains that beginning.
///
/// The log may come from another program. A line is a JSON object with the field names of governed runs: `run_id` (or
/// `run`), `current_state` (or `state`, or `to`), `previous_state` (or `from`), `entered_at` (or `at`, `timestamp`,
/// `updated_at`). Further fields are ignored. These rules apply:
///
/// - Without a previous state in the line, the state of the previous line counts.
/// - A line that repeats the state is not a transition. A line without a state is about other matters.
/// - A run begins in INIT, with or without a line for it. A trace, whose lines name the lifecycle, needs that line.
/// - A line that is not JSON, or names an unknown state, is a fault. Validation continues with the next line.
/// - Any word in the state field of a run's line counts as a state, in any letter case. In a line with a field
///   `tool…` or `call…`, a word counts as the state of the tool, unless it is in capitals.
///
/// ```
/// use runstate_governed::check_log;
///
/// let log = br#"{"run_id": "RUN-A-20260131-120000", "state": "INIT", "entered_at": "2026-01-31T12:00:00Z", "host": "a"}
/// {"event": "a look"}
/// {"run_id": "RUN-A-20260131-120000", "state": "EXECUTING", "entered_at": "2026-01-31T12:00:01Z"}
/// "#;
/// let report = check_log(&log[..], None, |_| ())?;
/// assert_eq!((report.lines, report.steps), (3, 2));
/// assert_eq!(
///     report.faults[0].to_string(),
///     "line 3: no legal transition: INIT --> EXECUTING; from INIT a run can go to PLANNING, HALTED_UNSAFE"
/// );
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The errors of the input.
pub fn check_log(
    log: impl BufRead,
    now: Option<u64>,
    each: impl FnMut(&LoggedStep),
) -> io::Result<LogReport> {
    check_log_after(&[], log, now, each)
}

/// Validates a later part of a log, such as one file of a log that is split by size. `before` has the last state of
/// each run in the earlier parts.
///
/// ```
/// use runstate_governed::{check_log, check_log_after};
///
/// let part = |states: [&str; 2]| states.map(|it| format!("{{\"run_id\": \"RUN-A-20260131-120000\", \"state\": \"{it}\"}}\n")).concat();
/// let (one, two) = (part(["INIT", "PLANNING"]), part(["EXECUTING", "VERIFYING"]));
/// let before = check_log(one.as_bytes(), None, |_| ())?;
/// assert_eq!(check_log(two.as_bytes(), None, |_| ())?.faults.len(), 1);
/// assert_eq!(check_log_after(&before.runs, two.as_bytes(), None, |_| ())?.faults, []);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The errors of the input.
pub fn check_log_after(
    before: &[LoggedRun],
    log: impl BufRead,
    now: Option<u64>,
    mut each: impl FnMut(&LoggedStep),
) -> io::Result<LogReport> {
    checked(before, log, now, |_, step| step.into_iter().for_each(&mut each))
}

/// Validates a log as [`check_log`] does, and calls `each` for every line about a run, as it is written: also for a line with
/// an unknown state, or without any.
///
/// ```
/// use runstate_governed::read_log;
///
/// let log = br#"{"run_id": "RUN-A-20260131-120000", "state": "INIT"}
/// {"run_id": "RUN-A-20260131-120000", "state": "COOKING"}
/// "#;
/// let mut told = Vec::new();
/// read_log(&log[..], None, |line| {
///     told.push((line.from.map(str::to_owned), line.to.map(str::to_owned), line.faults.to_vec()));
/// })?;
/// let fault = r#"state is "COOKING", which is no state of a governed run"#.to_owned();
/// let init = Some("INIT".to_owned());
/// assert_eq!(told, [(None, init.clone(), vec![]), (init, Some("COOKING".to_owned()), vec![fault])]);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The errors of the input.
pub fn read_log(
    log: impl BufRead,
    now: Option<u64>,
    mut each: impl FnMut(&LoggedLine<'_>),
) -> io::Result<LogReport> {
    checked(&[], log, now, |line, _| each(line))
}

fn checked(
    before: &[LoggedRun],
    log: impl BufRead,
    now: Option<u64>,
    mut each: impl FnMut(&LoggedLine<'_>, Option<&LoggedStep>),
) -> io::Result<LogReport> {
    let mut checked = Checked { now, ..Checked::default() };
    for LoggedRun { run, state } in before {
        checked.runs.insert(run.clone(), Last { state: *state, unknown: None, at: None, seq: None, line: 0 });
    }
    let mut lines = LineReader::new(log);
    while let Some(ends) = lines.next()? {
        checked.line = lines.number;
        if ends == Ends::TooLong {
            checked.unreadable(format!("it is longer than {MOST_LINE} bytes"));
            continue;
        }
        let mut text = lines.line.trim_ascii();
        if checked.line == 1 {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        if text.is_empty() {
            continue;
        }
        match log_line::read(text) {
            Ok(None) => {}
            Ok(Some(told)) => checked.told(told, text, &mut each),
            Err(_) if ends == Ends::Torn => {
                checked.unreadable("it breaks off: its end is missing".to_owned());
            }
            Err(why) => checked.unreadable(format!("it is no event: {why}")),
        }
    }
    Ok(checked.report())
}

/// The last known state of a run.
struct Last {
    /// `None` after an unknown state.
    state: Option<GovernedRunStatus>,
    /// The word for an unknown state.
    unknown: Option<String>,
    at: Option<Timestamp>,
    seq: Option<u64>,
    line: u64,
}

#[derive(Default)]
struct Checked {
    now: Option<u64>,
    line: u64,
    steps: u64,
    runs: BTreeMap<Option<String>, Last>,
    faults: Vec<LogFault>,
    more: u64,
    unreadable: u64,
}

impl Checked {
    fn unreadable(&mut self, why: String) {
        self.unreadable += 1;
        self.list(why, true);
    }

    fn fault(&mut self, why: String) {
        self.list(why, false);
    }

    fn list(&mut self, why: String, is_unreadable: bool) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(LogFault { line: self.line, why, is_unreadable });
        } else {
            self.more += 1;
        }
    }

    fn told(
        &mut self,
        told: ParsedLine,
        text: &[u8],
        each: &mut impl FnMut(&LoggedLine<'_>, Option<&LoggedStep>),
    ) {
        let ParsedLine {
            run,
            unknown_run,
            from,
            to,
            unknown_from,
            unknown_to,
            at,
            seq,
            event,
            faults,
            names_unknown,
            is_of_trace,
        } = told;
        let (is_faulty, mut wrong, line) = (!faults.is_empty(), faults, self.line);
        let Some(to) = to else {
            wrong.iter().for_each(|why| self.fault(why.clone()));
            let last = self.runs.get(&run);
            let before =
                last.and_then(|last| last.state.map(|state| state.name()).or(last.unknown.as_deref()));
            let from = match &from {
                From::Nothing => None,
                From::State(from) => Some(from.name()),
                From::Unsaid => unknown_from.as_deref().or(before),
            };
            let (run_id, to) = (shown_run(&run, &unknown_run), unknown_to.as_deref());
            each(&LoggedLine { line, text, run: run_id, from, to, seq, at, faults: &wrong }, None);
            if names_unknown {
                self.runs.insert(run, Last { state: None, unknown: unknown_to, at, seq, line });
            }
            return;
        };
        let begins = !is_of_trace && !self.runs.contains_key(&run);
        if begins
            && to != GovernedRunStatus::Init
            && matches!(from, From::Unsaid | From::State(GovernedRunStatus::Init))
        {
            // The run begins in INIT, although no line contains that.
            let init = GovernedRunStatus::Init;
            let step = LoggedStep { line, run: run.clone(), from: None, to: init, at: None };
            let (run_id, to) = (shown_run(&run, &unknown_run), Some(init.name()));
            let begun =
                LoggedLine { line, text, run: run_id, from: None, to, seq: None, at: None, faults: &[] };
            each(&begun, Some(&step));
            self.runs
                .insert(run.clone(), Last { state: Some(init), unknown: None, at: None, seq: None, line });
        }
        let last = self.runs.get(&run);
        let state = last.and_then(|last| last.state);
        if from == From::Unsaid && state == Some(to) && !is_faulty {
            return;
        }
        if let Some(last) = last {
            late(last, at, seq, &mut wrong);
        }
        let before = match (&from, last) {
            (From::State(from), Some(Last { state: Some(state), line, .. })) if state != from => {
                wrong.push(format!("it says that the run was in {from}, by {} it was in {state}", by(*line)));
                Some(*from)
            }
            (From::State(from), None) => {
                let why = if is_of_trace && *from == GovernedRunStatus::Init {
                    "no line makes the run: expected one with null for `from` and INIT for `to` before"
                        .to_owned()
                } else {
                    format!("the run is in {from} before any line records it; a run begins in INIT")
                };
                wrong.push(why);
                Some(*from)
            }
            (From::State(from), Some(_)) => Some(*from),
            (From::Nothing, Some(Last { state: Some(state), line, .. })) => {
                wrong.push(format!("it makes the run, which by {} is in {state}", by(*line)));
                None
            }
            (From::Nothing, Some(last)) => {
                wrong.push(format!("it creates the run, which {} already records", by(last.line)));
                None
            }
            (From::Nothing, None) => None,
            (From::Unsaid, _) => state,
        };
        match before {
            Some(before) => wrong.extend(step(before, to).err()),
            // The previous state is unknown, so any state may follow.
            None if last.is_some() && from == From::Unsaid => {}
            None if to != GovernedRunStatus::Init => {
                wrong.push(format!("no legal transition: [*] --> {to}; a run begins in INIT"));
            }
            None => {}
        }
        if !is_faulty {
            wrong.extend(event.and_then(|event| other_event(before, to, &event)));
        }
        if let (Some(at), Some(now)) = (at, self.now)
            && at.ms() > now.saturating_add(SKEW_MS)
        {
            let now = Timestamp::from_ms(now);
            wrong.push(format!("it is of {at}, which is in the future: it is {now} now"));
        }
        let unknown = last.and_then(|last| last.unknown.as_deref()).filter(|_| from == From::Unsaid);
        let shown_from = unknown_from.as_deref().or(before.map(|from| from.name())).or(unknown);
        let (run_id, to_name) = (shown_run(&run, &unknown_run), Some(to.name()));
        let step = LoggedStep { line, run: run.clone(), from: before, to, at };
        each(
            &LoggedLine { line, text, run: run_id, from: shown_from, to: to_name, seq, at, faults: &wrong },
            Some(&step),
        );
        wrong.into_iter().for_each(|why| self.fault(why));
        self.steps += 1;
        // Later lines are checked against the state in this line, so that one mistake is reported once.
        self.runs.insert(run, Last { state: Some(to), unknown: None, at, seq, line });
    }

    fn report(self) -> LogReport {
        // Runs that occur in earlier parts only are not included.
        let Checked { line: lines, steps, runs, faults, more: more_faults, unreadable, .. } = self;
        let told = runs.into_iter().filter(|(_, last)| last.line > 0);
        let runs = told.map(|(run, last)| LoggedRun { run, state: last.state }).collect();
        LogReport { lines, steps, runs, faults, more_faults, unreadable }
    }
}

/// The run as the line names it.
fn shown_run<'l>(run: &'l Option<String>, unknown: &'l Option<String>) -> Option<&'l str> {
    run.as_deref().or(unknown.as_deref())
}

fn by(line: u64) -> String {
    if line == 0 { "the part before".to_owned() } else { format!("line {line}") }
}

/// Reports a time or a number of a line that is not later than in the previous line of its run.
fn late(last: &Last, at: Option<Timestamp>, seq: Option<u64>, wrong: &mut Vec<String>) {
    if let (Some(before), Some(at)) = (last.at, at)
        && at < before
    {
        wrong.push(format!("it is of {at}, line {} before it of {before}", last.line));
    }
    if let (Some(before), Some(seq)) = (last.seq, seq)
        && seq <= before
    {
        wrong.push(format!("its number is {seq}, line {} before it has {before}", last.line));
    }
}

/// The fault of an event that does not belong to its transition. An illegal transition has no such fault.
fn other_event(from: Option<GovernedRunStatus>, to: GovernedRunStatus, event: &str) -> Option<String> {
    let expected = match from {
        None => "create",
        Some(from) => super::faults::event(from, to)?,
    };
    let shown: String = event.chars().take(60).collect();
    (event != expected).then(|| format!("its event is {shown:?}, that of the transition is {expected}"))
}
