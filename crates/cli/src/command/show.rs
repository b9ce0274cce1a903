//! `runstate show RUN` and `runstate show TRACE`

use std::fs;
use std::io::{BufRead, BufReader};

use clap::ValueEnum;
use runstate::trace::{Checker, Event, JsonlReader, Ordinals, Report, Rules};
use runstate_review::{Marks, Review, ReviewBuilder, Timeline, gantt, html, markdown, mermaid, perfetto};
use serde_json::json;

use super::summary::Summary;
use crate::diagrams::section;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::output::{Output, columns};
use crate::rules::{Laws, RulesArgs, none_of};
use crate::run_log;
use crate::store::{Missing, Opened, StoreArgs, StoredTrace};

/// Show a run or a trace: as text, as a timeline, as a page, as a diagram, as JSON
///
/// The path of a file is a trace, or the log of governed runs. Any other word is the id of a run. A run also has a summary: its
/// status, its calls, the decisions with their actors, and the waiting questions. Illegal events are marked. Events of a
/// lifecycle without a diagram are shown, and not checked.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate show tidy-folder-1
  runstate show tidy-folder-1 --format jsonl | runstate check -
  runstate show trace.jsonl
  runstate show trace.jsonl --format timeline --last 20
  runstate show trace.jsonl --format html --diagram docs/shop.md#order > trace.html
  runstate show a.jsonl b.jsonl --format markdown >> $GITHUB_STEP_SUMMARY
  runstate show trace.jsonl --format mermaid --lifecycle tool_call > trace.mmd

Exit codes:
  0  shown, with or without violations
  2  the run or the file does not exist, the trace has an unreadable line, or
     the trace has no event of --lifecycle")]
pub(crate) struct Args {
    /// The run's id, or a file with a trace as JSON lines. `-` reads a trace from standard input. The formats perfetto and
    /// markdown take several
    #[arg(required = true, value_name = "RUN|TRACE")]
    what: Vec<String>,
    #[command(flatten)]
    rules: RulesArgs,
    /// Output format. Default: text
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
    /// With --format timeline: the maximum number of transitions, counted from the end
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,
    /// With the formats html, perfetto, gantt and markdown: numbers in place of ids and times, so that equal behaviour has equal
    /// output
    #[arg(long)]
    stable: bool,
    /// With the formats html, perfetto, gantt and markdown: replace this text by `[redacted]`. The flag can be repeated
    #[arg(long, value_name = "TEXT")]
    redact: Vec<String>,
    #[command(flatten)]
    place: StoreArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each transition, with ordinals in place of ids and times: equal for equal behaviour
    Text,
    /// A table with a row for each transition: its time, the duration of the previous state, its instance. The width is that
    /// of COLUMNS or of the terminal
    Timeline,
    /// One HTML file without scripts: violations, a lane for each instance, arguments and decisions, coverage
    Html,
    /// A Chrome trace for Perfetto and speedscope: a process for each run, a thread for each instance
    Perfetto,
    /// A Mermaid Gantt chart for Markdown. Above 30 rows it is a summary
    Gantt,
    /// Verdicts, the first violation of each instance, and coverage, for the summary of a CI job
    Markdown,
    /// The diagram of each lifecycle, with the visited states and the counts of taken edges. A diagram of --diagram is printed
    /// as written, with the visited states
    Mermaid,
    /// One object: trace, report and events. For a run also: run, the content of the summary
    Json,
    /// The trace as recorded, one object a line
    Jsonl,
}

impl Format {
    /// The formats of a review.
    fn is_review(self) -> bool {
        matches!(self, Format::Html | Format::Perfetto | Format::Gantt | Format::Markdown)
    }

    fn takes_several(self) -> bool {
        matches!(self, Format::Perfetto | Format::Markdown)
    }

    fn name(self) -> String {
        self.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
    }
}

