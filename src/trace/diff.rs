//! The first difference of two traces.

use std::fmt;
use std::io::BufRead;

use super::event::Event;
use super::jsonl::JsonlReader;
use super::read_error::ReadError;
use super::text::Ordinals;

/// A difference of two traces; see [`first_difference`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The event of the old trace; none after its end.
    pub old: Option<Side>,
    /// The event of the new trace; none after its end.
    pub new: Option<Side>,
}

/// One side of a difference: an event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Side {
    /// The line of the trace, from 1.
    pub line: u64,
    /// The event in the stable text form.
    pub text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (sign, side) in [('-', &self.old), ('+', &self.new)] {
            match side {
                Some(Side { line, text }) => writeln!(f, "{sign} line {line}: {text}")?,
                None => writeln!(f, "{sign} the trace has ended")?,
            }
        }
        Ok(())
    }
}

/// The error for a trace that could not be read for a comparison.
#[derive(Debug)]
#[non_exhaustive]
pub enum DiffError {
    /// The old trace.
    Old(ReadError),
    /// The new trace.
    New(ReadError),
}

impl fmt::Display for DiffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiffError::Old(error) => write!(f, "old trace: {error}"),
            DiffError::New(error) => write!(f, "new trace: {error}"),
        }
    }
}

impl std::error::Error for DiffError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DiffError::Old(error) | DiffError::New(error) => Some(error),
        }
    }
}

/// Finds the first difference between the [stable text forms](super::to_text()) of two traces. Ids, times, numbers
/// and further fields may differ. Returns none for equal text forms.
///
/// # Example
/// ```
/// use runstate::trace::{JsonlReader, first_difference};
///
/// let old = r#"{"seq":1,"at_ms":0,"run":"a","lifecycle":"run","instance":"a","event":"create","from":null,"to":"Running"}"#;
/// let same = old.replace("\"a\"", "\"b\"");
/// let differs = old.replace("Running", "Waiting");
/// let read = |text: &'static str| JsonlReader::new(text.as_bytes());
/// let compare = |new: &str| first_difference(read(old), JsonlReader::new(new.as_bytes()));
///
/// assert_eq!(compare(&same).unwrap(), None);
/// assert_eq!(
///     compare(&differs).unwrap().unwrap().to_string(),
///     "- line 1: 1  run#1  [*] --> Running : create\n+ line 1: 1  run#1  [*] --> Waiting : create\n",
/// );
/// ```
///
/// # Errors
/// When one of the traces cannot be read.
pub fn first_difference<A: BufRead, B: BufRead>(
    mut old: JsonlReader<A>,
    mut new: JsonlReader<B>,
) -> Result<Option<Difference>, DiffError> {
    let (mut old_ordinals, mut new_ordinals) = (Ordinals::new(), Ordinals::new());
    loop {
        let left = side(&mut old, &mut old_ordinals).map_err(DiffError::Old)?;
        let right = side(&mut new, &mut new_ordinals).map_err(DiffError::New)?;
        match (left, right) {
            (None, None) => return Ok(None),
            (Some(left), Some(right)) if left.text == right.text => {}
            (old, new) => return Ok(Some(Difference { old, new })),
        }
    }
}

fn side<R: BufRead>(reader: &mut JsonlReader<R>, ordinals: &mut Ordinals) -> Result<Option<Side>, ReadError> {
    let read = reader.read_numbered()?;
    Ok(read.map(|(line, event): (u64, Event<'_>)| Side {
        line,
        text: ordinals.line(&event).trim_start().to_owned(),
    }))
}
