//! A RUN_STATE.json of a governed run, whoever wrote it.

use std::io::Read;
use std::path::Path;

use runstate::governed::{StateReport, check_state};
use runstate::trace::Junit;
use serde_json::{Value, json};

use crate::input;
use crate::output::{Output, complain, printable};

/// One more byte than is read of such a file, so that a larger one is noticed.
const MOST: u64 = (16 << 20) + 1;

/// Is it the state of a governed run? By its name, or by what a JSON file begins with.
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

/// Such a file, and what was found in it.
pub(crate) struct CheckedState {
    name: String,
    pub(crate) found: Result<StateReport, String>,
}

impl CheckedState {
    /// Looks at a file.
    pub(crate) fn of(path: &str) -> Self {
        let mut bytes = Vec::new();
        let read = input::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
        let found = match read {
            Err(error) => Err(format!("cannot read {path}: {error}")),
            Ok(length) if length as u64 == MOST => {
                Err(format!("{path} has more than the {} bytes that are read of such a file", MOST - 1))
            }
            Ok(_) => check_state(&bytes, Some(now())).map_err(|why| format!("{path}: {why}")),
        };
        CheckedState { name: path.to_owned(), found }
    }

    /// Is it sound, and over if it must be?
    pub(crate) fn holds(&self, complete: bool) -> bool {
        self.found
            .as_ref()
            .is_ok_and(|report| report.faults.is_empty() && (report.status.state.is_terminal() || !complete))
    }

    pub(crate) fn text(&self, complete: bool, out: &mut Output) {
        match &self.found {
            Ok(report) if report.faults.is_empty() => {
                let (name, entries) = (&self.name, report.entries);
                let (run, state) = (&report.status.run, report.status.state);
                let missed = if self.holds(complete) { "" } else { "; it is not over" };
                out.line(&format!("{name}: sound: {run} in {state}, {entries} states{missed}"));
            }
            Ok(report) => {
                out.line(&format!("{}: {} faults", self.name, report.faults.len()));
                report.faults.iter().for_each(|fault| out.line(&format!("  {}", printable(fault))));
            }
            Err(error) => complain(&format!("error: {}", printable(error))),
        }
    }

    pub(crate) fn junit(&self, complete: bool, junit: &mut Junit) {
        match &self.found {
            Ok(report) => {
                let mut faults = report.faults.clone();
                if faults.is_empty() && !self.holds(complete) {
                    faults.push("it is not over".to_owned());
                }
                let said = format!("{} in {}", report.status.run, report.status.state);
                junit.file(&self.name, "state", &faults, &said);
            }
            Err(error) => complain(&format!("error: {}", printable(error))),
        }
    }

    pub(crate) fn json(&self) -> Value {
        match &self.found {
            Ok(report) => json!({
                "file": self.name, "run": report.status.run, "state": report.status.state,
                "entries": report.entries, "faults": report.faults,
            }),
            Err(error) => json!({"file": self.name, "error": error}),
        }
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    use runstate::clock::{Clock, unix_clock};
    unix_clock().now_ms()
}