/// The shown input.
enum Source {
    File(String),
    Log(String),
    Run(Box<Opened>, Box<Summary>),
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    if args.last.is_some() && args.format != Format::Timeline {
        return Err(Failure::new("--last: expected --format timeline, got another format")
            .with_help("add --format timeline, or omit --last"));
    }
    let format = args.format.name();
    if (args.stable || !args.redact.is_empty()) && !args.format.is_review() {
        return Err(Failure::new(format!(
            "expected a format with --stable or --redact, got --format {format}"
        ))
        .with_help("add --format html, perfetto, gantt or markdown"));
    }
    if args.what.len() > 1 && !args.format.takes_several() {
        let got = args.what.len();
        return Err(Failure::new(format!("expected one run or trace with --format {format}, got {got}"))
            .with_help("--format perfetto and --format markdown take several"));
    }
    let laws = args.rules.laws()?;
    let (book, only) = (&laws.book, laws.only.as_deref());
    if args.format.is_review() {
        return reviewed(args, &laws, out);
    }
    let source = source(args, &args.what[0])?;
    if let (Source::Run(opened, summary), Format::Text | Format::Timeline) = (&source, args.format) {
        summary.text(opened, out);
        out.line("");
    }
    match args.format {
        Format::Text => {
            let (mut ordinals, mut marks) = (Ordinals::new(), Marks::new(book));
            source.each(only, |line, event| {
                let mark = marks.event(line, event).map(|mark| format!("  <- {mark}"));
                out.line(&format!("{}{}", ordinals.line(event), mark.unwrap_or_default()));
            })?;
        }
        Format::Timeline => {
            let (mut timeline, mut marks) = (Timeline::new(columns()), Marks::new(book));
            if let Some(last) = args.last {
                timeline = timeline.last(usize::try_from(last).unwrap_or(usize::MAX));
            }
            source.each(only, |line, event| timeline.event(event, marks.event(line, event).is_some()))?;
            if let Some(begins) = timeline.begins() {
                out.line(&format!("begins {begins}"));
            }
            out.lines(&timeline.to_string());
        }
        Format::Mermaid => {
            let mut checker = Checker::new(book);
            source.each(only, |line, event| checker.event(line, event))?;
            out.lines(&diagrams(&laws, &checker.finish())?);
        }
        Format::Json => {
            let (mut checker, mut events) = (Checker::new(book), Vec::new());
            source.each(only, |line, event| {
                checker.event(line, event);
                events.push(json!(event));
            })?;
            let mut shown = json!({
                "trace": source.name(),
                "report": checker.finish(),
                "events": events,
            });
            if let Source::Run(opened, summary) = &source {
                shown["run"] = summary.to_json(opened);
            }
            out.json(&shown);
        }
        Format::Jsonl => source.each(only, |_, event| out.json_line(&event.to_json()))?,
        // Returned above.
        Format::Html | Format::Perfetto | Format::Gantt | Format::Markdown => {}
    }
    Ok(Exit::Good)
}

/// Shows all sources in a format of a review.
fn reviewed(args: &Args, laws: &Laws, out: &mut Output) -> Result<Exit, Failure> {
    let mut reviews = Vec::new();
    for what in &args.what {
        reviews.push(review(args, laws, &source(args, what)?)?);
    }
    match args.format {
        Format::Perfetto => out.text(&perfetto(&reviews)),
        Format::Markdown => out.lines(&markdown(&reviews)),
        format => {
            let render = if format == Format::Html { html } else { gantt };
            reviews.iter().for_each(|review| out.lines(&render(review)));
        }
    }
    Ok(Exit::Good)
}

fn review(args: &Args, laws: &Laws, source: &Source) -> Result<Review, Failure> {
    let title = match source {
        // The id of a run is one of the ids that are replaced.
        Source::Run(..) if args.stable => "a stored run".to_owned(),
        source => source.name(),
    };
    let mut builder = ReviewBuilder::new(title, &laws.book);
    if args.stable {
        builder = builder.stable();
    }
    builder = args.redact.iter().fold(builder, |builder, text| builder.redact(text));
    builder = laws.texts().fold(builder, |builder, (file, text)| builder.diagram(file, text));
    source.each(laws.only.as_deref(), |line, event| builder.event(line, event))?;
    if let Source::Run(_, summary) = source {
        let run = summary.id();
        summary.facts().into_iter().for_each(|(lifecycle, of, fact)| builder.fact(run, lifecycle, of, fact));
    }
    Ok(builder.finish())
}

