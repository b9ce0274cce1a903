//! The canonical form of a JSON value, independent of the order of its keys, for checksums and comparisons.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::json::{hex, numbers_keep_their_text};

/// Computes the digest of the values, as `sha256:` and 64 hexadecimal digits.
pub(crate) fn digest(values: &[&Value]) -> String {
    let mut bytes = Vec::with_capacity(512);
    for value in values {
        write(value, &mut bytes);
        bytes.push(b'\n');
    }
    format!("sha256:{}", hex(&Sha256::digest(&bytes)))
}

/// Writes compact JSON with sorted keys. Another crate may enable the feature of `serde_json` that keeps the
/// insertion order, so this function sorts the keys itself.
fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            out.push(b'{');
            for (i, (key, field)) in fields.into_iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_text(key, out);
                out.push(b':');
                write(field, out);
            }
            out.push(b'}');
        }
        leaf => write_leaf(leaf, out),
    }
}

fn write_leaf(leaf: &Value, out: &mut Vec<u8>) {
    if let Value::Number(number) = leaf
        && numbers_keep_their_text()
    {
        // Such a number may hold any text. A text that is no number is written as a string, so that it cannot end a
        // line of the digest.
        let text = number.to_string();
        let is_number =
            text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        if !is_number {
            return write_text(&text, out);
        }
    }
    // A write to memory does not fail, and a leaf has no keys.
    serde_json::to_writer(out, leaf).unwrap_or_else(|_| unreachable!("a JSON leaf is JSON"));
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).unwrap_or_else(|_| unreachable!("a text is JSON"));
}

/// Finds the first difference of two values, as a JSON pointer.
pub(super) fn first_difference(a: &Value, b: &Value) -> Option<String> {
    fn descend(a: &Value, b: &Value, at: &mut String) -> bool {
        let length = at.len();
        match (a, b) {
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (i, (a, b)) in a.iter().zip(b).enumerate() {
                    at.push_str(&format!("/{i}"));
                    if descend(a, b, at) {
                        return true;
                    }
                    at.truncate(length);
                }
                false
            }
            (Value::Object(a), Value::Object(b)) => {
                let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
                keys.sort_unstable();
                keys.dedup();
                for key in keys {
                    at.push_str(&format!("/{}", key.replace('~', "~0").replace('/', "~1")));
                    let same = match (a.get(key), b.get(key)) {
                        (Some(a), Some(b)) => !descend(a, b, at),
                        _ => false,
                    };
                    if !same {
                        return true;
                    }
                    at.truncate(length);
                }
                false
            }
            _ => a != b,
        }
    }
    let mut at = String::new();
    descend(a, b, &mut at).then(|| if at.is_empty() { "the value".to_owned() } else { at })
}
