//! Scenario files.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use runstate_scenario::{Refused, Scenario};
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::input::{self, Text};
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
fn refuse(source: &Text, refused: &Refused, start: &str) -> Failure {
    let failure = match refused.span() {
        Some(span) => Failure::at(refused.message(), &source.name, &source.text, span),
        None => Failure::new(format!("{}: {refused}", source.name)),
    };
    match refused.message().starts_with("expected a mapping of fields") {
        true => failure.with_help(start),
        false => failure,
    }
}
