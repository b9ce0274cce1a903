//! From a YAML or JSON text to a [`Scenario`], or to an error with its place.

mod options;
mod place;
mod refused;

use runstate::diagram::Span;
use serde::de::DeserializeOwned;
use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use crate::Scenario;
use crate::check;
use options::{DEEPEST, MOST_ANCHORS, MOST_NODES, MOST_REPLAYED, options};

pub use refused::Refused;

/// Reads a YAML or JSON text as any type: for files beside scenarios, with equal strictness.
///
/// # Errors
/// [`Refused`], with the place, for a text that is no YAML or has another shape.
pub fn from_yaml<T: DeserializeOwned>(text: &str) -> Result<T, Refused> {
    serde_saphyr::from_str_with_options(text, options())
        .map_err(|error| Refused::new(message(&error), text, place::of_error(text, &error)))
}

/// The place of a value in a YAML text: a path of names of fields, and of numbers for the items of lists. A value that is not
/// there has the place of the one that it would be in.
///
/// ```
/// let text = "model:\n  name: m\nfallbacks:\n  - name: n\n";
/// let place = runstate_scenario::place(text, &["fallbacks", "0", "name"]).unwrap();
/// assert_eq!(&text[place.start..place.end], "n");
/// assert_eq!(runstate_scenario::place("]", &["model"]), None);
/// ```
pub fn place(text: &str, path: &[&str]) -> Option<Span> {
    let part =
        |name: &&str| name.parse::<usize>().map_or_else(|_| check::Part::from(*name), check::Part::from);
    place::of_path(text, &path.iter().map(part).collect::<Vec<_>>())
}

impl Scenario {
    /// Reads and checks a scenario. JSON is YAML too.
    ///
    /// # Errors
    /// [`Refused`], with the place, for a text that is no YAML, no scenario, or a scenario that cannot run.
    pub fn parse(text: &str) -> Result<Scenario, Refused> {
        if text.trim().is_empty() {
            return Err(Refused::new("it is empty: expected a scenario".to_owned(), text, None));
        }
        let scenario: Scenario = from_yaml(text)?;
        check::check(&scenario).map_err(|fault| {
            let span = place::of_path(text, &fault.path).unwrap_or(Span::new(0, 0));
            Refused::new(fault.message, text, Some(span))
        })?;
        Ok(scenario)
    }

    /// Checks a constructed scenario, as [`parse`](Scenario::parse) checks a text.
    ///
    /// # Errors
    /// [`Refused`], which names the field.
    pub fn check(&self) -> Result<(), Refused> {
        check::check(self).map_err(|fault| {
            let path: Vec<_> = fault.path.iter().map(ToString::to_string).collect();
            Refused::new(format!("{}: {}", path.join("."), fault.message), "", None)
        })
    }
}

/// The error in words for authors of scenarios; the place is stated beside it.
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
        Error::Budget { breach, .. } => too_much(breach),
        Error::AliasError { error, .. } => message(error),
        Error::AliasReplayLimitExceeded { .. } => format!(
            "its aliases stand for more than {MOST_REPLAYED} events (a value is one, a list or a mapping two): write out the aliases, or \
             split it"
        ),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            "an alias stands for a value that it is a part of: write out the aliases".to_owned()
        }
        other => {
            let text = other.to_string();
            let end = text.find(" at line ").unwrap_or(text.len());
            text[..end].to_owned()
        }
    }
}

/// The message for a text that exceeds a limit.
fn too_much(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Anchors { anchors } => {
            format!("it has {anchors} anchors: expected at most {MOST_ANCHORS}")
        }
        BudgetBreach::Aliases { aliases } => {
            format!("it has {aliases} aliases: expected at most {MOST_ANCHORS}")
        }
        BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. } => {
            format!("it has more than {MOST_NODES} values: split it")
        }
        _ => "it has more than is read of such a file: split it, and write out the aliases".to_owned(),
    }
}
