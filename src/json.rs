//! Small helpers for JSON that snapshots and drivers share.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Checks whether the value nests deeper than `than` levels. It is looked at no deeper than that.
pub(crate) fn nests_deeper(value: &Value, than: usize) -> bool {
    match value {
        Value::Array(items) => than == 0 || items.iter().any(|item| nests_deeper(item, than - 1)),
        Value::Object(fields) => than == 0 || fields.values().any(|field| nests_deeper(field, than - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The message of `serde_json`, less the place that it appends and the whole of a text that it quotes.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    shortened(match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    })
}

/// The message of a reader, without the whole of a text that it quotes.
pub(crate) fn shortened(mut message: String) -> String {
    const MOST: usize = 200;
    if let Some((end, _)) = message.char_indices().nth(MOST) {
        message.truncate(end);
        message.push('…');
    }
    message
}

/// Checks that no key of a JSON text is one that `serde_json` keeps for itself. A value under such a key is read as a text of its
/// own, with a depth of its own, so that a short text could use up the stack.
pub(crate) fn has_own_keys(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<OwnKeys>(text).map(drop)
}

struct OwnKeys;

impl<'de> Deserialize<'de> for OwnKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OwnKeys)
    }
}

impl<'de> Visitor<'de> for OwnKeys {
    type Value = OwnKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<OwnKeys, E> {
        Ok(OwnKeys)
    }

    fn visit_bool<E>(self, _: bool) -> Result<OwnKeys, E> {
        Ok(OwnKeys)
    }

    fn visit_i64<E>(self, _: i64) -> Result<OwnKeys, E> {
        Ok(OwnKeys)
    }

    fn visit_u64<E>(self, _: u64) -> Result<OwnKeys, E> {
        Ok(OwnKeys)
    }

    fn visit_f64<E>(self, _: f64) -> Result<OwnKeys, E> {
        Ok(OwnKeys)
    }

    fn visit_str<E>(self, _: &str) -> Result<OwnKeys, E> {
        Ok(OwnKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OwnKeys, A::Error> {
        while items.next_element::<OwnKeys>()?.is_some() {}
        Ok(OwnKeys)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<OwnKeys, A::Error> {
        while let Some(key) = fields.next_key::<Cow<'de, str>>()? {
            // Where numbers keep their text each is a map with a key of that kind, and none nests.
            if key.starts_with("$serde_json::private::")
                && !(numbers_keep_their_text() && key.ends_with("::Number"))
            {
                return Err(A::Error::custom(format!("the key {key:?} is not allowed")));
            }
            fields.next_value::<OwnKeys>()?;
        }
        Ok(OwnKeys)
    }
}

/// The bytes as hexadecimal digits, two of each.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |digit| char::from_digit(u32::from(digit), 16).unwrap_or('?');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Does `serde_json` keep the text of a number as it is, by a feature that another crate turned on? A number can be made of any
/// text then.
pub(crate) fn numbers_keep_their_text() -> bool {
    static KEEPS: LazyLock<bool> = LazyLock::new(|| {
        serde_json::from_str::<Value>("1.00").is_ok_and(|number| *number.to_string() == *"1.00")
    });
    *KEEPS
}
