//! A value read from a model's text.
//!
//! A model that is asked for JSON mostly gives it, and at times with a fence around it, a comma too many, or its end cut off.
//! [`read`] takes the text as it is where it is JSON, repairs it where it is not, and says what it repaired.

mod candidates;
mod error;
mod fit;
mod reader;
mod repair;

use serde::de::DeserializeOwned;

use candidates::Candidate;
pub use error::{CollectError, StructuredError};
pub(super) use fit::{Fit, Fitting, RULE};
pub use repair::Repair;

/// A value, and what was repaired to read it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Structured<T> {
    /// The value.
    pub value: T,
    /// The JSON that it was read from.
    pub json: String,
    /// What was repaired, each kind once, in the order of [`Repair`]; empty where the text was read as it is.
    pub repairs: Vec<Repair>,
}

/// Reads a value from a text that is JSON, or was meant to be.
///
/// A text that `serde_json` reads is not changed. Otherwise JSON is looked for in it: parts that begin with a bracket, those that
/// need no repair and the longer ones first, and parts within other parts last; the first that fits `T` is taken. At most 16 parts
/// are read, so the time is linear in the text's length, and nesting costs no stack.
///
/// ```
/// use runstate::stream::structured::{self, Repair, StructuredError};
///
/// #[derive(serde::Deserialize)]
/// struct Trip { to: String, days: Vec<u8> }
///
/// let said = "Sure, here it is:\n```json\n{'to': 'Oslo', // in May\n 'days': [1, 2,]}\n```\nEnjoy!";
/// let trip = structured::read::<Trip>(said)?;
/// assert_eq!((trip.value.to.as_str(), trip.value.days.len()), ("Oslo", 2));
/// assert_eq!(trip.json, r#"{"to":"Oslo","days":[1,2]}"#);
/// assert_eq!(
///     trip.repairs,
///     [Repair::Fence, Repair::Prose, Repair::Comment, Repair::ExtraComma, Repair::Quotes],
/// );
///
/// let Err(StructuredError::Mismatch { error, .. }) = structured::read::<Trip>(r#"{"to": "Oslo"}"#) else { unreachable!() };
/// assert!(error.to_string().starts_with("missing field `days`"));
/// assert!(matches!(structured::read::<Trip>("I would not."), Err(StructuredError::NoJson { .. })));
/// # Ok::<(), StructuredError>(())
/// ```
///
/// # Errors
/// When there is no JSON in the text, when it nests deeper than 127 levels, or when it does not fit `T`.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<Structured<T>, StructuredError> {
    let mut mismatch = None;
    match serde_json::from_str::<T>(text) {
        Ok(value) => return Ok(Structured { value, json: text.to_owned(), repairs: Vec::new() }),
        // JSON that does not fit is not repaired until it does.
        Err(error) if is_json(text) => {
            return Err(StructuredError::Mismatch { error, json: text.to_owned(), repairs: Vec::new() });
        }
        Err(_) => {}
    }
    for Candidate { json, repairs, .. } in candidates::of(text)? {
        match serde_json::from_str::<T>(&json) {
            Ok(value) => return Ok(Structured { value, json, repairs }),
            Err(error) => {
                mismatch.get_or_insert(StructuredError::Mismatch { error, json, repairs });
            }
        }
    }
    Err(mismatch.unwrap_or_else(|| StructuredError::no_json(text)))
}

/// The JSON in a text, as JSON that `serde_json` reads: what [`read`] reads for a `T` that everything fits.
///
/// ```
/// use runstate::stream::structured::{Repair, repair};
///
/// let cut_off = repair(r#"{"name": "Ada", "notes": ["likes "big" numbers", "born in 18"#)?;
/// assert_eq!(cut_off.json, r#"{"name":"Ada","notes":["likes \"big\" numbers","born in 18"]}"#);
/// assert_eq!(cut_off.repairs, [Repair::UnclosedBracket, Repair::UnclosedString, Repair::InnerQuote]);
///
/// // JSON stays as it is, to the byte.
/// assert_eq!(repair("{ \"a\" :1.0e5 }")?.json, "{ \"a\" :1.0e5 }");
/// # Ok::<(), runstate::stream::structured::StructuredError>(())
/// ```
///
/// # Errors
/// When there is no JSON in the text, or it nests deeper than 127 levels.
pub fn repair(text: &str) -> Result<Structured<()>, StructuredError> {
    if is_json(text) {
        return Ok(Structured { value: (), json: text.to_owned(), repairs: Vec::new() });
    }
    let best = candidates::of(text)?.into_iter().next();
    let Candidate { json, repairs, .. } = best.ok_or_else(|| StructuredError::no_json(text))?;
    Ok(Structured { value: (), json, repairs })
}

/// Does `serde_json` read it whole, with its numbers and escapes?
fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}
