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

/// The length of a text in characters, or of a list in elements. Default: from 0 to 16.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Length {
    /// The least length.
    pub min: usize,
    /// The greatest length.
    pub max: usize,
}

impl Default for Length {
    fn default() -> Self {
        Length { min: 0, max: 16 }
    }
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
    /// The greatest length. Default: 16.
    #[serde(default = "sixteen")]
    pub max: usize,
}

fn sixteen() -> usize {
    16
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
}

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
            Generator::String(Length { min, max }) if min > max => return Err(range(min, max)),
            Generator::String(Length { min, max }) => vec(any::<char>(), *min..=*max)
                .prop_map(|characters| Draft::Value(characters.into_iter().collect::<String>().into()))
                .boxed(),
            Generator::Regex(pattern) => proptest::string::string_regex(pattern)
                .map_err(|error| format!("the regular expression {pattern:?}: {error}"))?
                .prop_map(|text| Draft::Value(text.into()))
                .boxed(),
            Generator::Bool => any::<bool>().prop_map(|is| Draft::Value(is.into())).boxed(),
            Generator::OneOf(of) if of.is_empty() => return Err("`one_of` is empty".to_owned()),
            Generator::OneOf(of) => {
                Union::new(of.iter().map(Generator::strategy).collect::<Result<Vec<_>, _>>()?).boxed()
            }
            Generator::List(list) if list.min > list.max => return Err(range(&list.min, &list.max)),
            Generator::List(list) => {
                vec(list.of.strategy()?, list.min..=list.max).prop_map(Draft::List).boxed()
            }
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

fn range(min: &impl std::fmt::Display, max: &impl std::fmt::Display) -> String {
    format!("the range from {min} to {max} has no value")
}

impl Draft {
    /// The payload, with the data of earlier replies. Returns none if a part is in no reply.
    pub(crate) fn resolve(self, data: &[Value]) -> Option<Value> {
        match self {
            Draft::Value(value) => Some(value),
            Draft::Absent => Some(Value::Null),
            Draft::FromData(pointer) => data.iter().rev().find_map(|data| data.pointer(&pointer)).cloned(),
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
