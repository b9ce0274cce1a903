//! `runstate fuzz --diagram DIAGRAM -- PROGRAM`

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use clap::ValueEnum;
use runstate_fuzz::{Config, Fuzz, Map, Program, Regression, Report};
use runstate_runtime::clock::{Clock, unix_clock};
use serde_json::json;

use super::time::time;
use crate::clock::unix_ms;
use crate::diagrams;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, TEXT_LIMIT};
use crate::output::{Output, complain, printable};
use crate::signals::Signals;

/// Test any program against a state diagram
///
/// The program reads a request from standard input and writes a reply to standard output, one JSON object a line;
/// docs/fuzzing.md has the protocol and an adapter in Python, TypeScript and Rust. The command takes each transition of the
/// diagram, then sends random sequences of legal and illegal events. A difference is replayed three times and shrunk to the
/// shortest sequence that shows it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate fuzz --diagram docs/order.md#Order -- python3 adapter.py
  runstate fuzz --diagram order.mmd --config fuzz.yaml --for 5m -- ./adapter
  runstate fuzz --diagram order.mmd --regressions found.jsonl -- ./adapter

Exit codes:
  0  each transition was taken, and no reply differs from the diagram
  1  a reply differs, or a transition was not taken
  2  the program cannot be tested, or an input is unusable")]
pub(crate) struct Args {
    /// The diagram: FILE[#heading], a graph in JSON, or a built-in lifecycle
    #[arg(long, value_name = "DIAGRAM")]
    diagram: String,
    /// A file in YAML: events of labels, payloads of events, permitted refusals
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// The seed of all choices. Default: 0, or with --for a fresh seed
    #[arg(long)]
    seed: Option<u64>,
    /// The number of random sequences. Default: 100, or with --for no limit
    #[arg(long, value_name = "NUMBER")]
    sequences: Option<u64>,
    /// The duration of the random phase, such as 5m. After a difference: of the run
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    limit: Option<Duration>,
    /// The maximum length of a random sequence. Default: 50
    #[arg(long, value_name = "NUMBER", default_value_t = 50, hide_default_value = true, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    depth: u32,
    /// The time for a reply. Default: 5s
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
    /// The time for the first reply of a process. Default: 10s
    #[arg(long, value_name = "TIME", value_parser = time)]
    start_timeout: Option<Duration>,
    /// Start a process for each sequence, although the program can reset itself
    #[arg(long)]
    fresh: bool,
    /// Succeed although a transition was not taken
    #[arg(long)]
    allow_uncovered: bool,
    /// A file of regressions: they are replayed first, and new differences are added
    #[arg(long, value_name = "FILE")]
    regressions: Option<PathBuf>,
    /// Output format. Default: text
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Each difference with its sequence
    Text,
    /// One object: exit, lifecycle, seed, transitions, illegal, unsent, uncovered, sequences, requests, findings, fixed, stale, stopped, ended
    Json,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let map = map(args)?;
    let seed = match (args.seed, args.limit) {
        (Some(seed), _) => seed,
        (None, None) => 0,
        (None, Some(_)) => fresh_seed()?,
    };
    let mut program = Program::new(args.program.clone(), map.name(), seed).fresh(args.fresh);
    if let Some(timeout) = args.timeout {
        program = program.timeout(timeout);
    }
    if let Some(timeout) = args.start_timeout {
        program = program.start_timeout(timeout);
    }
    let stored = args.regressions.as_deref().map(stored).transpose()?.unwrap_or_default();
    let interrupted = interrupts()?;
    let stops = Arc::clone(&interrupted);
    let mut fuzz = Fuzz::new(map.clone())
        .seed(seed)
        .depth(usize::try_from(args.depth).unwrap_or(usize::MAX))
        .stop_when(move || stops.load(Ordering::Relaxed) != 0)
        .regressions(stored.clone());
    if let Some(sequences) = args.sequences {
        fuzz = fuzz.sequences(sequences);
    }
    let (clock, began_ms) = (unix_clock(), unix_ms());
    fuzz = fuzz.clock(move || Duration::from_millis(clock.now_ms().saturating_sub(began_ms)));
    if let Some(limit) = args.limit {
        fuzz = fuzz.time_limit(limit);
    }
    let report = fuzz.run(&mut program).map_err(|error| {
        Failure::new(error.to_string())
            .with_help("docs/fuzzing.md has the protocol; the program is tested by hand with `echo '{\"id\":0,\"hello\":{\"protocol\":1}}' | PROGRAM`")
    })?;
    // Its processes end before the command does.
    drop(program);
    let is_bad = report.stopped.is_some()
        || !report.findings.is_empty()
        || !args.allow_uncovered && !report.uncovered.is_empty();
    let exit = match &report.stopped {
        Some(_) => Exit::BadInput,
        None if is_bad => Exit::Bad,
        None => Exit::Good,
    };
    match args.format {
        Format::Text => out.lines(&report.to_string()),
        Format::Json => {
            let mut json = json!(report);
            json["exit"] = json!(exit.code());
            out.json(&json);
        }
    }
    // The report comes first: a file that cannot be written does not hide it.
    if let Some(path) = &args.regressions {
        store(path, &report, &map, stored.len())?;
    }
    if let Some(why) = &report.stopped {
        return Err(Failure::new(format!("{why}; the report has the part before that")));
    }
    match interrupted.load(Ordering::Relaxed) {
        0 => Ok(exit),
        code => {
            complain("the run was interrupted: the report has the part before that");
            out.finish()?;
            std::process::exit(code);
        }
    }
}

