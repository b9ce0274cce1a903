//! `runstate export RUN --scenario`

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use runstate::decision::Suspension;
use runstate::trace::Event;
use runstate_agent::event::{AgentEvent, EventKind};
use runstate_scenario::export::{ExportError, Exported, Record, export};
use runstate_scenario::{FILE_TOOLS, to_text};

use crate::agents;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, complain, harmless, printable};
use crate::spec::Spec;
use crate::store::{Opened, StoreArgs, StoredTrace, quoted};
use crate::{migrations, runs, scenario, suite, tools};

/// Write a stored run as a scenario, for `runstate test`
///
/// The scenario has the answers of the model, the results of tools, and the decisions with their times: `runstate test` plays
/// it without the tools. This command plays the scenario before it writes the file, and checks that transitions, events,
/// messages and decisions are those of the run, in their order. Messages of earlier runs on the thread are not part of the
/// scenario. `--scenario` is required: a scenario is the only form of an export.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "runstate export <RUN> --scenario [OPTIONS]",
    after_help = "\
Examples:
  runstate export tidy-folder-1 --scenario --output suite/tidy-folder-1.yaml
  runstate test suite
  runstate export tidy-folder-1 --scenario --redact ada@example.org

Exit codes:
  0  the scenario is written
  1  the run has no scenario: the run is driven now, has an undecided call in
     doubt, or was ended by its store
  2  the run does not exist; the store or another argument is unusable"
)]
pub(crate) struct Args {
    /// The run's id
    run: String,
    /// Required: write the run as a scenario, the only form of an export
    #[arg(long)]
    scenario: bool,
    /// The file to write. An existing file is replaced, and the output says so. The expected result is written to the .trace
    /// file beside it. Default: standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace this text by one word, in every place. The flag can be repeated. The export is refused if the text remains in
    /// another letter case
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    redact: Vec<String>,
    #[command(flatten)]
    place: StoreArgs,
}

/// The maximum length of a scenario's name, in characters.
const MOST_OF_A_NAME: usize = 64;
/// The number of events of one query.
const PAGE: usize = 10_000;

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    if !args.scenario {
        let place = args.place.to_repeat();
        return Err(Failure::new("expected --scenario, the only form of an export").with_help(format!(
            "write: runstate export {} --scenario{place}{}",
            quoted(&args.run),
            place.note()
        )));
    }
    if let Some(empty) = args.redact.iter().position(String::is_empty) {
        let place = empty + 1;
        return Err(Failure::new(format!(
            "--redact: expected a text, got an empty text (flag number {place})"
        )));
    }
    let file = args.output.as_deref().map(suite::Subject::scenario).transpose()?;
    let opened = args.place.open_to_read()?;
    let exported = match args.export(&opened)? {
        Ok(exported) => exported,
        Err(error) => {
            let run = quoted(&args.run);
            let why = args.without_texts(&format!("the run {run} has no scenario: {error}"));
            complain(&printable(&why));
            return Ok(Exit::Bad);
        }
    };
    let text = format!("{}\n", exported.scenario.to_json());
    if text.len() as u64 > scenario::LIMIT {
        let (run, bytes, most) = (quoted(&args.run), text.len(), scenario::LIMIT);
        complain(&printable(&format!(
            "the run {run} has no scenario: expected at most {most} bytes, got {bytes}"
        )));
        return Ok(Exit::Bad);
    }
    let Some(file) = file else {
        text.lines().for_each(|line| out.json_line(line));
        return Ok(Exit::Good);
    };
    let done = if file.path.exists() { "replaced" } else { "written" };
    // A scenario without its expected result is new to a suite, and no failure.
    write(&file.expected(), &harmless(&to_text(&exported.played)))?;
    write(&file.path, &text)?;
    let (written, expected) = (file.path.display().to_string(), file.expected().display().to_string());
    out.line(&printable(&format!("{done}: {written} and its expected result {expected}")));
    Ok(Exit::Good)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| Failure::io("make the folder", folder, &error))?;
    }
    runs::replace(path, text.as_bytes()).map_err(|error| Failure::io("write", path, &error))
}

