//! Scenario files.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use runstate::diagram::Span;
use runstate_scenario::{FILE_TOOLS, Refused, Scenario};
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::input::{self, Text};
use crate::meant::{did_you_mean, suggesting};
use crate::output::{complain, printable};
use crate::runs::Template;

/// The maximum size of a scenario, in bytes.
pub(crate) const LIMIT: u64 = 4 << 20;

/// A scenario with its text and its place.
#[derive(Debug)]
pub(crate) struct FromFile {
    pub(crate) scenario: Scenario,
    /// The text as read: a run stores a copy, so that it can be resumed without the file.
    pub(crate) source: Text,
    /// The base folder of its paths.
    base: PathBuf,
}

impl FromFile {
    /// The folder to copy, if it names one.
    pub(crate) fn template(&self) -> Option<Template> {
        self.scenario.folder.as_ref().map(|folder| Template::new(&self.base, folder))
    }

    /// Warns of calls of tools that the scenario does not define. Such a call fails, which a scenario may script on purpose
    /// as a mistake of the model: with `near_alone` only calls with a defined tool of a similar name are reported.
    pub(crate) fn warn_of_unknown_tools(&self, near_alone: bool) {
        let scripted = &self.scenario.tools;
        let is_known = |tool: &str| FILE_TOOLS.contains(&tool) || scripted.contains_key(tool);
        let mut told = BTreeSet::new();
        for call in self.scenario.calls().filter(|call| !is_known(&call.tool)) {
            let known = FILE_TOOLS.iter().copied().chain(scripted.keys().map(String::as_str));
            let near = did_you_mean(&call.tool, known);
            if near_alone && near.is_empty() || !told.insert(call.tool.as_str()) {
                continue;
            }
            let (file, id, tool) = (&self.source.name, &call.id, &call.tool);
            complain(&printable(&format!(
                "warning: {file}: the call {id:?} names the tool {tool:?}, which the scenario does not define: the call \
                 fails{near}"
            )));
        }
    }
}

/// Reads and checks a scenario.
///
/// # Errors
/// The file cannot be read, is no YAML, or is no scenario: with line, column and an excerpt.
pub(crate) fn read(path: &str) -> Result<FromFile, Failure> {
    let source = input::read_text(path, LIMIT)?;
    if source.text.trim().is_empty() {
        return Err(Failure::new(format!("{} is empty: expected a scenario", source.name)).with_help(START));
    }
    let scenario = Scenario::parse(&source.text).map_err(|refused| refuse(&source, &refused, START))?;
    let base = Path::new(path).parent().unwrap_or(Path::new("")).to_path_buf();
    Ok(FromFile { scenario, source, base })
}

/// Returns whether a file is meant as an agent file: its model is a mapping, and not a list of answers.
pub(crate) fn is_agent_file(path: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Sniffed {
        model: serde_json::Value,
    }
    // A pipe can be read once. The reader of a scenario reports an unreadable file.
    if !std::fs::metadata(path).is_ok_and(|about| about.is_file()) {
        return false;
    }
    let Ok(source) = input::read_text(path, LIMIT) else { return false };
    from_yaml::<Sniffed>(&source, START).is_ok_and(|sniffed| sniffed.model.is_object())
}

/// Reads a YAML text as any type.
///
/// # Errors
/// No YAML, or another shape: with the place and an excerpt.
pub(crate) fn from_yaml<T: DeserializeOwned>(source: &Text, start: &str) -> Result<T, Failure> {
    runstate_scenario::from_yaml(&source.text).map_err(|refused| refuse(source, &refused, start))
}

/// A file to start from.
const START: &str = "start from examples/tidy-folder.yaml; `runstate schema` prints the fields of a scenario";

/// A text of another kind has no place to correct: `start` says how one begins.
pub(crate) fn refuse(source: &Text, refused: &Refused, start: &str) -> Failure {
    let message = refused.message();
    let failure = match refused.span() {
        Some(span) => Failure::at(with_value(message, &source.text, span), &source.name, &source.text, span),
        None => Failure::new(format!("{}: {refused}", source.name)),
    };
    if message.starts_with("expected a mapping of fields") {
        return failure.with_help(start);
    }
    suggesting(failure, message)
}

/// The message of a reader that has only the expected kind of a value, with the field and the value at its place.
fn with_value(message: &str, text: &str, span: Span) -> String {
    const KINDS: [&str; 4] =
        ["expected a whole number", "expected a list", "expected a text", "expected a mapping of fields"];
    if !KINDS.iter().any(|kind| message.starts_with(kind)) || message.contains(", got ") {
        return message.to_owned();
    }
    let field = field_before(&text[..span.start]);
    let value = value_at(&text[span.start..]);
    let is_time = field.is_some_and(|field| field.ends_with("_ms") || field == "wait");
    let message = match message.strip_prefix("expected a whole number") {
        Some(limits) if is_time => format!("expected whole milliseconds{limits}"),
        // A reader that takes a number from a text reports the text.
        None if is_time => "expected whole milliseconds".to_owned(),
        _ => message.to_owned(),
    };
    let field = field.map(|field| format!("{field}: ")).unwrap_or_default();
    format!("{field}{message}, got {value}")
}

/// The field of a value, if it is on the line of the value.
pub(crate) fn field_before(before: &str) -> Option<&str> {
    let line = before.rsplit('\n').next()?;
    let line = line.trim_end().strip_suffix(':')?;
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let start = line.trim_end_matches(is_of_name).len();
    Some(&line[start..]).filter(|field| !field.is_empty())
}

/// The beginning of a value, in words or as written.
fn value_at(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    match line.chars().next() {
        Some('[') => "a list".to_owned(),
        Some('{') => "a mapping".to_owned(),
        _ if line.starts_with("- ") || line == "-" => "a list".to_owned(),
        None => "nothing".to_owned(),
        Some(quote @ ('"' | '\'')) => {
            let end = line[1..].find(quote).map_or(line.len(), |end| end + 2);
            line[..end].to_owned()
        }
        Some(_) => {
            let end = line.find([',', ']', '}']).unwrap_or(line.len());
            let value = line[..end].split(" #").next().unwrap_or_default().trim_end();
            // The key of a mapping in the place of a value.
            match value.split_once(": ") {
                Some(_) => "a mapping".to_owned(),
                None if value.parse::<f64>().is_ok() || matches!(value, "true" | "false" | "null") => {
                    value.to_owned()
                }
                None => format!("{:?}", value.chars().take(MOST).collect::<String>()),
            }
        }
    }
}
