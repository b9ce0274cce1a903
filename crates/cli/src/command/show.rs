//! `runstate show RUN` and `runstate show TRACE`

use std::collections::BTreeSet;
use std::path::Path;

use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;
use runstate::trace::{Event, Ordinals, Report, Rulebook, Rules};
use runstate_governed::StateReport;
use runstate_review::{Marks, Review, ReviewBuilder, Timeline, gantt, html, markdown, mermaid, perfetto};
use serde_json::{Map, Value, json};

use super::governed_facts;
use super::source::{Lost, Shown, Source, source};
use crate::diagrams::section;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, columns, complain, printable};
use crate::rules::{Laws, RulesArgs};
use crate::store::StoreArgs;

/// Show a run or a trace: as text, as a timeline, as a page, as a diagram, as JSON
///
/// The path of a file is a trace, or RUN_STATE.json or the log of governed runs. Any other word is the id of a run. A run also
/// has a summary: its status, its calls, the decisions with their actors, and the waiting questions. Illegal events are marked.
/// Events of a lifecycle without a diagram are shown, and not checked. A trace with a line that is no event is shown up to that
/// line, and the line is named; the formats mermaid, json and jsonl refuse it. A run of a scenario with `redact` is shown
/// without its values, in each format.
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
  2  the run or the file does not exist, the trace has an unreadable line
     (what precedes it is shown), or no event of --lifecycle")]
pub(crate) struct Args {
    /// The run's id, or a file with a trace as JSON lines, or RUN_STATE.json or a log of governed runs. `-` reads a trace from standard input. The formats perfetto and
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
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    redact: Vec<String>,
    #[command(flatten)]
    place: StoreArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each transition, with ordinals in place of ids and times: equal for equal behaviour
    Text,
    /// A table with a row for each transition: its time, the duration of the previous state, its instance. A wait that has not
    /// ended has a last row. The width is that of COLUMNS or of the terminal
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
    /// The trace as recorded, with all its fields, one object a line
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
    let source = source(&args.what[0], &args.rules, &args.place)?;
    if let (Source::Run(opened, summary), Format::Text | Format::Timeline) = (&source, args.format) {
        summary.text(opened, out);
        out.line("");
    }
    match args.format {
        Format::Text => {
            let (mut ordinals, mut marks) = (Ordinals::new(), Marks::new(book));
            let mut unchecked = Unchecked::default();
            let rest = source.each(only, |Shown { line, event, fault, .. }| {
                unchecked.event(book, event);
                let illegal = marks.event(line, event);
                let fault = fault.map(|fault| format!("illegal: {}", printable(fault)));
                let mark = fault.or(illegal).map(|mark| format!("  <- {mark}"));
                out.line(&format!("{}{}", ordinals.line(event), mark.unwrap_or_default()));
            })?;
            if let Some(lost) = &rest.lost {
                out.line(&format!("The trace is not whole: {}.", lost.interruption));
            }
            notes(&unchecked, rest.others, out);
            return Ok(told(rest.lost));
        }
        Format::Timeline => {
            let (mut timeline, mut marks) = (Timeline::new(columns()).open_waits(book), Marks::new(book));
            if let Some(last) = args.last {
                timeline = timeline.last(usize::try_from(last).unwrap_or(usize::MAX));
            }
            let mut unchecked = Unchecked::default();
            let rest = source.each(only, |Shown { line, event, fault, is_timed }| {
                unchecked.event(book, event);
                let is_illegal = marks.event(line, event).is_some() || fault.is_some();
                match is_timed {
                    true => timeline.event(event, is_illegal),
                    false => timeline.event_without_time(event, is_illegal),
                }
            })?;
            if let Some(lost) = &rest.lost {
                timeline.interrupted(lost.interruption.clone());
            }
            if let Some(begins) = timeline.begins() {
                out.line(&format!("begins {begins}"));
            }
            out.lines(&timeline.to_string());
            notes(&unchecked, rest.others, out);
            return Ok(told(rest.lost));
        }
        Format::Mermaid => {
            let mut marks = Marks::new(book);
            let mut unchecked = Unchecked::default();
            source.whole(only, |shown| {
                unchecked.event(book, shown.event);
                marks.event(shown.line, shown.event);
            })?;
            out.lines(&diagrams(&laws, &marks.finish())?);
            // A note in the output would be a line of the diagram.
            unchecked.note().iter().for_each(|note| complain(&format!("note: {note}")));
        }
        Format::Json => {
            let (mut marks, mut events, mut faults) = (Marks::new(book), Vec::new(), Vec::new());
            let mut unchecked = Unchecked::default();
            source.whole(only, |Shown { line, event, fault, .. }| {
                unchecked.event(book, event);
                marks.event(line, event);
                faults.extend(fault.map(|fault| json!({"line": line, "why": fault})));
                events.push(json!(event));
            })?;
            let report = marks.finish();
            let is_unchecked = report.checked() == 0 && !unchecked.names.is_empty();
            let mut shown = json!({
                "trace": source.name(),
                "report": report,
                "not_checked": unchecked.names,
                "events": events,
            });
            if !faults.is_empty() {
                shown["report"]["verdict"] = "violates".into();
            } else if is_unchecked {
                shown["report"]["verdict"] = "not_checked".into();
            }
            if let Source::Log(_) | Source::State(..) = &source {
                shown["faults"] = faults.into();
            }
            if let Source::Run(opened, summary) = &source {
                shown["run"] = summary.to_json(opened);
            }
            out.json(&shown);
        }
        Format::Jsonl => source.whole(only, |shown| out.json_line(&shown.event.to_json()))?,
        // Returned above.
        Format::Html | Format::Perfetto | Format::Gantt | Format::Markdown => {}
    }
    Ok(Exit::Good)
}

