//! `runstate test PATH…`

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use runstate::trace::Coverage;
use runstate_review::{Entry, Summary};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, complain, printable};
use crate::rules::Laws;
use crate::secrets;
use crate::suite::{self, Case, Subject, Verdict};

/// Play scenarios, and compare each with its expected result
///
/// The expected result of `NAME.yaml` is `NAME.trace` beside it: the end of the run, its transitions, external inputs,
/// effects of tools and messages, with the times. Time is virtual: the result of a scenario is always equal, and a scripted
/// delay takes no real time. Each trace is also checked against the diagrams of the lifecycles. A step, a decision or a reply
/// of the scenario that never happens is a failure.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate test scenarios
  runstate test scenarios --accept          # the played results become the expected ones
  runstate test scenarios --coverage --min-coverage 100
  runstate test scenarios --format markdown >> $GITHUB_STEP_SUMMARY

Exit codes:
  0  each result is as expected, or was accepted
  1  a result differs, is new or is stale; a step never happened; a trace
     violates a diagram; coverage is missed
  2  a scenario is unusable, or there is no scenario")]
pub(crate) struct Args {
    /// Scenarios, or folders with scenarios
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Write the played result as the expected result
    #[arg(long)]
    accept: bool,
    /// Play only scenarios with this text in their path
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Show the edges of the diagrams that the traces took
    #[arg(long)]
    coverage: bool,
    /// The minimum percentage of taken edges, for each lifecycle that occurs
    #[arg(long, value_name = "PERCENT", value_parser = super::check::percent)]
    min_coverage: Option<f64>,
    /// Output format. Default: text
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each scenario, with the differences
    Text,
    /// Results, differences, the first violation of each instance, and coverage with missed edges, for the summary of a CI job
    Markdown,
}

/// The results of all scenarios.
#[derive(Debug)]
struct Tally {
    same: usize,
    accepted: usize,
    bad: usize,
    unusable: usize,
    coverage: Coverage,
    format: Format,
    summary: Summary,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let laws = Laws::builtin()?;
    let mut tally = Tally::new(args.format);
    // All folders before the first scenario is played: with --accept a play changes files.
    let mut found = Vec::new();
    for path in &args.paths {
        let subjects = suite::find(path)?;
        // An emptied folder is not the expected input.
        if subjects.is_empty() {
            let path = path.display().to_string();
            return Err(Failure::new(format!("there is no scenario in {}", secrets::masked_path(&path)))
                .with_help("give files or folders with scenarios: .yaml, .yml or .json"));
        }
        found.push((path, subjects));
    }
    for (path, subjects) in found {
        for subject in subjects.iter().filter(|subject| args.wants(subject)) {
            let case = suite::compare(subject, &laws.book, args.accept);
            tally.add(subject, case, out);
        }
        for left in suite::stale(path, &subjects)? {
            tally.stale(&left, out);
        }
    }
    tally.report(args, out)
}

impl Args {
    fn wants(&self, subject: &Subject) -> bool {
        self.filter.as_ref().is_none_or(|text| subject.name.contains(text.as_str()))
    }
}

impl Tally {
    fn new(format: Format) -> Self {
        let (coverage, summary) = (Coverage::new(), Summary::new("Scenarios", "scenario"));
        Tally { same: 0, accepted: 0, bad: 0, unusable: 0, coverage, format, summary }
    }

    /// Writes lines of the text form.
    fn text(&self, lines: impl IntoIterator<Item = String>, out: &mut Output) {
        if self.format == Format::Text {
            lines.into_iter().for_each(|line| out.line(&line));
        }
    }

    /// Counts an expected result without a scenario.
    fn stale(&mut self, left: &Path, out: &mut Output) {
        self.bad += 1;
        let left = printable(&secrets::masked_path(&left.display().to_string()));
        self.text([format!("stale     {left}: an expected result without a scenario")], out);
        self.summary.entry(Entry::bad(left, "stale").line("an expected result without a scenario"));
    }

