//! Headers of which the file has the names, and environment variables the values.

use std::collections::BTreeMap;

use hyper::header::{HeaderName, HeaderValue};

use super::mistakes::is_variable;

/// Checks the names of the variables.
///
/// # Errors
/// The first header with another text, which may be a key, and the mistake.
pub(super) fn check(headers: &BTreeMap<String, String>) -> Result<(), (&str, String)> {
    let Some((header, _)) = headers.iter().find(|(_, variable)| !is_variable(variable)) else {
        return Ok(());
    };
    let why = format!(
        "headers_env.{header} is no name of an environment variable; a key in the file would be stored with each run"
    );
    Err((header, why))
}

/// Reads the headers, with their values in ASCII and without white space around them.
///
/// # Errors
/// A name is no header's, or a variable has no text, or a text that no header can have.
pub(super) fn read(headers: &BTreeMap<String, String>) -> Result<Vec<(&str, String)>, String> {
    let read = |(header, variable): (&'_ String, &String)| {
        HeaderName::try_from(header).map_err(|_| "expected the name of a header".to_owned())?;
        let value = std::env::var(variable).unwrap_or_default().trim().to_owned();
        if value.is_empty() {
            return Err(format!("the environment variable {variable} is not set, or has no text"));
        }
        // A value of another alphabet would not be found in the text of an answer, to withhold it.
        if !value.is_ascii() || HeaderValue::try_from(&value).is_err() {
            return Err(format!("{variable} has characters that no header can have"));
        }
        Ok(value)
    };
    let named =
        |entry: (&'_ String, &String)| read(entry).map_err(|why| format!("headers_env.{}: {why}", entry.0));
    headers.iter().map(|entry| Ok((entry.0.as_str(), named(entry)?))).collect()
}
