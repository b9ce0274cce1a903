//! Generators of payloads.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;
use serde::Deserialize;
use serde_json::{Map, Number, Value};

/// A generator of payloads of an event, and of their parts.
///
/// A configuration writes a generator as an object with one field, such as `{int: {min: 1}}`; `bool` has no fields and is
/// written as a word.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Generator {
    /// One of these values.
    Samples(Vec<Value>),
    /// This value.
    Const(Value),
    /// A whole number.
    Int(IntRange),
    /// A number.
    Float(FloatRange),
    /// A text of any characters.
    String(Length),
    /// A text that the regular expression matches as a whole.
    Regex(String),
    /// `true` or `false`.
    Bool,
    /// A value of one of these generators.
    OneOf(Vec<Generator>),
    /// A list.
    List(Box<ListOf>),
    /// A field that may be absent; `null` outside of an object.
    Optional(Box<Generator>),
    /// An object with a generator for each field.
    Object(BTreeMap<String, Generator>),
    /// The value at a JSON pointer in `data` of the latest earlier reply that has it. Without such a reply the event
    /// is not sent.
    FromData(String),
}

/// The range of a whole number. Default: all of `i64`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IntRange {
    /// The least value.
    pub min: i64,
    /// The greatest value.
    pub max: i64,
}

impl Default for IntRange {
    fn default() -> Self {
        IntRange { min: i64::MIN, max: i64::MAX }
    }
}

/// The range of a number. Default: from -1e9 to 1e9.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FloatRange {
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
}

impl Default for FloatRange {
    fn default() -> Self {
        FloatRange { min: -1e9, max: 1e9 }
    }
}

/// The length of a text, in characters.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Length {
    /// The least length. Default: 0.
    pub min: usize,
    /// The greatest length. Default: 16, or the least length if that is greater.
    pub max: Option<usize>,
}

/// The elements and the length of a list.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListOf {
    /// The generator of the elements.
    pub of: Generator,
    /// The least length. Default: 0.
    #[serde(default)]
    pub min: usize,
    /// The greatest length. Default: 16, or the least length if that is greater.
    #[serde(default)]
    pub max: Option<usize>,
}

/// The greatest length of a text or a list.
fn greatest(min: usize, max: Option<usize>) -> usize {
    max.unwrap_or(16.max(min))
}

impl Generator {
    /// The generator of an empty object.
    pub const EMPTY: Generator = Generator::Object(BTreeMap::new());
}

/// A payload whose parts from earlier replies are not yet known.
#[derive(Debug, Clone)]
pub(crate) enum Draft {
    Value(Value),
    Absent,
    FromData(String),
    List(Vec<Draft>),
    Object(Vec<(String, Draft)>),
    /// A payload that was sent before, and its parts that come from earlier replies.
    Sent(Value, FromData),
}

/// The parts of a payload that come from earlier replies: the JSON pointer of the part, and that of the data.
pub(crate) type FromData = BTreeMap<String, String>;