    fn add(&mut self, subject: &Subject, case: Case, out: &mut Output) {
        self.summary.entry(entry(subject, &case));
        if let Some(report) = &case.report {
            self.coverage.merge(&report.coverage);
        }
        // A folder is searched, and a name in it may be an address.
        let name = printable(&secrets::masked_path(&subject.name));
        let lines = match case.verdict {
            Verdict::Same => {
                self.same += 1;
                vec![format!("ok        {name}")]
            }
            Verdict::Accepted => {
                self.accepted += 1;
                vec![format!("accepted  {name}")]
            }
            Verdict::Differs(diff) => {
                self.bad += 1;
                let head = format!("differs   {name}");
                [head].into_iter().chain(diff.lines().map(printable)).collect()
            }
            Verdict::New => {
                self.bad += 1;
                vec![format!("new       {name}: no expected result; --accept writes the played result")]
            }
            Verdict::Missed(steps) => {
                self.bad += 1;
                let head = format!("missed    {name}: these steps never happened");
                [head].into_iter().chain(steps.iter().map(|step| printable(&format!("  {step}")))).collect()
            }
            Verdict::Violates(summary) => {
                self.bad += 1;
                vec![format!("violates  {name}: {}", summary.trim_end())]
            }
            Verdict::Unusable(failure) => {
                self.unusable += 1;
                let path = printable(&secrets::masked_path(&subject.path.to_string_lossy()));
                complain(&failure.to_string());
                vec![printable(&format!("unusable  {path}: {}", failure.message()))]
            }
        };
        self.text(lines, out);
    }

    fn report(mut self, args: &Args, out: &mut Output) -> Result<Exit, Failure> {
        let Tally { same, accepted, bad, unusable, .. } = self;
        let all = same + accepted + bad + unusable;
        if all == 0 {
            // Each path has a scenario.
            let filter = args.filter.as_deref().unwrap_or_default();
            return Err(Failure::new(format!("there is no scenario with {filter:?} in its path"))
                .with_help("--filter takes a part of a path, in the same letter case"));
        }
        if args.coverage {
            self.text([String::new(), self.coverage.to_string().trim_end().to_owned()], out);
        }
        let mut missed = false;
        if let Some(least) = args.min_coverage {
            for lifecycle in self.coverage.iter().filter(|lifecycle| lifecycle.percent() < least) {
                missed = true;
                let (name, got) = (&lifecycle.lifecycle, lifecycle.shown_percent());
                let (expected, got) = (format!("{least} % of the edges"), format!("{got:.1} %"));
                let head = format!("{name}: expected {expected}, got {got}; edges that no trace took:");
                let edges = lifecycle.never().map(|edge| format!("  {edge}"));
                self.text([head].into_iter().chain(edges), out);
                self.summary.demand(format!("{name}: {expected}"), Some(format!("got {got}")));
            }
        }
        let scenarios = if all == 1 { "scenario" } else { "scenarios" };
        let line = format!(
            "{all} {scenarios}: {same} as expected, {accepted} accepted, {bad} not as expected, {unusable} unusable"
        );
        self.text([String::new(), line], out);
        if self.format == Format::Markdown {
            self.summary.coverage(&self.coverage);
            out.lines(&self.summary.to_string());
        }
        Ok(match (unusable, bad, missed) {
            (1.., _, _) => Exit::BadInput,
            (0, 1.., _) | (0, 0, true) => Exit::Bad,
            (0, 0, false) => Exit::Good,
        })
    }
}

/// The row of a scenario in a summary.
fn entry(subject: &Subject, case: &Case) -> Entry {
    let name = printable(&secrets::masked_path(&subject.name));
    let entry = match &case.verdict {
        Verdict::Same => Entry::good(name, "as expected"),
        Verdict::Accepted => Entry::good(name, "accepted"),
        Verdict::Differs(diff) => Entry::bad(name, "differs").block("diff", diff),
        Verdict::New => Entry::bad(name, "new").line("no expected result; --accept writes the played result"),
        Verdict::Missed(steps) => {
            let entry = Entry::bad(name, "missed").line("these steps never happened:");
            steps.iter().fold(entry, |entry, step| entry.line(step))
        }
        Verdict::Violates(_) => Entry::bad(name, "violates"),
        Verdict::Unusable(failure) => Entry::bad(name, "unusable").block("text", failure.message()),
    };
    match &case.report {
        Some(report) => entry.report(report),
        None => entry,
    }
}
