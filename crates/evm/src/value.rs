//! Values in the answers of a node. A node is foreign: a value of another form is an error, and never a default.

use alloy_primitives::{Address, U256, hex};
use serde_json::Value;

/// The kind of a value, for an error. No error has the text of the value.
fn kind(value: Option<&Value>) -> &'static str {
    match value {
        None => "nothing",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Number(_)) => "a number",
        Some(Value::String(_)) => "another text",
        Some(Value::Array(_)) => "an array",
        Some(Value::Object(_)) => "an object",
    }
}

fn other(value: Option<&Value>, name: &str, expected: &str) -> String {
    format!("{name} is {}, expected {expected}", kind(value))
}

/// The hexadecimal digits behind exactly one prefix.
pub(crate) fn digits(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("0x")?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(digits)
}

fn digits_of(value: Option<&Value>) -> Option<&str> {
    digits(value?.as_str()?)
}

/// A quantity of up to 256 bits.
pub(crate) fn quantity(value: Option<&Value>, name: &str) -> Result<U256, String> {
    let digits = digits_of(value).filter(|digits| (1..=64).contains(&digits.len()));
    let number = digits.and_then(|digits| U256::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| other(value, name, "0x and 1 to 64 hexadecimal digits"))
}

/// A quantity of up to 64 bits.
pub(crate) fn number(value: Option<&Value>, name: &str) -> Result<u64, String> {
    let number = quantity(value, name)?;
    u64::try_from(number).map_err(|_| format!("{name} is {number}, expected a number of 64 bits"))
}

/// Bytes of any length.
pub(crate) fn bytes(value: Option<&Value>, name: &str) -> Result<Vec<u8>, String> {
    let bytes = digits_of(value).and_then(|digits| hex::decode(digits).ok());
    bytes.ok_or_else(|| other(value, name, "0x and pairs of hexadecimal digits"))
}

/// An address.
pub(crate) fn address(value: Option<&Value>, name: &str) -> Result<Address, String> {
    let bytes = bytes(value, name)?;
    Address::try_from(&bytes[..]).map_err(|_| format!("{name} has {} bytes, expected 20", bytes.len()))
}

/// The hash of a block or of a transaction.
pub(crate) fn hash(value: Option<&Value>, name: &str) -> Result<[u8; 32], String> {
    let bytes = bytes(value, name)?;
    <[u8; 32]>::try_from(&bytes[..]).map_err(|_| format!("{name} has {} bytes, expected 32", bytes.len()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_another_form_are_refused() {
        for got in
            [json!(null), json!(1), json!("1"), json!("0x"), json!("0x_1"), json!("0xg"), json!(["0x1"])]
        {
            assert!(quantity(Some(&got), "it").is_err(), "{got}");
        }
        assert!(quantity(Some(&json!(format!("0x{}", "f".repeat(65)))), "it").is_err());
        assert_eq!(quantity(Some(&json!(format!("0x{}", "f".repeat(64)))), "it"), Ok(U256::MAX));
        assert_eq!(number(Some(&json!("0x10")), "it"), Ok(16));
        assert!(number(Some(&json!("0x10000000000000000")), "it").is_err());
        assert!(bytes(Some(&json!("0x123")), "it").is_err());
        assert_eq!(
            address(None, "to"),
            Err("to is nothing, expected 0x and pairs of hexadecimal digits".into())
        );
        assert!(address(Some(&json!("0x12")), "to").is_err());
        assert!(hash(Some(&json!("0x12")), "hash").is_err());
    }
}
