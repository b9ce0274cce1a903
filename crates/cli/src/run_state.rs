//! A RUN_STATE.json of a governed run, of this program or another one.

use std::io::Read;
use std::path::Path;

use runstate::governed_run::RunId;
use runstate::trace::Junit;
use runstate_governed::{StateReport, check_state};
use runstate_review::Entry;
use serde_json::{Value, json};

use crate::input;
use crate::output::{Output, complain, printable};
use crate::run_log::Told;

/// The maximum size of such a file, in bytes.
pub(crate) const MOST: u64 = 16 << 20;

/// Is it the state of a governed run, by its name, or by the beginning of a JSON file?
pub(crate) fn is_one(path: &str) -> bool {
    let Some(name) = Path::new(path).file_name().and_then(|name| name.to_str()) else { return false };
    if name == "RUN_STATE.json" {
        return true;
    }
    let mut start = Vec::new();
    path != "-"
        && name.ends_with(".json")
        && input::open(path).is_ok_and(|file| file.take(64 << 10).read_to_end(&mut start).is_ok())
        && String::from_utf8_lossy(&start).contains("\"state_history\"")
}

/// Such a file and its findings.
pub(crate) struct CheckedState {
    name: String,
    pub(crate) found: Result<StateReport, String>,
    /// Are there other files, without a log of its run?
    is_alone: bool,
}

impl CheckedState {
    /// Reads a file.
    pub(crate) fn of(path: &str) -> Self {
        let found = match input::read(Path::new(path), MOST) {
            Err(error) => Err(format!("cannot read {path}: {error}")),
            Ok(bytes) => check_state(&bytes, Some(now())).map_err(|why| format!("{path}: {why}")),
        };
        CheckedState { name: path.to_owned(), found, is_alone: false }
    }

    /// Compares it with the logs and traces of its run, and notes other files without one.
    pub(crate) fn against(&mut self, logs: &[&Told], has_others: bool) {
        let Ok(report) = &mut self.found else { return };
        self.is_alone = has_others && !logs.iter().any(|log| log.tells_of(&report.run));
        for log in logs.iter().filter(|log| log.tells_of(&report.run)) {
            let differs = report.against_log(&log.steps);
            report.faults.extend(differs.map(|differs| format!("{}: {differs}", log.name)));
        }
    }

    /// The run, if the file is readable.
    pub(crate) fn run(&self) -> Option<&RunId> {
        self.found.as_ref().ok().map(|report| &report.run)
    }

    /// Is it sound, and over if required?
    pub(crate) fn holds(&self, complete: bool) -> bool {
        let is_over = |report: &StateReport| report.status.as_ref().is_some_and(|it| it.state.is_terminal());
        self.found.as_ref().is_ok_and(|report| report.faults.is_empty() && (is_over(report) || !complete))
    }

    pub(crate) fn text(&self, complete: bool, out: &mut Output) {
        let name = printable(&self.name);
        match &self.found {
            Ok(report) if report.faults.is_empty() => {
                let entries = report.history.len();
                let StateReport { run, state, .. } = report;
                let missed = if self.holds(complete) { "" } else { "; it is not over" };
                out.line(&format!("{name}: sound: {run} in {state}, {entries} states{missed}"));
            }
            Ok(report) => {
                out.line(&format!("{name}: {}", counted(report.faults.len())));
                report.faults.iter().for_each(|fault| out.line(&format!("  {}", printable(fault))));
            }
            Err(error) => complain(&format!("error: {}", printable(error))),
        }
        if let Some(note) = self.note() {
            out.line(&printable(&format!("  note: {note}")));
        }
    }

    /// The note that no log was compared.
    pub(crate) fn note(&self) -> Option<String> {
        let run = self.run().filter(|_| self.is_alone)?;
        Some(format!("no given log has a line of {run}: {} was compared with no log", self.name))
    }

    pub(crate) fn junit(&self, complete: bool, junit: &mut Junit) {
        match &self.found {
            Ok(report) => {
                let mut faults = report.faults.clone();
                if faults.is_empty() && !self.holds(complete) {
                    faults.push("it is not over".to_owned());
                }
                let note = self.note().map(|note| format!("\nnote: {note}")).unwrap_or_default();
                let said = format!("{} in {}{note}", report.run, report.state);
                junit.file(&self.name, "state", &faults, &[], &said);
            }
            Err(error) => {
                junit.unusable(&self.name, error);
                complain(&format!("error: {}", printable(error)));
            }
        }
    }

    /// The row of a summary.
    pub(crate) fn entry(&self, complete: bool) -> Entry {
        let entry = match &self.found {
            Ok(report) if self.holds(complete) => {
                Entry::good(&self.name, format!("sound, in {}", report.state))
            }
            Ok(report) => {
                let mut faults = report.faults.clone();
                if faults.is_empty() {
                    faults.push("it is not over".to_owned());
                }
                let verdict = format!("{}, in {}", counted(faults.len()), report.state);
                faults.into_iter().fold(Entry::bad(&self.name, verdict), Entry::line)
            }
            Err(error) => Entry::bad(&self.name, "unusable").block("text", error),
        };
        self.note().into_iter().fold(entry, Entry::line)
    }

    pub(crate) fn json(&self) -> Value {
        match &self.found {
            Ok(report) => json!({
                "file": self.name, "run": report.run, "state": report.state,
                "entries": report.history.len(), "faults": report.faults, "note": self.note(),
            }),
            Err(error) => json!({"file": self.name, "error": error}),
        }
    }
}

/// The number of faults.
pub(crate) fn counted(faults: usize) -> String {
    if faults == 1 { "1 fault".to_owned() } else { format!("{faults} faults") }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    use runstate_runtime::clock::{Clock, unix_clock};
    unix_clock().now_ms()
}
