//! Chunks of a stream, in the form in which servers send them.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::parts::thought_of;

/// A chunk of an answer, or the whole answer of a server that does not stream. A missing or null field counts
/// as absent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Chunk {
    #[serde(deserialize_with = "text_or_number")]
    pub(crate) id: Option<String>,
    #[serde(deserialize_with = "few")]
    pub(crate) choices: Vec<Choice>,
    pub(crate) usage: Option<Value>,
    pub(crate) error: Option<Value>,
    /// Set by servers that send an error as the event itself.
    object: Option<Value>,
    error_code: Option<Value>,
    detail: Option<Value>,
    /// Set by MiniMax, in each answer.
    base_resp: Option<Value>,
}

impl Chunk {
    /// Numbers the tool calls of a whole answer by position. No two entries are pieces of one call, whatever
    /// index and id the server gives them.
    pub(crate) fn number_calls(&mut self) {
        let messages = self.choices.iter_mut().filter_map(|choice| choice.message.as_mut());
        for (number, call) in (0..).zip(messages.flat_map(|message| &mut message.tool_calls)) {
            call.index = Some(number);
        }
    }

    /// Returns whether the chunk is an error without an `error` field.
    pub(crate) fn is_error(&self) -> bool {
        let is_told = |value: &Option<Value>| {
            value.as_ref().is_some_and(|value| {
                !matches!(value, Value::Null | Value::Bool(false))
                    && value.as_i64() != Some(0)
                    && value.as_str() != Some("")
            })
        };
        let is_named = self.object.as_ref().and_then(Value::as_str) == Some("error");
        let base = self.base_resp.as_ref().and_then(|base| base.get("status_code").cloned());
        self.choices.is_empty()
            && (is_named || is_told(&self.error_code) || is_told(&self.detail) || is_told(&base))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Choice {
    pub(crate) index: Option<u64>,
    delta: Option<Delta>,
    /// The message of an answer that is not streamed. Some servers send it beside `delta`, with all text so
    /// far.
    message: Option<Delta>,
    pub(crate) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Delta {
    /// A text, or a list of parts with texts.
    content: Option<Value>,
    pub(crate) refusal: Option<String>,
    #[serde(deserialize_with = "few")]
    pub(crate) tool_calls: Vec<CallDelta>,
    /// A tool call in the form of older servers.
    pub(crate) function_call: Option<Function>,
    /// The fields that this crate does not read.
    #[serde(flatten)]
    pub(crate) more: Map<String, Value>,
}

/// A piece of a tool call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CallDelta {
    pub(crate) index: Option<u64>,
    #[serde(deserialize_with = "text_or_number")]
    pub(crate) id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) function: Function,
    /// The fields that this crate does not read.
    #[serde(flatten)]
    pub(crate) more: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Function {
    pub(crate) name: Option<String>,
    /// A piece of JSON text. Some servers send the object itself.
    pub(crate) arguments: Option<Value>,
}

impl Choice {
    /// Takes the piece of the answer.
    pub(crate) fn piece(&mut self) -> Delta {
        self.delta.take().or(self.message.take()).unwrap_or_default()
    }
}

impl Delta {
    /// Returns the text, or the content if it is not a text.
    pub(crate) fn text(&self) -> Result<String, &Value> {
        match &self.content {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Array(parts)) => {
                Ok(parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect())
            }
            Some(other) => Err(other),
        }
    }
}

/// The field of LiteLLM's blocks of thinking.
pub(crate) const BLOCKS: &str = "thinking_blocks";
/// The field with Mistral's thinking.
pub(crate) const CONTENT: &str = "content";

/// The place of the thinking in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThoughtIn {
    /// A field with a text.
    Field,
    Blocks,
    Content,
}

impl Delta {
    /// Returns the thinking of the model, with its place. If `known` is set, only that place counts.
    pub(crate) fn thought(&self, known: Option<ThoughtIn>) -> Option<(ThoughtIn, String)> {
        let fields = || {
            let fields = ["reasoning_content", "reasoning"].map(|field| self.more.get(field)?.as_str());
            fields.into_iter().flatten().find(|text| !text.is_empty()).map(str::to_owned).unwrap_or_default()
        };
        let within = |list: Option<&Value>| -> String {
            list.and_then(Value::as_array).into_iter().flatten().map(thought_of).collect()
        };
        [ThoughtIn::Field, ThoughtIn::Blocks, ThoughtIn::Content].into_iter().find_map(|place| {
            if known.is_some_and(|known| known != place) {
                return None;
            }
            let thought = match place {
                ThoughtIn::Field => fields(),
                ThoughtIn::Blocks => within(self.more.get(BLOCKS)),
                ThoughtIn::Content => within(self.content.as_ref()),
            };
            (!thought.is_empty()).then_some((place, thought))
        })
    }

    /// Takes the blocks of thinking.
    pub(crate) fn take_blocks(&mut self) -> Vec<Value> {
        match self.more.remove(BLOCKS) {
            Some(Value::Array(blocks)) => blocks,
            Some(other) => {
                self.more.insert(BLOCKS.to_owned(), other);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// Takes the parts of a content that is a list.
    pub(crate) fn take_parts(&mut self) -> Option<Vec<Value>> {
        match &mut self.content {
            Some(Value::Array(parts)) => Some(std::mem::take(parts)),
            _ => None,
        }
    }
}

/// Reads a text. Some servers send a number instead.
fn text_or_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Option::<Value>::deserialize(from)? {
        Some(Value::String(text)) => Some(text),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    })
}

/// Limit on the choices, calls or parts of one event. Each takes far more memory than its text.
const MOST: usize = 256;

fn few<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    struct Few<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Few<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {MOST}")
        }

        fn visit_unit<E>(self) -> Result<Vec<T>, E> {
            Ok(Vec::new())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Vec<T>, A::Error> {
            let mut all = Vec::new();
            while let Some(one) = from.next_element()? {
                if all.len() == MOST {
                    return Err(Error::invalid_length(MOST + 1, &self));
                }
                all.push(one);
            }
            Ok(all)
        }
    }

    from.deserialize_any(Few(PhantomData))
}

fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
