//! The findings of `runstate check`, in each format.

use runstate::trace::{Coverage, Junit, Report, UnmetRequirement, Verdict, ViolationKind};
use runstate_review::{Entry, Summary};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::{Output, complain, printable};
use crate::rules::{Laws, none_of};
use crate::run_log::CheckedLog;
use crate::run_state::CheckedState;

/// One trace and its findings.
pub(super) struct Checked {
    pub(super) name: String,
    pub(super) found: Result<Report, String>,
    /// The line of the first violation, if the file can be read again, and the line of the diagram.
    pub(super) excerpts: Vec<String>,
    /// Why nothing of it was checked, if so.
    pub(super) empty: Option<String>,
}

/// All traces, and the demands on their coverage.
pub(super) struct Outcome {
    pub(super) traces: Vec<Checked>,
    pub(super) states: Vec<CheckedState>,
    pub(super) logs: Vec<CheckedLog>,
    pub(super) coverage: Coverage,
    pub(super) asked: Vec<(String, Option<UnmetRequirement>)>,
    pub(super) complete: bool,
    pub(super) monotonic: bool,
    /// The diagrams and states without a check.
    pub(super) empty: Vec<String>,
    /// The remedies for events without rules.
    pub(super) helps: Vec<String>,
    pub(super) allow_empty: bool,
}

impl Checked {
    /// Records that no event was checked, if so.
    pub(super) fn with_empty(mut self, laws: &Laws) -> Self {
        let report = self.found.as_ref().ok().filter(|report| report.checked() == 0);
        self.empty = report.map(|report| match &laws.only {
            Some(only) if report.events > 0 => none_of(&self.name, only, &report.passed_over),
            _ => format!("{}: expected a trace with one JSON object a line, got no events", self.name),
        });
        self
    }

    /// The remedy for a lifecycle without rules.
    pub(super) fn help(&self, laws: &Laws) -> Option<String> {
        let report = self.found.as_ref().ok()?;
        let is_unknown = |kind: &ViolationKind| matches!(kind, ViolationKind::UnknownLifecycle { .. });
        let stranger = report.violation.iter().chain(&report.others).find(|it| is_unknown(&it.kind))?;
        let (trace, lifecycle) = (&self.name, &stranger.lifecycle);
        let several = if laws.named { ", beside the other diagrams" } else { "" };
        Some(format!(
            "{trace}: --diagram {lifecycle}=FILE checks the events of {lifecycle} against a diagram{several}; --lifecycle NAME checks one lifecycle"
        ))
    }
}

impl Outcome {
    fn unmet(&self) -> impl Iterator<Item = &UnmetRequirement> {
        self.asked.iter().filter_map(|(_, unmet)| unmet.as_ref())
    }

    /// The inputs without a check, if that is not accepted.
    fn refused_as_empty(&self) -> impl Iterator<Item = String> {
        self.empty().filter(|_| !self.allow_empty).map(|why| refused(why))
    }

    fn empty(&self) -> impl Iterator<Item = &String> {
        self.traces.iter().filter_map(|trace| trace.empty.as_ref()).chain(&self.empty)
    }

    /// Names unusable inputs on standard error, each with a remedy.
    pub(super) fn complain(&self) {
        let errors = self.traces.iter().filter_map(|trace| trace.found.as_ref().err());
        errors.for_each(|error| complain(&format!("error: {}", error.trim_end())));
        self.refused_as_empty().for_each(|empty| complain(&format!("error: {empty}")));
        self.helps.iter().for_each(|help| complain(&format!("help: {}", printable(help))));
    }

    /// The traces with backward time, if that is refused.
    fn backwards(&self) -> impl Iterator<Item = String> {
        let traces = self.traces.iter().filter(|_| self.monotonic);
        traces.filter_map(|trace| {
            let backwards = trace.found.as_ref().ok()?.backwards?;
            Some(format!("{}: {backwards}; --monotonic-time does not accept it", printable(&trace.name)))
        })
    }

    fn reports(&self) -> impl Iterator<Item = &Report> {
        self.traces.iter().filter_map(|trace| self.checked(trace))
    }

