//! Scenario files.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use runstate_scenario::{Refused, Scenario};
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::input::{self, Text};
use crate::runs::Template;

/// The largest scenario, in bytes.
pub(crate) const LIMIT: u64 = 4 << 20;

/// A scenario, its text and where it was found.
#[derive(Debug)]
pub(crate) struct FromFile {
    pub(crate) scenario: Scenario,
    /// The text as it was read: a run keeps a copy, so that it can be resumed whatever becomes of the file.
    pub(crate) source: Text,
    /// The folder that its paths are relative to.
    base: PathBuf,
}

impl FromFile {
    /// The folder that a copy is made of, if it names one.
    pub(crate) fn template(&self) -> Option<Template> {
        self.scenario.folder.as_ref().map(|folder| Template::new(&self.base, folder))
    }
}

/// Reads and checks a scenario.
///
/// # Errors
/// A file that cannot be read, is no YAML, or does not say a scenario: with line, column and an excerpt.
pub(crate) fn read(path: &str) -> Result<FromFile, Failure> {
    let source = input::read_text(path, LIMIT)?;
    if source.text.trim().is_empty() {
        return Err(Failure::new(format!("{} is empty: expected a scenario", source.name)).with_help(START));
    }
    let scenario = Scenario::parse(&source.text).map_err(|refused| refuse(&source, &refused, START))?;
    let base = Path::new(path).parent().unwrap_or(Path::new("")).to_path_buf();
    Ok(FromFile { scenario, source, base })
}

/// What a YAML text says, whatever it is to be.
///
/// # Errors
/// With the place and an excerpt: no YAML, or not of that shape.
pub(crate) fn from_yaml<T: DeserializeOwned>(source: &Text, start: &str) -> Result<T, Failure> {
    runstate_scenario::from_yaml(&source.text).map_err(|refused| refuse(source, &refused, start))
}

/// A file to start from.
const START: &str = "start from examples/tidy-folder.yaml; `runstate schema` prints the fields of a scenario";

/// A text of another kind has no place that could be mended: `start` says how one begins.
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
