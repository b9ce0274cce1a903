//! Values read from a model's text.
//!
//! A model usually answers a request for JSON with JSON. Sometimes the JSON stands within prose, after the
//! model's thinking, or has an extra comma. [`read`] finds the JSON, repairs damage that leaves one reading,
//! and reports the repairs and the other values of the text. It refuses all other damage, because a wrong value
//! costs more than another attempt.

mod around;
mod error;
mod reader;
mod repair;
mod scan;
mod thinking;

use std::collections::BTreeSet;

pub use error::StructuredError;
use reader::Part;
pub use repair::Repair;
use scan::Found;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

/// A value, with the JSON and the repairs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Structured<T> {
    /// The value.
    pub value: T,
    /// The JSON of the value, after the repairs.
    pub json: String,
    /// The repairs, each kind once, in the order of [`Repair`]; empty if the JSON had no damage.
    pub repairs: Vec<Repair>,
    /// The JSON of each other value in the text, outside of its thinking, in the order of the text.
    pub others: Vec<String>,
}

impl<T> Structured<T> {
    /// Refuses a text with other values.
    ///
    /// ```
    /// use runstate_guardrails::structured::{self, StructuredError};
    ///
    /// let read = structured::read::<serde_json::Value>("An example: {\"a\": 0}\n\nThe answer: {\"a\": 1}")?;
    /// assert_eq!((read.json.as_str(), read.others.as_slice()), ("{\"a\":1}", &["{\"a\":0}".to_owned()][..]));
    /// assert!(matches!(read.only(), Err(StructuredError::Several { .. })));
    /// assert!(structured::read::<u32>("```json\n42\n```")?.only().is_ok());
    /// # Ok::<(), StructuredError>(())
    /// ```
    ///
    /// # Errors
    /// [`StructuredError::Several`] if [`others`](Self::others) is not empty.
    pub fn only(&self) -> Result<(), StructuredError> {
        match self.others.is_empty() {
            true => Ok(()),
            false => {
                let readings = self.others.iter().chain([&self.json]).cloned().collect();
                Err(StructuredError::Several { readings })
            }
        }
    }
}

/// Reads a value from a text that is JSON, or holds JSON.
///
/// The value is the last fence with the tag `json`, or else the last fence without a tag, or else the last JSON
/// of the text. Thinking parts (`<think>`, `<thinking>`, `<thought>`, `<reasoning>`) are skipped. If the last
/// value is a list and does not fit `T`, an object before it is tried, and vice versa. Values on lines of their
/// own are read as one list if `T` is a list.
///
/// Damage with more than one reading is refused: a string or number that was cut, a key without a value or with
/// two, a word or a calculation in place of a value, values side by side, and the last of several values within
/// a sentence or a list. The time is linear in the text's length, and nesting uses no stack.
///
/// ```
/// use runstate_guardrails::structured::{self, Repair, StructuredError};
///
/// #[derive(serde::Deserialize)]
/// struct Trip { to: String, days: Vec<u8> }
///
/// let said = "<think>{'to': 'Rome'}?</think>Sure:\n```json\n{'to': 'Oslo', // in May\n 'days': [1, 2,]}\n```\nEnjoy!";
/// let trip = structured::read::<Trip>(said)?;
/// assert_eq!((trip.value.to.as_str(), trip.value.days.len()), ("Oslo", 2));
/// assert_eq!(trip.json, r#"{"to":"Oslo","days":[1,2]}"#);
/// assert_eq!(trip.repairs, [Repair::Comment, Repair::ExtraComma, Repair::Quotes]);
///
/// let Err(StructuredError::Mismatch { error, .. }) = structured::read::<Trip>(r#"{"to": "Oslo"}"#) else { unreachable!() };
/// assert!(error.to_string().starts_with("missing field `days`"));
/// let error = structured::read::<Trip>(r#"{"to": "Oslo", "days": [1, 2"#).err().unwrap();
/// assert_eq!(error.to_string(), "the JSON in the output is damaged at byte 27: the end of a value is missing");
/// assert!(matches!(structured::read::<Trip>("I would not."), Err(StructuredError::NoJson { .. })));
/// # Ok::<(), StructuredError>(())
/// ```
///
/// # Errors
/// The text has no JSON; the JSON is damaged or nests deeper than 127 levels; values stand side by side; or the
/// JSON does not fit `T`.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<Structured<T>, StructuredError> {
    let begin = text.len() - text.trim_start().len();
    match reader::read(text, begin, None) {
        Ok(part) if part.repairs.is_empty() && text[part.end..].trim().is_empty() => {
            let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
            fit(if is_json { text.to_owned() } else { part.json }, &BTreeSet::new(), Vec::new())
        }
        _ => Places { text, found: &scan::find(text) }.read(),
    }
}

/// Reads the JSON in a text, in a form that `serde_json` reads. It acts like [`read`] for a `T` that every JSON
/// fits.
///
/// ```
/// use runstate_guardrails::structured::{Repair, repair};
///
/// let cut_off = repair(r#"{"name": "Ada", "notes": ["likes "big" numbers", "born"#);
/// assert_eq!(cut_off.unwrap_err().to_string(), "the JSON in the output is damaged at byte 54: the end of a string is missing");
/// let cut_off = repair(r#"{"name": "Ada", "notes": ["likes "big" numbers","#)?;
/// assert_eq!(cut_off.json, r#"{"name":"Ada","notes":["likes \"big\" numbers"]}"#);
/// assert_eq!(cut_off.repairs, [Repair::ExtraComma, Repair::UnclosedBracket, Repair::InnerQuote]);
///
/// // Valid JSON stays unchanged, to the byte.
/// assert_eq!(repair("{ \"a\" :1.0e5 }")?.json, "{ \"a\" :1.0e5 }");
/// # Ok::<(), runstate_guardrails::structured::StructuredError>(())
/// ```
///
/// # Errors
/// Like [`read`], except that no JSON misfits.
pub fn repair(text: &str) -> Result<Structured<()>, StructuredError> {
    let Structured { json, repairs, others, .. } = read::<IgnoredAny>(text)?;
    Ok(Structured { value: (), json, repairs, others })
}

