//! The members of a body. One refusal lists each member that cannot be used.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::problem::{Code, MemberError, Problem};

/// The largest integer that databases and clients keep.
const MAX_INTEGER: u64 = i64::MAX as u64;

/// A body, read member by member.
#[derive(Debug)]
pub(crate) struct Members {
    map: Map<String, Value>,
    errors: Vec<MemberError>,
}

/// A type that is read from a body.
pub(crate) trait FromMembers: Send + Sized + 'static {
    /// Whether the body may have the size of a new run.
    const IS_LARGE: bool = false;

    /// Whether a request without a content type is refused, though it may have no member.
    const NEEDS_BODY: bool = true;

    fn read(members: &mut Members) -> Self;
}

/// Reads a body. An empty one has no members.
pub(crate) fn read<T: FromMembers>(body: &[u8], depth: usize) -> Result<T, Problem> {
    if depth_of(body) > depth {
        return Err(Problem::new(Code::BadJson, format!("the JSON is deeper than {depth} levels")));
    }
    let value: Value = match body.trim_ascii() {
        b"" => Value::Object(Map::new()),
        body => {
            let refused = |error: serde_json::Error| Problem::new(Code::BadJson, error.to_string());
            // No member may stand twice: another reader of the body may take the other one.
            let Strict(value) = serde_json::from_slice(body).map_err(refused)?;
            value
        }
    };
    let Value::Object(map) = value else {
        let detail = format!("got {}, expected an object", kind(&value));
        return Err(Problem::of_members(vec![MemberError { pointer: String::new(), detail }]));
    };
    let mut members = Members { map, errors: Vec::new() };
    let read = T::read(&mut members);
    members.finish()?;
    Ok(read)
}