    /// The report on a trace with a check, or without one if that is accepted.
    fn checked<'t>(&self, trace: &'t Checked) -> Option<&'t Report> {
        trace.found.as_ref().ok().filter(|_| trace.empty.is_none() || self.allow_empty)
    }

    /// The worst of the verdicts; `None` if no trace was checked.
    fn verdict(&self) -> Option<Verdict> {
        self.reports().map(|report| report.verdict).max_by_key(|verdict| match verdict {
            Verdict::Conforms => 0,
            Verdict::Incomplete => 1,
            Verdict::Interrupted => 2,
            Verdict::Violates => 3,
        })
    }

    pub(super) fn exit(&self) -> Exit {
        if self.traces.iter().any(|trace| trace.found.is_err())
            || self.states.iter().any(|state| state.found.is_err())
            || !self.logs.iter().all(CheckedLog::is_readable)
            || self.reports().any(|report| !report.consumed_whole)
            || self.refused_as_empty().next().is_some()
        {
            return Exit::BadInput;
        }
        let failed = match self.verdict() {
            Some(Verdict::Violates | Verdict::Interrupted) => true,
            Some(Verdict::Incomplete) => self.complete,
            Some(Verdict::Conforms) | None => false,
        };
        let failed = failed
            || self.backwards().next().is_some()
            || self.states.iter().any(|state| !state.holds(self.complete))
            || self.logs.iter().any(|log| !log.holds(self.complete));
        if failed || self.unmet().next().is_some() { Exit::Bad } else { Exit::Good }
    }

    pub(super) fn text(&self, coverage: bool, out: &mut Output) {
        for trace in &self.traces {
            if let Some(report) = self.checked(trace) {
                out.lines(&format!("{}: {}", printable(&trace.name), report.summary()));
                trace.excerpts.iter().for_each(|excerpt| out.line(excerpt));
            }
        }
        self.states.iter().for_each(|state| state.text(self.complete, out));
        self.logs.iter().for_each(|log| log.text(self.complete, out));
        if coverage {
            out.lines(&self.coverage.to_string());
        }
        self.backwards().for_each(|why| out.line(&why));
        for unmet in self.unmet() {
            out.line(&unmet.to_string());
        }
    }

    pub(super) fn json(&self) -> Value {
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
            "empty": self.empty().collect::<Vec<_>>(),
        })
    }

    pub(super) fn junit(&self, out: &mut Output) {
        let mut junit = Junit::new();
        if self.complete {
            junit = junit.complete();
        }
        if self.monotonic {
            junit = junit.monotonic();
        }
        for trace in &self.traces {
            match &trace.found {
                Ok(report) => match trace.empty.as_ref().filter(|_| !self.allow_empty) {
                    // No test of it passes.
                    Some(why) => junit.unusable(&trace.name, &refused(why)),
                    None => junit.trace(&trace.name, report),
                },
                Err(error) => junit.unusable(&trace.name, error),
            }
        }
        let others = self.empty.iter().filter(|_| !self.allow_empty);
        others.for_each(|why| junit.unusable("runstate check", &refused(why)));
        self.states.iter().for_each(|state| state.junit(self.complete, &mut junit));
        self.logs.iter().for_each(|log| log.junit(self.complete, &mut junit));
        junit.coverage(self.asked.iter().cloned());
        out.text(&junit.to_string());
    }

    /// The summary of a CI job. It has the rows of unusable and of empty inputs, too.
    pub(super) fn markdown(&self, out: &mut Output) {
        let mut summary = Summary::new("Lifecycle traces", "trace");
        for trace in &self.traces {
            match (&trace.found, trace.empty.as_ref().filter(|_| !self.allow_empty)) {
                (Ok(_), Some(why)) => {
                    summary.entry(Entry::bad(&trace.name, "not checked").line(refused(why)));
                }
                (Ok(report), None) => {
                    let is_missed = self.complete && report.verdict == Verdict::Incomplete;
                    let mut entry = match report.verdict {
                        Verdict::Interrupted => Entry::open(&trace.name, "interrupted"),
                        Verdict::Violates => Entry::bad(&trace.name, "violates"),
                        Verdict::Incomplete if is_missed => Entry::bad(&trace.name, "incomplete"),
                        Verdict::Incomplete => Entry::open(&trace.name, "incomplete"),
                        Verdict::Conforms => Entry::good(&trace.name, "conforms"),
                    };
                    if let Some(backwards) = &report.backwards {
                        entry = entry.line(backwards.to_string());
                    }
                    summary.entry(entry.report(report));
                }
                (Err(error), _) => {
                    summary.entry(Entry::bad(&trace.name, "unusable").block("text", error));
                }
            }
        }
        let others = self.empty.iter().filter(|_| !self.allow_empty);
        others.for_each(|why| summary.entry(Entry::bad("runstate check", "not checked").line(refused(why))));
        self.states.iter().for_each(|state| summary.entry(state.entry(self.complete)));
        self.logs.iter().for_each(|log| summary.entry(log.entry(self.complete)));
        summary.coverage(&self.coverage);
        self.backwards().for_each(|why| summary.demand("--monotonic-time", Some(why)));
        for (what, unmet) in &self.asked {
            summary.demand(what, unmet.as_ref().map(ToString::to_string));
        }
        out.lines(&summary.to_string());
    }
}

fn refused(why: &str) -> String {
    format!("nothing was checked: {}; --allow-empty accepts it", printable(why))
}
