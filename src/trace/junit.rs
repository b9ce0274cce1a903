//! Reports as JUnit XML, which CI systems show as tests.

use std::fmt;

use super::coverage::LifecycleCoverage;
use super::report::{Report, count};
use super::requirement::UnmetRequirement;
use crate::unseen::is_unseen;

/// A JUnit XML report: one suite per trace or other file, and one suite for the coverage requirements.
///
/// The suite of a trace has one test per lifecycle. The test fails when an event violates the rules, listed or not,
/// and for unfinished instances when complete traces are required. A violation outside of the rules' lifecycles fails
/// a test named `trace`. A trace that was not read to its end has an error in a test named `end`. Where time must not
/// run backwards, the suite has a test named `time`.
///
/// # Example
/// ```
/// use runstate::trace::{Junit, Rulebook, check};
///
/// let mut junit = Junit::new();
/// junit.trace("<run>.jsonl", &check(&[], &Rulebook::new()));
/// assert!(junit.to_string().contains(r#"<testsuite name="&lt;run&gt;.jsonl" tests="1" failures="0""#));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Junit {
    complete: bool,
    monotonic: bool,
    suites: Vec<Suite>,
}

#[derive(Debug, Clone)]
struct Suite {
    name: String,
    tests: Vec<Test>,
}

#[derive(Debug, Clone)]
struct Test {
    name: String,
    failure: Option<Failure>,
    /// The reason why the test could not run.
    error: Option<String>,
    output: String,
}

#[derive(Debug, Clone)]
struct Failure {
    kind: &'static str,
    message: String,
    text: String,
}

impl Suite {
    fn failures(&self) -> usize {
        self.tests.iter().filter(|test| test.failure.is_some()).count()
    }

    fn errors(&self) -> usize {
        self.tests.iter().filter(|test| test.error.is_some()).count()
    }
}

impl Junit {
    /// Makes an empty report.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes traces with unfinished instances fail. Default: they pass.
    #[must_use]
    pub fn complete(mut self) -> Self {
        self.complete = true;
        self
    }

    /// Makes traces fail when time runs backwards within a run. Default: they pass.
    #[must_use]
    pub fn monotonic(mut self) -> Self {
        self.monotonic = true;
        self
    }

    /// Adds the report of a trace.
    pub fn trace(&mut self, name: &str, report: &Report) {
        let of_rules: u64 = report.coverage.iter().map(|covered| covered.violations).sum();
        let of_none = report.violations.saturating_sub(of_rules + u64::from(!report.consumed_whole));
        let fails = |test: Option<&str>, all: u64| {
            let violations = report.violation.iter().chain(&report.others);
            let mut of_test =
                violations.filter(|violation| violation.rules() == test && violation.is_of_event());
            let Some(first) = of_test.next() else {
                let message = format!("{}, not listed", count(all, "violation"));
                return (all > 0).then(|| Failure { kind: "violates", text: message.clone(), message });
            };
            let text = of_test.fold(first.to_string(), |text, violation| format!("{text}\n{violation}"));
            Some(Failure { kind: "violates", message: first.reason(), text })
        };
        let cut = report.violation.iter().chain(&report.others).find(|violation| !violation.is_of_event());
        let mut tests: Vec<Test> = report
            .coverage
            .iter()
            .map(|covered| Test {
                name: covered.lifecycle.clone(),
                failure: fails(Some(&covered.lifecycle), covered.violations)
                    .or_else(|| self.incomplete(report, covered)),
                error: None,
                output: covered.to_string(),
            })
            .collect();
        let of_none = fails(None, of_none);
        let error = cut.map(ToString::to_string);
        if of_none.is_some() || tests.is_empty() && error.is_none() {
            tests.push(Test {
                name: "trace".to_owned(),
                failure: of_none,
                error: None,
                output: report.summary(),
            });
        }
        // A test has a failure or an error, but not both.
        if error.is_some() {
            tests.push(Test { name: "end".to_owned(), failure: None, error, output: String::new() });
        }
        if self.monotonic {
            let failure = report.backwards.map(|backwards| {
                let message = backwards.to_string();
                Failure { kind: "time", text: message.clone(), message }
            });
            tests.push(Test { name: "time".to_owned(), failure, error: None, output: String::new() });
        }
        self.suites.push(Suite { name: name.to_owned(), tests });
    }

    /// Adds a file that could not be checked, as a suite with one test, which has an error.
    ///
    /// ```
    /// use runstate::trace::Junit;
    ///
    /// let mut junit = Junit::new();
    /// junit.unusable("a.jsonl", "line 1: expected an event");
    /// assert!(junit.to_string().contains(r#"tests="1" failures="0" errors="1""#));
    /// ```
    pub fn unusable(&mut self, name: &str, why: &str) {
        let error = Some(why.to_owned());
        let test = Test { name: "trace".to_owned(), failure: None, error, output: String::new() };
        self.suites.push(Suite { name: name.to_owned(), tests: vec![test] });
    }