impl Args {
    /// A message without the redacted texts.
    fn without_texts(&self, message: &str) -> String {
        self.redact
            .iter()
            .fold(message.to_owned(), |message, text| message.replace(text.as_str(), "[redacted]"))
    }

    fn export(&self, opened: &Opened) -> Result<Result<Exported, ExportError>, Failure> {
        let loaded = opened.ask(opened.store.load(&self.run))?;
        let events = self.events(opened)?;
        let (base, of_agent) = match Spec::of(&loaded)? {
            Spec::Agent { agent, message, .. } => {
                let (base, specs) =
                    agents::of_run(&self.run, &agent)?.to_scenario(&message, &called(&events))?;
                (base, Some(specs))
            }
            spec @ Spec::Scenario { .. } => (spec.scenario()?, None),
        };
        let Some(stored) = &loaded.stored else { return Ok(Err(ExportError::Empty)) };
        let state = stored.restore_with(migrations::OF_RUNS, migrations::OF_CALLS).map_err(|error| {
            Failure::new(format!("the run {} cannot be read: {error}", quoted(&self.run)))
        })?;
        let mut trace: Vec<Event<'static>> = Vec::new();
        for event in StoredTrace::of(opened, &self.run).reader() {
            let event = event.map_err(|error| Failure::new(format!("its trace cannot be read: {error}")))?;
            trace.push(event.into_owned());
        }
        let again = opened.ask(opened.store.load(&self.run))?.info.version;
        if again != loaded.info.version {
            return Err(Failure::new(format!(
                "the run {} continued while this command read it",
                quoted(&self.run)
            ))
            .with_help("export the run when it is over or waits"));
        }
        let is_file_tool = |event: &AgentEvent| match &event.kind {
            EventKind::ToolCallReady { tool, .. } => FILE_TOOLS.contains(&tool.as_str()),
            _ => false,
        };
        let has_files = Spec::has_folder(&base) || events.iter().any(is_file_tool);
        let live = match of_agent {
            Some(specs) => specs,
            None if has_files => tools::specs(),
            None => Vec::new(),
        };
        let decisions = stored.decisions();
        let record =
            Record { base: &base, state: &state, decisions, trace: &trace, events: &events, live: &live };
        let exported = export(&record, &name(&self.run));
        Ok(exported.and_then(|exported| match self.redact.as_slice() {
            [] => Ok(exported),
            texts => exported.redacted(texts),
        }))
    }

    fn events(&self, opened: &Opened) -> Result<Vec<AgentEvent>, Failure> {
        let mut events = Vec::new();
        let mut after = 0;
        loop {
            let page = opened.ask(opened.store.events(&self.run, after, PAGE))?;
            for row in &page {
                after = row.last;
                let event: AgentEvent = serde_json::from_str(&row.json).map_err(|error| {
                    let run = quoted(&self.run);
                    Failure::new(format!("the event {} of the run {run} cannot be read: {error}", row.seq))
                })?;
                events.push(event);
            }
            if page.len() < PAGE {
                return Ok(events);
            }
        }
    }
}

/// The tools that a run called, and the first question for an approval of a call of them.
fn called(events: &[AgentEvent]) -> BTreeMap<String, Option<Suspension>> {
    let mut tools: BTreeMap<String, Option<Suspension>> = BTreeMap::new();
    for event in events {
        match &event.kind {
            EventKind::ToolCallReady { tool, .. } => {
                tools.entry(tool.clone()).or_default();
            }
            EventKind::ToolCallSuspended { interrupt } if interrupt.suspension.action == "approve" => {
                let asked = tools.entry(interrupt.tool.clone()).or_default();
                asked.get_or_insert_with(|| interrupt.suspension.clone());
            }
            _ => {}
        }
    }
    tools
}

/// A scenario name from the id of a run.
fn name(run: &str) -> String {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let fitting = run.to_ascii_lowercase().chars().map(|c| if fits(c) { c } else { '-' }).collect::<String>();
    let name: String = fitting.trim_matches('-').chars().take(MOST_OF_A_NAME).collect();
    if name.is_empty() { "run".to_owned() } else { name }
}
