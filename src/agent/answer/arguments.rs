//! From the text of a call's arguments to their value.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::super::depth::{is_too_deep, too_deep_arguments};
use crate::json::numbers_keep_their_text;

/// The arguments, and why they cannot be read if they cannot; the text itself stands for them then.
pub(super) fn read(text: String) -> (Value, Option<String>) {
    // Models that call a tool without parameters often send nothing.
    if text.bytes().all(|b| b.is_ascii_whitespace()) {
        return (Value::Object(Map::new()), None);
    }
    let why = match refuse_reserved_keys(&text).and_then(|()| serde_json::from_str::<Value>(&text)) {
        Ok(value) if !is_too_deep(&value) => return (value, None),
        Ok(_) => too_deep_arguments(),
        // The reader gives up at 127 levels; how it says so is pinned by a test.
        Err(error) if error.to_string().starts_with("recursion limit exceeded") => too_deep_arguments(),
        Err(error) => format!("the arguments are not JSON: {error}"),
    };
    (Value::String(text), Some(why))
}

/// Refuses a JSON text with a key that `serde_json` keeps for itself. A value under such a key is read as a text of its
/// own, with a depth of its own, so that a short text could use up the stack.
fn refuse_reserved_keys(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<NoReservedKeys>(text).map(drop)
}

struct NoReservedKeys;

impl<'de> Deserialize<'de> for NoReservedKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NoReservedKeys)
    }
}

impl<'de> Visitor<'de> for NoReservedKeys {
    type Value = NoReservedKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<NoReservedKeys, E> {
        Ok(NoReservedKeys)
    }

    fn visit_bool<E>(self, _: bool) -> Result<NoReservedKeys, E> {
        Ok(NoReservedKeys)
    }

    fn visit_i64<E>(self, _: i64) -> Result<NoReservedKeys, E> {
        Ok(NoReservedKeys)
    }

    fn visit_u64<E>(self, _: u64) -> Result<NoReservedKeys, E> {
        Ok(NoReservedKeys)
    }

    fn visit_f64<E>(self, _: f64) -> Result<NoReservedKeys, E> {
        Ok(NoReservedKeys)
    }

    fn visit_str<E>(self, _: &str) -> Result<NoReservedKeys, E> {
        Ok(NoReservedKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<NoReservedKeys, A::Error> {
        while items.next_element::<NoReservedKeys>()?.is_some() {}
        Ok(NoReservedKeys)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<NoReservedKeys, A::Error> {
        while let Some(key) = fields.next_key::<Cow<'de, str>>()? {
            // Where numbers keep their text each is a map with a key of that kind, and none nests.
            if key.starts_with("$serde_json::private::")
                && !(numbers_keep_their_text() && key.ends_with("::Number"))
            {
                return Err(A::Error::custom(format!("the key {key:?} is not allowed")));
            }
            fields.next_value::<NoReservedKeys>()?;
        }
        Ok(NoReservedKeys)
    }
}