    fn incomplete(&self, report: &Report, covered: &LifecycleCoverage) -> Option<Failure> {
        if !self.complete || covered.unfinished == 0 {
            return None;
        }
        let listed = report.unfinished.iter().filter(|it| *it.rules == *covered.lifecycle);
        let text: String = listed.map(|it| format!("{it}\n")).collect();
        let message = format!("{} not ended", count(covered.unfinished, "instance"));
        Some(Failure { kind: "incomplete", message, text })
    }

    /// Adds the problems of a file that is no trace, such as the state of a run, as a suite with one test. The test
    /// fails when there is a problem. Unreadable parts of the file are an error of another test. `output` describes
    /// the content of the file.
    ///
    /// # Example
    /// ```
    /// use runstate::trace::Junit;
    ///
    /// let mut junit = Junit::new();
    /// junit.file("RUN_STATE.json", "state", &["no legal transition".to_owned()], &[], "in COMPLETE");
    /// junit.file("RUN_LOG.jsonl", "log", &[], &["line 3 is no JSON".to_owned()], "6 transitions");
    /// assert!(junit.to_string().contains(r#"tests="3" failures="1" errors="1""#));
    /// ```
    pub fn file(&mut self, name: &str, test: &str, faults: &[String], unreadable: &[String], output: &str) {
        let failure = faults.first().map(|first| {
            let message = match faults.len() - 1 {
                0 => first.clone(),
                more => format!("{first}; and {more} more"),
            };
            Failure { kind: "violates", message, text: faults.join("\n") }
        });
        let mut tests = vec![Test { name: test.to_owned(), failure, error: None, output: output.to_owned() }];
        if !unreadable.is_empty() {
            let error = Some(unreadable.join("\n"));
            tests.push(Test { name: "lines".to_owned(), failure: None, error, output: String::new() });
        }
        self.suites.push(Suite { name: name.to_owned(), tests });
    }

    /// Adds the coverage requirements for all traces, by name, each with its violation, if any.
    pub fn coverage(&mut self, asked: impl IntoIterator<Item = (String, Option<UnmetRequirement>)>) {
        let tests: Vec<Test> = asked
            .into_iter()
            .map(|(name, unmet)| Test {
                name,
                failure: unmet.map(|unmet| {
                    let message = unmet.to_string();
                    Failure { kind: "coverage", text: message.clone(), message }
                }),
                error: None,
                output: String::new(),
            })
            .collect();
        if !tests.is_empty() {
            self.suites.push(Suite { name: "coverage".to_owned(), tests });
        }
    }
}

impl fmt::Display for Junit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tests: usize = self.suites.iter().map(|suite| suite.tests.len()).sum();
        let failures: usize = self.suites.iter().map(Suite::failures).sum();
        let errors: usize = self.suites.iter().map(Suite::errors).sum();
        writeln!(f, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
        writeln!(
            f,
            r#"<testsuites name="runstate check" tests="{tests}" failures="{failures}" errors="{errors}">"#
        )?;
        for suite in &self.suites {
            let (name, tests, failures) = (Xml(&suite.name), suite.tests.len(), suite.failures());
            let errors = suite.errors();
            writeln!(
                f,
                r#"  <testsuite name="{name}" tests="{tests}" failures="{failures}" errors="{errors}">"#
            )?;
            for test in &suite.tests {
                test.write(f, &suite.name)?;
            }
            writeln!(f, "  </testsuite>")?;
        }
        writeln!(f, "</testsuites>")
    }
}

impl Test {
    fn write(&self, f: &mut fmt::Formatter<'_>, suite: &str) -> fmt::Result {
        write!(f, r#"    <testcase classname="{}" name="{}""#, Xml(suite), Xml(&self.name))?;
        if self.failure.is_none() && self.error.is_none() && self.output.is_empty() {
            return writeln!(f, "/>");
        }
        writeln!(f, ">")?;
        if let Some(error) = &self.error {
            let message = error.lines().next().unwrap_or_default();
            writeln!(
                f,
                r#"      <error type="unusable" message="{}">{}</error>"#,
                Xml(message),
                Xml(error.trim_end())
            )?;
        }
        if let Some(Failure { kind, message, text }) = &self.failure {
            writeln!(
                f,
                r#"      <failure type="{kind}" message="{}">{}</failure>"#,
                Xml(message),
                Xml(text.trim_end())
            )?;
        }
        if !self.output.is_empty() {
            writeln!(f, "      <system-out>{}</system-out>", Xml(self.output.trim_end()))?;
        }
        writeln!(f, "    </testcase>")
    }
}

/// A text within XML 1.0, which cannot represent most control characters. Invisible characters become `\u{202e}`.
struct Xml<'a>(&'a str);

impl fmt::Display for Xml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&apos;")?,
                '\n' => f.write_char(c)?,
                '\t' => f.write_str("&#9;")?,
                c if is_unseen(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                    write!(f, "{}", c.escape_unicode())?
                }
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