/// The lifecycles without a diagram, whose events have no mark. The pages name them too.
#[derive(Default)]
struct Unchecked {
    /// The names, up to [`Self::MOST`].
    names: BTreeSet<String>,
    /// Whether there are more.
    is_cut: bool,
}

impl Unchecked {
    /// The maximum number of names.
    const MOST: usize = 1_000;
    /// The maximum number of names of a note.
    const SHOWN: usize = 10;

    fn event(&mut self, book: &Rulebook, event: &Event<'_>) {
        if book.rules(&event.lifecycle).is_some() || self.names.contains(&*event.lifecycle) {
            return;
        }
        if self.names.len() < Self::MOST {
            self.names.insert(event.lifecycle.to_string());
        } else {
            self.is_cut = true;
        }
    }

    fn note(&self) -> Option<String> {
        let short = |name: &String| printable(name).chars().take(80).collect::<String>();
        let names: Vec<String> = self.names.iter().take(Self::SHOWN).map(short).collect();
        let more = match self.names.len().saturating_sub(Self::SHOWN) {
            _ if self.is_cut => " and more".to_owned(),
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = names.join(", ");
        (!names.is_empty()).then(|| format!("not checked, since there is no diagram: {names}{more}"))
    }
}

/// What the rows do not say.
fn notes(unchecked: &Unchecked, others: u64, out: &mut Output) {
    let others = match others {
        0 => None,
        1 => Some("1 event of another lifecycle is not shown".to_owned()),
        several => Some(format!("{several} events of other lifecycles are not shown")),
    };
    unchecked.note().into_iter().chain(others).for_each(|note| out.line(&format!("Note: {note}.")));
}

/// Shows all sources in a format of a review.
fn reviewed(args: &Args, laws: &Laws, out: &mut Output) -> Result<Exit, Failure> {
    let (mut reviews, mut exit) = (Vec::new(), Exit::Good);
    for what in &args.what {
        let (review, lost) = review(args, laws, &source(what, &args.rules, &args.place)?)?;
        reviews.push(review);
        if let Some(mut lost) = lost {
            // The message quotes the line.
            lost.failure = lost.failure.without(&args.redact);
            exit = told(Some(lost));
        }
    }
    match args.format {
        Format::Perfetto => out.text(&perfetto(&reviews)),
        Format::Markdown => out.lines(&markdown(&reviews)),
        format => {
            let render = if format == Format::Html { html } else { gantt };
            reviews.iter().for_each(|review| out.lines(&render(review)));
        }
    }
    Ok(exit)
}

/// Reports a line that is no event, after the events before it.
fn told(lost: Option<Lost>) -> Exit {
    let Some(lost) = lost else { return Exit::Good };
    complain(&lost.failure.to_string());
    Exit::BadInput
}

fn review(args: &Args, laws: &Laws, source: &Source) -> Result<(Review, Option<Lost>), Failure> {
    let title = match source {
        // The id of a run is one of the ids that are replaced.
        Source::Run(..) if args.stable => "a stored run".to_owned(),
        Source::State(..) | Source::Log(_) if args.stable => "governed runs".to_owned(),
        // Equal behaviour may be in files of two folders.
        Source::File(path) if args.stable => {
            let name = Path::new(path).file_name().and_then(|name| name.to_str());
            name.map_or_else(|| source.name(), str::to_owned)
        }
        source => source.name(),
    };
    let mut builder = ReviewBuilder::new(title, &laws.book);
    if args.stable {
        builder = builder.stable();
    }
    if matches!(source, Source::State(..)) {
        builder = builder.entries();
    }
    builder = args.redact.iter().fold(builder, |builder, text| builder.redact(text));
    builder = laws.texts().fold(builder, |builder, (file, text)| builder.diagram(file, text));
    let is_log = matches!(source, Source::Log(_));
    let rest = source.each(laws.only.as_deref(), |Shown { line, event, fault, is_timed }| {
        // The line of a log repeats the time and a part of the run's id as further fields.
        let without = is_log.then(|| without_repeats(event)).flatten();
        let event = without.as_ref().unwrap_or(event);
        match is_timed {
            true => builder.event(line, event),
            false => builder.event_without_time(line, event),
        }
        fault.into_iter().for_each(|fault| builder.fault(fault));
    })?;
    if let Some(lost) = &rest.lost {
        builder.interrupted(lost.interruption.clone());
    }
    builder.omitted(rest.others);
    match source {
        Source::Run(_, summary) => {
            let run = summary.id();
            let facts = summary.facts(args.stable).into_iter();
            facts.for_each(|(lifecycle, of, fact)| builder.fact(run, lifecycle, of, fact));
            let decided = summary.decided(args.stable).into_iter();
            decided.for_each(|(call, note)| builder.wait_note(run, "tool_call", call, &note));
        }
        Source::State(_, state) => add_facts(&mut builder, state, args.stable),
        Source::Log(path) => {
            governed_facts::beside(path).iter().for_each(|state| add_facts(&mut builder, state, args.stable))
        }
        Source::File(_) => {}
    }
    Ok((builder.finish(), rest.lost))
}

fn without_repeats(event: &Event<'_>) -> Option<Event<'static>> {
    let mut fields: Map<String, Value> = serde_json::from_str(&event.to_json()).ok()?;
    fields.remove("at");
    fields.remove("project");
    Event::from_json(&Value::Object(fields).to_string()).ok().map(Event::into_owned)
}

/// Adds the decisions and the calls of tools of a governed run.
fn add_facts(builder: &mut ReviewBuilder<'_>, state: &StateReport, is_stable: bool) {
    let run = state.run.as_str();
    let facts = governed_facts::facts(state, is_stable).into_iter();
    facts.for_each(|fact| builder.fact(run, "governed_run", run, fact));
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
