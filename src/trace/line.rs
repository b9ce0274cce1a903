//! The parser of one trace line.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::event::Event;
use super::extra::{Extra, KNOWN};
use super::read_error::{Problem, ReadError};

/// The maximum depth of an unknown field, which equals the limit of common JSON readers.
pub(super) const DEEPEST: usize = 128;

impl<'a> Event<'a> {
    /// Parses one line of a trace. Strings without escapes are borrowed from it.
    ///
    /// # Errors
    /// When the line is not a JSON object, when a field is missing, occurs twice or has the wrong type, and when an
    /// unknown field has more than 128 levels. The place is relative to this line, which counts as line 1.
    pub fn from_json(line: &'a str) -> Result<Event<'a>, ReadError> {
        parse(line).map_err(|found| ReadError::within(1, line, found))
    }
}

/// A problem of a line, with its byte offset.
pub(super) struct Found {
    pub(super) byte: usize,
    pub(super) problem: Problem,
}

pub(super) fn parse(line: &str) -> Result<Event<'_>, Found> {
    let mut json = serde_json::Deserializer::from_str(line);
    let event = json.deserialize_map(Line).and_then(|event| json.end().map(|()| event));
    let event = event.map_err(|error| found(line, &error))?;
    let deep = event.extra.raw().find_map(|(_, value)| too_deep(value.get()));
    match deep {
        None => Ok(event),
        // The text of a value is a slice of the line, so its address gives its offset.
        Some(rest) => Err(Found {
            byte: (rest.as_ptr() as usize).saturating_sub(line.as_ptr() as usize),
            problem: Problem::TooDeep { limit: DEEPEST },
        }),
    }
}

fn found(line: &str, error: &serde_json::Error) -> Found {
    let text = error.to_string();
    let mut message = text.rfind(" at line ").map_or(text.as_str(), |end| &text[..end]).to_owned();
    if message == "missing field `from`" {
        message.push_str("; a creation has \"from\": null");
    } else if message.starts_with("missing field ") {
        message.push_str("; an event has seq, at_ms, run, lifecycle, instance, event, from and to");
    }
    // A trace line has no line breaks, but `from_json` may receive some. The last column is precise enough then.
    let byte = if error.line() > 1 { line.len() } else { error.column().saturating_sub(1) };
    let problem = match error.classify() {
        serde_json::error::Category::Eof => Problem::Unfinished,
        serde_json::error::Category::Data => Problem::Shape { message },
        _ => Problem::Syntax { message },
    };
    Found { byte: byte.min(line.len()), problem }
}

/// The rest of a valid JSON value, from the first level beyond the limit.
fn too_deep(json: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for (place, byte) in json.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth -= 1,
            _ => {}
        }
        if depth > DEEPEST {
            return json.get(place..);
        }
    }
    None
}

struct Line;

impl<'de> Visitor<'de> for Line {
    type Value = Event<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event, which is a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event<'de>, A::Error> {
        let (mut seq, mut at_ms) = (None, None);
        let (mut run, mut lifecycle, mut instance, mut event) = (None, None, None, None);
        let (mut from, mut to) = (None, None);
        let mut extra = Extra::default();
        while let Some(name) = map.next_key_seed(Text("the name of a field"))? {
            match &*name {
                "seq" => once(&mut seq, &mut map, Number("`seq`"), "seq")?,
                "at_ms" => once(&mut at_ms, &mut map, Number("`at_ms`"), "at_ms")?,
                "run" => once(&mut run, &mut map, Text("`run`"), "run")?,
                "lifecycle" => once(&mut lifecycle, &mut map, Text("`lifecycle`"), "lifecycle")?,
                "instance" => once(&mut instance, &mut map, Text("`instance`"), "instance")?,
                "event" => once(&mut event, &mut map, Text("`event`"), "event")?,
                "from" => once(&mut from, &mut map, TextOrNull, "from")?,
                "to" => once(&mut to, &mut map, Text("`to`"), "to")?,
                _ if extra.contains(&name) => {
                    return Err(A::Error::custom(format_args!("duplicate field `{}`", name.escape_debug())));
                }
                _ => extra.keep(name, map.next_value::<&'de RawValue>()?),
            }
        }
        let missing = A::Error::missing_field;
        Ok(Event {
            seq: seq.ok_or_else(|| missing(KNOWN[0]))?,
            at_ms: at_ms.ok_or_else(|| missing(KNOWN[1]))?,
            run: run.ok_or_else(|| missing(KNOWN[2]))?,
            lifecycle: lifecycle.ok_or_else(|| missing(KNOWN[3]))?,
            instance: instance.ok_or_else(|| missing(KNOWN[4]))?,
            event: event.ok_or_else(|| missing(KNOWN[5]))?,
            from: from.ok_or_else(|| missing(KNOWN[6]))?,
            to: to.ok_or_else(|| missing(KNOWN[7]))?,
            extra,
        })
    }
}

fn once<'de, A: MapAccess<'de>, S: DeserializeSeed<'de>>(
    place: &mut Option<S::Value>,
    map: &mut A,
    seed: S,
    name: &'static str,
) -> Result<(), A::Error> {
    if place.is_some() {
        return Err(A::Error::duplicate_field(name));
    }
    *place = Some(map.next_value_seed(seed)?);
    Ok(())
}

struct Number(&'static str);

impl<'de> DeserializeSeed<'de> for Number {
    type Value = u64;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_u64(self)
    }
}

impl Visitor<'_> for Number {
    type Value = u64;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from 0 for {}", self.0)
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        Ok(value)
    }
}

/// A string that is borrowed where it has no escapes. A plain `Cow` would always be owned.
struct Text(&'static str);

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string for {}", self.0)
    }
    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(value))
    }
    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(value.to_owned()))
    }
}

struct TextOrNull;

impl<'de> DeserializeSeed<'de> for TextOrNull {
    type Value = Option<Cow<'de, str>>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for TextOrNull {
    type Value = Option<Cow<'de, str>>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or null for `from`")
    }
    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Text("`from`, or null").deserialize(deserializer).map(Some)
    }
}
