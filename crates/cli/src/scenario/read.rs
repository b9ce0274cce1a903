//! From a YAML file to a [`Scenario`], or to an error with its place.

use std::path::{Path, PathBuf};

use runstate::diagram::{LineIndex, Span};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Error, Location, Options};

use super::{Scenario, check};
use crate::failure::Failure;
use crate::input::{self, Text};

/// The largest scenario, in bytes.
const LIMIT: u64 = 4 << 20;

/// How deep the values of a scenario may nest.
const DEEPEST: usize = 64;

/// A scenario, its text and where it was found.
#[derive(Debug)]
pub(crate) struct FromFile {
    pub(crate) scenario: Scenario,
    /// The text as it was read: a run keeps a copy, so that it can be resumed whatever becomes of the file.
    pub(crate) source: Text,
    /// The folder that its paths are relative to.
    pub(crate) base: PathBuf,
}

/// Reads and checks a scenario.
///
/// # Errors
/// A file that cannot be read, is no YAML, or does not say a scenario: with line, column and an excerpt.
pub(crate) fn read(path: &str) -> Result<FromFile, Failure> {
    let source = input::read_text(path, LIMIT)?;
    if source.text.trim().is_empty() {
        return Err(Failure::new(format!("{} is empty: expected a scenario", source.name))
            .with_help("start from examples/tidy-folder.yaml"));
    }
    let scenario: Scenario = serde_saphyr::from_str_with_options(&source.text, options())
        .map_err(|error| refuse(&source, &error))?;
    check::check(&scenario).map_err(|fault| {
        Failure::at(fault.message, &source.name, &source.text, span(&source.text, fault.at))
    })?;
    let base = Path::new(path).parent().unwrap_or(Path::new("")).to_path_buf();
    Ok(FromFile { scenario, source, base })
}

/// No surprises: booleans are `true` and `false`, keys are unique, nothing is merged, aliases are few and small.
fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST,
            max_documents: 1,
            max_aliases: 100,
            max_anchors: 100,
            max_nodes: 200_000,
            max_events: 400_000,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 10_000,
            max_replay_stack_depth: 8,
        },
        strict_booleans: true,
        reject_unsupported_tags: true,
        reject_tagged_field_names: true,
        with_snippet: false,
    }
}

fn refuse(source: &Text, error: &Error) -> Failure {
    let message = message(error);
    match error.location() {
        Some(at) => Failure::at(message, &source.name, &source.text, span(&source.text, at)),
        None => Failure::new(format!("{}: {message}", source.name)),
    }
}

/// What is wrong, in the words of someone who writes scenarios; the excerpt says the place.
fn message(error: &Error) -> String {
    match error.without_snippet() {
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("the field {key:?} is given twice"),
        Error::Unexpected { expected: "mapping start", .. } => {
            "expected a mapping of fields to values".to_owned()
        }
        Error::Unexpected { expected: "sequence start", .. } => "expected a list".to_owned(),
        Error::Unexpected { expected: "string scalar", .. } => "expected a text".to_owned(),
        Error::InvalidScalar { ty: "u32", .. } => format!("expected a whole number from 0 to {}", u32::MAX),
        Error::InvalidScalar { ty: "u64", .. } => format!("expected a whole number from 0 to {}", u64::MAX),
        Error::MergeKeyNotAllowed { .. } => {
            "a merge key `<<` is not supported: write the fields out".to_owned()
        }
        Error::Budget { breach: BudgetBreach::Documents { .. }, .. } => {
            "expected one document, got a second".to_owned()
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            format!("values nest deeper than {DEEPEST} levels")
        }
        other => {
            let text = other.to_string();
            let end = text.find(" at line ").unwrap_or(text.len());
            text[..end].to_owned()
        }
    }
}

/// The bytes of a place, by its byte offset where the parser knows it and by line and column otherwise.
fn span(text: &str, at: Location) -> Span {
    let place = at.span();
    if let Some(start) = place.byte_offset() {
        let start = usize::try_from(start).unwrap_or(text.len()).min(text.len());
        let length = place.byte_len().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        return Span::new(start, start.saturating_add(length).min(text.len()));
    }
    let lines = LineIndex::new(text);
    let line = usize::try_from(at.line()).unwrap_or(1);
    let column = usize::try_from(at.column()).unwrap_or(1).saturating_sub(1);
    let start = lines.line_start(line).unwrap_or(text.len());
    let offset: usize = text[start..].chars().take(column).map(char::len_utf8).sum();
    Span::new(start + offset, start + offset)
}
