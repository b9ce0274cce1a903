//! `runstate test PATH…`

use std::path::PathBuf;

use runstate::trace::Coverage;

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
}

/// The results of all scenarios.
#[derive(Debug, Default)]
struct Tally {
    same: usize,
    accepted: usize,
    bad: usize,
    unusable: usize,
    coverage: Coverage,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let laws = Laws::builtin()?;
    let mut tally = Tally::default();
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
            tally.bad += 1;
            let left = left.display().to_string();
            out.line(&printable(&format!(
                "stale     {}: an expected result without a scenario",
                secrets::masked_path(&left)
            )));
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
    fn add(&mut self, subject: &Subject, case: Case, out: &mut Output) {
        if let Some(report) = &case.report {
            self.coverage.merge(&report.coverage);
        }
        // A folder is searched, and a name in it may be an address.
        let name = printable(&secrets::masked_path(&subject.name));
        match case.verdict {
            Verdict::Same => {
                self.same += 1;
                out.line(&format!("ok        {name}"));
            }
            Verdict::Accepted => {
                self.accepted += 1;
                out.line(&format!("accepted  {name}"));
            }
            Verdict::Differs(diff) => {
                self.bad += 1;
                out.line(&format!("differs   {name}"));
                diff.lines().for_each(|line| out.line(&printable(line)));
            }
            Verdict::New => {
                self.bad += 1;
                out.line(&format!("new       {name}: no expected result; --accept writes the played result"));
            }
            Verdict::Missed(steps) => {
                self.bad += 1;
                out.line(&format!("missed    {name}: these steps never happened"));
                steps.iter().for_each(|step| out.line(&printable(&format!("  {step}"))));
            }
            Verdict::Violates(summary) => {
                self.bad += 1;
                out.line(&format!("violates  {name}: {}", summary.trim_end()));
            }
            Verdict::Unusable(failure) => {
                self.unusable += 1;
                let path = printable(&secrets::masked_path(&subject.path.to_string_lossy()));
                out.line(&printable(&format!("unusable  {path}: {}", failure.message())));
                complain(&failure.to_string());
            }
        }
    }

    fn report(self, args: &Args, out: &mut Output) -> Result<Exit, Failure> {
        let Tally { same, accepted, bad, unusable, coverage } = self;
        let all = same + accepted + bad + unusable;
        if all == 0 {
            // Each path has a scenario.
            let filter = args.filter.as_deref().unwrap_or_default();
            return Err(Failure::new(format!("there is no scenario with {filter:?} in its path"))
                .with_help("--filter takes a part of a path, in the same letter case"));
        }
        if args.coverage {
            out.line("");
            out.lines(&coverage.to_string());
        }
        let mut missed = false;
        if let Some(least) = args.min_coverage {
            for lifecycle in coverage.iter().filter(|lifecycle| lifecycle.percent() < least) {
                missed = true;
                let (name, got) = (&lifecycle.lifecycle, lifecycle.percent());
                out.line(&format!(
                    "{name}: expected {least} % of the edges, got {got:.1} %; edges that no trace took:"
                ));
                lifecycle.never().for_each(|edge| out.line(&format!("  {edge}")));
            }
        }
        out.line("");
        let scenarios = if all == 1 { "scenario" } else { "scenarios" };
        out.line(&format!(
            "{all} {scenarios}: {same} as expected, {accepted} accepted, {bad} not as expected, {unusable} unusable"
        ));
        Ok(match (unusable, bad, missed) {
            (1.., _, _) => Exit::BadInput,
            (0, 1.., _) | (0, 0, true) => Exit::Bad,
            (0, 0, false) => Exit::Good,
        })
    }
}
