//! Checks of a scenario beyond its shape.

mod outside;
mod script;

use std::fmt;
use std::path::{Component, Path};

use runstate_agent::stop::{StopConditionSpec, StopConditions};

use crate::{FILE_TOOLS, Scenario};

/// An error and its place.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) path: Vec<Part>,
}

/// A step on the way from the whole scenario to one value.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Field(String),
    Item(usize),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Field(name) => f.write_str(name),
            Part::Item(at) => write!(f, "{at}"),
        }
    }
}

impl From<&str> for Part {
    fn from(name: &str) -> Self {
        Part::Field(name.to_owned())
    }
}

impl From<usize> for Part {
    fn from(at: usize) -> Self {
        Part::Item(at)
    }
}

/// A fault at a path: `fault!(message, "model", 2, "calls")`.
macro_rules! fault {
    ($message:expr, $($part:expr),+) => {
        crate::check::Fault { message: $message.into(), path: vec![$($part.into()),+] }
    };
}
use fault;

/// The most patterns of a scenario. The automaton of one takes up to 10 MiB.
const MOST_PATTERNS: usize = 16;

/// Checks everything that can be known before a run.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Fault> {
    name(scenario)?;
    folder(scenario)?;
    limits(scenario)?;
    approvals(scenario)?;
    script::tools(scenario)?;
    script::turns(scenario)?;
    script::plugins(scenario)?;
    outside::answers(scenario)?;
    outside::replies(scenario)?;
    outside::steps(scenario)?;
    let is_pattern = |spec: &&StopConditionSpec| matches!(spec, StopConditionSpec::ContentMatch { .. });
    let patterns = scenario.stop.iter().filter(is_pattern).count();
    if patterns > MOST_PATTERNS {
        let message = format!("expected at most {MOST_PATTERNS} of content_match, got {patterns}");
        return Err(fault!(message, "stop"));
    }
    let conditions = StopConditions::new(scenario.stop.clone());
    conditions.map(|_| ()).map_err(|error| fault!(error.to_string(), "stop"))
}

fn name(scenario: &Scenario) -> Result<(), Fault> {
    let name = scenario.name.as_str();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(fits) || name.starts_with('-') {
        let message =
            format!("expected a name of 1 to 64 lower-case letters, digits and hyphens, got {name:?}");
        return Err(fault!(message, "name"));
    }
    Ok(())
}

fn folder(scenario: &Scenario) -> Result<(), Fault> {
    let Some(path) = &scenario.folder else { return Ok(()) };
    let path: &Path = path;
    let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if path.as_os_str().is_empty() || !inside {
        let shown = path.display().to_string();
        let message = format!("expected a folder beside the scenario, without `..`, got {shown:?}");
        return Err(fault!(message, "folder"));
    }
    Ok(())
}

/// The upper limit of `max_file_bytes`: a tool reads a file as a whole.
const MOST_FILE_BYTES: u64 = 64 << 20;

fn limits(scenario: &Scenario) -> Result<(), Fault> {
    if scenario.limits.max_rounds == 0 {
        return Err(fault!("expected max_rounds of at least 1, got 0", "limits", "max_rounds"));
    }
    if scenario.limits.max_file_bytes == 0 {
        return Err(fault!("expected max_file_bytes of at least 1, got 0", "limits", "max_file_bytes"));
    }
    if scenario.limits.max_file_bytes > MOST_FILE_BYTES {
        let message = format!(
            "expected max_file_bytes of at most {MOST_FILE_BYTES} (64 MiB), got {}",
            scenario.limits.max_file_bytes
        );
        return Err(fault!(message, "limits", "max_file_bytes"));
    }
    if let Some(at) = scenario.commits.fail.iter().position(|number| *number == 0) {
        return Err(fault!("commits are counted from 1, got 0", "commits", "fail", at));
    }
    Ok(())
}

fn approvals(scenario: &Scenario) -> Result<(), Fault> {
    for (at, tool) in scenario.approve.iter().enumerate() {
        there_is(scenario, tool).map_err(|message| fault!(message, "approve", at))?;
        if scenario.approve[..at].contains(tool) {
            return Err(fault!(format!("the tool {tool:?} is listed twice"), "approve", at));
        }
    }
    Ok(())
}

/// Refuses a tool that neither exists nor is ever called by the model: rules for it would have no effect.
fn there_is(scenario: &Scenario, tool: &str) -> Result<(), String> {
    let is_called = || scenario.calls().any(|call| call.tool == tool);
    if FILE_TOOLS.contains(&tool) || scenario.tools.contains_key(tool) || is_called() {
        return Ok(());
    }
    let scripted = scenario.tools.keys().map(String::as_str);
    let known: Vec<&str> = FILE_TOOLS.iter().copied().chain(scripted).collect();
    Err(format!("there is no tool {tool:?}: expected one of {}", known.join(", ")))
}

/// Refuses a call that the model never makes, by its name in traces.
fn is_called(scenario: &Scenario, call: &str) -> Result<(), String> {
    let (id, life) = match call.split_once('#') {
        Some((id, life)) => (id, life.parse().unwrap_or(0)),
        None => (call, 1),
    };
    let lives = scenario.calls().filter(|it| it.id == id).count();
    if (1..=lives).contains(&life) {
        return Ok(());
    }
    let mut ids: Vec<&str> = scenario.calls().map(|it| it.id.as_str()).take(20).collect();
    ids.dedup();
    Err(format!(
        "the model makes no call {call:?}: it makes {}",
        if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
    ))
}
