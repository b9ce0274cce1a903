//! Parsing of JSON from other programs, and of JSON that may have been changed.
//!
//! `serde_json` reserves keys such as `$serde_json::private::RawValue` if another crate enables a feature of it. The
//! value of such a key is parsed as a separate text with a separate depth limit, so that a short text could exhaust
//! the stack. These functions refuse reserved keys. A text without a `$` and without an escape has no such key, and
//! is parsed once.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Parses a JSON text.
///
/// ```
/// use runstate::json::from_str;
/// use serde_json::Value;
///
/// assert_eq!(from_str::<Value>(r#"{"amount": 7}"#)?["amount"], 7);
/// let error = from_str::<Value>(r#"{"$serde_json::private::RawValue": "7"}"#).unwrap_err();
/// assert!(error.to_string().contains("is not allowed"), "{error}");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// The errors of `serde_json`, with line and column; an error for a reserved key.
pub fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, serde_json::Error> {
    if may_be_reserved(text.as_bytes()) {
        serde_json::from_str::<NoReservedKeys>(text)?;
    }
    serde_json::from_str(text)
}

/// Parses JSON bytes.
///
/// # Errors
/// See [`from_str`]; also an error for bytes that are not UTF-8.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, serde_json::Error> {
    if may_be_reserved(bytes) {
        serde_json::from_slice::<NoReservedKeys>(bytes)?;
    }
    serde_json::from_slice(bytes)
}

/// Returns whether the text may have a key that begins with `$`, escaped or not.
fn may_be_reserved(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'$' | b'\\'))
}

/// Returns whether the value nests deeper than `than` levels. Deeper levels are not visited.
#[cfg(feature = "snapshot")]
#[doc(hidden)]
pub fn nests_deeper(value: &Value, than: usize) -> bool {
    match value {
        Value::Array(items) => than == 0 || items.iter().any(|item| nests_deeper(item, than - 1)),
        Value::Object(fields) => than == 0 || fields.values().any(|field| nests_deeper(field, than - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The message of `serde_json`, without its position, and with long quotations shortened.
#[cfg(feature = "snapshot")]
#[doc(hidden)]
pub fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    shortened(match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    })
}

/// The message of a parser, with long quotations shortened.
#[cfg(feature = "snapshot")]
pub(crate) fn shortened(mut message: String) -> String {
    const MOST: usize = 200;
    if let Some((end, _)) = message.char_indices().nth(MOST) {
        message.truncate(end);
        message.push('…');
    }
    message
}

/// The bytes as hexadecimal digits, two per byte.
#[cfg(feature = "snapshot")]
#[doc(hidden)]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |digit| char::from_digit(u32::from(digit), 16).unwrap_or('?');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Returns whether `serde_json` preserves the text of numbers, which another crate may enable by a feature. A number
/// can then contain any text.
pub(crate) fn numbers_keep_their_text() -> bool {
    static KEEPS: LazyLock<bool> = LazyLock::new(|| {
        serde_json::from_str::<Value>("1.00").is_ok_and(|number| *number.to_string() == *"1.00")
    });
    *KEEPS
}

/// A JSON value without reserved keys.
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
            // If numbers preserve their text, each number is a map with a reserved key. Such maps do not nest.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_127_levels_and_no_more() {
        // A text with a `$` is first checked by a parser with the same limit.
        for inner in ["1", r#""$""#] {
            for (levels, is_read) in [(127, true), (128, false)] {
                let text = format!("{}{inner}{}", "[".repeat(levels), "]".repeat(levels));
                assert_eq!(from_str::<Value>(&text).is_ok(), is_read, "{levels}");
                assert_eq!(from_slice::<Value>(text.as_bytes()).is_ok(), is_read, "{levels}");
            }
        }
    }
}