fn map(args: &Args) -> Result<Map, Failure> {
    let config = match &args.config {
        None => Config::default(),
        Some(file) => {
            let text = input::read_text(file, TEXT_LIMIT)?;
            Config::parse(&text.text).map_err(|error| Failure::rendered(format!("{}: {error}", text.name)))?
        }
    };
    let loaded = diagrams::load(&args.diagram)?;
    let graph = loaded.graph()?;
    loaded.tell_lost(&graph);
    Map::new(&graph, &config).map_err(|error| Failure::rendered(format!("{}: {error}", loaded.file())))
}

fn fresh_seed() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| Failure::new(format!("cannot draw a seed: {error}")))?;
    // A seed of few digits is easier to repeat.
    Ok(u64::from_le_bytes(bytes) % 1_000_000_000)
}

/// A code that is set by the first request to end this process.
fn interrupts() -> Result<Arc<AtomicI32>, Failure> {
    let code = Arc::new(AtomicI32::new(0));
    let heard = Arc::clone(&code);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(format!("cannot make a runtime: {error}")))?;
    let signals = {
        let _entered = runtime.enter();
        Signals::new()
    };
    let mut signals = signals.map_err(|error| Failure::new(format!("cannot listen to signals: {error}")))?;
    std::thread::spawn(move || {
        let code = runtime.block_on(signals.next());
        heard.store(code, Ordering::Relaxed);
    });
    Ok(code)
}

/// The stored regressions; none if the file does not exist yet.
fn stored(path: &Path) -> Result<Vec<Regression>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = input::read_text(&path.to_string_lossy(), TEXT_LIMIT)?;
    Regression::read(&text.text).map_err(|error| {
        Failure::new(format!("{}: {error}", text.name))
            .with_help("expected a file that `runstate fuzz --regressions` wrote")
    })
}

/// Adds the new differences to the file.
fn store(path: &Path, report: &Report, map: &Map, before: usize) -> Result<(), Failure> {
    let new = report.findings.iter().filter(|finding| !finding.is_regression && !finding.is_flaky());
    let lines: String = (before + 1..)
        .zip(new)
        .filter_map(|(number, finding)| Regression::write(finding, map, &format!("{}-{number}", map.name())))
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    let written = append(path, &lines);
    written.map_err(|error| Failure::io("write", path, &error))?;
    complain(&printable(&format!("the new differences are in {}", path.display())));
    Ok(())
}

fn append(path: &Path, lines: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(lines.as_bytes())?;
    file.sync_all()
}
