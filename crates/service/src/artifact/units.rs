//! Amounts of a currency or token in its smallest unit.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// An amount in the smallest unit. JSON has it as a string of digits, since a number of JSON is too small.
///
/// ```
/// use runstate_service::Units;
///
/// assert_eq!(Units::parse("1.25", 6), Some(Units(1_250_000)));
/// assert_eq!(Units::parse("1.0000001", 6), None, "more digits than the token has");
/// assert_eq!(Units(1_250_000).decimal(6), "1.25");
/// assert_eq!(serde_json::to_string(&Units(7))?, r#""7""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Units(pub u128);

impl Units {
    /// The largest amount. A compiler writes it for an allowance without a limit, which has 256 bits on a real chain.
    pub const MAX: Units = Units(u128::MAX);

    /// Parses a positive decimal number, for a token with that number of decimals. None for any other text.
    pub fn parse(text: &str, decimals: u8) -> Option<Units> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let places = usize::from(decimals);
        if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > places {
            return None;
        }
        if text.ends_with('.') {
            return None;
        }
        let units: u128 = format!("{whole}{part:0<places$}").parse().ok()?;
        (units > 0).then_some(Units(units))
    }

    /// The decimal number, for a token with that number of decimals.
    pub fn decimal(self, decimals: u8) -> String {
        let places = usize::from(decimals);
        let text = format!("{:0>width$}", self.0, width = places + 1);
        let (whole, part) = text.split_at(text.len() - places);
        let part = part.trim_end_matches('0');
        if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
    }

    /// Adds, up to the largest amount.
    pub fn saturating_add(self, other: Units) -> Units {
        Units(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Units {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Units {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str(&text).map(Units).map_err(|_| D::Error::custom(format_args!("{text:?} is no amount")))
    }
}