/// A file if there is one of that name, or a pipe; otherwise a run, even if a folder has its name.
fn source(args: &Args, what: &str) -> Result<Source, Failure> {
    let is_file = fs::metadata(what).is_ok_and(|about| !about.is_dir());
    if is_file && args.rules.has_builtin("governed_run") && run_log::is_one(what, false) {
        return Ok(Source::Log(what.to_owned()));
    }
    if what == "-" || is_file {
        return Ok(Source::File(what.to_owned()));
    }
    if let Some(missing) = args.place.missing()? {
        return Err(Failure::new(format!("there is no file {what:?}; {}", missing.message()))
            .with_help("name a file, or the store of the run with --store or --state-dir"));
    }
    let opened = args.place.open(Missing::Refuse)?;
    let Some(summary) = Summary::of(&opened, what)? else {
        return Err(opened
            .absent(&format!("there is no file {what:?}, and no run of that id in {}", opened.url()), what));
    };
    Ok(Source::Run(Box::new(opened), Box::new(summary)))
}

impl Source {
    /// Its name in messages.
    fn name(&self) -> String {
        match self {
            Source::File(path) | Source::Log(path) => input::name_of(path),
            Source::Run(_, summary) => summary.id().to_owned(),
        }
    }

    fn open(&self) -> Result<Box<dyn BufRead + '_>, Failure> {
        Ok(match self {
            Source::File(path) | Source::Log(path) => {
                input::open(path).map_err(|error| input::unreadable(path, &error))?
            }
            Source::Run(opened, summary) => Box::new(BufReader::new(StoredTrace::of(opened, summary.id()))),
        })
    }

    /// Reads the trace to its end: all events, or the events of one lifecycle.
    ///
    /// # Errors
    /// The trace cannot be read, or has events of other lifecycles alone.
    fn each(&self, only: Option<&str>, mut with: impl FnMut(u64, &Event<'_>)) -> Result<(), Failure> {
        if let Source::Run(_, summary) = self
            && summary.is_new()
        {
            return Ok(());
        }
        if let Source::Log(path) = self {
            let events = run_log::trace(path)?;
            events.iter().for_each(|(line, event)| with(*line, event));
            return Ok(());
        }
        let mut reader = JsonlReader::new(self.open()?);
        let (mut others, mut is_shown): (Vec<String>, bool) = (Vec::new(), matches!(self, Source::Run(..)));
        loop {
            match reader.read_numbered() {
                Ok(Some((_, event))) if only.is_some_and(|only| event.lifecycle != only) => {
                    if others.len() < Report::MOST_SKIPPED
                        && !others.iter().any(|it| **it == *event.lifecycle)
                    {
                        others.push(event.lifecycle.to_string());
                    }
                }
                Ok(Some((line, event))) => {
                    is_shown = true;
                    with(line, &event);
                }
                Ok(None) => match only {
                    // The summary covers a run without an event.
                    Some(only) if !is_shown => {
                        return Err(Failure::new(none_of(&self.name(), only, &others)));
                    }
                    _ => return Ok(()),
                },
                Err(error) => return Err(Failure::rendered(error.named(&self.name()).report())),
            }
        }
    }
}

/// The diagram of each lifecycle that occurs: a single one unchanged, several as a Markdown document.
fn diagrams(laws: &Laws, report: &Report) -> Result<String, Failure> {
    let rules: Vec<_> =
        report.coverage.iter().filter_map(|covered| laws.book.rules(&covered.lifecycle)).collect();
    let draw = |rules: &Rules| laws.marked(rules, report).unwrap_or_else(|| mermaid(None, rules, report));
    match rules.as_slice() {
        [] => Err(Failure::new("no event of the trace is of a lifecycle with rules")),
        [one] => Ok(draw(one)),
        several => {
            Ok(several.iter().map(|rules| section(rules.name(), &draw(rules))).collect::<Vec<_>>().join("\n"))
        }
    }
}