impl Generator {
    /// The strategy of the generator.
    ///
    /// # Errors
    /// An empty range or choice, or an unusable regular expression.
    pub(crate) fn strategy(&self) -> Result<BoxedStrategy<Draft>, String> {
        Ok(match self {
            Generator::Samples(values) if values.is_empty() => return Err("`samples` is empty".to_owned()),
            Generator::Samples(values) => {
                proptest::sample::select(values.clone()).prop_map(Draft::Value).boxed()
            }
            Generator::Const(value) => Just(Draft::Value(value.clone())).boxed(),
            Generator::Int(IntRange { min, max }) if min > max => return Err(range(min, max)),
            Generator::Int(IntRange { min, max }) => {
                (*min..=*max).prop_map(|number| Draft::Value(number.into())).boxed()
            }
            Generator::Float(FloatRange { min, max })
                if !(min <= max && min.is_finite() && max.is_finite()) =>
            {
                return Err(range(min, max));
            }
            Generator::Float(FloatRange { min, max }) => (*min..=*max)
                .prop_map(|number| Draft::Value(Number::from_f64(number).map_or(Value::Null, Value::Number)))
                .boxed(),
            Generator::String(Length { min, max }) if *min > greatest(*min, *max) => {
                return Err(range(min, &greatest(*min, *max)));
            }
            Generator::String(Length { min, max }) => vec(any::<char>(), *min..=greatest(*min, *max))
                .prop_map(|characters| Draft::Value(characters.into_iter().collect::<String>().into()))
                .boxed(),
            Generator::Regex(pattern) => proptest::string::string_regex(unanchored(pattern))
                .map_err(|error| format!("the regular expression {pattern:?}: {error}"))?
                .prop_map(|text| Draft::Value(text.into()))
                .boxed(),
            Generator::Bool => any::<bool>().prop_map(|is| Draft::Value(is.into())).boxed(),
            Generator::OneOf(of) if of.is_empty() => return Err("`one_of` is empty".to_owned()),
            Generator::OneOf(of) => {
                Union::new(of.iter().map(Generator::strategy).collect::<Result<Vec<_>, _>>()?).boxed()
            }
            Generator::List(list) if list.min > greatest(list.min, list.max) => {
                return Err(range(&list.min, &greatest(list.min, list.max)));
            }
            Generator::List(list) => vec(list.of.strategy()?, list.min..=greatest(list.min, list.max))
                .prop_map(Draft::List)
                .boxed(),
            Generator::Optional(of) => {
                proptest::option::of(of.strategy()?).prop_map(|draft| draft.unwrap_or(Draft::Absent)).boxed()
            }
            Generator::Object(fields) => {
                let names: Vec<String> = fields.keys().cloned().collect();
                let parts = fields.values().map(Generator::strategy).collect::<Result<Vec<_>, _>>()?;
                parts.prop_map(move |parts| Draft::Object(names.iter().cloned().zip(parts).collect())).boxed()
            }
            Generator::FromData(pointer) if !pointer.is_empty() && !pointer.starts_with('/') => {
                return Err(format!(
                    "`from_data` has {pointer:?}; expected a JSON pointer such as /order/id"
                ));
            }
            Generator::FromData(pointer) => Just(Draft::FromData(pointer.clone())).boxed(),
        })
    }
}

/// A pattern without the anchors around it: a text is matched as a whole.
fn unanchored(pattern: &str) -> &str {
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    match pattern.strip_suffix('$') {
        Some(inner) if !inner.ends_with('\\') => inner,
        _ => pattern,
    }
}

impl Generator {
    /// An upper bound of the size of a value, in bytes of JSON.
    pub(crate) fn most_bytes(&self) -> usize {
        let of_value = |value: &Value| value.to_string().len();
        match self {
            Generator::Samples(values) => values.iter().map(of_value).max().unwrap_or_default(),
            Generator::Const(value) => of_value(value),
            Generator::Int(_) | Generator::Float(_) | Generator::Bool | Generator::FromData(_) => 32,
            // A character may be written as an escape of six bytes.
            Generator::String(Length { min, max }) => {
                greatest(*min, *max).saturating_mul(6).saturating_add(2)
            }
            Generator::Regex(pattern) => {
                let longest = regex_syntax::parse(unanchored(pattern)).ok();
                let longest = longest.and_then(|hir| longest_match(&hir));
                longest.map_or(usize::MAX, |bytes| bytes.saturating_mul(6).saturating_add(2))
            }
            Generator::OneOf(of) => of.iter().map(Generator::most_bytes).max().unwrap_or_default(),
            Generator::List(list) => {
                let each = list.of.most_bytes().saturating_add(1);
                greatest(list.min, list.max).saturating_mul(each).saturating_add(2)
            }
            Generator::Optional(of) => of.most_bytes(),
            Generator::Object(fields) => {
                let each = fields.iter().map(|(name, of)| of.most_bytes().saturating_add(name.len() + 4));
                each.fold(2, usize::saturating_add)
            }
        }
    }
}

