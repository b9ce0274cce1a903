//! The times in files: RFC 3339, in UTC.

use std::fmt;

use runstate::calendar::{DAY_MS, UNIX_DAY, civil_from_days, days_before, days_in};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A time in a file of a governed run, such as `2026-01-31T12:00:00Z`.
///
/// It is read with any offset and any fraction of a second, and stored in milliseconds. It is written in UTC, with a
/// fraction only if the fraction is not zero.
///
/// ```
/// use runstate_governed::Timestamp;
///
/// let when: Timestamp = "2026-01-31T13:00:00.5+01:00".parse()?;
/// assert_eq!(when.ms(), 1_769_860_800_500);
/// assert_eq!(when.to_string(), "2026-01-31T12:00:00.500Z");
/// // 30 February does not exist.
/// assert!("2026-02-30T12:00:00Z".parse::<Timestamp>().is_err());
/// # Ok::<(), runstate_governed::TimestampError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Creates a time from milliseconds since the beginning of 1970.
    pub const fn from_ms(ms: u64) -> Self {
        Timestamp(ms)
    }

    /// Returns the milliseconds since the beginning of 1970.
    pub const fn ms(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.0 / DAY_MS);
        let (second, ms) = (self.0 % DAY_MS / 1000, self.0 % 1000);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if ms > 0 {
            write!(f, ".{ms:03}")?;
        }
        f.write_str("Z")
    }
}

/// Error: a text that is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{got:?} is no time of 1970 or later; expected one like 2026-01-31T12:00:00Z")]
pub struct TimestampError {
    got: String,
}

impl std::str::FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        parse(text.as_bytes())
            .map(Timestamp)
            .ok_or_else(|| TimestampError { got: text.chars().take(40).collect() })
    }
}

fn parse(text: &[u8]) -> Option<u64> {
    let (stamp, rest) = text.split_at_checked(19)?;
    let separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if !separators.iter().all(|(at, byte)| stamp[*at] == *byte) || !matches!(stamp[10], b'T' | b't' | b' ') {
        return None;
    }
    let (year, month, day) = (number(&stamp[..4])?, number(&stamp[5..7])?, number(&stamp[8..10])?);
    let time = (number(&stamp[11..13])?, number(&stamp[14..16])?, number(&stamp[17..])?);
    if !(1..=12).contains(&month) || day == 0 || day > days_in(year, month) || time.0 > 23 || time.1 > 59 {
        return None;
    }
    // A leap second counts as the first second of the next minute, as on clocks without leap seconds.
    if time.2 > 60 {
        return None;
    }
    let (ms, offset) = fraction(rest)?;
    let days = days_before(year, month, day).checked_sub(UNIX_DAY)?;
    let here = days * DAY_MS + (time.0 * 3600 + time.1 * 60 + time.2) * 1000 + ms;
    match offset {
        [b'Z' | b'z'] => Some(here),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
            let by = (hours * 60 + minutes) * 60_000;
            if hours > 23 || minutes > 59 {
                None
            } else if *sign == b'+' {
                here.checked_sub(by)
            } else {
                Some(here + by)
            }
        }
        _ => None,
    }
}

/// The milliseconds of a fraction, if there is one, and the rest of the text.
fn fraction(text: &[u8]) -> Option<(u64, &[u8])> {
    let Some((b'.', digits)) = text.split_first() else { return Some((0, text)) };
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    let (digits, rest) = digits.split_at(end);
    let ms = (0..3).fold(0, |ms, at| ms * 10 + digits.get(at).map_or(0, |digit| u64::from(digit - b'0')));
    (!digits.is_empty()).then_some((ms, rest))
}

fn number(digits: &[u8]) -> Option<u64> {
    digits
        .iter()
        .try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + u64::from(*digit - b'0')))
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