/// A value without repeated members.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Strict;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Strict, E> {
                Ok(Strict(Value::Null))
            }

            fn visit_bool<E>(self, value: bool) -> Result<Strict, E> {
                Ok(Strict(value.into()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Strict, E> {
                Ok(Strict(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Strict, E> {
                Ok(Strict(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Strict, E> {
                Ok(Strict(value.into()))
            }

            fn visit_str<E>(self, value: &str) -> Result<Strict, E> {
                Ok(Strict(value.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Strict, A::Error> {
                let mut values = Vec::new();
                while let Some(Strict(value)) = seq.next_element()? {
                    values.push(value);
                }
                Ok(Strict(values.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Strict, A::Error> {
                let mut map = Map::new();
                while let Some((name, Strict(value))) = members.next_entry::<String, Strict>()? {
                    if map.contains_key(&name) {
                        let shown: String = name.chars().take(100).collect();
                        return Err(A::Error::custom(format_args!("the member {shown:?} stands twice")));
                    }
                    map.insert(name, value);
                }
                Ok(Strict(map.into()))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

/// The depth of the deepest bracket outside of strings.
fn depth_of(body: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

impl Members {
    fn refuse(&mut self, name: &str, detail: impl Into<String>) {
        let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        self.errors.push(MemberError { pointer, detail: detail.into() });
    }

    /// Takes a member by its name, or by another spelling of it. `null` is no value.
    fn take(&mut self, names: &[&'static str]) -> Option<(&'static str, Value)> {
        let mut found = None;
        for &name in names {
            let value = self.map.remove(name).filter(|value| !value.is_null());
            match (value, &found) {
                (Some(value), None) => found = Some((name, value)),
                (Some(_), Some((first, _))) => {
                    let detail = format!("it is another spelling of {first:?}, which the body has too");
                    self.refuse(name, detail);
                }
                (None, _) => {}
            }
        }
        found
    }

    fn wrong(&mut self, name: &str, got: &Value, expected: &str) {
        self.refuse(name, format!("got {}, expected {expected}", kind(got)));
    }

    /// Takes a text with a number of characters in the range.
    pub(crate) fn text(&mut self, names: &[&'static str], chars: RangeInclusive<usize>) -> Option<String> {
        let expected = format!("a text of {} to {} characters", chars.start(), chars.end());
        match self.take(names)? {
            (name, Value::String(text)) => {
                let count = text.chars().count();
                if chars.contains(&count) {
                    return Some(text);
                }
                self.refuse(name, format!("got {count} characters, expected {expected}"));
            }
            (name, other) => self.wrong(name, &other, &expected),
        }
        None
    }

    /// Takes a text that a check accepts.
    pub(crate) fn text_that(
        &mut self,
        names: &[&'static str],
        accepts: impl Fn(&str) -> bool,
        expected: &str,
    ) -> Option<String> {
        match self.take(names)? {
            (_, Value::String(text)) if accepts(&text) => return Some(text),
            (name, Value::String(text)) => {
                let shown: String = text.chars().take(100).collect();
                self.refuse(name, format!("got {shown:?}, expected {expected}"));
            }
            (name, other) => self.wrong(name, &other, expected),
        }
        None
    }

    /// Takes an integer from `min` that fits into 63 bits.
    pub(crate) fn integer(&mut self, names: &[&'static str], min: u64) -> Option<u64> {
        let (name, value) = self.take(names)?;
        match value.as_u64().filter(|number| (min..=MAX_INTEGER).contains(number)) {
            Some(number) => Some(number),
            None => {
                self.refuse(name, format!("got {value}, expected an integer from {min} to {MAX_INTEGER}"));
                None
            }
        }
    }

    /// Takes an object.
    pub(crate) fn object(&mut self, name: &'static str) -> BTreeMap<String, Value> {
        match self.take(&[name]) {
            Some((_, Value::Object(map))) => map.into_iter().collect(),
            Some((name, other)) => {
                self.wrong(name, &other, "an object");
                BTreeMap::new()
            }
            None => BTreeMap::new(),
        }
    }

    /// Takes a list of texts, or one text.
    pub(crate) fn texts(&mut self, names: &[&'static str], max: usize) -> Option<Vec<String>> {
        let (name, value) = self.take(names)?;
        let values = match value {
            Value::String(_) => vec![value],
            Value::Array(values) if values.len() <= max => values,
            Value::Array(values) => {
                self.refuse(name, format!("got {} texts, expected at most {max}", values.len()));
                return None;
            }
            other => {
                self.wrong(name, &other, "a text, or a list of texts");
                return None;
            }
        };
        let mut texts = Vec::new();
        for value in values {
            match value {
                Value::String(text) => texts.push(text),
                other => self.wrong(name, &other, "texts alone"),
            }
        }
        Some(texts)
    }

    /// Takes all members that are left.
    pub(crate) fn rest(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.map)
    }

    /// Notes a missing member.
    pub(crate) fn require<T>(&mut self, names: &[&'static str], value: Option<T>) -> Option<T> {
        let is_refused = |name: &&str| self.errors.iter().any(|error| error.pointer == format!("/{name}"));
        if value.is_none() && !names.iter().any(is_refused) {
            self.refuse(names[0], "it is missing");
        }
        value
    }

    fn finish(mut self) -> Result<(), Problem> {
        for name in std::mem::take(&mut self.map).into_iter().map(|(name, _)| name) {
            let shown: String = name.chars().take(100).collect();
            self.refuse(&shown, "this member is unknown");
        }
        if self.errors.is_empty() { Ok(()) } else { Err(Problem::of_members(self.errors)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Body {
        name: Option<String>,
        number: Option<u64>,
    }

    impl FromMembers for Body {
        fn read(members: &mut Members) -> Self {
            let name = members.text(&["name", "fullName"], 1..=3);
            let name = members.require(&["name"], name);
            Body { name, number: members.integer(&["number"], 1) }
        }
    }

    #[test]
    fn all_members_that_cannot_be_used_are_told() {
        let read = |body: &str| {
            let problem = match read::<Body>(body.as_bytes(), 3) {
                Ok(body) => return Ok(body),
                Err(problem) => problem,
            };
            let answer = format!("{problem:?}");
            Err((problem.code(), answer))
        };
        let body = Body { name: Some("ada".into()), number: None };
        assert_eq!(read(r#"{"fullName": "ada", "number": null}"#), Ok(body));
        let (code, said) = read(r#"{"name": "adaa", "number": 0, "x/y": 1}"#).unwrap_err();
        assert_eq!(code, Code::Invalid);
        for part in ["/name", "got 4 characters", "/number", "got 0, expected an integer from 1 to", "/x~1y"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(read(r#"{"name": "a", "fullName": "b"}"#).unwrap_err().1.contains("another spelling"));
        assert!(read("").unwrap_err().1.contains("missing"));
        assert_eq!(read("[]").unwrap_err().0, Code::Invalid);
        for bad in [
            "{",
            "{\"name\": \"a\"} x",
            "\u{feff}{}",
            "{\"name\": [[[1]]]}",
            "{\"name\": \"a\", \"name\": \"b\"}",
        ] {
            assert_eq!(read(bad).unwrap_err().0, Code::BadJson, "{bad}");
        }
        assert_eq!(read(r#"{"name": "[[["}"#).unwrap().name.unwrap(), "[[[");
    }
}