/// The longest text that the strategy makes of a pattern, in bytes: it repeats `*` and `+` up to 32 times.
fn longest_match(hir: &regex_syntax::hir::Hir) -> Option<usize> {
    use regex_syntax::hir::HirKind;
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(0),
        HirKind::Literal(literal) => Some(literal.0.len()),
        HirKind::Class(_) => Some(4),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(32));
            longest_match(&repetition.sub)?.checked_mul(usize::try_from(times).ok()?)
        }
        HirKind::Capture(capture) => longest_match(&capture.sub),
        HirKind::Concat(parts) => {
            parts.iter().try_fold(0_usize, |sum, part| sum.checked_add(longest_match(part)?))
        }
        HirKind::Alternation(parts) => {
            parts.iter().map(longest_match).collect::<Option<Vec<_>>>()?.into_iter().max()
        }
    }
}

fn range(min: &impl std::fmt::Display, max: &impl std::fmt::Display) -> String {
    format!("the range from {min} to {max} has no value")
}

impl Draft {
    /// The parts that come from earlier replies.
    pub(crate) fn data_parts(&self) -> FromData {
        let mut parts = FromData::new();
        self.add_parts("", &mut parts);
        parts
    }

    fn add_parts(&self, at: &str, parts: &mut FromData) {
        match self {
            Draft::Value(_) | Draft::Absent => {}
            Draft::FromData(pointer) => {
                parts.insert(at.to_owned(), pointer.clone());
            }
            Draft::List(of) => {
                of.iter().enumerate().for_each(|(i, part)| part.add_parts(&format!("{at}/{i}"), parts));
            }
            Draft::Object(of) => {
                for (name, part) in of {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    part.add_parts(&format!("{at}/{name}"), parts);
                }
            }
            Draft::Sent(_, of) => {
                parts.extend(of.iter().map(|(part, of)| (format!("{at}{part}"), of.clone())))
            }
        }
    }

    /// The payload, with `{"from_data": POINTER}` for a part of an earlier reply.
    #[cfg(feature = "proptest-state-machine")]
    pub(crate) fn shown(&self) -> Value {
        match self {
            Draft::Value(value) => value.clone(),
            Draft::Absent => Value::Null,
            Draft::FromData(pointer) => serde_json::json!({ "from_data": pointer }),
            Draft::Sent(value, _) => value.clone(),
            Draft::List(parts) => parts.iter().map(Draft::shown).collect(),
            Draft::Object(parts) => {
                let is_present = |part: &&(String, Draft)| !matches!(part.1, Draft::Absent);
                parts.iter().filter(is_present).map(|(name, part)| (name.clone(), part.shown())).collect()
            }
        }
    }

    /// The payload, with the data of earlier replies. Returns none if a part is in no reply.
    pub(crate) fn resolve(self, data: &[Value]) -> Option<Value> {
        let latest = |pointer: &str| data.iter().rev().find_map(|data| data.pointer(pointer)).cloned();
        match self {
            Draft::Value(value) => Some(value),
            Draft::Absent => Some(Value::Null),
            Draft::FromData(pointer) => latest(&pointer),
            Draft::Sent(mut value, parts) => {
                for (at, pointer) in parts {
                    *value.pointer_mut(&at)? = latest(&pointer)?;
                }
                Some(value)
            }
            Draft::List(parts) => {
                parts.into_iter().map(|part| part.resolve(data)).collect::<Option<Vec<_>>>().map(Value::Array)
            }
            Draft::Object(parts) => {
                let mut object = Map::new();
                for (name, part) in parts {
                    if !matches!(part, Draft::Absent) {
                        object.insert(name, part.resolve(data)?);
                    }
                }
                Some(Value::Object(object))
            }
        }
    }
}