fn fit<T: DeserializeOwned>(
    json: String,
    repairs: &BTreeSet<Repair>,
    others: Vec<String>,
) -> Result<Structured<T>, StructuredError> {
    let repairs = repairs.iter().copied().collect();
    match runstate::json::from_str(&json) {
        Ok(value) => Ok(Structured { value, json, repairs, others }),
        Err(error) => Err(StructuredError::Mismatch { error, json, repairs }),
    }
}

struct Places<'t> {
    text: &'t str,
    found: &'t [Found],
}

impl Places<'_> {
    fn read<T: DeserializeOwned>(&self) -> Result<Structured<T>, StructuredError> {
        let class = self.found.iter().map(|found| found.class).max();
        let best: Vec<_> = self.found.iter().filter(|found| Some(found.class) == class).collect();
        let mut misfit: Option<(bool, StructuredError)> = None;
        for (at, found) in best.iter().enumerate().rev() {
            let list = found.is_list(self.text);
            if misfit.as_ref().is_some_and(|(other, _)| *other == list) {
                break;
            }
            let part = found.reading.as_ref().map_err(|refusal| StructuredError::damaged(*refusal))?;
            match fit(part.json.clone(), &part.repairs, self.others(&part.json)) {
                Ok(read) if misfit.is_none() && self.fits_another::<T>(&best[..at], list) => {
                    return Err(StructuredError::Several {
                        readings: read.others.into_iter().chain([read.json]).collect(),
                    });
                }
                Ok(read) => return self.one(read, &best[..=at]),
                Err(error) if misfit.is_some() => return misfit.map_or(Err(error), |(_, first)| Err(first)),
                Err(error) => misfit = Some((list, error)),
            }
        }
        match self.lines(&best) {
            Some(read) => Ok(read),
            None => Err(misfit.map_or_else(|| StructuredError::no_json(self.text), |(_, error)| error)),
        }
    }

    /// Returns whether a list before an object, or an object before a list, is a `T` as well. `serde` reads a
    /// struct from a list.
    fn fits_another<T: DeserializeOwned>(&self, before: &[&Found], list: bool) -> bool {
        let other = before.iter().rev().find(|found| found.is_list(self.text) != list);
        let part = other.and_then(|found| found.reading.as_ref().ok());
        part.is_some_and(|part| serde_json::from_str::<T>(&part.json).is_ok())
    }

    /// Returns the value of the last of these places. Refuses it if another value stands beside it, or if it is
    /// an aside in a sentence or a list.
    fn one<T>(&self, read: Structured<T>, until: &[&Found]) -> Result<Structured<T>, StructuredError> {
        let [.., before, last] = until else { return Ok(read) };
        let twin = before.gap(last, self.text).is_some();
        let aside = last.class == scan::Class::Prose && !read.others.is_empty() && last.is_aside(self.text);
        if !(twin || aside) {
            return Ok(read);
        }
        let parts = until.iter().filter_map(|found| found.reading.as_ref().ok());
        let readings: Vec<_> = parts.map(|part| part.json.clone()).collect();
        match &before.reading {
            Err(refusal) if readings.len() == 1 => Err(StructuredError::damaged(*refusal)),
            _ => Err(StructuredError::Several { readings }),
        }
    }

    /// Reads the values of the last lines as a list.
    fn lines<T: DeserializeOwned>(&self, best: &[&Found]) -> Option<Structured<T>> {
        let on_lines =
            |pair: &&[&Found]| pair[0].gap(pair[1], self.text).is_some_and(|gap| gap.contains('\n'));
        let many = best.windows(2).rev().take_while(on_lines).count() + 1;
        let parts: Vec<&Part> = best[best.len().checked_sub(many)?..]
            .iter()
            .map(|found| found.reading.as_ref().ok())
            .collect::<Option<_>>()?;
        let json: Vec<_> = parts.iter().map(|part| part.json.as_str()).collect();
        let repairs = parts.iter().flat_map(|part| &part.repairs).copied().chain([Repair::Lines]).collect();
        let first = *parts.first()?;
        let all = self.found.iter().filter_map(|found| found.reading.as_ref().ok());
        let others = all.take_while(|part| !std::ptr::eq(*part, first)).map(|part| part.json.clone());
        if many < 2 { None } else { fit(format!("[{}]", json.join(",")), &repairs, others.collect()).ok() }
    }

    /// Returns the values that differ from this one.
    fn others(&self, json: &str) -> Vec<String> {
        let value = |json: &str| serde_json::from_str::<Value>(json).ok();
        let (this, mut seen) = (value(json), BTreeSet::from([json]));
        let all =
            self.found.iter().filter_map(|found| found.reading.as_ref().ok()).map(|part| part.json.as_str());
        all.filter(|other| seen.insert(*other) && value(other) != this).map(str::to_owned).collect()
    }
}
